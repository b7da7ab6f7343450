from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deniable import Embedding, Mechanism
from deniable.arrays import Floats
from deniable.channel.outputs import output_distribution
from deniable.mechanisms import Gaussian, Mahalanobis, Multivariate
from tests.mechanisms import definitions as direct
from tests.mechanisms.every import NAMES, every
from tests.support.strategies import random_embedding

METHODS = {
    "Multivariate": "rays",
    "Mahalanobis": "rays",
    "Gaussian": "rays",
    "Vickrey": "simulation",
    "RankSmoothing": "simulation",
}


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_answers_and_says_how(name: str) -> None:
    found = output_distribution(every(random_embedding(30, 3), 2.0)[name], 4, draws=200)
    assert found.method == METHODS.get(name, "exact")
    assert found.probabilities.sum() == pytest.approx(1.0)
    assert (np.diff(found.probabilities) <= 0).all()
    assert ((found.standard_errors > 0).any()) == (found.method != "exact")
    assert 1 <= found.distinct <= 200


RAYS: dict[str, tuple[Callable[[Embedding], Mechanism], Callable[[Embedding, int], Floats]]] = {
    "multivariate": (
        lambda e: Multivariate(e, epsilon=1.3),
        lambda e, w: direct.points_around(e, w, direct.gamma_lengths(1.3)),
    ),
    "mahalanobis": (
        lambda e: Mahalanobis(e, epsilon=1.3, lam=0.9),
        lambda e, w: direct.points_around(e, w, direct.gamma_lengths(1.3), direct.mahalanobis_shape(e, 0.9)),
    ),
    "gaussian": (
        lambda e: Gaussian(e, epsilon=1.3),
        lambda e, w: direct.points_around(e, w, direct.chi_lengths(1.3)),
    ),
}


def off_by_errors(mechanism: Mechanism, embedding: Embedding, word: int, expected: Floats) -> float:
    found = output_distribution(mechanism, word, draws=4_000)
    return float((np.abs(found.probabilities - expected[found.words]) / (found.standard_errors + 1e-4)).max())


@pytest.mark.parametrize("name", RAYS)
def test_rays_agree_with_the_definition_within_their_errors(name: str) -> None:
    make, points = RAYS[name]
    embedding = direct.few_words()
    for word in (0, 5, embedding.unknown_id):
        expected = direct.nearest_word(embedding, points(embedding, word))
        assert off_by_errors(make(embedding), embedding, word, expected) < 6
        for other in RAYS:
            if other != name:
                wrong = RAYS[other][0](embedding)
                assert off_by_errors(wrong, embedding, word, expected) > 6
