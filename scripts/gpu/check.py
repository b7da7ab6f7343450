"""Check and measure everything that runs on a GPU, in one command; only Python, NumPy, PyTorch and Triton
need to be there.

    PYTHONPATH=src:. python -m scripts.gpu.check --glove glove.840B.300d.34k.w2v.txt.bz2      #
    docs/data/gpu.json

Each part runs on its own: what fails is printed, and the others go on. With TRITON_INTERPRET=1 it is a
rehearsal on a machine without a GPU: nothing is written, and nothing that it measures means anything.
"""

from __future__ import annotations

import platform
import subprocess
import sys
import traceback
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from scripts.gpu import speeds
from scripts.gpu.speeds import DEVICE, REHEARSAL, say, spaces
from scripts.pages import DATA, options_of, write_json

OPTIONAL = {
    "cryptography": "the check against OpenSSL's ChaCha20 fails",
    "platformdirs": "the processor searches without native code, and the columns of released words fail",
    "msgspec": "the columns of released words fail",
    "randomgen": "the comparison with draws of the processor fails",
    "scipy": "calibration and the statistics of the noise fail",
    "deniable.neighbours._native": "the processor searches without native code",
}
"""What a check can do without, and what fails then."""


def main() -> None:
    """Run every part, and write what was measured after each."""
    parser = options_of(__doc__)
    parser.add_argument(
        "--glove", type=Path, required=not REHEARSAL, help="GloVe 840B 300d, 34k words, bzip2"
    )
    parser.add_argument("--only", default="", help="only parts whose name holds this")
    options = parser.parse_args()
    torch.set_float32_matmul_precision("highest")
    parts: dict[str, Any] = {}

    def part(name: str, run: Callable[[], Any]) -> None:
        if options.only not in name:
            return
        try:
            parts[name] = run()
        except Exception:  # the other parts are still worth their time
            parts[name] = {"failed": traceback.format_exc()}
        say(f"{name}: {parts[name].get('failed', parts[name])}")
        if not REHEARSAL:
            write_json(DATA / "gpu.json", {"parts": parts})

    part("environment", environment)
    part("ceiling", speeds.ceiling)
    part("checks", checks)
    for name, (origin, embedding) in spaces(options.glove).items():
        limit = parts.get("ceiling", {}).get(name, float("nan"))
        part(f"speed {name}", partial(speeds.measure_space, name, origin, embedding, limit))
        part(f"torch {name}", partial(speeds.torch_flat, embedding))
        part(f"processor {name}", partial(speeds.on_processor, embedding))
        if name == "50,000 x 50":
            part("columns", partial(speeds.measure_columns, embedding))
        if name == "400,000 x 50":
            part("N_w", partial(speeds.measure_outcomes, embedding))
        if DEVICE == "cuda":
            torch.cuda.empty_cache()
    failed = [name for name, each in parts.items() if "failed" in each]
    judged = parts.get("checks", {}).items()
    failed += [name for name, each in judged if isinstance(each, dict) and not each["passed"]]
    say(f"done; failed: {', '.join(failed) or 'nothing'}")
    sys.exit(1 if failed else 0)


def environment() -> dict[str, Any]:
    """Return what ran where."""
    import triton

    missing = {name: without for name, without in OPTIONAL.items() if find_spec(name) is None}
    for name, without in missing.items():
        say(f"{name} is not installed here: {without}")
    asked = ["echo"] if REHEARSAL else ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(asked, capture_output=True, text=True, check=False)
    return {
        "card": "none" if REHEARSAL else torch.cuda.get_device_name(),
        "driver": driver.stdout.strip(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "missing": sorted(missing),
    }


def checks() -> dict[str, Any]:
    """Run every check of tests/gpu on the GPU."""
    from tests.gpu.checks import CHECKS

    outcomes: dict[str, Any] = {}
    for check in CHECKS:
        try:
            outcomes[check.__name__] = {"passed": True, "saw": check(DEVICE)}
        except Exception:  # the other checks are still worth their time
            outcomes[check.__name__] = {"passed": False, "saw": traceback.format_exc()}
        say(f"{check.__name__}: {outcomes[check.__name__]}")
    return outcomes


if __name__ == "__main__":
    main()
