"""The bound holds in the mapped metric; a map after the noise, or ε in the metric before the map, is
refuted."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from deniable import Embedding, Multivariate
from deniable.arrays import Floats, Ids, Vectors
from deniable.audit import audit_bound
from deniable.audit.bound import attempts
from deniable.embeddings.derived import map_embedding
from deniable.embeddings.linear_map import LinearMap, MapOrigin
from deniable.interfaces import Mechanism, Randomness
from deniable.noise.randomness import multivariate_noise
from deniable.purposes import reduce, shape
from tests.support.made_purpose import made_embedding, public_texts
from tests.support.strategies import random_embedding

OWN = random_embedding(60, 5)


def mapped(space: Embedding, scale: float) -> Embedding:
    """Return a space turned by a rotation, its last axis scaled as a purpose is."""
    n = space.dimension
    axes = np.linalg.qr(np.random.default_rng(n).normal(size=(n, n)))[0]
    origin = MapOrigin(kind="reduced", source=space.name, source_fingerprint=space.fingerprint, dimension=n)
    return map_embedding(space, LinearMap.of(axes, np.append(np.ones(n - 1), scale), origin))


class MapAfterNoise(Multivariate):
    """Adds noise to the vector before the map, and maps the noisy point. What holds is ε times the distance
    before the map."""

    def __init__(self, embedding: Embedding, *, epsilon: float, before: Embedding) -> None:
        super().__init__(embedding, epsilon=epsilon)
        self._before = before

    def points(self, ids: Ids, source: Randomness, epsilon: Floats) -> Vectors:
        noise = multivariate_noise(source, epsilon, len(epsilon), self._before.dimension)
        assert self.embedding.linear_map is not None
        return self.embedding.linear_map.apply((self._before.rows(ids) + noise).astype(np.float32))


class BoundBeforeTheMap(Multivariate):
    """Draws in the mapped space and promises ε times the distance before the map."""

    def __init__(self, embedding: Embedding, *, epsilon: float, before: Embedding) -> None:
        super().__init__(embedding, epsilon=epsilon)
        self._before = before

    def log_bound(self, first: int, second: int) -> float:
        rows = self._before.rows(np.array([first, second])).astype(np.float64)
        return self.epsilon * float(np.linalg.norm(rows[0] - rows[1]))


def make(kind: type[Multivariate], scale: float, space: Embedding, epsilon: float) -> Mechanism:
    after = mapped(space, scale)
    return (
        kind(after, epsilon=epsilon) if kind is Multivariate else kind(after, epsilon=epsilon, before=space)  # type: ignore[call-arg]
    )


def refuted(kind: type[Multivariate], scale: float, *, draws: int = 20_000) -> bool:
    return any(
        place.refuted
        for place in attempts(partial(make, kind, scale), OWN, 3.0, seed=1, draws=draws, own_draws=500)
    )


@pytest.mark.parametrize("scale", [0.4, 1.0, 3.0])
def test_the_bound_holds_in_the_mapped_metric(scale: float) -> None:
    assert not refuted(Multivariate, scale)


def test_a_map_applied_after_the_noise_is_refuted_where_it_brings_words_together() -> None:
    assert refuted(MapAfterNoise, 0.4)


def test_an_epsilon_in_the_metric_before_the_map_is_refuted_where_the_map_spreads_words() -> None:
    assert refuted(BoundBeforeTheMap, 3.0)


def test_the_mutants_are_true_where_the_map_does_nothing() -> None:
    assert not refuted(MapAfterNoise, 1.0, draws=5_000)
    assert not refuted(BoundBeforeTheMap, 1.0, draws=5_000)


@pytest.mark.parametrize(
    "space",
    [
        reduce(made_embedding(), 2),
        *(shape(made_embedding(), [public_texts()], dimension=n) for n in (0, 1, 2)),
    ],
)
def test_the_audit_passes_on_reduced_and_shaped_spaces(space: Embedding) -> None:
    assert not audit_bound(space, epsilon=2.0, draws=3_000, own_draws=20_000).refuted


@pytest.mark.parametrize(("kind", "strength"), [(MapAfterNoise, 0.05), (BoundBeforeTheMap, 8.0)])
def test_the_mutants_are_refuted_on_a_shaped_space_itself(kind: type[Multivariate], strength: float) -> None:
    # One direction of the purpose and one principal axis: in few dimensions, draws on the space itself tell.
    reduced = reduce(made_embedding(60), 2)
    before = Embedding(reduced.words, reduced.vectors, unknown=reduced.unknown, name="reduced")
    after = shape(before, [public_texts()], dimension=1, strength=strength)

    def make_shaped(space: Embedding, epsilon: float) -> Mechanism:
        if space is not after:
            return Multivariate(space, epsilon=epsilon)
        return kind(after, epsilon=epsilon, before=before)  # type: ignore[call-arg]

    *others, own = attempts(make_shaped, after, 1.0, seed=3, draws=100, own_draws=40_000)
    assert own.refuted
    assert not any(place.refuted for place in others)
