"""Perturbed text differs only where it may, and a kept perturbation is used for exactly what it was drawn
for."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.support.strategies import random_embedding

from deniable import Embedding, Multivariate
from deniable.errors import TaskDataError
from deniable.lab.passages import Passages, passages_of
from deniable.lab.perturbation import Perturbations, changed_share
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.release.policies import TextPolicy

TEXTS = ["good1 good2 bad3 stranger", "", "bad1 bad1 bad2"]


def test_passages_hold_every_word_and_the_unknown_ones_as_unknown(two_kinds: Embedding) -> None:
    passages = passages_of(TEXTS, two_kinds, TextPolicy())
    assert passages.offsets.tolist() == [0, 4, 4, 7]
    assert passages.ids.tolist() == [
        *two_kinds.ids(["good1", "good2", "bad3", "stranger", "bad1", "bad1", "bad2"])
    ]
    assert passages.ids[3] == two_kinds.unknown_id
    assert passages.drawn.all()


def test_words_that_the_policy_keeps_stay_and_the_others_are_drawn(
    two_kinds: Embedding, tmp_path: Path
) -> None:
    policy = TextPolicy(keep_words=frozenset({"bad1", "good2"}))
    passages = passages_of(TEXTS * 50, two_kinds, policy)
    kept = np.isin(passages.ids, two_kinds.ids(["bad1", "good2"]))
    assert np.array_equal(~passages.drawn, kept)
    perturbed = Perturbations(tmp_path, policy).get(passages, Multivariate(two_kinds, epsilon=0.01), 1)
    assert np.array_equal(perturbed.ids[kept], passages.ids[kept])
    assert np.array_equal(perturbed.offsets, passages.offsets)
    assert changed_share(passages, perturbed) > 0.4
    assert perturbed.ids.max() < len(two_kinds)


def test_redacted_words_are_not_drawn(two_kinds: Embedding) -> None:
    passages = passages_of(["good1 stranger"], two_kinds, TextPolicy(unknown="redact"))
    assert (passages.ids.tolist(), passages.drawn.tolist()) == ([1, two_kinds.unknown_id], [True, False])


def test_a_second_call_draws_nothing_again(two_kinds: Embedding, tmp_path: Path) -> None:
    passages = passages_of(TEXTS * 50, two_kinds, TextPolicy())
    mechanism = Multivariate(two_kinds, epsilon=1.0)
    first = Perturbations(tmp_path, TextPolicy()).get(passages, mechanism, 1)
    assert Perturbations(tmp_path, TextPolicy()).get(passages, mechanism, 1).digest == first.digest
    assert len(list(tmp_path.iterdir())) == 1


CHOSEN = [
    ChosenMechanism(name="mahalanobis"),
    ChosenMechanism(name="mahalanobis", options={"lam": 0.3}),
    ChosenMechanism(name="vickrey"),
    ChosenMechanism(name="vickrey", options={"t": 0.5}),
    ChosenMechanism(name="vickrey", options={"noise": "mahalanobis"}),
    ChosenMechanism(name="rank-smoothing"),
    ChosenMechanism(name="rank-smoothing", options={"c": 0.1}),
    ChosenMechanism(name="rank-smoothing", options={"over": "gaussian"}),
    ChosenMechanism(name="rank-smoothing", options={"over": "vickrey", "t": 0.5}),
    ChosenMechanism(name="tem"),
    ChosenMechanism(name="tem", options={"beta": 0.01}),
    ChosenMechanism(name="santext"),
    ChosenMechanism(name="santext-plus", options={"sensitive": ["good1"]}),
    ChosenMechanism(name="santext-plus", options={"sensitive": ["good2"]}),
    ChosenMechanism(name="santext-plus", options={"sensitive": ["good1"], "p": 0.3}),
    ChosenMechanism(name="custext"),
    ChosenMechanism(name="custext", options={"k": 5}),
    ChosenMechanism(name="gaussian"),
    ChosenMechanism(name="randomized-response"),
]
"""No two of them draw alike."""


class Other(Multivariate):
    """Another mechanism on the same words."""


def test_another_epsilon_embedding_policy_mechanism_run_or_text_is_drawn_anew(
    two_kinds: Embedding, tmp_path: Path
) -> None:
    passages = passages_of(TEXTS, two_kinds, TextPolicy())
    shifted = Passages(ids=passages.ids, offsets=np.array([0, 3, 4, 7]), drawn=passages.drawn)
    plain, keeping = (
        Perturbations(tmp_path, TextPolicy()),
        Perturbations(tmp_path, TextPolicy(unknown="drop")),
    )
    base = Multivariate(two_kinds, epsilon=1.0)
    other = random_embedding(40, 4)
    paths = [
        plain.path(passages, base, 1),
        plain.path(passages, Multivariate(two_kinds, epsilon=1.0000001), 1),
        plain.path(passages, Multivariate(other, epsilon=1.0), 1),
        keeping.path(passages, base, 1),
        plain.path(passages, Other(two_kinds, epsilon=1.0), 1),
        *(plain.path(passages, chosen(two_kinds, epsilon=1.0), 1) for chosen in CHOSEN),
        plain.path(passages, base, 2),
        plain.path(shifted, base, 1),
    ]
    assert len(set(paths)) == len(paths)


def test_a_kept_perturbation_under_a_wrong_name_is_refused(two_kinds: Embedding, tmp_path: Path) -> None:
    passages, kept = passages_of(TEXTS, two_kinds, TextPolicy()), Perturbations(tmp_path, TextPolicy())
    low, high = Multivariate(two_kinds, epsilon=1.0), Multivariate(two_kinds, epsilon=2.0)
    kept.get(passages, low, 1)
    shutil.copy(kept.path(passages, low, 1), kept.path(passages, high, 1))
    with pytest.raises(TaskDataError, match="something else"):
        kept.get(passages, high, 1)


def test_a_cut_off_file_is_refused(two_kinds: Embedding, tmp_path: Path) -> None:
    passages, kept = passages_of(TEXTS, two_kinds, TextPolicy()), Perturbations(tmp_path, TextPolicy())
    mechanism = Multivariate(two_kinds, epsilon=1.0)
    kept.get(passages, mechanism, 1)
    path = kept.path(passages, mechanism, 1)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(TaskDataError, match="cannot be read"):
        kept.get(passages, mechanism, 1)


def test_threads_draw_every_word(two_kinds: Embedding, tmp_path: Path) -> None:
    passages = passages_of(["good1 " * 40_000], two_kinds, TextPolicy())
    perturbed = Perturbations(tmp_path, TextPolicy(), threads=4).get(
        passages, Multivariate(two_kinds, epsilon=0.01), 1
    )
    parts = perturbed.ids.reshape(8, 5000)
    assert all(len(np.unique(part)) > 20 for part in parts)
    assert len({part.tobytes() for part in parts}) == 8
