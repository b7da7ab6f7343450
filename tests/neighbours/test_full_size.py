"""The scan against float64, word for word, on every path: real vectors, and hostile data of 400,000 words.

Run by `make check-slow`; real vectors need the shared data.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, Multivariate
from deniable.arrays import Floats, Ids, Vectors
from deniable.embeddings import store
from deniable.embeddings.content import shadowed_rows
from deniable.neighbours.exact import nearest_of, score_error
from deniable.noise.randomness import multivariate_noise
from tests.support.hostile import HOSTILE_AT_ANY_SIZE, hostile_queries, hostile_vectors, noisy_queries

pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")

from deniable.neighbours.scan import ScanNeighbours, usable_paths

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[3] / "shared" / "data" / "embeddings"
EPSILONS = (1.0, 3.0, 5.0, 10.0, 20.0, 50.0)
SETS = {
    "glove.840B.300d.34k.w2v.txt.bz2": 21_000,
    "word2vec.GoogleNews.300d.unit.bolukbasi26k.bin.xz": 6_000,
    "glove.6B.50d.txt.bz2": 6_500,
}
"""Queries at each noise level: 201,000 in all."""

WORDS = 400_000
_WORDS_AT_ONCE, _SCORES_AT_ONCE = 16_384, 1 << 25


def brute_force(vectors: Vectors, queries: Vectors) -> Ids:
    """Return what the oracle returns, in less memory: words scored in float64 with their own errors, close
    ones without rounding."""
    at_once = max(1, _SCORES_AT_ONCE // len(vectors))
    parts = [queries[start : start + at_once] for start in range(0, len(queries), at_once)]
    return np.concatenate([_brute_force(vectors, part) for part in parts])


def _brute_force(vectors: Vectors, queries: Vectors) -> Ids:
    points = queries.astype(np.float64)
    lengths = np.linalg.norm(points, axis=1)
    scores, errors = (np.empty((len(queries), len(vectors))) for _ in range(2))
    for start in range(0, len(vectors), _WORDS_AT_ONCE):
        block = vectors[start : start + _WORDS_AT_ONCE].astype(np.float64)
        norms = np.linalg.norm(block, axis=1)
        scores[:, start : start + len(block)] = points @ block.T - 0.5 * np.einsum("ij,ij->i", block, block)
        errors[:, start : start + len(block)] = _errors(vectors.shape[1], lengths, norms)
    reached = (scores - errors).max(axis=1, keepdims=True)
    close = scores + errors >= reached
    nearest = [
        nearest_of(query, vectors, _without_copies(vectors, row))
        for query, row in zip(queries, close, strict=True)
    ]
    return np.array(nearest)


def _errors(dimension: int, lengths: Floats, norms: Floats) -> Floats:
    # Twice the bound of score_error, for a word's own norm; the norms are rounded themselves.
    growth = 2 * float(score_error(dimension, np.zeros(1), 1.0)[0])
    bound: Floats = growth * norms * (lengths[:, None] + norms) + 1e-300
    return bound


def _without_copies(vectors: Vectors, close: Ids) -> list[int]:
    # Hundreds of thousands of equal words would be compared one by one, and only the first can be right.
    first: dict[bytes, int] = {}
    for word in np.flatnonzero(close).tolist():
        first.setdefault((vectors[word] + np.float32(0.0)).tobytes(), word)
    return list(first.values())


def assert_right_on_every_path(embedding: Embedding, queries: Vectors, *, some: int) -> None:
    """Fail unless every path finds the words of brute force, and a thousand neighbours of some of the
    queries."""
    expected = brute_force(embedding.vectors, queries)
    for path in usable_paths():
        search = ScanNeighbours(embedding, path=path)
        assert np.array_equal(search.nearest(queries), expected), path
        ids, distances = search.nearest_k(queries[::some], 1000)
        assert np.array_equal(ids[:, 0], expected[::some]), path
        # The order is that of the true distances; of those that are one rounding apart the later may come out
        # smaller.
        assert (distances[:, 1:] >= distances[:, :-1] * (1 - 1e-12)).all(), path


def test_the_sets_make_two_hundred_thousand_queries() -> None:
    assert len(EPSILONS) * sum(SETS.values()) >= 200_000


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data sets are not here")
@pytest.mark.parametrize("name", SETS)
def test_word_for_word_equal_to_float64_on_real_vectors(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    store.add(DATA / name, "real", duplicates="first")
    embedding = Embedding.open("real")
    queries = [
        noisy_queries(embedding, epsilon, SETS[name], seed=seed) for seed, epsilon in enumerate(EPSILONS)
    ]
    assert_right_on_every_path(embedding, np.concatenate(queries), some=4 * SETS[name] // 50)
    ids = np.random.default_rng(7).integers(0, len(embedding) + 1, 500)
    for epsilon in (1.0, 10.0, 50.0):
        draws, same = (InsecureSeededRandomness(insecure_seed=11) for _ in range(2))
        released = Multivariate(embedding, epsilon=epsilon).perturb(ids, draws)
        noise = multivariate_noise(same, epsilon, len(ids), embedding.dimension)
        points = (noise + embedding.rows(ids)).astype(np.float32)
        assert np.array_equal(released, brute_force(embedding.vectors, points)), epsilon


@pytest.mark.parametrize("dimension", [1, 2, 3, 7, 50, 300, 301, 1024])
@pytest.mark.parametrize("kind", HOSTILE_AT_ANY_SIZE)
def test_equal_to_float64_on_hostile_data_at_full_size(kind: str, dimension: int) -> None:
    vectors = hostile_vectors(kind, WORDS, dimension)
    words, shadowed = [str(i) for i in range(WORDS)], shadowed_rows(vectors)
    embedding = Embedding.from_checked(
        words, vectors, vectors[0].copy(), name="large", shadowed=shadowed, fingerprint="", cased=False
    )
    assert_right_on_every_path(embedding, hostile_queries(embedding, count=4), some=5)
