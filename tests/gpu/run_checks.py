"""Runs checks of the kernels in a process of its own: ``python -m tests.gpu.run_checks DEVICE [NAME …]``; one
line a check, as JSON."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback

if os.environ.get("TRITON_INTERPRET") == "1":
    import tests.gpu.interpreting  # noqa: F401 - before any kernel

from tests.gpu.checks import CHECKS


def main(device: str, names: list[str]) -> int:
    """Run the checks of these names, or all; return how many failed."""
    failed = 0
    for check in CHECKS:
        if names and check.__name__ not in names:
            continue
        begin = time.perf_counter()
        try:
            outcome = {"passed": True, "saw": check(device)}
        except Exception:  # whatever it is, the others are still asked
            failed += 1
            outcome = {"passed": False, "saw": traceback.format_exc()}
        print(
            json.dumps(
                {"check": check.__name__, "seconds": round(time.perf_counter() - begin, 2), **outcome}
            ),
            flush=True,
        )
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1], sys.argv[2:]) else 0)
