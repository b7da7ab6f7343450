"""The scan against float64 brute force, word for word, on real vectors. Needs the shared data; run by `make
check-slow`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.arrays import Ids, Vectors
from deniable.embeddings import store
from deniable.neighbours.exact import nearest_of, score_error
from tests.support.hostile import noisy_queries

pytest.importorskip("deniable.neighbours._native", reason="installed without the native module")

from deniable.neighbours.scan import ScanNeighbours, usable_paths

DATA = Path(__file__).parents[3] / "shared" / "data" / "embeddings"
EPSILONS = (1.0, 3.0, 5.0, 10.0, 20.0, 50.0)
SETS = {
    "glove.840B.300d.34k.w2v.txt.bz2": 21_000,
    "word2vec.GoogleNews.300d.unit.bolukbasi26k.bin.xz": 6_000,
    "glove.6B.50d.txt.bz2": 6_500,
}
"""Queries at each noise level: 201,000 in all."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="the shared data sets are not here"),
]


def brute_force(embedding: Embedding, queries: Vectors) -> Ids:
    """Return what the oracle returns, many queries at a time: every word scored in float64, close ones
    without rounding."""
    vectors = embedding.vectors.astype(np.float64)
    half_squares = 0.5 * np.einsum("ij,ij->i", vectors, vectors)
    largest = float(np.sqrt(2 * half_squares.max()))
    nearest = np.empty(len(queries), dtype=np.int64)
    at_once = max(1, (1 << 25) // len(vectors))
    for start in range(0, len(queries), at_once):
        batch = queries[start : start + at_once].astype(np.float64)
        scores = batch @ vectors.T
        scores -= half_squares
        best = scores.argmax(axis=1)
        slack = 2 * score_error(batch.shape[1], np.linalg.norm(batch, axis=1), largest)
        reached = scores[np.arange(len(batch)), best] - slack
        for i in np.flatnonzero(np.count_nonzero(scores >= reached[:, None], axis=1) > 1).tolist():
            best[i] = nearest_of(
                queries[start + i], embedding.vectors, np.flatnonzero(scores[i] >= reached[i]).tolist()
            )
        nearest[start : start + len(batch)] = best
    return nearest


def test_the_sets_make_two_hundred_thousand_queries() -> None:
    assert len(EPSILONS) * sum(SETS.values()) >= 200_000


@pytest.mark.parametrize("name", SETS)
def test_word_for_word_equal_to_float64_on_every_path(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    store.add(DATA / name, "real", duplicates="first")
    embedding = Embedding.open("real")
    queries = np.concatenate(
        [noisy_queries(embedding, epsilon, SETS[name], seed=seed) for seed, epsilon in enumerate(EPSILONS)]
    )
    expected = brute_force(embedding, queries)
    for path in usable_paths():
        assert np.array_equal(ScanNeighbours(embedding, path=path).nearest(queries), expected), path
    sample = slice(0, len(queries), len(queries) // 50)
    ids, distances = ScanNeighbours(embedding).nearest_k(queries[sample], 1000)
    assert np.array_equal(ids[:, 0], expected[sample])
    assert (np.diff(distances, axis=1) >= 0).all()
