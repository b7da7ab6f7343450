"""How a channel is known is declared by the mechanism, decided in one place, and never inherited by what
draws otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from deniable import Gaussian, Mahalanobis, Mechanism, Multivariate, SanText, Vickrey
from deniable.arrays import Floats, Ids
from deniable.interfaces import Randomness
from deniable.mechanisms.base import Method, exact_sums, method_of, radial_noise
from deniable.mechanisms.catalogue import CATALOGUE, make_mechanism
from tests.support.strategies import random_embedding

EMBEDDING = random_embedding(40, 3)
METHODS: dict[str, Method] = {
    "multivariate": "rays",
    "mahalanobis": "rays",
    "gaussian": "rays",
    "vickrey": "simulation",
    "rank-smoothing": "simulation",
    "tem": "exact",
    "santext": "exact",
    "santext-plus": "exact",
    "custext": "exact",
    "line": "exact",
    "randomized-response": "exact",
}


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_mechanism_declares_how_its_channel_is_known(name: str) -> None:
    options = {"sensitive": EMBEDDING.words[:3]} if name == "santext-plus" else {}
    assert method_of(make_mechanism(name, EMBEDDING, epsilon=2.0, options=options)) == METHODS[name]


class HalfTheNoise(Multivariate):
    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        return super().noise(source, epsilon) / 2


class TheFirstWord(Gaussian):
    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        return super().draw(ids, source, epsilon) * 0


class AlwaysTheSame(SanText):
    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        return super().draw(ids, source, epsilon) * 0


class OtherNoise:
    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        return 2 * super().noise(source, epsilon)  # type: ignore[misc,no-any-return]


class OtherDraws:
    def draw(self, ids: Ids, source: Randomness, epsilon: Floats) -> Ids:
        return super().draw(ids, source, epsilon) * 0  # type: ignore[misc,no-any-return]


class MixedNoise(OtherNoise, Multivariate):
    """Draws by the class before the one that declares."""


class MixedDraws(OtherDraws, SanText):
    """Draws by the class before the one that sums."""


@pytest.mark.parametrize("kind", [HalfTheNoise, TheFirstWord, AlwaysTheSame, MixedNoise, MixedDraws])
def test_a_class_that_draws_in_a_way_of_its_own_inherits_no_declaration(kind: Any) -> None:
    mechanism: Mechanism = kind(EMBEDDING, epsilon=2.0)
    assert method_of(mechanism) == "simulation"
    assert exact_sums(mechanism) is None
    assert radial_noise(mechanism) is None


def test_a_class_that_changes_nothing_of_the_draws_is_known_as_its_parent_is() -> None:
    class Renamed(Mahalanobis):
        pass

    assert method_of(Renamed(EMBEDDING, epsilon=2.0)) == "rays"
    assert method_of(Vickrey(EMBEDDING, epsilon=2.0)) == "simulation"
