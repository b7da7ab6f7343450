from __future__ import annotations

import numpy as np
import pytest

from deniable import Embedding
from deniable.mechanisms.custext import cells_of
from tests.support.strategies import random_embedding


def plainly(embedding: Embedding, size: int) -> list[list[int]]:
    """Return the partition word by word, as the definition says."""
    left = [i for i in range(len(embedding)) if i not in set(embedding.shadowed.tolist())]
    vectors = embedding.vectors.astype(np.float64)
    cells = []
    while len(left) >= 2 * size:
        order = np.argsort(np.linalg.norm(vectors[left] - vectors[left[0]], axis=1), kind="stable")[:size]
        cells.append([left[i] for i in order])
        left = [word for word in left if word not in cells[-1]]
    return [*cells, left]


@pytest.mark.parametrize(("words", "size"), [(1, 4), (7, 4), (8, 4), (9, 4), (500, 7), (1200, 20)])
def test_cells_are_those_of_the_definition(words: int, size: int) -> None:
    embedding = random_embedding(words, 3)
    cells = cells_of(embedding, size)
    assert [sorted(row[row >= 0].tolist()) for row in cells.members] == [
        sorted(cell) for cell in plainly(embedding, size)
    ]


def test_every_input_has_a_cell_and_no_cell_is_small() -> None:
    vectors = np.random.default_rng(0).standard_normal((200, 2))
    vectors[150] = vectors[3]
    embedding = Embedding([f"w{i}" for i in range(200)], vectors)
    cells = cells_of(embedding, 6)
    assert sorted(cells.members[cells.members >= 0].tolist()) == [i for i in range(200) if i != 150]
    assert ((cells.members >= 0).sum(axis=1) >= 6).all()
    assert cells.cell_of[150] == cells.cell_of[3]
    nearest = int(np.linalg.norm(embedding.vectors - embedding.unknown, axis=1).argmin())
    assert cells.cell_of[embedding.unknown_id] == cells.cell_of[nearest]
    for cell, row in enumerate(cells.members):
        assert (cells.cell_of[row[row >= 0]] == cell).all()
