"""The choice of ε by distinct words with whole walks in float64 at every step: slow, and what the fast search
is held against."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.calibration.by_rays import RayCalibration, measure_by_rays
from deniable.calibration.choice import evaluate, round_down
from deniable.calibration.result import Choice, Targets
from deniable.channel.rays.rays import RadialRays
from deniable.channel.rays.statistics import distinct_words, furthest_radius

STEPS, TURNS, BEYOND = 12, 2, 1.25


def choose_by_walks(calibration: RayCalibration, targets: Targets) -> Choice | None:
    """Return the largest ε that meets the targets, of a calibration that walked all words; None if there is
    none."""
    tried = (evaluate(calibration, e, targets) for e in sorted(calibration.epsilons.tolist(), reverse=True))
    best = next((choice for choice in tried if choice.meets_targets), None)
    if best is None:
        return None
    above = calibration.epsilons[calibration.epsilons > best.epsilon]
    low, high = best.epsilon, float(above.min()) if len(above) else best.epsilon * BEYOND
    passing: list[float] = []
    for _ in range(TURNS):
        steps = np.geomspace(low, high, STEPS + 1)
        good = (
            np.flatnonzero(_failures(calibration, targets, steps[1:]) <= _allowed(calibration, targets)) + 1
        )
        passing += steps[good].tolist()
        if len(good) and good[-1] == STEPS:
            break
        low, high = (
            (float(steps[good[-1]]), float(steps[good[-1] + 1])) if len(good) else (low, float(steps[1]))
        )
    for epsilon in sorted({max(round_down(e), best.epsilon) for e in passing}, reverse=True):
        if (
            found := evaluate(calibration, epsilon, targets, distinct=count_by_walks(calibration, epsilon))
        ).meets_targets:
            return found
    return best


def count_by_walks(calibration: RayCalibration, epsilon: float) -> Ids:
    """Return the distinct words of every word at one ε, from walks of all of them."""
    measured = measure_by_rays(
        calibration.embedding,
        mechanism=calibration.mechanism,
        rays=calibration.draws,
        ids=calibration.ids,
        epsilons=np.array([epsilon]),
        support=True,
        keep=False,
    )
    again = replace(measured, at_random=calibration.at_random)
    assert again.distinct is not None
    counts: Ids = again.distinct[
        np.argsort(again.ids)[np.searchsorted(np.sort(again.ids), calibration.ids)], 0
    ]
    return counts.astype(np.int64)


def _failures(calibration: RayCalibration, targets: Targets, epsilons: Floats) -> Ids:
    assert targets.min_distinct is not None
    draws, least = calibration.length.draws(calibration.draws), targets.min_distinct
    engine = RadialRays(calibration.embedding, calibration.noise, rays=calibration.draws)
    walks = engine.envelopes(
        calibration.ids, furthest=furthest_radius(float(epsilons.min()), calibration.length, draws)
    )
    fails = np.array([[distinct_words(walk, float(e), draws) < least for e in epsilons] for walk in walks])
    if targets.max_unchanged is not None:
        stays = np.stack([calibration.unchanged_or_stand_in(float(e)) for e in epsilons], axis=1)
        fails |= stays > targets.max_unchanged
    count: Ids = fails.sum(axis=0)
    return count


def _allowed(calibration: RayCalibration, targets: Targets) -> int:
    return len(calibration.ids) - math.ceil(targets.quantile * len(calibration.ids) * (1.0 - 1e-12))
