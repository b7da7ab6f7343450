from __future__ import annotations

import numpy as np

from deniable import Embedding
from deniable.calibration.compare import PERCENTILES, compare_geometry, geometry
from tests.support.strategies import line_embedding, random_embedding


def test_distances_on_a_line_are_known() -> None:
    found = geometry(line_embedding(0.0, 1.0, 3.0, 6.0, 10.0, 15.0, 21.0))
    assert found.neighbours == (1, 5)
    assert found.percentiles[0].tolist() == np.percentile([1, 1, 2, 3, 4, 5, 6], PERCENTILES).tolist()
    assert found.to_dict()["neighbours"][1]["neighbour"] == 5


def test_it_is_what_all_distances_say() -> None:
    embedding = random_embedding(150, 4)
    vectors = embedding.vectors.astype(np.float64)
    distances = np.sort(np.linalg.norm(vectors[:, None] - vectors, axis=2), axis=1)
    found = geometry(embedding)
    for i, k in enumerate(found.neighbours):
        assert np.allclose(found.percentiles[i], np.percentile(distances[:, k], PERCENTILES))
    assert geometry(embedding, sample=20).words == 20


def test_two_embeddings_are_compared_on_their_common_words() -> None:
    first, second = (
        random_embedding(60, 3),
        Embedding([f"w{i}" for i in range(40, 100)], np.random.default_rng(1).normal(size=(60, 5))),
    )
    left, right = compare_geometry(first, second)
    assert left.words == right.words == 20
    assert left.neighbours == right.neighbours == (1, 5, 10)


def test_a_single_word_has_no_neighbours() -> None:
    assert geometry(line_embedding(0.0)).to_dict()["neighbours"] == []
