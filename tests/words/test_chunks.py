"""The chunks of a text are those that the one pattern of the first cutter found, which took quadratic time on
some numbers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st

from deniable.words.cutter import Chunks, Tokeniser
from deniable.words.languages import LanguageRules, find_language_rules, normalise
from tests.support.strategies import NASTY_TEXT

# As it was, letter by letter: where the cutter changes, this stays.
_WORD = r"[\p{L}\p{N}]\w*+"
_PATH = r"(?<=\.\p{L}{2,24})(?::\p{N}{1,5})?+(?:/|\?[\w.-]++=|\#(?=\w))"
_JOINED = (
    rf"(?:://(?=[^\s<>\"])|{_PATH})[^\s<>\"]*+"
    rf"|[-.,:/&'@+!\#$%*=?^{{|}}~]{_WORD}"
    rf"|[-+]++@{_WORD}"
    rf"|(?<=\p{{N}}\p{{M}}{{0,30}})(?:[^\w\s<>\"]++[\p{{L}}\p{{N}}]\w{{0,23}}+){{0,2}}?[^\w\s<>\"]++(?=\p{{N}}){_WORD}"
)
FIRST_PATTERN = (
    r"[wW]{3}\.[^\s<>\"]++"
    rf"|(?<!\S)'[\p{{L}}\p{{N}}]{{1,3}}+(?![\w']|{_JOINED})"
    rf"|{_WORD}(?:(?!\s)(?:{_JOINED}))*+"
    r"(?:(?<=\.\p{L})\.)?+"
)
PATTERNS = [regex.compile(FIRST_PATTERN), regex.compile(rf"(?<![\w'])(?i:qu|l|d)'(?!\w)|{FIRST_PATTERN}")]

VOCABULARIES = {
    "plain": ["the", "of", "n't", "'s", "u.s.", "com", "555", "a"],
    "elided": ["l'", "d'", "qu'", "de", "homme", "a", "555"],
    "japanese": ["日本", "の", "に", "食べる", "東京", "タクシー", "a", "com"],
    "thai": ["ไทย", "ภาษา", "คน", "a"],
    "elided and chinese": ["l'", "d'", "日本", "的", "人", "a"],
    "arabic": ["كتاب", "من", "a"],
}
"""One small vocabulary for every kind of rules that a vocabulary can ask for."""

# What joins and separates words, the numbers that \w lacks (❶ ౸ ①), and letters of every kind of vocabulary.
_UNITS = [
    *"aB5٥❶𖺀౸①.',-:/@#?=_<>\"()+& `~|日ーのไيك。」",
    *"❶❶ +@ :// www. .com .de \u0301 की ... n't l' QU'".split(),
]
TEXTS = NASTY_TEXT | st.lists(st.sampled_from(_UNITS), max_size=25).map("".join)


def tokeniser_for(words: list[str]) -> Tokeniser:
    """Return what cuts text for a vocabulary with these words."""
    index = {word: place for place, word in enumerate(words)}
    rules: LanguageRules | None = find_language_rules(words, index, cased=False)
    return Tokeniser(index if rules is None else rules.spellings, languages=rules)


class ByOnePattern(Chunks):
    """Finds chunks as the first cutter did."""

    def texts(self, text: str) -> list[str]:
        """Return the chunks of a text."""
        return self._pattern.findall(text)

    def spans(self, text: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """Yield where each chunk between two places of a text starts and ends."""
        return (match.span() for match in self._pattern.finditer(text, start, stop))


@given(text=TEXTS, data=st.data())
def test_chunks_are_those_of_the_one_pattern(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, len(text)))
    for pattern in PATTERNS:
        assert Chunks(pattern).texts(text) == pattern.findall(text)
        assert list(Chunks(pattern).spans(text, start, stop)) == list(
            ByOnePattern(pattern).spans(text, start, stop)
        )


@pytest.mark.parametrize("kind", VOCABULARIES)
@given(text=TEXTS)
@example("❶❶a❶)❶://x ❶❶")
@example("❶❶.a'❶+@❶-@b❶")
@example("l'❶l'❶❶'l ❶❶")
@example("日❶❶@日.com❶❶日")
def test_every_kind_of_vocabulary_is_cut_as_by_the_one_pattern(kind: str, text: str) -> None:
    tokeniser, first = tokeniser_for(VOCABULARIES[kind]), tokeniser_for(VOCABULARIES[kind])
    forms = "|".join(
        sorted(
            (word[:-1] for word in VOCABULARIES[kind] if word in ("l'", "d'", "qu'")), key=len, reverse=True
        )
    )
    pattern = rf"(?<![\w'])(?i:{forms})'(?!\w)|{FIRST_PATTERN}" if forms else FIRST_PATTERN
    first._chunks = ByOnePattern(regex.compile(pattern))
    normalised = normalise(text)
    assert list(tokeniser.spans(normalised)) == list(first.spans(normalised))
    assert tokeniser.words(normalised) == first.words(normalised)
