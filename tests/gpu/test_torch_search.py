"""The search for GPUs that have no kernels of ours, on CPU tensors; ``test_every_search`` has the oracle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from deniable import Embedding, InvalidParameter, Multivariate, SecureRandomness
from deniable.gpu.torch_search import GpuNeighbours
from deniable.neighbours import set_device
from tests.support.hostile import near_ties, noisy_queries
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import random_embedding


def test_a_search_without_its_error_bound_is_told_from_the_oracle(monkeypatch: pytest.MonkeyPatch) -> None:
    embedding = near_ties()
    queries = noisy_queries(embedding, 1.0, 500)
    careless = GpuNeighbours(embedding, device="cpu")
    monkeypatch.setattr(careless, "_error", lambda *norms: 0.0 * norms[0])
    assert not np.array_equal(careless.nearest(queries), OracleNeighbours(embedding).nearest(queries))


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
