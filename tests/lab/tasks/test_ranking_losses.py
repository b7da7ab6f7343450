"""Losses of a ranker against values worked out by hand, and batches that put alike questions together."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from deniable.lab.neural.encoder import grouped_batches
from deniable.lab.neural.ranker import HardestOfSome, SoftmaxOfAll, groups_of_alike

SIMILAR = torch.tensor([[0.5, 0.4, 0.1], [0.2, 0.3, 0.9], [0.6, 0.1, 0.6]])
WRONG = np.array(
    [[False, True, True], [True, False, False], [True, True, False]]
)  # the third answer is right to the second question too


def test_the_hardest_wrong_answer_counts_if_it_is_within_the_margin() -> None:
    loss = HardestOfSome(margin=0.2, negatives=10**9)(SIMILAR, WRONG, np.random.default_rng(0))
    assert loss.item() == pytest.approx(
        (0.1 + 0.1 + 0.2) / 3
    )  # 0.2 - 0.5 + 0.4, 0.2 - 0.3 + 0.2, 0.2 - 0.6 + 0.6


def test_about_as_many_negatives_are_drawn_as_asked_for() -> None:
    similar, wrong = torch.zeros(200, 200), ~np.eye(200, dtype=bool)
    similar[:, 0] = (
        # the first answer is the hardest wrong one to all questions but its own; it is among 20 of 200 once
        # in ten
        1.0
    )
    losses = [
        HardestOfSome(negatives=20)(similar, wrong, np.random.default_rng(seed)).item() for seed in range(50)
    ]
    expected = (
        199 * 0.1 * 1.2 + 199 * 0.9 * 0.2 + 0.0
    ) / 200  # the first question beats all wrong answers by more than the margin
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
    for group in np.unique(found):
        assert (
            len(np.unique(np.flatnonzero(found == group) // 50)) == 1
        )  # sixteen groups for eight heaps: none holds two


def test_fewer_texts_than_a_group_holds_are_one_group() -> None:
    assert groups_of_alike(torch.eye(3), 100, np.random.default_rng(0)).tolist() == [0, 0, 0]


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


def test_two_orders_of_the_same_groups_differ() -> None:
    groups, lengths = np.repeat(np.arange(10), 100), np.ones(1000, dtype=np.int64)
    rng = np.random.default_rng(4)
    first, second = (next(iter(grouped_batches(groups, lengths, 64, 16, rng))).tolist() for _ in range(2))
    assert first != second
