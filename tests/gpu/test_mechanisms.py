"""A search that makes noise itself takes the place of the secure source, and of no other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, Multivariate, Privatizer, SecureRandomness
from deniable.arrays import Floats, Ids, Vectors
from deniable.interfaces import Randomness
from deniable.neighbours import set_device
from deniable.noise.randomness import RadialNoise
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import random_embedding


class OwnDraws(OracleNeighbours):
    """Returns word 0 for all that it draws itself, so that it can be seen who drew."""

    def __init__(self, embedding: Embedding) -> None:
        super().__init__(embedding)
        self.asked: list[tuple[RadialNoise, Floats]] = []

    def nearest_to_noisy(self, ids: Ids, noise: RadialNoise, epsilons: Floats) -> Ids:
        self.asked.append((noise, epsilons))
        return np.zeros(len(ids), dtype=np.int64)


class OwnNoise(Multivariate):
    def noise(self, source: Randomness, epsilon: Floats) -> Floats:
        return super().noise(source, epsilon)


class OwnPoints(Multivariate):
    def points(self, ids: Ids, source: Randomness, epsilon: Floats) -> Vectors:
        return super().points(ids, source, epsilon)


class Derived(SecureRandomness):
    pass


def with_gpu(
    kind: type[Multivariate] = Multivariate, *, epsilon: float = 1e9
) -> tuple[Multivariate, OwnDraws]:
    mechanism = kind(random_embedding(20, 3), epsilon=epsilon)
    gpu = OwnDraws(mechanism.embedding)
    mechanism.__dict__["neighbours"] = gpu
    return mechanism, gpu


def test_the_gpu_draws_in_place_of_the_secure_source() -> None:
    mechanism, gpu = with_gpu()
    assert mechanism.perturb(np.arange(20), SecureRandomness()).tolist() == [0] * 20
    assert [(noise.lengths, noise.dimension, set(epsilons)) for noise, epsilons in gpu.asked] == [
        ("gamma", 3, {1e9})
    ]


def test_every_token_keeps_its_own_epsilon() -> None:
    mechanism, gpu = with_gpu(epsilon=1.0)
    mechanism.perturb(np.arange(3), SecureRandomness(), epsilon=np.array([1.0, 2.0, 3.0]))
    assert gpu.asked[0][1].tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    "source", [InsecureSeededRandomness(insecure_seed=0), Derived()], ids=["seeded", "of one's own"]
)
def test_it_draws_in_place_of_no_other_source(source: Randomness) -> None:
    mechanism, gpu = with_gpu()
    assert mechanism.perturb(np.arange(20), source).tolist() == list(range(20))
    assert not gpu.asked


@pytest.mark.parametrize("kind", [OwnNoise, OwnPoints])
def test_it_never_draws_for_a_mechanism_that_draws_in_its_own_way(kind: type[Multivariate]) -> None:
    mechanism, gpu = with_gpu(kind)
    assert mechanism.perturb(np.arange(20), SecureRandomness()).tolist() == list(range(20))
    assert not gpu.asked


@pytest.fixture
def on_a_device() -> Iterator[None]:
    set_device("cpu")
    yield
    set_device(None)


@pytest.mark.usefixtures("on_a_device")
@pytest.mark.parametrize(
    ("source", "generator"),
    [
        (SecureRandomness(), "ChaCha20 on a GPU, keyed by the operating system"),
        (InsecureSeededRandomness(insecure_seed=0), "PCG64"),
    ],
    ids=["secure", "seeded"],
)
def test_the_receipt_names_the_generator_that_drew(source: Randomness, generator: str) -> None:
    mechanism, _ = with_gpu()
    assert Privatizer(mechanism, randomness=source).settings.randomness["generator"] == generator


def test_the_receipt_names_the_generator_of_a_search_that_outlasts_its_device() -> None:
    mechanism, gpu = with_gpu()
    private = Privatizer(mechanism)
    private(mechanism.embedding.words[3])
    assert gpu.asked
    assert private.settings.randomness["generator"] == "ChaCha20 on a GPU, keyed by the operating system"


@pytest.mark.usefixtures("on_a_device")
def test_a_device_without_our_kernels_draws_nothing() -> None:
    settings = Privatizer(Multivariate(random_embedding(20, 3), epsilon=1e9)).settings
    assert settings.randomness["generator"] == "AES-128 counter mode, keyed by the operating system"
