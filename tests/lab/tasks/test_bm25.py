"""BM25 ranks as the formula does, worked out by hand for three answers."""

from __future__ import annotations

from math import log

import pytest

from deniable.lab.tasks.data.examples import AnswerSelection, Questions
from deniable.lab.tasks.experiment.reporting import baselines_of

pytest.importorskip("bm25s")

ANSWERS = ["rent insurance pays rent", "life insurance", "life life life is a very long story about life"]
"""4, 2 and 10 words: 16 / 3 on average. "life" stands in two of them, "insurance" in two, "rent" in one."""


def part(*texts: str, right: list[list[int]], pools: list[list[int]]) -> Questions:
    return Questions(texts=list(texts), answers=right, pools={3: pools})


def by_hand(word: str, answer: str) -> float:
    """Return Lucene's BM25 of one word with k₁ = 1.5 and b = 0.75."""
    words = answer.split()
    holding = sum(word in other.split() for other in ANSWERS)
    weight = log(1 + (3 - holding + 0.5) / (holding + 0.5))
    return weight * words.count(word) / (words.count(word) + 1.5 * (0.25 + 0.75 * len(words) / (16 / 3)))


def test_the_ranking_is_the_one_worked_out_by_hand() -> None:
    questions = ["life", "insurance", "rent life"]
    expected = [
        sorted(range(3), key=lambda a: -sum(by_hand(w, ANSWERS[a]) for w in q.split())) for q in questions
    ]
    assert expected == [[2, 1, 0], [1, 0, 2], [0, 2, 1]]
    # The right answers 1, 0 and 1 stand at the places 2, 2 and 3 of these rankings.
    test = part(*questions, right=[[1], [0], [1]], pools=[[0, 1, 2]] * 3)
    task = AnswerSelection(name="insuranceqa", answers=ANSWERS, train=test, validation=test, test=test)
    ((name, scores),) = baselines_of(task).items()
    assert name == "BM25"
    assert scores["MRR@3"] == pytest.approx((1 / 2 + 1 / 2 + 1 / 3) / 3)
    assert scores["MAP@3"] == pytest.approx(scores["MRR@3"])
    assert scores["top-1@3"] == 0.0


def test_an_answer_outside_the_pool_and_a_question_without_words_count_as_not_found() -> None:
    test = part("rent", "…", right=[[0], [2]], pools=[[1, 2], [0, 1]])
    task = AnswerSelection(name="insuranceqa", answers=ANSWERS, train=test, validation=test, test=test)
    ((_, scores),) = baselines_of(task).items()
    assert set(scores.values()) == {0.0}
