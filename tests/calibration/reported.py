"""A small embedding with hostile words, calibrated, and what is found of it."""

from __future__ import annotations

import functools

import numpy as np

from deniable import Embedding
from deniable.calibration.by_rays import RayCalibration, measure_by_rays
from deniable.calibration.choice import Choice, Targets, evaluate
from deniable.calibration.page import Findings, findings

HOSTILE = (
    "<script>alert(1)</script>",
    "$x$",
    "日本語",
    "\x1b[31m",
    "a\u202eb",
    "{{ 7 * 7 }}",
    "&amp;",
    '"onload="alert(2)',
)


@functools.cache
def calibrated(rays: int = 60) -> RayCalibration:
    """Return N_w and S_w of 80 words: hostile ones, which lie alone, and plain ones."""
    vectors = np.random.default_rng(0).standard_normal((80, 4)).astype(np.float32)
    vectors[: len(HOSTILE)] *= 30.0
    words = [*HOSTILE, *(f"w{i}" for i in range(80 - len(HOSTILE)))]
    # Made as an older release may have stored it: words with control characters are taken in no more.
    embedding = Embedding.from_checked(words, vectors, vectors.mean(axis=0), name="<i>small</i>")
    return measure_by_rays(embedding, rays=rays, support=True, keep=False)


def found(*, epsilon: float | None = None, targets: Targets | None = None) -> Findings:
    """Return the findings, of a choice where ε is given."""
    calibration = calibrated()
    choice: Choice | None = (
        None
        if epsilon is None
        else evaluate(calibration, epsilon, targets or Targets(max_unchanged=0.5, quantile=0.8))
    )
    return findings(calibration, calibration, choice=choice, sentences=("w1 w2 <b>unknown</b>", "w3"))
