from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deniable import (
    Embedding,
    InsecureSeededRandomness,
    InvalidParameter,
    Multivariate,
    Privatizer,
    UnknownWord,
)
from deniable.embeddings.subwords import Subwords
from deniable.release import policies
from deniable.release.policies import PUBLIC_PUNCTUATION, Drafter, SubwordLookup, TextPolicy
from deniable.release.writing import REDACTED
from tests.support.strategies import NASTY_TEXT

UNCHANGED = 1e9
"""An ε at which every known word is released as it is, so that what surrounds the noise can be seen."""


def private(embedding: Embedding, epsilon: float = UNCHANGED, **policies: Any) -> Privatizer:
    return Privatizer(Multivariate(embedding, epsilon=epsilon), **policies)


def refused(name: str, call: Callable[[], object]) -> InvalidParameter:
    """Return by which error a call refuses a parameter."""
    with pytest.raises(InvalidParameter) as caught:
        call()
    assert caught.value.name == name
    return caught.value


def in_threads(number: int, work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_every_word_goes_through_noise(embedding: Embedding) -> None:
    released = [str(text).split() for text in private(embedding, 1e-6).many(["the fox do john it"] * 200)]
    assert len({tuple(words) for words in released}) > 150
    whole = [words for words in released if len(words) == 5]  # clitics are joined to the word before
    for place in range(5):
        there = [words[place] for words in whole]
        assert max(map(there.count, there)) < 0.8 * len(there), f"word {place + 1} is hardly ever drawn"


def test_empty_missing_and_blank_texts_keep_their_place(embedding: Embedding) -> None:
    assert private(embedding).many(["", None, "fox", "  ", "!?"]) == ["", None, "fox", "", ""]


def test_lists_iterables_and_single_texts_agree(embedding: Embedding) -> None:
    texts = ["the fox", None, "it", ""] * 3_000
    release = private(embedding)
    assert release.many(texts) == texts == list(release.stream(iter(texts)))
    assert (release("the fox"), release(None)) == ("the fox", None)


def test_streams_are_lazy(embedding: Embedding) -> None:
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield "the fox"

    assert next(private(embedding).stream(endless())) == "the fox"
    assert taken <= 4_096
    taken = 0
    next(private(embedding).stream(text * 100 for text in endless()))
    assert taken <= 16_384 // 100 + 1


def test_what_is_not_text_is_refused_by_its_record(embedding: Embedding) -> None:
    release = private(embedding)
    for bad in (1, b"fox", ["fox"], 1.5):
        assert "record 3" in refused("texts", lambda bad=bad: release.many(["fox", None, bad])).problem  # type: ignore[misc]
        if bad != 1.5:
            refused("text", lambda bad=bad: release(bad))  # type: ignore[misc]
    refused("texts", lambda: release.many("the fox"))
    refused("texts", lambda: next(release.stream("the fox")))


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["the fox", None, ""]),
        pa.chunked_array([["the fox"], [None, ""]]),
        pa.array(["the fox", None, ""], type=pa.large_string()),
        pa.array(["the fox", None, ""]).dictionary_encode(),
        pl.Series(["the fox", None, ""]),
        pd.Series(["the fox", None, ""], dtype="str", index=[7, 3, 3]),
        pd.Series(["the fox", None, ""], dtype="string"),
    ],
    ids=["arrow", "chunked", "large", "dictionary", "polars", "pandas", "pandas-string"],
)
def test_columns_come_through_their_arrow_interface(column: Any, embedding: Embedding) -> None:
    released = private(embedding).column(column)
    assert released.to_pylist() == ["the fox", None, ""]
    kind = column.type if isinstance(column, pa.Array | pa.ChunkedArray) else pa.chunked_array(column).type
    assert released.type == (kind.value_type if pa.types.is_dictionary(kind) else kind)


def test_what_the_caller_gives_is_not_changed(embedding: Embedding) -> None:
    texts = ["the secretword", None, "fox"]
    private(embedding, 0.1).many(texts)
    assert texts == ["the secretword", None, "fox"]
    for column in (pd.Series(texts, dtype="str"), pl.Series(texts), pa.chunked_array([texts])):
        private(embedding, 1e-6).column(column)
        assert pa.chunked_array(column).to_pylist() == texts


def test_columns_of_something_else_are_refused(embedding: Embedding) -> None:
    for column in (pa.array([1, 2]), pl.Series([1.5]), ["the fox"], pd.Series([1, 2])):
        refused("column", lambda column=column: private(embedding).column(column))  # type: ignore[misc]


@settings(deadline=None, max_examples=300)
@given(
    st.lists(NASTY_TEXT, max_size=5),
    st.sampled_from(["perturb", "redact", "drop"]),
    st.sampled_from(["drop", "keep"]),
    st.sampled_from(["drop", "keep"]),
    st.sampled_from([0.01, 3.0, UNCHANGED]),
)
def test_no_unknown_word_ever_comes_out(
    embedding: Embedding, texts: list[str], unknown: str, punctuation: str, case: str, epsilon: float
) -> None:
    """Whatever goes in, every word that comes out is a word of the public vocabulary or the fixed redaction
    token."""
    released = private(embedding, epsilon, unknown=unknown, punctuation=punctuation, case=case).many(texts)
    allowed = sorted({*embedding.words, REDACTED}, key=len, reverse=True)
    for text in released:
        assert text is not None
        rest = text.lower()
        for word in allowed:
            rest = rest.replace(word, " ")
        assert set(rest) <= PUBLIC_PUNCTUATION | {" "}, text


@given(
    st.text(st.characters(categories=["L", "N", "S", "P"]), min_size=1, max_size=12).filter(
        lambda s: s.isalnum()
    )
)
def test_unknown_words_are_indistinguishable(secret: str) -> None:
    """Two unknown words lead to the same id before any noise: perfect, not statistical,
    indistinguishability."""
    few = Embedding(["zzzz1", "zzzz2"], [[0.0], [1.0]])
    drafter = Drafter(few, TextPolicy())
    drafts = [drafter.draft(f"zzzz1 {word} zzzz2", record=1) for word in (secret, "pa55w0rd")]
    assert set(drafts[0].drawn[1:-1]) == {few.unknown_id} == set(drafts[1].drawn[1:-1])


def test_a_policy_that_passes_unknown_words_through_does_not_exist(embedding: Embedding) -> None:
    for name in ("keep", "pass", "ignore", None, ""):
        refused("unknown", lambda name=name: private(embedding, unknown=name))  # type: ignore[misc]


def test_unknown_words_are_redacted_dropped_or_stopped_at(embedding: Embedding) -> None:
    text = "the secretword fox"
    assert private(embedding, unknown="redact")(text) == "the [redacted] fox"
    assert private(embedding, unknown="drop")(text) == "the fox"
    with pytest.raises(UnknownWord) as caught:
        private(embedding, unknown="error").many(["fox", text])
    assert (caught.value.record, caught.value.position) == (2, 2)
    assert "secretword" not in str(caught.value)


def test_punctuation_and_case_are_kept_only_when_asked_for(
    embedding: Embedding, cased_embedding: Embedding
) -> None:
    text = "The fox (JOHN's), well-known: it... 7!? 🎉"
    assert private(embedding)(text) == "the fox john's well known it 7"
    assert private(embedding, punctuation="keep")(text) == "the fox (john's), well-known: it... 7!?"
    assert private(embedding, case="keep")(text) == "The fox JOHN's well known it 7"
    everything = private(embedding, case="keep", punctuation="keep")
    assert everything(text) == "The fox (JOHN's), well-known: it... 7!?"
    text = "The FOX, John’s e-mail:\nit  DON'T the U.S.; 7 o'clock!"
    assert private(embedding)(text) == "the fox john's e-mail it don't the u.s. 7 o'clock"
    assert private(cased_embedding)("Apple apple PIE US") == "Apple apple pie US", (
        "as spelled, or in lower case"
    )


def test_listed_words_are_kept_and_the_others_are_not(embedding: Embedding) -> None:
    release = private(embedding, 1e-6, keep_words=["The", "do", "n't"])
    released = [text or "" for text in release.many(["the fox do"] * 50)]
    assert all(text.startswith("the") and text.endswith(" do") for text in released)
    assert len(set(released)) > 3


@pytest.mark.parametrize(
    ("entry", "parts"),
    [("the fox", "(the, fox)"), ("don't", "(do, n't)"), ("well-known", "2 words"), ("!?", "no word")],
)
def test_an_entry_that_is_not_one_word_is_refused_and_does_not_release_its_parts(
    entry: str, parts: str, embedding: Embedding
) -> None:
    error = refused("keep_words", lambda: private(embedding, keep_words=["it", entry]))
    assert (error.value, parts in error.problem) == (entry, True)


def test_a_listed_word_that_is_unknown_stays_unknown(embedding: Embedding) -> None:
    released = private(embedding, 1e-6, keep_words=["zorblatt7", "the"]).many(["the zorblatt7 the"] * 50)
    assert not any("zorblatt7" in (text or "") for text in released)


def test_a_record_budget_is_divided_by_the_number_of_words(embedding: Embedding) -> None:
    seen: list[np.ndarray] = []

    class Watched(Multivariate):
        def perturb(self, ids: Any, randomness: Any, *, epsilon: Any = None) -> Any:
            seen.append(epsilon)
            return super().perturb(ids, randomness, epsilon=epsilon)

    texts = ["the fox it", "", None, "fox", "the unknownword"]
    release = Privatizer(Watched(embedding, epsilon=12), record_epsilon=12)
    release.many(texts)
    assert seen.pop().tolist() == [4, 4, 4, 12, 6, 6]
    release = Privatizer(Watched(embedding, epsilon=5), record_epsilon=12)
    release.many(texts)
    assert seen.pop().tolist() == [4, 4, 4, 5, 5, 5], "the mechanism's ε is the most that a word gets"
    for bad in (0, -1, float("nan"), "3"):
        refused("record_epsilon", lambda bad=bad: private(embedding, record_epsilon=bad))  # type: ignore[misc]


def test_one_privatizer_serves_many_threads(embedding: Embedding) -> None:
    release, failures = private(embedding), list[object]()

    def work() -> None:
        failures.extend(1 for _ in range(20) if release.many(["the fox"] * 50) != ["the fox"] * 50)

    in_threads(6, work)
    assert not failures
    tally = release.receipt().tally
    assert (tally.records, tally.words) == (6 * 20 * 50, 6 * 20 * 50 * 2)


@pytest.fixture
def spelled() -> Embedding:
    """An embedding with vectors for spellings."""
    few = Embedding(["aa", "bb"], [[1.0, 0.0], [0.0, 1.0]])
    vectors = np.random.default_rng(0).standard_normal((50, 2)).astype(np.float32)
    few.subwords = Subwords(vectors, minn=2, maxn=3)
    return few


def test_spellings_are_not_remembered_if_that_is_asked_for(
    spelled: Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    vectors = Subwords.vectors

    def watched(self: Subwords, words: list[str]) -> Any:
        looked_up.extend(words)
        return vectors(self, words)

    monkeypatch.setattr(Subwords, "vectors", watched)
    release = Privatizer(Multivariate(spelled, epsilon=5.0), unknown="subwords")
    for _ in range(2):
        release.many(["strange words"])
    assert looked_up == ["strange", "words"], "the second time they are remembered"
    release.remember_nothing()
    for _ in range(2):
        release.many(["strange words"])
    assert looked_up == ["strange", "words"] * 3


def test_forgetting_spellings_while_another_thread_looks_them_up_is_harmless(
    spelled: Embedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(policies, "REMEMBERED_SPELLINGS", 3)
    subwords, spellings = SubwordLookup(spelled), [f"strange{i}" for i in range(40)]
    expected = subwords.ids(spellings)
    wrong: list[object] = []

    def work() -> None:
        try:
            wrong.extend(1 for _ in range(30) if subwords.ids(spellings) != expected)
        except KeyError as error:
            wrong.append(error)

    in_threads(4, work)
    assert not wrong
    assert set(expected) <= {0, 1}


def test_texts_are_not_in_representations_or_errors(embedding: Embedding) -> None:
    policy = TextPolicy(unknown="redact", keep_words=frozenset({"fox"}))
    assert "fox" not in repr(Drafter(embedding, policy).draft("fox", record=1))
    ends, content = pa.py_buffer(np.array([0, 7], "<i4")), pa.py_buffer(b"secret\xff")
    broken = pa.Array.from_buffers(pa.string(), 1, [None, ends, content])
    error = refused("column", lambda: private(embedding).column(broken))
    assert error.__cause__ is None
    assert "secret" not in str(error)


def test_a_release_prints_and_logs_nothing(
    embedding: Embedding, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(0)
    release = private(embedding, 3)
    release.many(["the secretword fox", None, "it do"])
    list(release.stream(["the fox"]))
    release.receipt().to_json()
    assert caplog.records == []
    assert capfd.readouterr() == ("", "")


def test_which_words_are_drawn_together_does_not_depend_on_how_many_are_unknown(embedding: Embedding) -> None:
    """With a seed the words of a text depend on which others are drawn with it."""
    texts = ["the fox it do the fox it do"] * 6_000
    unknown = ["zorb blatt zorb blatt zorb blatt zorb blatt"] * 3_000 + texts[3_000:]
    first, second = (
        private(embedding, 1, randomness=InsecureSeededRandomness(insecure_seed=1)).many(each)[3_000:]
        for each in (texts, unknown)
    )
    assert first == second
