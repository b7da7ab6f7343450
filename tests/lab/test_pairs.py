"""Which answers of a batch are wrong, and which questions share it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from deniable.arrays import Ids
from deniable.lab.neural import ranker as ranker_module
from deniable.lab.neural.batches import DeviceTexts
from deniable.lab.neural.encoded_task import EncodedTask
from deniable.lab.neural.ranker import Pairs, Ranker, RankerSettings
from deniable.lab.passages import Passages


def encode_task(right: list[list[int]]) -> EncodedTask:
    arrays = {
        "right/train": np.array([a for own in right for a in own]),
        "right_offsets/train": np.cumsum([0, *map(len, right)]),
    }
    return EncodedTask(passages={}, arrays=arrays)


def test_an_answer_is_wrong_unless_it_is_one_of_the_right_ones() -> None:
    pairs = Pairs(
        encode_task([[4, 7], [7], [2]]), np.ones(9, dtype=np.int64)
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
    pairs = Pairs(encode_task([[i] for i in range(1000)]), rng.integers(1, 200, 1000))
    together = list(pairs.batches_of_alike(vectors, 10, 5, rng, group=25))
    assert sorted(np.concatenate(together).tolist()) == list(range(1000))

    def share(batches: list[Ids]) -> float:
        return float(np.mean([np.mean(heap[chosen][:, None] == heap[chosen]) for chosen in batches]))

    assert share(together) > 0.4  # two runs of five make a batch: one half if no run ended in another heap
    assert (
        share(list(pairs.batches(10, rng))) < 0.2
    )  # by chance each is alike to itself and to one in twenty of the others


@pytest.mark.parametrize(("near", "expected"), [(2, [False, False, True, True]), (0, [False] * 4)])
def test_alike_questions_come_together_once_the_model_has_learnt(
    near: int, expected: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    task, seen = encode_task([[0], [1], [2], [3]]), list[bool]()
    passages = Passages(
        ids=np.array([0, 1, 2, 3], dtype=np.int32), offsets=np.arange(5), drawn=np.ones(4, dtype=bool)
    )
    settings = RankerSettings(units=2, batch=2, near=near, epochs_before_near=2, epochs=4, patience=9)
    texts = DeviceTexts(passages, longest=9, padding=4, device=torch.device("cpu"))

    class Watched(Pairs):
        def batches(self, *arguments: Any) -> Iterator[Ids]:
            seen.append(False)
            return super().batches(*arguments)

        def batches_of_alike(self, *arguments: Any) -> Iterator[Ids]:  # type: ignore[override]
            seen.append(True)
            return super().batches_of_alike(*arguments)

    monkeypatch.setattr(ranker_module, "Pairs", Watched)
    monkeypatch.setattr(ranker_module, "evaluate_ranker", lambda *_: {"MRR@2": 0.5})
    model = Ranker(torch.rand(5, 3), dataclasses.replace(settings, dropout=0.0))
    ranker_module.train_ranker(model, texts, texts, texts, task, settings, 1)
    assert seen == expected
