"""Which answers of a batch are wrong, and which questions share it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from deniable import Embedding
from deniable.arrays import Ids
from deniable.lab.neural.encoder import DeviceTexts
from deniable.lab.neural.ranker import Pairs, Ranker, RankerSettings, train_ranker
from deniable.lab.tasks.task import Task
from deniable.measures.texts import cut_texts


def test_an_answer_is_wrong_unless_it_is_one_of_the_right_ones() -> None:
    pairs = Pairs(
        [[4, 7], [7], [2]], np.ones(9, dtype=np.int64)
    )  # the first has two answers, the second shares one
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

    assert share(together) > 0.4  # two runs of five make a batch: one half if no run ended in another heap
    assert (
        share(list(pairs.batches(10, rng))) < 0.2
    )  # by chance each is alike to itself and to one in twenty of the others


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
