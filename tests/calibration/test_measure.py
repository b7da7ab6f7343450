"""Every mechanism is calibrated: its numbers are those of its definition, and those of another mechanism or
option are not."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from deniable import InvalidParameter
from deniable.arrays import Floats
from deniable.calibration import measure
from deniable.calibration.by_rays import RayCalibration, measure_by_rays
from deniable.calibration.calibration import Calibration
from deniable.calibration.choice import Targets, choose, protect
from deniable.calibration.table import TableCalibration, measure_table
from deniable.errors import TargetsNotMet
from deniable.mechanisms import CusText
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.mechanisms import definitions as direct
from tests.support.strategies import random_embedding

E = direct.few_words()
EPSILONS = (0.7, 1.3, 3.0)
DRAWS, TOO_FAR = 2_000, 5.5
"""Five and a half standard errors: under 10⁻⁶ for all words and ε together."""

Expected = Callable[[int, float], Floats]


def _around(word: int, epsilon: float, lam: float | None = None) -> Floats:
    return direct.points_around(
        E, word, direct.gamma_lengths(epsilon), None if lam is None else direct.mahalanobis_shape(E, lam)
    )


def _santext_plus(word: int, epsilon: float) -> Floats:
    drawn, kept = direct.softmax(E, word, epsilon), np.zeros(len(E))
    kept[1 if word == 6 else word] = 1.0
    return drawn if word in (0, 3) else 0.8 * kept + 0.2 * drawn


def _custext(word: int, epsilon: float) -> Floats:
    cells = CusText(E, epsilon=1.0, k=3).cells
    members = cells.members[cells.cell_of[word]]
    return direct.custext(E, word, epsilon, members[members >= 0])


def named(name: str, **options: object) -> ChosenMechanism:
    return ChosenMechanism(name=name, options=options)


MECHANISMS: dict[str, tuple[str, ChosenMechanism, ChosenMechanism, Expected]] = {
    "multivariate": (
        "rays",
        ChosenMechanism(),
        named("gaussian"),
        lambda w, e: direct.nearest_word(E, _around(w, e)),
    ),
    "mahalanobis": (
        "rays",
        named("mahalanobis", lam=0.9),
        named("mahalanobis"),
        lambda w, e: direct.nearest_word(E, _around(w, e, 0.9)),
    ),
    "gaussian": (
        "rays",
        named("gaussian"),
        ChosenMechanism(),
        lambda w, e: direct.nearest_word(E, direct.points_around(E, w, direct.chi_lengths(e))),
    ),
    "vickrey": (
        "simulation",
        named("vickrey", t="0.6"),
        named("vickrey", t=0.75),
        lambda w, e: direct.vickrey(E, _around(w, e), 0.6),
    ),
    "rank-smoothing": (
        "simulation",
        named("rank-smoothing", c=0.5),
        named("rank-smoothing"),
        lambda w, e: direct.rank_smoothing(E, direct.nearest_word(E, _around(w, e)), 0.5 * e),
    ),
    "tem": (
        "exact",
        named("tem", beta=0.3),
        named("santext"),
        lambda w, e: direct.softmax(E, w, e, cap=2 / e * math.log(0.7 / 0.3 * 5)),
    ),
    "santext": ("exact", named("santext"), named("tem", beta=0.3), lambda w, e: direct.softmax(E, w, e)),
    "santext-plus": (
        "exact",
        named("santext-plus", sensitive=["w0", "w3"]),
        named("santext-plus", sensitive=["w0"]),
        _santext_plus,
    ),
    "custext": ("exact", named("custext", k=3), named("custext", k=6), _custext),
    "line": ("exact", named("line", lists="2"), named("line"), lambda w, e: direct.line(E, w, e, 2)),
    "randomized-response": (
        "exact",
        named("randomized-response"),
        named("santext"),
        lambda w, e: direct.randomized_response(E, w, e),
    ),
}
TABULATED = [name for name, (method, *_) in MECHANISMS.items() if method != "rays"]


@cache
def expected_of(name: str, word: int, epsilon: float) -> Floats:
    return MECHANISMS[name][3](word, epsilon)


@cache
def measured(name: str, *, wrong: bool = False) -> Calibration:
    _, right, other, _ = MECHANISMS[name]
    return measure(E, other if wrong else right, draws=DRAWS, epsilons=np.array(EPSILONS), support=True)


def off(found: Calibration, name: str) -> float:
    """Return how far N_w is from the definition, in standard errors, at the word and ε where it is
    furthest."""
    furthest = 0.0
    for epsilon in EPSILONS:
        means, errors = found.unchanged(epsilon)
        for word, mean, error in zip(found.ids.tolist(), means, errors, strict=True):
            true = float(expected_of(name, word, epsilon)[1 if word == 6 else word])
            spread = (
                0.0
                if found.method == "exact"
                else max(float(error), math.sqrt(true * (1 - true) / DRAWS) / 5)
            )
            # The definitions are laid out on a grid of 10⁵ points, which sees a probability to about three
            # digits.
            furthest = max(furthest, max(abs(float(mean) - true) - 1e-3, 0.0) / max(spread, 1e-4))
    return furthest


@pytest.mark.parametrize("name", MECHANISMS)
def test_n_w_is_that_of_the_definition_and_not_of_another_mechanism_or_option(name: str) -> None:
    found = measured(name)
    assert found.method == MECHANISMS[name][0]
    assert off(found, name) < TOO_FAR
    assert off(measured(name, wrong=True), name) > TOO_FAR


@pytest.mark.parametrize("name", MECHANISMS)
def test_support_and_entropies_are_those_of_the_definition(name: str) -> None:
    found = measured(name)
    assert found.distinct is not None
    assert found.support is not None
    assert found.entropies is not None
    assert found.entropy_errors is not None
    for row, word in enumerate(found.ids.tolist()):
        for column, epsilon in enumerate(EPSILONS):
            chances = np.sort(expected_of(name, word, epsilon))[::-1]
            enough = np.cumsum(chances)
            # Where 95 % falls on the edge of a word, the estimate may take one more or fewer.
            fits = (
                (enough >= 0.95 - 0.02)[found.support[row, column] - 1],
                (enough - chances < 0.95 + 0.02)[found.support[row, column] - 1],
            )
            assert all(fits)
            likely = chances[chances > 0.0]
            shannon = -float((likely * np.log2(likely)).sum())
            allowed = TOO_FAR * float(found.entropy_errors[row, column, 1]) + 0.01
            assert abs(float(found.entropies[row, column, 1]) - shannon) < allowed
            assert found.distinct[row, column] <= (chances > 0.0).sum()
            assert found.distinct[row, column] >= (chances * DRAWS > 20).sum() - (
                found.method == "exact"
            )  # rounded down


@pytest.mark.parametrize("name", ["santext", "randomized-response", "custext", "vickrey"])
def test_the_chosen_epsilon_meets_the_targets_by_definition_and_the_next_does_not(name: str) -> None:
    _, mechanism, _, expected = MECHANISMS[name]
    most, targets = 0.6, Targets(max_unchanged=0.6, quantile=6 / 7)
    choice = choose(measure(E, mechanism, draws=DRAWS // 2), targets)

    def failing(epsilon: float) -> int:
        return sum(float(expected(w, epsilon)[1 if w == 6 else w]) > most + slack for w in range(7))

    slack = 0.0 if name != "vickrey" else 0.03
    assert failing(choice.epsilon) <= 1
    slack = -slack
    assert failing(choice.epsilon * 1.15) > 1
    assert len(choice.failing) <= 1
    assert (choice.upper >= choice.unchanged).all()


def test_distinct_words_can_be_aimed_at() -> None:
    embedding = random_embedding(60, 3)
    calibration = measure_table(embedding, named("santext"), draws=200, support=True)
    choice = choose(calibration, Targets(min_distinct=20))
    assert calibration.distinct_words(np.arange(60), choice.epsilon).min() >= 20
    again = measure_table(
        embedding,
        named("santext"),
        draws=200,
        epsilons=np.array([1.2 * choice.epsilon]),
        support=True,
    )
    assert again.distinct is not None
    assert again.distinct.min() < 20


def test_targets_that_no_epsilon_meets_name_the_words() -> None:
    calibration = measure_table(E, named("santext-plus", sensitive=["w0"]), draws=10)
    with pytest.raises(TargetsNotMet, match="w3"):
        choose(calibration, Targets(max_unchanged=0.5))


def test_a_value_that_is_not_in_the_table_is_measured_when_asked_for() -> None:
    calibration = measure_table(E, named("santext"), draws=10, epsilons=np.array([1.0, 2.0]))
    alone = measure_table(E, named("santext"), draws=10, epsilons=np.array([1.7]))
    assert np.array_equal(calibration.unchanged(1.7)[0], alone.unchanged(1.7)[0])
    assert calibration.span(16) == [1.0, 1.7, 2.0]
    assert calibration.spread_at(1.7) is None


def test_draws_at_one_epsilon_do_not_depend_on_which_others_were_asked_for() -> None:
    vickrey = named("vickrey")
    both, alone = (
        measure_table(E, vickrey, draws=50, epsilons=np.array(grid), keep=False)
        for grid in ([0.5, 2.0], [2.0])
    )
    assert np.array_equal(both.unchanged(2.0)[0], alone.unchanged(2.0)[0])


@pytest.mark.parametrize("name", TABULATED)
def test_rays_refuse_a_mechanism_without_radial_noise(name: str) -> None:
    with pytest.raises(InvalidParameter, match="rays cannot measure it"):
        measure_by_rays(E, mechanism=MECHANISMS[name][1], rays=5)


def kept(home: Path) -> set[Path]:
    return set(home.rglob("journal.txt"))


def test_what_was_measured_is_kept_for_this_mechanism_and_these_options_alone(home: Path) -> None:
    seen: set[Path] = set()
    for mechanism in (
        ChosenMechanism(),
        named("mahalanobis"),
        named("mahalanobis", lam=0.5),
        named("vickrey"),
        named("vickrey", t=0.5),
        named("vickrey", noise="mahalanobis"),
        named("rank-smoothing", over="vickrey"),
        named("santext-plus", sensitive=["w0"]),
        named("santext-plus", sensitive=["w1"]),
    ):
        measure(E, mechanism, draws=5)
        assert len(kept(home) - seen) == 1, mechanism
        seen = kept(home)
    measure(E, named("mahalanobis", lam="0.2"), draws=5)  # the default, said
    assert kept(home) == seen


@pytest.mark.parametrize("name", ["santext", "vickrey"])
def test_an_interrupted_table_is_continued(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deniable.calibration.table._WORDS_AT_ONCE", 2)
    monkeypatch.setattr("deniable.calibration.table._DRAWS_AT_ONCE", 40)
    mechanism = MECHANISMS[name][1]
    whole = measure_table(E, mechanism, draws=20, support=True, keep=False)

    def stop(done: int, of: int) -> None:
        if done > of // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_table(E, mechanism, draws=20, support=True, report=stop)
    told: list[int] = []
    rest = measure_table(E, mechanism, draws=20, support=True, report=lambda done, _: told.append(done))
    assert told[0] > len(E) // 2
    for values in ("ids", "epsilons", "stays", "errors", "distinct", "support", "entropies"):
        assert np.array_equal(getattr(rest, values), getattr(whole, values)), values


@pytest.mark.parametrize("by", ["nearest", "unknown"])
def test_a_protected_word_has_the_numbers_of_the_word_that_stands_in(by: str) -> None:
    safe = protect(E, np.array([5]), by=by)  # type: ignore[arg-type]
    stand_in = int(safe.stands_in(np.array([5]))[0])
    found = measure_table(safe, named("santext"), draws=5, epsilons=np.array([1.0])).stays
    own = {0: 0, 2: 2, E.unknown_id: int(np.argmin(np.linalg.norm(E.vectors - E.unknown, axis=1)))}[stand_in]
    assert found[5][0] == pytest.approx(float(direct.softmax(E, stand_in, 1.0)[own]), abs=1e-6)


def test_the_two_kinds_answer_the_same_questions() -> None:
    embedding = random_embedding(200, 4)
    for mechanism in (ChosenMechanism(), named("gaussian"), named("santext")):
        found = measure(embedding, mechanism, draws=200)
        assert isinstance(found, RayCalibration if mechanism.name != "santext" else TableCalibration)
        middle = found.epsilon_reaching(0.4)
        average, error = found.average(middle)
        assert average == pytest.approx(0.4, abs=0.2)
        assert 0.0 <= error < 0.05
        span = found.span(16)
        assert found.average(span[0])[0] < 0.1
        assert found.average(span[-1])[0] > 0.9
