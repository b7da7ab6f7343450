"""The baseline of InsuranceQA: the same pools ranked by BM25, the answers seen as bags of words."""

from __future__ import annotations

import numpy as np

from deniable.errors import MissingExtra
from deniable.learning.metrics import ranking_scores
from deniable.tasks.data.examples import AnswerSelection
from deniable.words.tokens import words_of


def bm25_scores(task: AnswerSelection) -> dict[str, float]:
    """Return MAP, MRR and top-1 of the test questions in each pool, by BM25 over all answers (Lucene's form, k₁ = 1.5, b = 0.75).

    :raises MissingExtra: if bm25s is not installed.
    """
    try:
        import bm25s
    except ImportError as error:
        raise MissingExtra("a BM25 ranking", "experiments") from error
    index = bm25s.BM25()
    index.index([words_of(answer) for answer in task.answers], show_progress=False)
    questions = [words_of(text) for text in task.test.texts]
    found: dict[str, float] = {}
    everything = [index.get_scores(words) if words else np.zeros(len(task.answers)) for words in questions]
    for size, pools in task.test.pools.items():
        scores = np.stack([row[pool] for row, pool in zip(everything, pools, strict=True)])
        right = [np.array(answers) for answers in task.test.answers]
        found |= {f"{name}@{size}": value for name, value in ranking_scores(scores, np.array(pools), right).items()}
    return found
