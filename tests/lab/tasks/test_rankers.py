"""Losses of a ranker against values worked out by hand, wrong answers of a batch, and alike questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from deniable import Embedding
from deniable.arrays import Ids
from deniable.lab.neural.encoder import DeviceTexts, grouped_batches
from deniable.lab.neural.ranker import (
    HardestOfSome,
    Pairs,
    Ranker,
    RankerSettings,
    SoftmaxOfAll,
    groups_of_alike,
    train_ranker,
)
from deniable.lab.tasks.task import Task
from deniable.measures.texts import cut_texts

SIMILAR = torch.tensor([[0.5, 0.4, 0.1], [0.2, 0.3, 0.9], [0.6, 0.1, 0.6]])
# The third answer is right to the second question too.
WRONG = np.array([[False, True, True], [True, False, False], [True, True, False]])


def test_the_hardest_wrong_answer_counts_if_it_is_within_the_margin() -> None:
    loss = HardestOfSome(margin=0.2, negatives=10**9)(SIMILAR, WRONG, np.random.default_rng(0))
    # 0.2 - 0.5 + 0.4, 0.2 - 0.3 + 0.2, 0.2 - 0.6 + 0.6
    assert loss.item() == pytest.approx((0.1 + 0.1 + 0.2) / 3)


def test_about_as_many_negatives_are_drawn_as_asked_for() -> None:
    similar, wrong = torch.zeros(200, 200), ~np.eye(200, dtype=bool)
    # The first answer is the hardest wrong one to all questions but its own; it is drawn once in ten.
    similar[:, 0] = 1.0
    losses = [
        HardestOfSome(negatives=20)(similar, wrong, np.random.default_rng(seed)).item() for seed in range(50)
    ]
    # The first question beats all wrong answers by more than the margin.
    expected = (199 * 0.1 * 1.2 + 199 * 0.9 * 0.2 + 0.0) / 200
    assert np.mean(losses) == pytest.approx(expected, abs=0.02)


def test_a_question_without_wrong_answers_costs_nothing() -> None:
    none = np.zeros((1, 1), dtype=bool)
    assert HardestOfSome()(SIMILAR[:1, :1], none, np.random.default_rng(0)).item() == 0.0
    assert SoftmaxOfAll()(SIMILAR[:1, :1], none, np.random.default_rng(0)).item() == 0.0


def test_softmax_leaves_other_right_answers_out() -> None:
    loss = SoftmaxOfAll(sharpness=10.0)(SIMILAR, WRONG, np.random.default_rng(0))

    def one(own: float, *wrong: float) -> float:
        return math.log(sum(math.exp(10.0 * value) for value in (own, *wrong))) - 10.0 * own

    assert loss.item() == pytest.approx(
        (one(0.5, 0.4, 0.1) + one(0.3, 0.2) + one(0.6, 0.6, 0.1)) / 3, rel=1e-5
    )


def test_alike_vectors_are_one_group() -> None:
    rng = np.random.default_rng(1)
    centres = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    vectors = np.repeat(centres, 50, axis=0) + 0.01 * rng.standard_normal((400, 8))
    found = groups_of_alike(
        torch.nn.functional.normalize(torch.tensor(vectors), dim=1), 25, np.random.default_rng(2)
    )
    for group in np.unique(found):  # sixteen groups for eight heaps: none holds two
        assert len(np.unique(np.flatnonzero(found == group) // 50)) == 1
    assert groups_of_alike(torch.eye(3), 100, rng).tolist() == [0, 0, 0], "fewer than a group holds"


def test_every_place_comes_once_and_groups_travel_together() -> None:
    rng = np.random.default_rng(3)
    groups, lengths = rng.integers(0, 40, 5000), rng.integers(1, 200, 5000)
    batches = list(grouped_batches(groups, lengths, 256, 32, rng))
    assert sorted(np.concatenate(batches).tolist()) == list(range(5000))
    assert max(map(len, batches)) == 256
    share = np.mean([np.mean(groups[batch][:, None] == groups[batch]) for batch in batches])
    assert share > 3 / 40  # a random batch: 1 in 40; runs of 32 of 256: 1 in 8
    spread = np.mean([np.ptp(lengths[batch]) for batch in batches])
    assert spread < 120  # of texts in any order: about 197


def test_an_answer_is_wrong_unless_it_is_one_of_the_right_ones() -> None:
    # The first question has two answers, the second shares one.
    pairs = Pairs([[4, 7], [7], [2]], np.ones(9, dtype=np.int64))
    assert pairs.questions.tolist() == [0, 0, 1, 2]
    assert pairs.answers.tolist() == [4, 7, 7, 2]
    assert pairs.wrong(np.array([0, 1, 2, 3])).tolist() == [
        [False, False, False, True],
        [False, False, False, True],
        [True, False, False, True],
        [True, True, True, False],
    ]
    assert pairs.wrong(np.array([3, 0])).tolist() == [[False, True], [True, False]]


def test_alike_questions_share_a_batch() -> None:
    rng = np.random.default_rng(0)
    heap = rng.permutation(np.repeat(np.arange(20), 50))  # twenty heaps of questions, far from each other
    vectors = torch.nn.functional.normalize(
        torch.eye(20)[torch.from_numpy(heap)] + 0.01 * torch.rand(1000, 20), dim=1
    )
    pairs = Pairs([[i] for i in range(1000)], rng.integers(1, 200, 1000))
    together = list(pairs.batches_of_alike(vectors, 10, 5, rng, group=25))
    assert sorted(np.concatenate(together).tolist()) == list(range(1000))

    def share(batches: list[Ids]) -> float:
        return float(np.mean([np.mean(heap[chosen][:, None] == heap[chosen]) for chosen in batches]))

    # Two runs of five make a batch: one half if no run ended in another heap. By chance each is alike to
    # itself and to one in twenty of the others.
    assert share(together) > 0.4
    assert share(list(pairs.batches(10, rng))) < 0.2


@pytest.mark.parametrize(("near", "expected"), [(2, [0, 0, 1, 1]), (0, [0] * 4)])
def test_alike_questions_come_together_once_the_model_has_learnt(
    near: int, expected: list[int], questions: Task, two_kinds: Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    settings = RankerSettings(units=2, batch=20, near=near, epochs_before_near=2, epochs=4, patience=9)
    grouped: list[int] = []

    def counted(kind: int, really: Callable[..., Iterator[Ids]]) -> Callable[..., Iterator[Ids]]:
        def batches(*arguments: Any) -> Iterator[Ids]:
            grouped.append(kind)
            return really(*arguments)

        return batches

    monkeypatch.setattr(Pairs, "batches", counted(0, Pairs.batches))
    monkeypatch.setattr(Pairs, "batches_of_alike", counted(1, Pairs.batches_of_alike))

    def on_device(texts: list[str]) -> DeviceTexts:
        cut = cut_texts(texts, two_kinds)
        return DeviceTexts(cut, longest=9, padding=len(two_kinds) + 1, device=torch.device("cpu"))

    asked, held, answers = (
        on_device(texts) for texts in (questions.train.texts, questions.validation.texts, questions.answers)
    )
    model = Ranker(torch.rand(len(two_kinds) + 2, 3), settings)
    assert train_ranker(model, asked, held, answers, questions, settings, 1) == 4
    assert grouped == expected
