"""Whoever receives a release reads the words that were released, whatever words meet: the writer and the
reader agree on every one."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest

from deniable import Embedding, Keyed, Multivariate, Privatizer
from deniable.release.policies import PUBLIC_PUNCTUATION
from deniable.release.writing import REDACTED, Shape, Writer, shape_of
from deniable.words.cutter import CLITICS
from deniable.words.released import ReleasedWords
from tests.support.made_languages import VOCABULARIES

ALL_CLITICS = sorted(CLITICS)
SHAPES = [shape_of(word) for word in ("fox", "Fox", "FOX")]

# Words that look like parts, ends or beginnings of one another, or like marks: no pair of them may be read as
# other words.
_ODD = """
    the fox co production co-production well known well-known u.s. u.s s u a. a.m. a.m am o'clock o clock o'd 24 7 24-7 24/7 1990s mid
    mid-1990s '90s 90s rock'n'roll r&b r b ph.d. ph ph.d inc inc. e-mail e mail don't do don fox's fox's'd it's it example.com com example
    http://a.b a.b@c.de ' '' - -- , . ... % [redacted redacted l' d' l d s' ol' 'em em straße strasse groß ſ
"""  # noqa: E501
ODD = _ODD.split()
CASED = "us US Us apple Apple PIE pie's Pie McDonald mcdonald iPhone ǆ ı i İ 'S".split()
VOCABULARIES_BY_NAME = {
    "odd": [*ODD, *ALL_CLITICS],
    "odd without clitics": ODD,
    "cased": [*ODD, *CASED, *ALL_CLITICS],
    "no-break space": ["at\u00a0home", "\u00a0at", "at", "home", "home\u3000", "fox", *ALL_CLITICS],
    **{f"{language} with clitics": [*words, *ALL_CLITICS] for language, words in VOCABULARIES.items()},
}


def make_embedding(words: Sequence[str]) -> Embedding:
    return Embedding(list(words), np.random.default_rng(3).standard_normal((len(words), 3)))


def misread(
    embedding: Embedding,
    releases: Iterable[Sequence[str]],
    *,
    gaps: Sequence[str] | None = None,
    shapes: Sequence[Shape] | None = None,
) -> list[tuple[Sequence[str], str]]:
    """Return the releases that a receiver reads as other words, with their text; ``gaps`` and ``shapes`` go
    with each of them."""
    writer, reader = Writer(embedding, (REDACTED,)), ReleasedWords(embedding, (REDACTED,))
    index = embedding.index
    wrong = []
    for words in releases:
        text = writer.write(words, gaps, shapes)
        if reader.read(text) != [index[word] for word in words if word != REDACTED]:
            wrong.append((words, text))
    return wrong


@pytest.fixture(scope="module")
def built_in() -> Embedding:
    return Embedding.open()


def test_clitics_are_joined_to_the_word_before_them() -> None:
    write = Writer(make_embedding(["do", "fox", *ALL_CLITICS])).write
    assert write(["do", "n't", "'s", "fox", "'ll"]) == "don't's fox'll"
    assert write(["n't", "fox"]) == "n't fox"
    assert write([]) == ""


def test_a_clitic_stands_alone_where_the_two_would_be_another_word() -> None:
    write = Writer(make_embedding(["fox", "it", "fox's", "it's'd", *ALL_CLITICS])).write
    assert write(["fox", "'s", "'d", "fox's", "'d", "it", "'s", "'d"]) == "fox 's'd fox's'd it's 'd"
    assert write(["Fox", "'s", "fox", "'ll"]) == "Fox 's fox'll"


def test_marks_stand_apart_where_they_would_make_another_word() -> None:
    words = "well known well-known co co. fox 24 7 -".split()
    write = Writer(make_embedding([*words, *ALL_CLITICS])).write
    assert write(["well", "fox", "known"], ["(", "-", ", ", ")!"]) == "(well-fox, known)!"
    assert write(["well", "known"], ["", "-", "."]) == "well known"  # the hyphen alone is a word here
    assert write(["co", "fox"], ["", ". ", "."]) == "co . fox."
    assert write(["24", "7"], ["", "/", ""]) == "24 / 7"
    assert write(["fox", "'s", "well"], ["", " ", " - ", ""]).split() == ["fox's", "well"]


def test_a_word_stays_in_its_own_case_where_another_would_make_it_another_word() -> None:
    write = Writer(make_embedding(["us", "US", "fox", "straße"])).write
    lower, capitalised, upper = SHAPES
    assert write(["us", "fox", "straße"], None, [upper, upper, upper]) == "us FOX straße"
    assert write(["us", "US", "straße"], None, [capitalised, lower, capitalised]) == "Us US Straße"


def test_every_word_of_the_built_in_vocabulary_and_every_clitic_are_read_as_they_were_released(
    built_in: Embedding,
) -> None:
    assert built_in.index.keys() >= CLITICS
    assert misread(built_in, ([word] for word in built_in.words)) == []
    assert misread(built_in, product(built_in.words, ALL_CLITICS)) == []


def test_any_clitics_after_one_another_are_read_as_they_were_released(built_in: Embedding) -> None:
    marked = [word for word in built_in.words if not word.isalnum()]
    assert len(marked) > 900
    for number in (1, 2, 3):
        assert misread(built_in, product(ALL_CLITICS, repeat=number)) == []
    words = [*marked[::20], "fox", REDACTED]
    pairs = list(product(ALL_CLITICS, repeat=2))
    assert misread(built_in, ((word, *two) for word in words for two in pairs)) == []


@pytest.mark.parametrize("gap", sorted(PUBLIC_PUNCTUATION))
def test_words_with_marks_inside_are_read_between_any_marks(built_in: Embedding, gap: str) -> None:
    marked = [word for word in built_in.words if not word.isalnum()]
    for shape in SHAPES:
        assert misread(built_in, pairwise(marked), gaps=[gap, gap, gap], shapes=[shape, shape]) == []


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "gaps",
    [
        None,
        ["", " ", " ", ""],
        ["", "-", "'", "."],
        ["'", ".", " '", "'"],
        ["(", ", ", "/", ")"],
        ["", "--", ". ", ".."],
    ],
)
@pytest.mark.parametrize("name", VOCABULARIES_BY_NAME)
def test_odd_words_that_meet_are_read_as_they_were_released(
    name: str, gaps: list[str] | None, shape: Shape
) -> None:
    embedding = make_embedding(VOCABULARIES_BY_NAME[name])
    rng = np.random.default_rng(1)
    words = [*embedding.words, REDACTED]
    releases = [[words[i] for i in three] for three in rng.integers(len(words), size=(400, 3))]
    assert misread(embedding, releases, gaps=gaps, shapes=[shape] * 3) == []


def test_different_releases_give_different_texts() -> None:
    words = ["fox", "fox's", "fox's'd", "n't", "'s", "'d", "o", "o'd"]
    write = Writer(make_embedding(words)).write
    texts = [write(release) for number in range(5) for release in product(words, repeat=number)]
    assert len(set(texts)) == len(texts)


POLICIES = [
    {},
    {"punctuation": "keep"},
    {"case": "keep"},
    {"punctuation": "keep", "case": "keep"},
    {"unknown": "redact", "punctuation": "keep"},
]
TEXT = (
    "Don't say the U.S. co-production's over: it's 24/7 rock'n'roll, O'Brien's e-mail (p.m.) isn't "
    "Zorblatt's—we'll've READ 'em, 'd 's it"
)


@pytest.mark.parametrize("policy", POLICIES, ids=str)
def test_releases_of_many_words_are_read_without_a_miss(
    built_in: Embedding, policy: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[Sequence[str]] = []
    write = Writer.write

    def watched(self: Writer, words: Sequence[str], *rest: Any) -> str:
        released.append(words)
        return write(self, words, *rest)

    monkeypatch.setattr(Writer, "write", watched)
    number = 800
    private = Privatizer(Multivariate(built_in, epsilon=10.0), randomness=Keyed(bytes(range(32))), **policy)
    texts = private.many([TEXT] * number, record_ids=range(number))
    reader = ReleasedWords(built_in, (REDACTED,))
    assert sum(map(len, released)) > 20 * number
    for words, text in zip(released, texts, strict=True):
        assert reader.read(text or "") == [built_in.index[word] for word in words if word != REDACTED], text


def test_clitics_without_end_are_written_and_read_in_time_that_grows_with_their_number() -> None:
    embedding = make_embedding(["fox", "fox's", *ALL_CLITICS])
    words = ["fox", *["'s", "n't"] * 50_000]
    started = time.perf_counter()
    assert misread(embedding, [words]) == []
    assert misread(embedding, [words], gaps=["", *[" "] * 100_000, "."]) == []
    # A letter that ends in the byte of an apostrophe, and that many of them before the first one.
    assert ReleasedWords(embedding).read("Ч" * 300_000 + "'s" * 300_000)[-1] == embedding.index["'s"]
    assert time.perf_counter() - started < 600


@pytest.mark.parametrize("after", ["it", "'s", "Fox"])
def test_no_space_says_where_a_word_was_dropped(after: str) -> None:
    embedding = make_embedding(["fox", "it", *ALL_CLITICS])
    release = Privatizer(
        Multivariate(embedding, epsilon=1e9), unknown="drop", punctuation="keep", case="keep"
    )
    for text in (f"fox qqq {after}", f"fox qqq zzz {after}", f"qqq fox {after}", f"fox {after} qqq"):
        assert release(text) == release(f"fox {after}")
    assert release(f"fox, qqq {after}") == release(f"fox, {after}")
    assert "  " not in str(release(f"fox (qqq) {after} , qqq. zzz"))
