"""Labels that have nothing to do with their texts are noticed, and those that have are not suspected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deniable.purposes import PublicTexts, label_warnings
from tests.support.made_purpose import made_embedding, public_texts

KINDS = [("classes", 2), ("classes", 5), ("numbers", 2)]


def shuffle_labels(public: PublicTexts, *, seed: int = 0) -> PublicTexts:
    """Return the texts with labels of others: the mutant of a purpose."""
    return replace(public, labels=np.random.default_rng(seed).permutation(public.labels).tolist())


@pytest.mark.parametrize(("kind", "classes"), KINDS)
@pytest.mark.parametrize("texts", [200, 3_000])
def test_labels_of_other_texts_are_noticed_and_those_of_these_are_not(
    kind: str, classes: int, texts: int
) -> None:
    public = public_texts(texts, classes=classes, kind=kind)
    assert label_warnings(made_embedding(), public) == []
    (warning,) = label_warnings(made_embedding(), shuffle_labels(public))
    assert warning.startswith("the labels of made.csv cannot be told from its words better than by chance (")
    assert ("R² is " if kind == "numbers" else "by the most frequent label alone") in warning
    assert f"{min(texts, 2_000):,} held-out" in warning
    assert "\n" not in warning


def test_a_rare_class_that_nobody_names_may_be_told_all_the_same() -> None:
    numbers = public_texts(1_000, kind="numbers")
    highest = np.quantile([float(label) for label in numbers.labels], 0.96)
    public = PublicTexts.of(
        ["rare" if float(label) > highest else "usual" for label in numbers.labels], numbers.texts
    )
    assert label_warnings(made_embedding(), public) == []
    assert len(label_warnings(made_embedding(), shuffle_labels(public))) == 1


def test_few_texts_are_said_to_be_few() -> None:
    (warning,) = label_warnings(made_embedding(), public_texts(199))
    assert warning.startswith("the file made.csv has only 199 texts with a label")
    assert label_warnings(made_embedding(), public_texts(200)) == []


def test_a_text_is_always_judged_alike() -> None:
    unrelated = shuffle_labels(public_texts(2_500))
    assert label_warnings(made_embedding(), unrelated) == label_warnings(made_embedding(), unrelated)


def test_of_few_texts_it_is_enough_that_classes_are_named() -> None:
    """Mutant: by probabilities alone, whose errors outweigh what few texts tell, these labels would be
    suspected."""
    found = label_warnings(made_embedding(), public_texts(60, classes=5))
    assert [each for each in found if "cannot be told" in each] == []
    assert len(label_warnings(made_embedding(), shuffle_labels(public_texts(60, classes=5)))) == 2


@pytest.mark.parametrize(
    "labels", [[0.5] * 249 + [1.5], (1e300 * np.random.default_rng(0).standard_normal(250)).tolist()]
)
def test_numbers_that_hardly_differ_or_are_huge_can_be_judged(labels: list[float]) -> None:
    public = PublicTexts.of(labels, public_texts(250).texts, kind="numbers")
    assert len(label_warnings(made_embedding(), public)) == 1


def test_one_number_written_in_two_ways_tells_nothing_apart() -> None:
    public = replace(public_texts(200), labels=["0", "0.0"] * 100, kind="numbers")
    assert label_warnings(made_embedding(), public) == []


def test_texts_without_a_known_word_are_left_to_who_learns_from_them() -> None:
    public = PublicTexts.of(["a", "b"] * 100, ["nobody knows this"] * 200)
    assert label_warnings(made_embedding(), public) == []
