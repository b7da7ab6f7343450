"""The search for GPUs, run on CPU tensors, returns the oracle's word for every query."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from deniable import Embedding, InvalidParameter, Multivariate, SecureRandomness
from deniable.gpu.torch_search import GpuNeighbours
from deniable.neighbours import set_device
from deniable.neighbours.blas import TILE
from tests.support.hostile import HOSTILE, equal_vectors, hostile_queries, near_ties, noisy_queries
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import random_embedding


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 50.0])
@pytest.mark.parametrize(("words", "dimension"), [(1, 3), (2, 1), (TILE - 1, 2), (TILE + 1, 50), (1000, 301)])
def test_equal_to_the_oracle_at_every_size_and_noise_level(
    words: int, dimension: int, epsilon: float
) -> None:
    embedding = random_embedding(words, dimension)
    queries = noisy_queries(embedding, epsilon, 300)
    assert np.array_equal(
        GpuNeighbours(embedding, device="cpu").nearest(queries), OracleNeighbours(embedding).nearest(queries)
    )


@pytest.mark.parametrize("data", HOSTILE)
def test_equal_to_the_oracle_on_hostile_data(data: str) -> None:
    embedding = HOSTILE[data]()
    queries = hostile_queries(embedding)
    assert np.array_equal(
        GpuNeighbours(embedding, device="cpu").nearest(queries), OracleNeighbours(embedding).nearest(queries)
    )


def test_a_search_without_its_error_bound_is_told_from_the_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = near_ties()
    queries = noisy_queries(embedding, 1.0, 500)
    careless = GpuNeighbours(embedding, device="cpu")
    monkeypatch.setattr(careless, "_error", lambda *norms: 0.0 * norms[0])
    assert not np.array_equal(careless.nearest(queries), OracleNeighbours(embedding).nearest(queries))


def test_words_that_share_an_earlier_vector_never_win() -> None:
    embedding = equal_vectors()
    assert not np.isin(
        GpuNeighbours(embedding, device="cpu").nearest(embedding.vectors), embedding.shadowed
    ).any()


def _tf32(of: str, allowed: bool) -> None:
    """Allow TF32, or no longer, by one of PyTorch's switches."""
    if of == "older":
        torch.set_float32_matmul_precision("high" if allowed else "highest")
    else:
        torch.backends.cuda.matmul.fp32_precision = "none"  # what is said of all holds
        holder: Any = torch.backends if of == "all" else torch.backends.cuda.matmul
        holder.fp32_precision = "tf32" if allowed else "none"


@pytest.mark.parametrize("of", ["older", "all", "card"])
def test_it_refuses_to_run_where_products_may_be_rounded_to_tf32(of: str) -> None:
    search = GpuNeighbours(random_embedding(3, 2), device="cpu")
    if of != "older" and not hasattr(torch.backends, "fp32_precision"):
        pytest.skip("this PyTorch has the older switch only")
    _tf32(of, True)
    try:
        with pytest.raises(InvalidParameter, match="highest"):
            search.nearest(np.zeros((1, 2), dtype=np.float32))
    finally:
        _tf32(of, False)
        torch.set_float32_matmul_precision("highest")
    assert search.nearest(np.zeros((1, 2), dtype=np.float32)).shape == (1,)


def test_a_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="device"):
        GpuNeighbours(random_embedding(3, 2), device="meteorite")


@pytest.fixture
def on_cpu_tensors() -> Iterator[None]:
    set_device("cpu")
    yield
    set_device(None)


@pytest.mark.usefixtures("on_cpu_tensors")
def test_a_mechanism_uses_the_device_that_was_asked_for() -> None:
    mechanism = Multivariate(random_embedding(50, 4), epsilon=1e6)
    assert isinstance(mechanism.neighbours, GpuNeighbours)
    assert mechanism.perturb(np.arange(50), SecureRandomness()).tolist() == list(range(50))


def test_otherwise_no_mechanism_does() -> None:
    embedding: Embedding = random_embedding(5, 4)
    assert not isinstance(Multivariate(embedding, epsilon=1.0).neighbours, GpuNeighbours)
