"""No mechanism is refuted in the metric that its guarantee names; broken ones, most of them from other
programs, are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deniable import Embedding, Mechanism, Privatizer
from deniable.arrays import Floats
from deniable.mechanisms import (
    TEM,
    CusText,
    Gaussian,
    Line,
    Mahalanobis,
    Multivariate,
    RandomizedResponse,
    RankSmoothing,
    SanText,
    SanTextPlus,
    Vickrey,
)
from tests.mechanisms import definitions as direct
from tests.mechanisms import mutants
from tests.mechanisms.every import NAMES, every
from tests.mechanisms.mutants import drawn
from tests.mechanisms.refutation import refuted_either_way

DRAWS = 40_000


def row_of_words() -> Embedding:
    """Return words along one axis, with a little spread across: 0 and 1 are close, the others catch the
    tails."""
    along = [0.0, 0.5, 1.5, -1.5, 3.0, -3.0, 6.0, -6.0, 12.0, -12.0]
    return Embedding(
        [f"w{i}" for i in range(len(along))], [[x, 0.02 * i, 0.03 * (i % 3)] for i, x in enumerate(along)]
    )


E = row_of_words()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("pair", [(0, 1), (4, 5), (1, E.unknown_id)])
def test_a_mechanism_is_not_refuted(name: str, pair: tuple[int, int]) -> None:
    mechanism = every(E, 1.0)[name]
    bound = mechanism.log_bound(*pair)
    assert bound == mechanism.log_bound(*reversed(pair))
    assert math.isinf(bound) or not refuted_either_way(drawn(mechanism), *pair, bound, draws=DRAWS)


def test_there_is_a_bound_where_one_is_promised() -> None:
    infinite = {name for name, mechanism in every(E, 1.0).items() if math.isinf(mechanism.log_bound(0, 1))}
    assert infinite == {"Gaussian"}
    plus = every(E, 1.0)["SanTextPlus"]
    assert math.isinf(plus.log_bound(0, 2))
    assert math.isfinite(plus.log_bound(1, E.unknown_id))


def test_words_of_one_cell_keep_the_bound_and_words_of_two_have_none() -> None:
    mechanism = CusText(E, epsilon=1.0, k=4)
    assert sorted(mechanism.cells.members[0][:4].tolist()) == [0, 1, 2, 3]
    assert mechanism.log_bound(2, 3) == 1.0
    assert not refuted_either_way(drawn(mechanism), 2, 3, 1.0, draws=DRAWS)
    assert refuted_either_way(drawn(mechanism), 2, 3, 0.3, draws=DRAWS)  # the test is sharp
    assert math.isinf(mechanism.log_bound(2, 4))


def _flat() -> Embedding:
    """Return words that spread along one axis, while 0 and 2 differ across it."""
    points = [[0.0, 0.0], [9.0, 0.0], [0.0, 0.6], [-9.0, 0.0], [0.0, -0.6], [0.0, 1.2], [0.0, -1.2]]
    return Embedding([f"w{i}" for i in range(len(points))], points)


FLAT = _flat()
Broken = tuple[Mechanism, Mechanism, tuple[int, int]]
"""A wrong mechanism, the right one, and two words that tell the wrong one by the bound of the right one."""

BROKEN: dict[str, Broken] = {
    "Mahalanobis noise brought back to length 1": (
        mutants.RenormalisedMahalanobis(E, 1.0, lam=0.99),
        Mahalanobis(E, 1.0, lam=0.99),
        (4, 5),
    ),
    "Mahalanobis noise judged by the Euclidean distance": (
        Mahalanobis(FLAT, 1.0, lam=0.99),
        Multivariate(FLAT, 1.0),
        (0, 2),
    ),
    "Vickrey that skips the input word": (mutants.VickreySkippingTheInput(E, 1.0), Vickrey(E, 1.0), (0, 1)),
    "ranks of the input word": (
        mutants.RanksOfTheInput(Multivariate(E, 1.0), c=2.0),
        RankSmoothing(Multivariate(E, 1.0)),
        (0, 2),
    ),
    "SanText with exp(-ε·d)": (mutants.WholeEpsilon(E, 2.0), SanText(E, 2.0), (0, 2)),
    "SanText+ that keeps unknown words": (
        mutants.KeepsUnlistedUnknown(E, 1.0, sensitive=["w2"]),
        SanTextPlus(E, 1.0, sensitive=["w2"]),
        (E.unknown_id, 2),
    ),
    "TEM without its cut": (mutants.UntruncatedTEM(E, 5.0), TEM(E, 5.0, beta=0.5), (0, 6)),
    "TEM that returns the input word": (
        mutants.TEMReturningTheInput(E, 5.0, beta=0.5),
        TEM(E, 5.0, beta=0.5),
        (0, 6),
    ),
    "CusText with lists": (mutants.NearestLists(E, epsilon=1.0, k=4), CusText(E, 1.0, k=len(E)), (0, 4)),
    "the line with half the noise": (mutants.HalfTheSteps(E, 0.5), Line(E, 0.5), (0, 2)),
    "the line with ε upside down": (mutants.StepsTheWrongWay(E, 0.5), Line(E, 0.5), (0, 2)),
    "the line with a list chosen by the word": (
        mutants.ListOfTheWord(E, 1.0, lists=2),
        Line(E, 1.0, lists=2),
        (0, 1),
    ),
    "randomised response among two": (mutants.ResponseAmongFew(E, 1.0), RandomizedResponse(E, 1.0), (0, 2)),
}
MANY_DRAWS = {"Mahalanobis noise brought back to length 1": 300_000}  # it shows far out in the tails only


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_mechanism_is_refuted(name: str) -> None:
    wrong, right, pair = BROKEN[name]
    bound, draws = right.log_bound(*pair), MANY_DRAWS.get(name, DRAWS)
    assert math.isfinite(bound)
    assert refuted_either_way(drawn(wrong), *pair, bound, draws=draws)


def _excess(pair: list[Floats], epsilon: float) -> float:
    first, second = pair
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.0])
def test_gaussian_noise_keeps_its_delta_and_half_of_it_does_not(epsilon: float) -> None:
    embedding = direct.few_words()
    mechanism = Gaussian(embedding, epsilon=1.3)
    shares = {
        scale: [
            direct.nearest_word(
                embedding, direct.points_around(embedding, word, direct.chi_lengths(1.3 * scale))
            )
            for word in (1, 2)
        ]
        for scale in (1, 2)
    }
    delta = mechanism.delta(1, 2, epsilon)
    assert 0.0 < delta < 1.0
    assert _excess(shares[1], epsilon) <= delta + 1e-3
    assert _excess(shares[2], epsilon) > delta + 1e-3


def test_delta_is_that_of_balle_and_wang() -> None:
    # At ε' = 0 it is the total variation distance of two normal distributions: 2Φ(μ/2) - 1.
    from scipy.stats import norm

    mechanism = Gaussian(E, epsilon=1.0)
    assert mechanism.delta(0, 2, 0.0) == pytest.approx(2 * norm.cdf(mechanism.mu(0, 2) / 2) - 1)
    assert mechanism.delta(0, 0, 0.5) == 0.0
    assert mechanism.delta(0, 6, 1e3) == 0.0


CASED = ["john", "John", "JOHN", "Paris", "mary", "O'Neil", "o", "neil", "McDonald-Fry", "Straße", "the"]


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ("john", ["john", "John", "JOHN"]),
        ("John", ["john", "John", "JOHN"]),
        ("jOHN", ["john", "John", "JOHN"]),
        ("paris", ["Paris"]),
        ("PARIS", ["Paris"]),
        ("Mary", ["mary"]),
        ("o'neil", ["O'Neil", "o", "neil"]),
        ("O'NEIL", ["O'Neil", "o", "neil"]),
        ("mcdonald-fry", ["McDonald-Fry"]),
        ("STRASSE", ["Straße"]),
        ("the mcdonald-fry, paris", ["the", "McDonald-Fry", "Paris"]),
    ],
)
def test_a_listed_word_is_sensitive_in_every_case_that_the_vocabulary_holds(
    listed: str, words: list[str]
) -> None:
    embedding = Embedding(CASED, np.random.default_rng(0).normal(size=(len(CASED), 3)))
    mechanism = SanTextPlus(embedding, epsilon=1e-3, sensitive=[listed], p=0.0)
    found = {embedding.words[word] for word in mechanism.sensitive.tolist()}
    assert set(words) <= found <= {*words, "o", "neil"}
    private = Privatizer(mechanism)
    for word in words:
        assert private.many([word] * 200).count(word) < 100, f"{word} is let out"
    other = "mary" if listed.lower() == "john" else "john"
    assert private.many([other] * 20) == [other] * 20, "others are kept"


def test_the_stand_ins_of_a_listed_word_are_sensitive_in_every_case() -> None:
    embedding = Embedding(CASED, np.random.default_rng(0).normal(size=(len(CASED), 3)))
    embedding.protection = np.array(
        [0, 4, 3, *range(3, len(CASED) + 1)]
    )  # John goes in as mary, JOHN as Paris
    private = Privatizer(SanTextPlus(embedding, epsilon=1e-3, sensitive=["john"], p=0.0))
    for word in ("John", "JOHN"):
        released = private.many([word] * 200)
        assert max(released.count(one) for one in CASED) < 100, f"{word} is let out, or what stands in for it"


def test_an_uncased_vocabulary_finds_listed_words_however_they_are_written() -> None:
    words = ["john", "new", "york", "straße", "strasse", "tree"]
    listed = ["John", "New York", "STRASSE"]
    mechanism = SanTextPlus(Embedding(words, np.eye(6)), epsilon=1.0, sensitive=listed)
    assert mechanism.sensitive.tolist() == [0, 1, 2, 4]
