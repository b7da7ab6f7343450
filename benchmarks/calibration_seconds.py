"""Processor seconds of one whole calibration with both targets, from an empty store, beside a fixed matrix
product in the same run.

    python -m benchmarks.calibration_seconds

Processor seconds, not time on the clock, so that other jobs on the machine matter little; the product tells
how fast the machine was.
"""

from __future__ import annotations

import os
import tempfile
import time

import numpy as np

from benchmarks.machine import machine

SIDE = 2048


def product() -> float:
    """Return the processor seconds of a product of two float32 matrices, the least of five."""
    first, second = np.random.default_rng(0).standard_normal((2, SIDE, SIDE), dtype=np.float32)
    took = []
    for _ in range(5):
        began = time.process_time()
        first @ second
        took.append(time.process_time() - began)
    return min(took)


def main() -> None:
    """Print one line."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DENIABLE_HOME"] = folder
        from deniable.calibration.result import Targets
        from deniable.calibration.run import calibrate

        before, began = product(), time.process_time()
        found = calibrate(targets=Targets(max_unchanged=0.5, min_distinct=300, quantile=0.95))
        took, fixed = time.process_time() - began, min(before, product())
    assert found.choice is not None
    print(
        f"{machine()}: {took:.0f} processor seconds, {took / fixed:,.0f} products of {SIDE} x {SIDE}, ε = "
        f"{found.choice.epsilon:g}"
    )


if __name__ == "__main__":
    main()
