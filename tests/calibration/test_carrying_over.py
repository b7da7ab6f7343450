"""A calibration without some words, carried over from the whole one, is the one that is made from nothing, word for word."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.calibration import by_rays
from deniable.calibration.by_rays import RayCalibration, measure_by_rays, round_up
from deniable.calibration.carrying_over import MOST_LEFT_OUT, CarriedOver, carry_over
from deniable.channel.rays.rays import RadialRays, ray_paths
from deniable.channel.rays.remaining import RemainingRays
from deniable.embeddings.leaving_out import leave_out
from deniable.embeddings.restrict import restrict
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.randomness import RadialNoise
from deniable.words.never_release import NeverRelease
from tests.support.made_store import home

__all__ = ["home"]

RAYS = 120


def make_embedding() -> Embedding:
    """Return words in a few clusters, some of which share their vectors, one far longer than all others."""
    rng = np.random.default_rng(4)
    vectors = rng.standard_normal((400, 6)) + 3.0 * rng.standard_normal((20, 6)).repeat(20, axis=0)
    vectors[100], vectors[210], vectors[211] = vectors[7], vectors[30], vectors[30]
    vectors[399] *= 40.0
    return Embedding([f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(400)], vectors, name="made")


MADE = make_embedding()
LISTS = {
    "some": list(range(40, 70)),
    "the longest": [399, 1, 2],
    "most": list(range(36)),
    "a word": [7],
    "its twin": [100],
    "two of three": [30, 210],
}
TWINS_STAY = ("a word", "its twin", "two of three")
"""Lists of words that leave one with the same vector each: nothing changes but who wins."""


def without(embedding: Embedding, ids: list[int]) -> Embedding:
    return leave_out(embedding, NeverRelease.of([embedding.words[i] for i in ids]))


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> list[CarriedOver | None]:
    """Return what every later measurement starts from."""
    started: list[CarriedOver | None] = []

    def noted(*given: object, **named: object) -> CarriedOver | None:
        started.append(carry_over(*given, **named))  # type: ignore[arg-type]
        return started[-1]

    monkeypatch.setattr(by_rays, "carry_over", noted)
    return started


def same(one: RayCalibration, other: RayCalibration) -> bool:
    return np.array_equal(one.ids, other.ids) and np.asarray(one.radii).tobytes() == np.asarray(other.radii).tobytes()


@pytest.mark.parametrize("mechanism", ["multivariate", "gaussian"])
@pytest.mark.parametrize("listed", LISTS)
def test_it_is_equal_to_one_made_from_nothing(
    listed: str, mechanism: str, home: Path, carried: list[CarriedOver | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, smaller = ChosenMechanism(name=mechanism), without(MADE, LISTS[listed])
    monkeypatch.setenv("DENIABLE_HOME", str(home / "fresh"))
    fresh = measure_by_rays(smaller, mechanism=chosen, rays=RAYS)
    assert carried == [None], "there was nothing to start from"
    monkeypatch.setenv("DENIABLE_HOME", str(home / "carried"))
    whole = measure_by_rays(MADE, mechanism=chosen, rays=RAYS)
    found = measure_by_rays(smaller, mechanism=chosen, rays=RAYS)
    assert same(found, fresh)
    start = carried[-1]
    assert start is not None
    assert 0 < start.rays.followed < 0.5 * start.rays.asked
    assert start.rays.asked == len(smaller) * RAYS
    assert smaller.left_out is not None
    known = np.asarray(whole.radii)[np.argsort(whole.ids)][smaller.left_out.kept]
    changed = known != np.asarray(fresh.radii)[np.argsort(fresh.ids)]
    assert changed.any() == (listed not in TWINS_STAY), "to carry all numbers over as they are would be wrong"
    assert changed.sum() <= start.rays.followed


def test_work_that_was_cut_off_is_continued_in_either_way(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    smaller = without(MADE, LISTS["some"])
    monkeypatch.setenv("DENIABLE_HOME", str(home / "fresh"))
    fresh = measure_by_rays(smaller, rays=RAYS)
    monkeypatch.setattr(by_rays, "_PAIRS_AT_ONCE", 100 * RAYS)

    class Stopped(Exception):
        pass

    def stop(done: int, _: int) -> None:
        if done >= 100:
            raise Stopped

    for first in ("from nothing", "carried over"):
        monkeypatch.setenv("DENIABLE_HOME", str(home / first))
        if first == "carried over":
            measure_by_rays(MADE, rays=RAYS)
        with pytest.raises(Stopped):
            measure_by_rays(smaller, rays=RAYS, report=stop)
        if first == "from nothing":
            measure_by_rays(MADE, rays=RAYS)
        assert same(measure_by_rays(smaller, rays=RAYS), fresh)


def test_it_begins_anew_where_the_whole_calibration_does_not_say_what_is_needed(home: Path, carried: list[CarriedOver | None]) -> None:
    smaller = without(MADE, LISTS["some"])
    measure_by_rays(MADE, rays=RAYS + 1)
    measure_by_rays(MADE, rays=RAYS, ids=np.arange(50))
    measure_by_rays(MADE, rays=RAYS, mechanism=ChosenMechanism(name="mahalanobis"))
    measure_by_rays(smaller, rays=RAYS)
    measure_by_rays(smaller, rays=RAYS, mechanism=ChosenMechanism(name="mahalanobis"))
    measure_by_rays(MADE, rays=RAYS)
    many = without(MADE, list(range(int(MOST_LEFT_OUT * len(MADE)) + 1)))
    measure_by_rays(many, rays=RAYS)
    guarded = restrict(MADE, first=len(MADE))
    guarded.protection = np.append(np.maximum(np.arange(400) - 1, 0), 400)
    measure_by_rays(guarded, rays=RAYS)
    measure_by_rays(without(guarded, LISTS["some"]), rays=RAYS)
    assert carried == [None] * len(carried)


def test_a_damaged_calibration_of_the_whole_is_not_started_from(home: Path, carried: list[CarriedOver | None]) -> None:
    whole = measure_by_rays(MADE, rays=RAYS)
    assert whole.folder is not None
    content = bytearray((whole.folder / "radii.npy").read_bytes())
    content[-100] ^= 1
    (whole.folder / "radii.npy").write_bytes(content)
    measure_by_rays(without(MADE, LISTS["some"]), rays=RAYS)
    assert carried == [None, None]


@pytest.mark.parametrize("path", ray_paths())
def test_every_path_finds_the_same_on_real_vectors(path: str) -> None:
    real, noise = restrict(Embedding.open(), first=3000), RadialNoise(lengths="gamma", dimension=50)
    smaller = leave_out(real, NeverRelease.of(["doctor", "hospital", "church", "monday", "said"]))
    assert smaller.left_out is not None
    ids = np.arange(0, len(smaller), 10)
    known = RadialRays(real, noise, rays=60).first_breakpoints(smaller.left_out.kept[ids])
    fresh = RadialRays(smaller, noise, rays=60).first_breakpoints(ids)
    rays = RemainingRays(smaller, smaller.left_out, noise, rays=60, path=path)
    assert np.array_equal(rays.first_breakpoints(ids, known), fresh)
    assert rays.followed == (known != fresh).sum() > 0, "of numbers that are not rounded, none is found again for nothing"
    rounded = rays.first_breakpoints(ids, round_up(known))
    assert np.array_equal(round_up(rounded), round_up(fresh))
