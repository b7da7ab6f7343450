"""What every search promises, whichever the machine gets: the oracle's words on kind and hostile data, the
same ties, the same refusals."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniable import Embedding, InvalidParameter
from deniable.arrays import Floats, Ids, Vectors
from deniable.gpu.torch_search import GpuNeighbours
from deniable.interfaces import Neighbours
from deniable.neighbours.blas import TILE, BlasNeighbours
from tests.support.hostile import HOSTILE, hostile_queries, named, near_ties, noisy_queries
from tests.support.oracle import OracleNeighbours
from tests.support.strategies import random_embedding

Search = Callable[[Embedding], Neighbours]

SEARCHES: dict[str, Search] = {"blas": BlasNeighbours, "gpu": partial(GpuNeighbours, device="cpu")}
try:
    from deniable.neighbours.scan import ScanNeighbours, usable_paths
except ImportError:  # installed without the native module
    pass
else:
    SEARCHES |= {f"scan, {path}": partial(ScanNeighbours, path=path) for path in usable_paths()}

pytestmark = pytest.mark.parametrize("search", SEARCHES, indirect=True)


@pytest.fixture
def search(request: pytest.FixtureRequest) -> Search:
    if request.param == "gpu":
        pytest.importorskip("torch")  # `make asan` has none
    return SEARCHES[request.param]


Case = tuple[Embedding, Vectors, Ids]
"""Words, queries and what the slow oracle says: asked once for all searches, which follow one another."""


@lru_cache(maxsize=1)
def cases_of_dimension(dimension: int) -> list[Case]:
    cases = []
    for words in (1, 2, TILE - 1, TILE, TILE + 1, 63, 64, 65, 700):
        embedding = random_embedding(words, dimension)
        noise = enumerate((1e-3, 1.0, 10.0, 50.0, 1e4, 1e6))
        queries = np.concatenate(
            [noisy_queries(embedding, epsilon, 40, seed=seed) for seed, epsilon in noise]
        )
        cases.append((embedding, queries, OracleNeighbours(embedding).nearest(queries)))
    return cases


@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 50, 300, 301, 1024])
def test_equal_to_the_oracle_at_every_size_and_noise_level(search: Search, dimension: int) -> None:
    for embedding, queries, expected in cases_of_dimension(dimension):
        assert np.array_equal(search(embedding).nearest(queries), expected), len(embedding)


@lru_cache(maxsize=1)
def hostile_case(make: str) -> tuple[Case, tuple[Ids, Floats]]:
    embedding = HOSTILE[make]()
    queries, oracle = hostile_queries(embedding), OracleNeighbours(embedding)
    if len(embedding) > 1000:
        queries = hostile_queries(embedding, count=20)
    return (embedding, queries, oracle.nearest(queries)), oracle.nearest_k(queries[::30], 40)


@pytest.mark.parametrize("make", HOSTILE)
def test_equal_to_the_oracle_on_hostile_data(search: Search, make: str) -> None:
    (embedding, queries, expected), (expected_ids, expected_distances) = hostile_case(make)
    made = search(embedding)
    assert np.array_equal(made.nearest(queries), expected)
    assert not np.isin(expected, embedding.shadowed).any()
    ids, distances = made.nearest_k(queries[::30], 40)
    assert np.array_equal(ids, expected_ids)
    assert np.allclose(distances, expected_distances, rtol=1e-12, atol=0)
    assert np.array_equal(made.nearest_k(queries[::30], 1)[0][:, 0], expected[::30])


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.integers(1, 80),
    dimension=st.integers(1, 9),
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_equal_to_the_oracle_on_small_integer_grids(
    search: Search, words: int, dimension: int, seed: int, scale: float
) -> None:
    # Coordinates from {-1, 0, 1} make exact ties common.
    rng = np.random.default_rng(seed)
    embedding = named((rng.integers(-1, 2, (words, dimension)) * scale).astype(np.float32))
    queries = (rng.integers(-2, 3, (40, dimension)) * scale / 2).astype(np.float32)
    assert np.array_equal(search(embedding).nearest(queries), OracleNeighbours(embedding).nearest(queries))


def test_exact_ties_go_to_the_lowest_id(search: Search) -> None:
    # The corners of a square are equally far from its centre, and points of the axes tie in pairs.
    embedding = Embedding(list("abcd"), [[1, 1], [1, -1], [-1, 1], [-1, -1]])
    queries = np.array([[0, 0], [1, 0], [-1, 0], [0, -3]], dtype=np.float32)
    assert search(embedding).nearest(queries).tolist() == [0, 0, 2, 1]


@pytest.mark.parametrize("k", [1, 2, 5, 200])
def test_the_k_nearest_and_their_distances_equal_the_oracle(search: Search, k: int) -> None:
    embedding = random_embedding(200, 12)
    queries = noisy_queries(embedding, 3.0, 50)
    ids, distances = search(embedding).nearest_k(queries, k)
    expected_ids, expected_distances = OracleNeighbours(embedding).nearest_k(queries, k)
    assert np.array_equal(ids, expected_ids)
    assert np.allclose(distances, expected_distances, rtol=1e-12, atol=0)


def test_the_k_nearest_of_a_word_include_itself_and_words_that_share_its_vector(search: Search) -> None:
    embedding = Embedding(list("abc"), [[0.0, 1.0], [5.0, 5.0], [0.0, 1.0]])
    ids, distances = search(embedding).nearest_k(embedding.rows(np.array([2])), 3)
    assert ids.tolist() == [[0, 2, 1]]
    assert distances[0, :2].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("k", [0, 4])
def test_k_out_of_range_is_refused(search: Search, k: int) -> None:
    with pytest.raises(InvalidParameter, match="k ="):
        search(random_embedding(3, 2)).nearest_k(np.zeros((1, 2), dtype=np.float32), k)


def test_wrong_dimension_and_not_a_number_are_refused_without_showing_the_point(search: Search) -> None:
    made = search(random_embedding(3, 2))
    with pytest.raises(InvalidParameter, match="2 coordinates"):
        made.nearest(np.zeros((1, 3), dtype=np.float32))
    with pytest.raises(InvalidParameter, match="finite") as caught:
        made.nearest(np.array([[0.123456, np.nan]], dtype=np.float32))
    assert "0.123" not in str(caught.value)


def test_points_so_far_out_that_float32_overflows_are_refused(search: Search) -> None:
    with pytest.raises(InvalidParameter, match="at most"):
        search(random_embedding(3, 2)).nearest(np.array([[1e30, 0.0]], dtype=np.float32))


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_in_few_dimensions_near_ties_and_far_tails_equal_the_oracle(search: Search, dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    vectors = np.repeat(rng.standard_normal((60, dimension)).astype(np.float32), 3, axis=0)
    vectors[1::3, 0] = np.nextafter(vectors[1::3, 0], np.float32(9))  # one float apart, or equal
    embedding = Embedding([f"w{i}" for i in range(len(vectors))], vectors)
    middles = (vectors[rng.permutation(180)] + vectors) / np.float32(2)
    tails = vectors * np.float32(10) ** rng.integers(3, 24, (180, 1)).astype(np.float32)
    queries = np.concatenate([vectors, middles, tails, noisy_queries(embedding, 2.0, 200)])
    expected = OracleNeighbours(embedding).nearest(queries)
    assert np.array_equal(search(embedding).nearest(queries), expected)
    assert not (np.isin(expected, embedding.shadowed)).any()


def test_no_queries_give_no_words(search: Search) -> None:
    made = search(random_embedding(3, 2))
    assert len(made.nearest(np.zeros((0, 2), dtype=np.float32))) == 0
    assert made.nearest_k(np.zeros((0, 2), dtype=np.float32), 2)[0].shape == (0, 2)


def test_queries_need_not_be_contiguous(search: Search) -> None:
    embedding = near_ties()
    queries = np.asfortranarray(noisy_queries(embedding, 1.0, 100))
    assert np.array_equal(search(embedding).nearest(queries), OracleNeighbours(embedding).nearest(queries))
