"""A comparison cuts text as a release does, also where the embedding tells Rome from rome."""

from __future__ import annotations

import numpy as np
import pytest

from deniable import Embedding, InsecureSeededRandomness, Multivariate, Privatizer
from deniable.channel.draws import Draws
from deniable.lab.comparison import ComparisonSettings, Target, compare_mechanisms
from deniable.lab.comparison.probe import make_probe
from deniable.lab.comparison.readings import ReadingEffort, read_privacy
from deniable.lab.comparison.space import Comparison
from deniable.lab.comparison.texts import cut_texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.records.reading import LabelledTexts

TEXTS = ["Rome and Paris NOT Anna-Maria", "rome and paris not anna Maria"]
CASED = ["Rome", "rome", "Paris", "paris", "NOT", "not", "and", "Anna-Maria", "anna", "Maria"]
UNCASED = ["rome", "paris", "not", "and", "anna-maria", "anna", "maria"]
EFFORT = ReadingEffort(draws=10, judged=200)


def made(words: list[str]) -> Embedding:
    return Embedding(words, 10 * np.random.default_rng(0).standard_normal((len(words), 3)), name="made")


def data(copies: int = 20) -> LabelledTexts:
    return LabelledTexts(source="task.csv", people=["up", "low"] * copies, texts=TEXTS * copies)


@pytest.mark.parametrize("words", [CASED, UNCASED])
def test_texts_are_cut_and_released_as_a_privatizer_does_it(words: list[str]) -> None:
    embedding = made(words)
    texts = cut_texts(data(), embedding, longest=None)
    mechanism = Multivariate(embedding, epsilon=0.2)
    released = texts.released(Draws(mechanism, seed=3).of_each(texts.ids), embedding).words
    private = Privatizer(mechanism, randomness=InsecureSeededRandomness(insecure_seed=3))
    assert [" ".join(text) for text in released] == private.many(data().texts)


def test_no_word_of_a_cased_text_changes_at_a_huge_epsilon() -> None:
    embedding = made(CASED)
    texts = cut_texts(data(), embedding, longest=None)
    assert texts.words[:2] == [
        ["Rome", "and", "Paris", "NOT", "Anna-Maria"],
        ["rome", "and", "paris", "not", "anna", "Maria"],
    ]
    probe = make_probe(embedding, texts.ids, words=500, seed=0)
    found = read_privacy(Multivariate(embedding, epsilon=1e6), probe, effort=EFFORT, seed=0)
    assert (found.average, found.worst, found.adversary) == pytest.approx((1.0, 1.0, 1.0))


def test_a_task_that_only_case_solves_is_solved_where_case_is_released() -> None:
    only_case = LabelledTexts(
        source="task.csv", people=["up", "low"] * 20, texts=["Rome NOT Paris", "rome not paris"] * 20
    )
    settings = ComparisonSettings(
        targets=(Target(reading="average", value=0.95),), runs=1, words=100, quick=EFFORT, thorough=EFFORT
    )
    found = compare_mechanisms(
        only_case, made(CASED), [ChosenMechanism(name="randomized-response")], settings=settings
    )
    assert found.original == 1.0
    assert found.rows[0].worth is not None
    assert found.rows[0].worth.unchanged.mean > 0.85
    assert found.rows[0].worth.accuracy.mean == 1.0
    folded = cut_texts(only_case, made(UNCASED), longest=None)
    assert Comparison(made(UNCASED), folded, folded, settings).original() == 0.5
