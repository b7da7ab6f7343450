"""Measure what lists of words that never come out do: the figures in docs/guide/names.md, and why many words are measured anew.

Run: python scripts/measure_never_release.py [release] [calibration]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from deniable import Embedding, Recipe
from deniable.calibration.by_rays import round_up
from deniable.channel.rays.rays import RadialRays
from deniable.channel.rays.remaining import RemainingRays
from deniable.embeddings.leaving_out import leave_out
from deniable.randomness import RadialNoise
from deniable.words.never_release import NeverRelease

RELEASES, EPSILON, NAME = 80, 5.0, "kowalczyk"
RAYS, SAMPLE, _TOGETHER = 1000, 512, 128
LIST_SIZES = (5, 50, 500)


def measure_release() -> None:
    """Print how often a name comes out with a list and without, and how many words the built-in list takes out."""
    for listed in (None, "names"):
        private = Recipe(epsilon=EPSILON, never_release=listed).make()
        out = private.many([NAME] * RELEASES).count(NAME)
        left_out = private.mechanism.embedding.left_out
        print(f"{NAME} at ε = {EPSILON:g}, list {listed}: came out {out} times of {RELEASES}")
        if left_out is not None:
            print(f"left out: {left_out.in_words()}")


def measure_calibration() -> None:
    """Print, for lists of several sizes, how many rays end at a word that is gone, and how long both ways to measure words take."""
    whole, noise, rng = Embedding.open(), RadialNoise(lengths="gamma", dimension=Embedding.open().dimension), np.random.default_rng(0)
    lists = {f"{size} words": NeverRelease.of(rng.choice(whole.words[1000:], size, replace=False).tolist()) for size in LIST_SIZES}
    lists["names"] = NeverRelease.of("names")
    before = RadialRays(whole, noise, rays=RAYS)
    for name, listed in lists.items():
        smaller = leave_out(whole, listed)
        assert smaller.left_out is not None
        engine, remaining = RadialRays(smaller, noise, rays=RAYS), RemainingRays(smaller, smaller.left_out, noise, rays=RAYS)
        starts = np.linspace(0, len(smaller) - _TOGETHER, SAMPLE // _TOGETHER, dtype=int)
        ids = np.concatenate([engine.tables.order[start : start + _TOGETHER] for start in starts])
        known = round_up(before.first_breakpoints(smaller.left_out.kept[ids]))
        begin = time.perf_counter()
        anew = round_up(engine.first_breakpoints(ids))
        middle = time.perf_counter()
        carried = round_up(remaining.first_breakpoints(ids, known))
        end = time.perf_counter()
        changed = known != anew
        print(f"{name}: {smaller.left_out.count:,} words left out")
        print(f"  of {len(ids):,} others {changed.any(axis=1).mean():.1%} changed, and of their rays {changed.mean():.2%}")
        print(f"  anew {middle - begin:.1f} s, carried over {end - middle:.1f} s, equal: {np.array_equal(anew, carried)}", flush=True)


if __name__ == "__main__":
    for wanted, measure in (("release", measure_release), ("calibration", measure_calibration)):
        if wanted in (sys.argv[1:] or [wanted]):
            measure()
