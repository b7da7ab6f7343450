from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from deniable import Embedding, InvalidParameter
from deniable.arrays import Ids
from deniable.calibration.by_rays import RayCalibration, epsilon_range, measure_by_rays
from deniable.calibration.choice import Targets, choose, choose_for_protection, evaluate, protect
from deniable.calibration.result import describe_words
from deniable.channel.rays.rays import Rays
from deniable.channel.rays.statistics import distinct_words, furthest_radius
from deniable.channel.rays.tables import WordTables, word_tables
from deniable.errors import DamagedCalibration, TargetsNotMet
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.noise.randomness import RadialNoise
from tests.channel.rays.test_rays import KINDS, hostile
from tests.support.strategies import line_embedding, random_embedding


def folders(home: Path) -> list[Path]:
    return [path.parent for path in (home / "calibrations").rglob("journal.txt")]


def clustered(words: int, dimension: int) -> Embedding:
    """Return words in clusters of different widths, as real ones lie."""
    random = np.random.default_rng(1)
    centres = random.standard_normal((words // 20, dimension))
    apart = random.gamma(1.0, 0.3, (words, 1)) * random.standard_normal((words, dimension))
    vectors = centres[random.integers(0, len(centres), words)] + apart
    return Embedding([f"w{i}" for i in range(words)], vectors)


@functools.cache
def counted() -> RayCalibration:
    """Return a calibration with walks, made once."""
    return measure_by_rays(random_embedding(150, 6), rays=200, support=True, keep=False)


@pytest.mark.parametrize("quantile", [1.0, 0.9, 0.5])
@pytest.mark.parametrize("most", [0.3, 0.5, 0.9])
def test_the_chosen_epsilon_meets_the_target_and_a_little_more_does_not(most: float, quantile: float) -> None:
    calibration = measure_by_rays(random_embedding(200, 6), rays=100)
    choice = choose(calibration, Targets(max_unchanged=most, quantile=quantile))
    assert np.quantile(choice.unchanged, quantile, method="lower") <= most
    assert (choice.unchanged > most).sum() <= 200 - np.ceil(quantile * 200)
    above, _ = calibration.unchanged(choice.epsilon * 1.002)
    assert (above > most).sum() > 200 - np.ceil(quantile * 200)
    assert (choice.upper >= choice.unchanged).all()
    assert len(f"{choice.epsilon:.15g}".replace(".", "").lstrip("0")) <= 5  # a number that people can copy


@pytest.mark.parametrize("quantile", [1.0, 0.5])
def test_distinct_words_are_met_by_the_chosen_epsilon_and_missed_a_little_above(quantile: float) -> None:
    calibration = counted()
    assert calibration.distinct is not None
    wanted = int(np.quantile(calibration.distinct[:, 5], 1.0 - quantile))
    targets = Targets(min_distinct=wanted, max_unchanged=0.9, quantile=quantile)
    choice = choose(calibration, targets)
    assert choice.epsilon >= calibration.epsilons[5]
    for epsilon, enough in ((choice.epsilon, True), (choice.epsilon * 1.01, False)):
        again = measure_by_rays(
            calibration.embedding, rays=200, epsilons=np.array([epsilon]), support=True, keep=False
        )
        found = evaluate(again, epsilon, targets)
        assert bool(len(found.failing) <= 150 - np.ceil(quantile * 150)) is enough
        if enough:
            assert set(calibration.ids[choice.failing]) == set(again.ids[found.failing])


def walked(calibration: RayCalibration, epsilon: float) -> Ids:
    """Return the distinct words of every word at one ε, from whole walks."""
    draws, engine = calibration.length.draws(calibration.draws), engine_of(calibration)
    walks = engine.envelopes(calibration.ids, furthest=furthest_radius(epsilon, calibration.length, draws))
    return np.array([distinct_words(walk, epsilon, draws) for walk in walks])


def engine_of(calibration: RayCalibration) -> Rays:
    return Rays(calibration.embedding, calibration.noise, rays=calibration.draws)


@pytest.mark.parametrize("kind", KINDS)
def test_distinct_words_are_counted_as_whole_walks_count_them(kind: str) -> None:
    calibration = measure_by_rays(hostile(kind), rays=60, keep=False)
    counted, rows = calibration.distinct_words, np.arange(len(calibration.ids))
    for epsilon in epsilon_range(engine_of(calibration))[::2].tolist():
        expected = walked(calibration, epsilon)
        assert np.array_equal(counted(rows, epsilon), expected)
        assert np.array_equal(counted(rows[::3], epsilon), expected[::3])
        for least in (2, int(np.median(expected)), 40):
            counts = counted(rows, epsilon, least)
            assert np.array_equal(counts < least, expected < least)
            assert (counts <= expected).all()
            assert np.array_equal(counts[counts < least], expected[counts < least])


@pytest.mark.parametrize("quantile", [1.0, 0.95, 0.5])
@pytest.mark.parametrize("mechanism", ["multivariate", "mahalanobis", "gaussian"])
def test_a_choice_by_distinct_words_meets_the_target_by_whole_walks_and_a_larger_epsilon_does_not(
    mechanism: str, quantile: float
) -> None:
    calibration = measure_by_rays(
        clustered(100, 6), mechanism=ChosenMechanism(name=mechanism), rays=100, keep=False
    )
    for epsilon, most in ((1.5, None), (1.0, 0.5)):
        least = max(1, int(np.quantile(walked(calibration, epsilon), 1.0 - quantile)))
        targets = Targets(min_distinct=least, max_unchanged=most, quantile=quantile)
        choice = choose(calibration, targets)
        assert choice.meets_targets
        expected = walked(calibration, choice.epsilon)
        assert (expected < least).sum() <= len(choice.failing)
        assert [row.distinct for row in describe_words(calibration, choice, np.arange(9))] == list(
            expected[:9]
        )
        # Counts fall by and large, not at every step.
        assert most is not None or choice.epsilon >= 0.9 * epsilon
        above = choice.epsilon * 1.25
        missed = walked(calibration, above) < least
        if most is not None:
            missed |= calibration.unchanged(above)[0] > most
        assert missed.sum() > 100 - np.ceil(quantile * 100)


def test_an_epsilon_that_misses_the_target_on_all_words_is_not_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calibration, distinct = counted(), RayCalibration.distinct_words
    least = int(np.quantile(walked(calibration, 1.5), 0.1))
    targets = Targets(min_distinct=least, quantile=0.9)

    def too_many(self: RayCalibration, rows: Ids, *asked: Any, **how: Any) -> Ids:
        # The search asks about some of the words, the evaluation about all of them.
        return distinct(self, rows, *asked, **how) + 2 * (len(rows) < len(self.ids))

    right = choose(calibration, targets)
    monkeypatch.setattr(RayCalibration, "distinct_words", too_many)
    choice = choose(calibration, targets)
    assert choice.epsilon != right.epsilon  # the search went wrong
    assert (walked(calibration, choice.epsilon) < least).sum() <= 15


@pytest.mark.parametrize("by", ["nearest", "unknown"])
def test_protected_words_count_by_distinct_words_too(by: Literal["nearest", "unknown"]) -> None:
    embedding = protect(clustered(120, 5), np.arange(0, 120, 9), by=by, name="safe")
    calibration = measure_by_rays(embedding, rays=100, keep=False)
    targets = Targets(min_distinct=15, max_unchanged=0.8, quantile=0.9)
    choice = choose(calibration, targets)
    missed = walked(calibration, choice.epsilon) < 15
    missed |= calibration.unchanged_or_stand_in(choice.epsilon) > 0.8
    assert set(np.flatnonzero(missed)) == set(choice.failing.tolist())
    assert missed.sum() <= 12


def test_distinct_words_out_of_reach_are_refused_and_every_pass_is_reported() -> None:
    calibration = measure_by_rays(random_embedding(120, 4), rays=130, keep=False)
    with pytest.raises(TargetsNotMet):
        choose(calibration, Targets(min_distinct=119))
    reports: list[tuple[int, int]] = []
    choose(
        calibration,
        Targets(min_distinct=15, quantile=0.9),
        report=lambda done, total: reports.append((done, total)),
    )
    assert reports[0][0] == 0
    assert (len(calibration.ids),) * 2 in reports or reports[-1][0] == reports[-1][1]
    choice = evaluate(calibration, 3.21, Targets(max_unchanged=0.7))
    assert describe_words(calibration, choice, np.arange(2))[0].distinct is None


@pytest.mark.parametrize("share", [0.0, 0.02, 0.1])
def test_protecting_a_share_of_the_words_gives_a_larger_epsilon_and_names_them(share: float) -> None:
    calibration = measure_by_rays(random_embedding(200, 6), rays=100)
    targets = Targets(max_unchanged=0.5)
    choice = choose_for_protection(calibration, targets, most_protected=share)
    assert len(choice.failing) <= share * 200
    assert (np.delete(choice.unchanged, choice.failing) <= 0.5).all()
    assert choice.epsilon >= choose(calibration, targets).epsilon
    above, _ = calibration.unchanged(choice.epsilon * 1.002)
    assert (above > 0.5).sum() > share * 200


def test_a_share_of_protected_words_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="most_protected"):
        choose_for_protection(
            measure_by_rays(line_embedding(0.0, 1.0), rays=10), Targets(max_unchanged=0.5), most_protected=1.0
        )


def test_rays_in_parts_give_the_same_calibration() -> None:
    embedding = random_embedding(150, 5)
    whole = measure_by_rays(embedding, rays=70, support=True, keep=False)
    parts = measure_by_rays(embedding, rays=70, support=True, keep=False, table_bytes=20 * 2 * 160)
    for name in ("ids", "radii", "distinct", "support", "entropies", "support_errors", "entropy_errors"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))


def test_targets_that_no_epsilon_meets_are_refused_with_the_words_in_the_way() -> None:
    # The last word on a line stays for half of the directions, whatever ε.
    calibration = measure_by_rays(line_embedding(0.0, 1.0, 2.0), rays=200)
    with pytest.raises(TargetsNotMet, match=r"2 of 3 miss them \((a, c|c, a)"):
        choose(calibration, Targets(max_unchanged=0.2))
    assert choose(calibration, Targets(max_unchanged=0.2, quantile=0.3)).epsilon > 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_unchanged": 0.0},
        {"max_unchanged": 1.0},
        {"min_distinct": 0},
        {"quantile": 0.0},
        {"quantile": 1.1},
    ],
)
def test_targets_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidParameter, match=next(iter(wrong))):
        Targets(**wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="targets"):
        choose(measure_by_rays(line_embedding(0.0, 1.0), rays=5), Targets())


def test_the_range_goes_from_hardly_any_word_to_most_words() -> None:
    embedding = random_embedding(300, 6)
    grid = epsilon_range(Rays(embedding, RadialNoise(lengths="gamma", dimension=6), rays=100))
    calibration = measure_by_rays(embedding, rays=100)
    assert (np.diff(grid) > 0).all()
    assert calibration.unchanged(float(grid[0]))[0].mean() < 0.1
    assert calibration.unchanged(float(grid[-1]))[0].mean() > 0.85


class Stopped(Exception):
    pass


def test_an_interrupted_run_is_continued_and_gives_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.calibration.by_rays._PAIRS_AT_ONCE", 2000)
    embedding = random_embedding(100, 5)
    whole = measure_by_rays(embedding, rays=50, support=True, keep=False)

    def stop(done: int, total: int) -> None:
        if done >= 40:
            raise Stopped

    with pytest.raises(Stopped):
        measure_by_rays(embedding, rays=50, support=True, report=stop)
    seen: list[int] = []
    again = measure_by_rays(embedding, rays=50, support=True, report=lambda done, total: seen.append(done))
    assert seen == [40, 80, 100]
    for name in ("ids", "radii", "distinct", "support", "entropies", "epsilons"):
        assert np.array_equal(getattr(whole, name), getattr(again, name))
    measure_by_rays(
        embedding, rays=50, support=True, report=lambda done, total: pytest.fail("nothing was left to do")
    )


def test_progress_is_reported_before_the_tables_are_made(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []

    def make_tables(embedding: Embedding, **options: bool) -> WordTables:
        events.append("tables")
        return word_tables(embedding, **options)

    def stop(done: int, total: int) -> None:
        events.append(f"{done} of {total}")
        raise Stopped

    monkeypatch.setattr("deniable.channel.rays.rays.word_tables", make_tables)
    with pytest.raises(Stopped):
        measure_by_rays(random_embedding(100, 5), rays=50, report=stop)
    measure_by_rays(
        random_embedding(100, 5), rays=50, report=lambda done, total: events.append(f"{done} of {total}")
    )
    assert events == ["0 of 100", "0 of 100", "tables", "100 of 100"]


def test_a_line_cut_off_is_work_that_does_not_count(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.calibration.by_rays._PAIRS_AT_ONCE", 2000)
    embedding = random_embedding(100, 5)
    whole = measure_by_rays(embedding, rays=50)
    journal = folders(home)[0] / "journal.txt"
    os.truncate(journal, journal.stat().st_size - 4)
    for _ in range(2):  # it is mended for the next run too
        assert np.array_equal(measure_by_rays(embedding, rays=50).radii, whole.radii)
        assert journal.read_text().count("\n") == 3


@pytest.mark.parametrize("name", ["radii.npy", "journal.txt", "settings.json", "ids.npy"])
def test_damage_is_found(home: Path, name: str) -> None:
    embedding = random_embedding(100, 5)
    measure_by_rays(embedding, rays=50)
    path = folders(home)[0] / name
    content = bytearray(path.read_bytes())
    content[-20 if name.endswith("npy") else 5] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedCalibration, match="calibrate again"):
        measure_by_rays(embedding, rays=50)
    path.unlink()
    with pytest.raises(DamagedCalibration) if name != "journal.txt" else pytest.MonkeyPatch.context():
        measure_by_rays(embedding, rays=50)


def test_breakpoints_are_rounded_up_so_that_nothing_is_understated() -> None:
    embedding = random_embedding(50, 5)
    exact, _ = Rays(embedding, rays=30).first_breakpoints(np.arange(50))
    calibration = measure_by_rays(embedding, rays=30, keep=False)
    kept = np.empty_like(exact)
    kept[calibration.ids] = calibration.radii
    assert (kept >= exact).all()
    assert (kept <= exact * (1 + 1e-6)).all()


def test_calibrations_lie_beside_a_stored_embedding(home: Path) -> None:
    from deniable.embeddings import store

    store.save(random_embedding(40, 3), "mine")
    calibration = measure_by_rays(Embedding.open("mine"), rays=20)
    assert calibration.folder is not None
    assert calibration.folder.is_relative_to(home / "embeddings" / "mine")
