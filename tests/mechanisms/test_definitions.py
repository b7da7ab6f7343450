"""Every mechanism draws from the distribution that its definition says, and its mutant does not."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial

import numpy as np
import pytest
from scipy.stats import chisquare, poisson

from deniable import Embedding, InsecureSeededRandomness, Mechanism
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
from deniable.mechanisms.base import ExactSums
from tests.mechanisms import definitions as direct
from tests.mechanisms import mutants

EPSILON, DRAWS, ALPHA = 1.3, 30_000, 1e-6
E = direct.few_words()
SENSITIVE = ["w0", "w3"]

Expected = Callable[[Embedding, int], Floats]


def _around(e: Embedding, w: int, *, lam: float | None = None) -> Floats:
    return direct.points_around(
        e, w, direct.gamma_lengths(EPSILON), None if lam is None else direct.mahalanobis_shape(e, lam)
    )


def _santext(e: Embedding, w: int) -> Floats:
    return direct.softmax(e, w, EPSILON)


def _line(e: Embedding, w: int, *, lists: int) -> Floats:
    return direct.line(e, w, EPSILON, lists)


def _santext_plus(e: Embedding, w: int) -> Floats:
    drawn = _santext(e, w)
    if w in (0, 3, e.unknown_id):
        return drawn
    kept = np.zeros(len(e))
    kept[1 if w == 6 else w] = 1.0
    return 0.8 * kept + 0.2 * drawn


def _custext(e: Embedding, w: int) -> Floats:
    cells = CusText(e, epsilon=EPSILON, k=3).cells
    members = cells.members[cells.cell_of[w]]
    return direct.custext(e, w, EPSILON, members[members >= 0])


def _tem(e: Embedding, w: int) -> Floats:
    return direct.softmax(e, w, EPSILON, cap=2 / EPSILON * math.log(0.7 / 0.3 * 5))


CASES: dict[str, tuple[Mechanism, Mechanism, Expected]] = {
    "multivariate": (
        Multivariate(E, EPSILON),
        Gaussian(E, EPSILON),
        lambda e, w: direct.nearest_word(e, _around(e, w)),
    ),
    "mahalanobis": (
        Mahalanobis(E, EPSILON, lam=0.9),
        mutants.RenormalisedMahalanobis(E, EPSILON, lam=0.9),
        lambda e, w: direct.nearest_word(e, _around(e, w, lam=0.9)),
    ),
    "gaussian": (
        Gaussian(E, EPSILON),
        mutants.HalfTheNormalNoise(E, EPSILON),
        lambda e, w: direct.nearest_word(e, direct.points_around(e, w, direct.chi_lengths(EPSILON))),
    ),
    "vickrey": (
        Vickrey(E, EPSILON),
        mutants.VickreySkippingTheInput(E, EPSILON),
        lambda e, w: direct.vickrey(e, _around(e, w), 0.75),
    ),
    "vickrey over mahalanobis": (
        Vickrey(E, EPSILON, t=0.5, noise="mahalanobis", lam=0.9),
        Vickrey(E, EPSILON, t=0.5),
        lambda e, w: direct.vickrey(e, _around(e, w, lam=0.9), 0.5),
    ),
    "rank smoothing": (
        RankSmoothing(Multivariate(E, EPSILON), c=0.5),
        mutants.RanksFromOne(Multivariate(E, EPSILON), c=0.5),
        lambda e, w: direct.rank_smoothing(e, direct.nearest_word(e, _around(e, w)), 0.5 * EPSILON),
    ),
    "santext": (SanText(E, EPSILON), mutants.WholeEpsilon(E, EPSILON), _santext),
    "santext-plus": (SanTextPlus(E, EPSILON, sensitive=SENSITIVE), SanText(E, EPSILON), _santext_plus),
    "tem": (TEM(E, EPSILON, beta=0.3), mutants.UntruncatedTEM(E, EPSILON), _tem),
    "custext": (CusText(E, EPSILON, k=3), mutants.NearestLists(E, epsilon=EPSILON, k=3), _custext),
    "line": (Line(E, EPSILON), mutants.WrapsAround(E, EPSILON), partial(_line, lists=1)),
    "line, half the noise": (Line(E, EPSILON), mutants.HalfTheSteps(E, EPSILON), partial(_line, lists=1)),
    "line with three lists": (
        Line(E, EPSILON, lists=3),
        mutants.ListOfTheWord(E, EPSILON, lists=3),
        partial(_line, lists=3),
    ),
    "randomized response": (
        RandomizedResponse(E, EPSILON),
        mutants.ResponseAmongFew(E, EPSILON),
        lambda e, w: direct.randomized_response(e, w, EPSILON),
    ),
}

WORDS = [0, 1, 5, 6, E.unknown_id]


@cache
def expected_of(name: str, word: int) -> Floats:
    return CASES[name][2](E, word)


def follows(mechanism: Mechanism, word: int, expected: Floats) -> bool:
    released = mechanism.perturb(np.full(DRAWS, word), InsecureSeededRandomness(insecure_seed=word))
    counts = np.bincount(released, minlength=len(expected))
    # The even grid cannot see what comes out less than once in ten thousand draws, so rare words get an
    # allowance of that.
    rare = expected * DRAWS < 20
    if counts[rare].sum() > poisson.ppf(1 - ALPHA, expected[rare].sum() * DRAWS + 3):
        return False
    likely = expected[~rare] / expected[~rare].sum()
    return len(likely) == 1 or bool(chisquare(counts[~rare], likely * counts[~rare].sum()).pvalue > ALPHA)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("word", WORDS)
def test_it_draws_from_its_definition(name: str, word: int) -> None:
    assert follows(CASES[name][0], word, expected_of(name, word))


@pytest.mark.parametrize("name", CASES)
def test_a_mutant_is_rejected(name: str) -> None:
    assert not all(follows(CASES[name][1], word, expected_of(name, word)) for word in WORDS)


def test_a_cut_of_tem_makes_a_difference_here() -> None:
    assert (
        TEM(E, epsilon=EPSILON, beta=0.3).gamma < 5.6
    )  # the longest distance: else the mutant would be right


@pytest.mark.parametrize(
    "name", [name for name, (mechanism, _, _) in CASES.items() if isinstance(mechanism, ExactSums)]
)
@pytest.mark.parametrize("word", WORDS)
def test_exact_sums_are_those_of_the_definition(name: str, word: int) -> None:
    mechanism = CASES[name][0]
    assert isinstance(mechanism, ExactSums)
    ids, probabilities = next(mechanism.probabilities(np.array([word])))
    found = np.zeros(len(E))
    found[ids] = probabilities
    # The grid moves a distance by at most √2 units of 2^-24.
    assert np.abs(found - expected_of(name, word)).max() < 1e-6
    assert abs(probabilities.sum() - 1) < 1e-12
