from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.audit.page import audit_page
from deniable.audit.results import NO_BOUND, largest_acceptable, read_result
from deniable.audit.shares import Share, share_of
from deniable.errors import UnusableAuditData
from deniable.lab.authorship import (
    AuthorClassifier,
    AuthorshipFinding,
    Split,
    audit_authorship,
    name_authors_at,
    split_by_author,
)
from deniable.measures.catalogue import Setting, measure
from deniable.measures.texts import cut_texts
from deniable.records.reading import LabelledTexts

TOPICS = {
    "ann": "boats sails harbour wind tide rope",
    "ben": "bread flour yeast oven dough salt",
    "cy": "chess rook pawn queen clock draw",
}


def made_texts(each: int = 12) -> LabelledTexts:
    rng = np.random.default_rng(0)
    people, texts = [], []
    for person, words in TOPICS.items():
        for _ in range(each):
            people.append(person)
            texts.append(" ".join(rng.choice(words.split(), 5)))
    return LabelledTexts(source="letters.csv", labels=people, texts=texts)


def name_authors(
    original: Split, releases: list[tuple[float, Split]]
) -> tuple[Share, list[AuthorshipFinding]]:
    """Return how often the author is named on original text, and on each release of it."""
    informed = AuthorClassifier(original.learnt)
    found = [name_authors_at(epsilon, informed, released) for epsilon, released in releases]
    return informed.share_named(original.judged), found


def changed(split: Split, change: Callable[[str], str]) -> Split:
    return Split(*(replace(part, texts=[change(text) for text in part.texts]) for part in split))


def test_texts_that_pass_unchanged_are_recognised_and_texts_of_which_nothing_is_left_are_not() -> None:
    split = split_by_author(made_texts())
    original, found = name_authors(split, [(1.0, changed(split, lambda _: "word word word")), (9.0, split)])
    assert original.value == 1.0
    assert [each.epsilon for each in found] == [1.0, 9.0]
    assert found[1].learnt_from_original.value == found[1].learnt_from_released.value == 1.0
    assert found[0].learnt_from_original.value == pytest.approx(split.guess) == pytest.approx(1 / 3)
    successes = [(each.epsilon, each.success) for each in found]
    assert largest_acceptable(successes, 0.5) == 1.0
    assert largest_acceptable(successes, 0.1) is None


def test_an_adversary_who_learns_from_released_text_sees_through_a_code() -> None:
    split = split_by_author(made_texts())
    code = str.maketrans("abcdefghijklmnopqrstuvwxyz", "nopqrstuvwxyzabcdefghijklm")
    _, found = name_authors(split, [(5.0, changed(split, lambda text: text.translate(code)))])
    assert found[0].learnt_from_released.value == 1.0
    assert found[0].learnt_from_original.value < 0.8


def test_the_result_holds_every_epsilon_and_can_be_read_again(tmp_path: Path) -> None:
    words = sorted({word for topic in TOPICS.values() for word in topic.split()})
    embedding = Embedding(words, np.random.default_rng(1).standard_normal((len(words), 3)), name="topics")
    seen: list[tuple[int, int]] = []
    result = audit_authorship(
        made_texts(),
        embedding,
        epsilons=[1e6, 1e-6],
        acceptable=0.9,
        report=lambda done, total: seen.append((done, total)),
    )
    assert [each.epsilon for each in result.released] == [1e-6, 1e6]
    assert result.released[1].learnt_from_original == result.original
    assert (result.authors, result.original.value) == (3, 1.0)
    assert result.largest_acceptable_epsilon is None, "three authors do not tell enough of others"
    assert "with more authors it is surer" in result.sentence
    assert (seen[0], seen[-1]) == ((0, 2), (2, 2))
    saved = tmp_path / "authorship.json"
    saved.write_text(json.dumps(result.to_dict()), encoding="utf-8")
    assert read_result(saved) == result
    assert result.to_dict()["bound"] == NO_BOUND
    assert NO_BOUND in audit_page([result]).html()


def test_the_texts_of_an_author_count_together() -> None:
    """Ten authors with words of their own, of whom half pass unchanged: the others are never told, or
    always."""
    rng = np.random.default_rng(3)
    people = [f"author{i}" for i in range(10) for _ in range(40)]
    texts = [" ".join(rng.choice([f"{person}word{i}" for i in range(5)], 6)) for person in people]
    split = split_by_author(LabelledTexts(source="letters.csv", labels=people, texts=texts))
    odd = [int(author[-1]) % 2 == 1 for author in split.judged.labels]
    texts = ["nothing" if gone else text for gone, text in zip(odd, split.judged.texts, strict=True)]
    released = split._replace(judged=replace(split.judged, texts=texts))
    _, (found,) = name_authors(split, [(1.0, released)])
    share = found.learnt_from_original
    tries = len(split.judged.texts)
    assert (share.tries, tries) == (100, 100)
    assert 0.5 <= share.value <= 0.6
    each_by_itself = share_of(round(share.value * tries), tries)
    assert share.low < each_by_itself.low - 0.1
    assert share.high > each_by_itself.high + 0.1


def test_with_many_authors_an_epsilon_is_advised() -> None:
    words = [f"w{i}" for i in range(120)]
    embedding = Embedding(words, np.random.default_rng(1).standard_normal((len(words), 3)), name="many")
    people = [f"author{i:02}" for i in range(40) for _ in range(8)]
    texts = [" ".join(words[3 * int(person[-2:]) + i] for i in (0, 1, 2)) for person in people]
    many = LabelledTexts(source="letters.csv", labels=people, texts=texts)
    result = audit_authorship(many, embedding, epsilons=[1e-6, 1e6], acceptable=0.5, decoding=None)
    assert result.largest_acceptable_epsilon == 1e-6
    assert result.released[1].success == 1.0
    assert "surer" not in result.sentence


def test_how_often_authors_are_named_is_a_measure_of_the_catalogue() -> None:
    words = sorted({word for topic in TOPICS.values() for word in topic.split()})
    embedding = Embedding(words, np.random.default_rng(1).standard_normal((len(words), 3)), name="topics")
    data = made_texts(40)
    texts = cut_texts(data.texts, embedding, labels=data.labels)
    nothing, everything = (
        measure("author", Setting(embedding=embedding, epsilon=e), texts) for e in (1e-6, 1e6)
    )
    assert everything.value == 1.0
    assert nothing.blind == pytest.approx(1 / 3)
    assert nothing.low <= 1 / 3 <= nothing.high < everything.value
    with pytest.raises(UnusableAuditData):
        measure(
            "author", Setting(embedding=embedding, epsilon=1.0), replace(texts, labels=["me"] * len(texts))
        )


def test_every_author_is_learnt_and_judged_and_no_text_is_both() -> None:
    split = split_by_author(made_texts(4))
    assert set(split.learnt.labels) == set(split.judged.labels) == set(TOPICS)
    assert (len(split.learnt.texts), len(split.judged.texts)) == (9, 3)


def test_one_author_or_single_texts_are_refused() -> None:
    one = LabelledTexts(source="diary.csv", labels=["me"] * 9, texts=["a b"] * 9)
    with pytest.raises(UnusableAuditData, match="1 author with at least 4 texts"):
        split_by_author(one)
    lonely = LabelledTexts(source="diary.csv", labels=["a", "b", "c"], texts=["x", "y", "z"])
    with pytest.raises(UnusableAuditData, match="largest number of texts is 1"):
        split_by_author(lonely)
