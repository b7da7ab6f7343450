from __future__ import annotations

import numpy as np
import pytest

from deniable.audit.authorship import audit_authorship, largest_acceptable, split_by_author
from deniable.errors import UnusableAuditData
from deniable.records.labelled import LabelledTexts

TOPICS = {"ann": "boats sails harbour wind tide rope", "ben": "bread flour yeast oven dough salt", "cy": "chess rook pawn queen clock draw"}


def made_texts(each: int = 12) -> LabelledTexts:
    rng = np.random.default_rng(0)
    people, texts = [], []
    for person, words in TOPICS.items():
        for _ in range(each):
            people.append(person)
            texts.append(" ".join(rng.choice(words.split(), 5)))
    return LabelledTexts(source="letters.csv", people=people, texts=texts)


def same(texts: list[str]) -> list[str]:
    return texts


def nothing_left(texts: list[str]) -> list[str]:
    return ["word word word"] * len(texts)


def test_texts_that_pass_unchanged_are_recognised_and_texts_of_which_nothing_is_left_are_not() -> None:
    pytest.importorskip("sklearn")
    split = split_by_author(made_texts())
    found = audit_authorship(split, {9.0: same, 1.0: nothing_left}, same)
    assert found["original"]["value"] == 1.0
    assert [row["epsilon"] for row in found["released"]] == [1.0, 9.0]
    assert found["released"][1]["learnt_from_original"]["value"] == found["released"][1]["learnt_from_released"]["value"] == 1.0
    assert found["released"][0]["learnt_from_original"]["value"] == pytest.approx(found["guess"]) == pytest.approx(1 / 3)
    assert largest_acceptable(found, 0.5) == 1.0
    assert largest_acceptable(found, 0.1) is None


def test_an_adversary_who_learns_from_released_text_sees_through_a_code() -> None:
    pytest.importorskip("sklearn")
    split = split_by_author(made_texts())
    coded = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
    found = audit_authorship(split, {5.0: lambda texts: [text.translate(coded) for text in texts]}, same)
    assert found["released"][0]["learnt_from_released"]["value"] == 1.0
    assert found["released"][0]["learnt_from_original"]["value"] < 0.8


def test_every_author_is_learnt_and_judged_and_no_text_is_both() -> None:
    split = split_by_author(made_texts(4))
    assert set(split.learnt_authors) == set(split.judged_authors) == set(TOPICS)
    assert (len(split.learnt), len(split.judged)) == (9, 3)


def test_one_author_or_single_texts_are_refused() -> None:
    one = LabelledTexts(source="diary.csv", people=["me"] * 9, texts=["a b"] * 9)
    with pytest.raises(UnusableAuditData, match="1 author with at least 4 texts"):
        split_by_author(one)
    lonely = LabelledTexts(source="diary.csv", people=["a", "b", "c"], texts=["x", "y", "z"])
    with pytest.raises(UnusableAuditData, match="largest number of texts is 1"):
        split_by_author(lonely)
