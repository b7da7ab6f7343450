"""Where the checks of a GPU run, how they are timed, and what they print."""

from __future__ import annotations

import importlib.util
import os
import platform
import subprocess
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

REHEARSAL = os.environ.get("TRITON_INTERPRET") == "1"
"""Without a card: everything runs once, interpreted and tiny, to see that it runs."""
DEVICE = "cpu" if REHEARSAL else "cuda"
KIND = torch.float32 if REHEARSAL else torch.bfloat16
SMALL = 256 if REHEARSAL else 1
"""By how much a rehearsal does less."""

_started = time.perf_counter()


def say(text: str) -> None:
    """Print a line with the time since the start."""
    print(f"[{time.perf_counter() - _started:6.1f} s] {text}", flush=True)


def _wait() -> None:
    """Wait until the card has done what it was told."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def seconds(call: Callable[[], object], *, times: int = 3) -> float:
    """Return the median of so many timings of a call, after one that does not count."""
    call()
    took = []
    for _ in range(times):
        _wait()
        begin = time.perf_counter()
        call()
        _wait()
        took.append(time.perf_counter() - begin)
    return median(took)


def free_memory() -> None:
    """Give what is no longer used back to the card."""
    if DEVICE == "cuda":
        torch.cuda.empty_cache()


OPTIONAL = {
    "cryptography": "the check against OpenSSL's ChaCha20 fails",
    "platformdirs": "the processor searches without native code, and the columns of released words fail",
    "msgspec": "the columns of released words fail",
    "randomgen": "the comparison with draws of the processor fails",
    "scipy": "calibration and the statistics of the noise fail",
    "deniable.neighbours._native": "the processor searches without native code",
}
"""What a check can do without, and what is missing then."""


def missing() -> dict[str, str]:
    """Return the optional packages that cannot be imported here, each with what is left out."""
    return {name: without for name, without in OPTIONAL.items() if importlib.util.find_spec(name) is None}


def environment() -> dict[str, Any]:
    """Return what ran where."""
    import triton

    asked = ["echo"] if REHEARSAL else ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(asked, capture_output=True, text=True, check=False)
    facts = {
        "card": "none" if REHEARSAL else torch.cuda.get_device_name(),
        "driver": driver.stdout.strip(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "missing": sorted(missing()),
    }
    say(str(facts))
    return facts
