"""Cutting takes work proportional to the length of a text, counted in looks at characters: no text stalls
what cuts it."""

from __future__ import annotations

from typing import Any, cast

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deniable.words.cutter import Chunks
from tests.words.counting import CountingPattern
from tests.words.test_chunks import PATTERNS, VOCABULARIES, ByOnePattern, tokeniser_for

UNITS = [
    *"aB5٥❶౸.',-:/@#?=_<>\"()+& `日",
    *"❶❶ +@ :// www. .com \u0301 n't l' 5- a@".split(),
]


def pattern_of(kind: str) -> regex.Pattern[str]:
    return tokeniser_for(VOCABULARIES[kind])._chunks._pattern


def steps(chunks: type[Chunks], pattern: str, text: str) -> int:
    counting = CountingPattern(pattern)
    for _ in chunks(cast(Any, counting)).spans(text, 0, len(text)):
        pass
    return counting.steps


@pytest.mark.parametrize("kind", VOCABULARIES)
@settings(max_examples=20)
@given(
    unit=st.lists(st.sampled_from(UNITS), min_size=1, max_size=4).map("".join),
    end=st.sampled_from(["", "a", "5", " ", "❶a"]),
)
@example("❶", "")
@example("❶!", "a")
@example("౸❶-", "5")
def test_twice_the_text_is_twice_the_work(kind: str, unit: str, end: str) -> None:
    pattern = pattern_of(kind).pattern
    few, many = (steps(Chunks, pattern, unit * times + end) for times in (100, 200))
    assert many <= 2.6 * few + 500


def test_the_count_finds_quadratic_work() -> None:
    pattern = PATTERNS[0].pattern
    few, many = (steps(ByOnePattern, pattern, "❶" * times) for times in (100, 200))
    assert many > 3 * few


@given(st.lists(st.sampled_from(UNITS), max_size=25).map("".join))
def test_what_counts_matches_as_the_library_does(text: str) -> None:
    for pattern in PATTERNS:
        counted = [match.span() for match in CountingPattern(pattern.pattern).finditer(text, 0, len(text))]
        assert counted == [match.span() for match in pattern.finditer(text)]
