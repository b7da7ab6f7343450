"""Small made data for the tasks: two kinds of words, and texts that hold mostly one of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.embeddings import store
from deniable.lab.tasks.task import Part, Task
from tests.support.made_reviews import BAD, GOOD, made_reviews


@pytest.fixture
def two_kinds() -> Embedding:
    """Words good0 … good19 around one point and bad0 … bad19 around another, far away, in 4 dimensions."""
    rng = np.random.default_rng(0)
    centres = np.repeat([[3.0, 0, 0, 0], [-3.0, 0, 0, 0]], 20, axis=0)
    return Embedding([*GOOD, *BAD], centres + 0.3 * rng.standard_normal((40, 4)), name="two-kinds")


@pytest.fixture
def installed(two_kinds: Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Embedding:
    """The same, installed in a store of its own."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(two_kinds, "two-kinds")
    return Embedding.open("two-kinds")


@pytest.fixture
def reviews() -> Task:
    return Task(
        name="imdb",
        classes=["bad", "good"],
        train=made_reviews(200, 1),
        validation=made_reviews(60, 2),
        test=made_reviews(200, 3),
    )


@pytest.fixture
def questions() -> Task:
    """Answers are all good or all bad words; a question is answered by the answers of its kind that share its
    first word."""
    rng = np.random.default_rng(5)
    kinds = [GOOD if i % 2 else BAD for i in range(40)]
    answers = [" ".join(rng.choice(kind, 8).tolist()) for kind in kinds]

    def part(count: int) -> Part:
        own = [int(rng.integers(0, 40)) for _ in range(count)]
        texts = [" ".join(rng.choice(answers[place].split(), 4).tolist()) for place in own]
        pools = [
            [
                place,
                *(int(wrong) for wrong in rng.choice([i for i in range(40) if i != place], 9, replace=False)),
            ]
            for place in own
        ]
        return Part(
            texts=texts, answers=[[place] for place in own], pools={10: [sorted(pool) for pool in pools]}
        )

    return Task(name="insuranceqa", answers=answers, train=part(120), validation=part(40), test=part(80))
