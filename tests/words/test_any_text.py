"""Whatever the text, every letter and digit of it is in a word, and cutting takes linear time."""

from __future__ import annotations

import sys

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from deniable.words.cutter import Tokeniser, words_of
from deniable.words.languages import normalise
from tests.support.strategies import NASTY_TEXT
from tests.words.vocabularies import HELD

# Any text rarely puts marks between digits, quotation marks before addresses, or domains into compounds;
# pieces do.
JOINED_TEXT = st.lists(
    st.sampled_from(
        [
            *"aB5٥❶𖺀.',-:/@#?=_<>\"()+& `",
            *"की \u0301 .com .de www. :// ... n't 's 555 u.s. \u200b".split(),
        ]
    ),
    max_size=12,
).map("".join)


@given(NASTY_TEXT | JOINED_TEXT)
def test_spans_are_where_the_words_are(text: str) -> None:
    tokeniser = Tokeniser(HELD)
    normalised = normalise(text)
    assert [normalised[start:stop] for start, stop in tokeniser.spans(normalised)] == tokeniser.words(
        normalised
    )


@given(NASTY_TEXT | JOINED_TEXT)
def test_no_letter_or_digit_is_outside_the_words(text: str) -> None:
    words = [*words_of(text), *Tokeniser(HELD).words(normalise(text))]
    assert all(regex.search(r"[\p{L}\p{N}]", word) for word in words)
    normalised, end, outside = normalise(text), 0, ""
    for start, stop in Tokeniser(HELD).spans(normalised):
        outside, end = outside + normalised[end:start], stop
    assert not regex.search(r"[\p{L}\p{N}]", outside + normalised[end:])


NUMBERS = regex.findall(r"\p{N}", "".join(map(chr, range(sys.maxunicode + 1))))


@pytest.mark.parametrize(
    "form",
    "{}A A{} A{}B a-{}b a.{}b {}a.com 1{}A {}'s e-{}mail x_{}y www{}. l'{}a".split(),
)
def test_no_number_of_unicode_is_left_in_a_gap(form: str) -> None:
    tokeniser = Tokeniser(HELD)
    for number in NUMBERS:
        text = normalise(form.format(number))
        inside = {place for start, stop in tokeniser.spans(text) for place in range(start, stop)}
        assert all(
            place in inside for place, character in enumerate(text) if regex.match(r"[\p{L}\p{N}]", character)
        ), text


LONG = {
    "letters": "a" * 1_000_000,
    "stops": "..." * 300_000,
    "apostrophes": "'" * 300_000,
    "clitics": "a's" * 200_000,
    "hyphens": "a-" * 300_000,
    "marks": "\u0301\u0316" * 300_000,
    "marks-and-soft-hyphens": "\u0301\u0316" * 5 + "\u0301\u00ad\u0316" * 100_000,
    "half-width-marks": "\uff9e\u0316" * 100_000,
    "initials": "a.a." * 200_000,
    "ats": "@" * 300_000,
    "addresses": "a@" * 200_000,
    "webs": "www." * 200_000,
    "sums": "a+" * 60_000,
    "digits": "ssn:" + "5-" * 60_000,
    "stops-after-a-digit": "ssn:5" + "." * 60_000 + "a",
    "digits-with-marks": "ssn:" + "5\u0301-" * 60_000,
    "brackets-after-digits": "a5)(" * 60_000,
    "hyphens-after-digits": "5--a" * 60_000,
    "hosts": "a.bb" * 60_000,
    "hosts-asked": "a.bb?" * 60_000,
    "long-query": "a.bb?" + "x" * 60_000,
    "colons": "a:" * 60_000,
    "schemes": "a:// " * 60_000,
    "hyphens-after-a-letter": "a" + "-" * 60_000,
    "dashes": "a--" * 60_000,
    "quoted": " 'a-" * 60_000,
    "brackets-after-a-quoted-digit": "'5" + ")" * 100_000,
    "quoted-digits": " '" + "5)(" * 60_000,
    "domains": "a.com-" * 40_000,
    "domains-with-clitics": "a.com's" * 40_000,
    "domains-cut-off": "a.com.b" * 40_000,
    "domains-before-ports": "a.com:" * 40_000,
    "ports": "a.bb:5" * 40_000,
    "marks-after-a-domain": "x.com" + "_-." * 60_000 + "a",
    "marks-after-marked-letters": "की)..." * 40_000,
    "marks-after-a-digit": "5" + "\u0301" * 100_000 + ")5",
    "codes": "a-5-" * 100_000,
    "letters-after-digits": "5–a" * 100_000,
    "letters-after-a-digit": "5" + "–a" * 100_000,
    "a-long-word-after-a-digit": "5–" + "a" * 100_000,
    "letters-among-digits": "5)a(" * 60_000,
    "numbers-and-letters": "a.5:" * 60_000,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_a_megabyte_without_a_space_takes_no_quadratic_time(text: str) -> None:
    words_of(text)  # quadratic time would be minutes or hours
