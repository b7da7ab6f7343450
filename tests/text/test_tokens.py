from __future__ import annotations

import time

import pytest
import regex
from hypothesis import given

from deniable import Embedding
from deniable.text.tokens import Tokeniser, normalise, words_of
from strategies import NASTY_TEXT


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\n ", []),
        ("... !? 🎉 👩‍👩‍👧 \x00", []),
        ("Don't", ["do", "n't"]),
        ("don’t", ["do", "n't"]),
        ("John's", ["john", "'s"]),
        ("U.S.", ["u.s."]),
        ("the U.S. fox", ["the", "u.s.", "fox"]),
        ("o'clock", ["o'clock"]),
        ("e-mail", ["e-mail"]),
        ("well-known", ["well", "known"]),
        ("cafe\u0301", ["café"]),
        ("ｆｏｘ", ["fox"]),
        ("rock'n'roll", ["rock", "n", "roll"]),
        ("a\x00b", ["a", "b"]),
        ("fox.", ["fox"]),
        ("fox...it", ["fox", "it"]),
        ("555-12-3456", ["555-12-3456"]),
        ("3.14 10,000 7", ["3.14", "10,000", "7"]),
        ("a@b.com", ["a@b.com"]),
        ("http://a.b/c?d=e the", ["http://a.b/c?d=e", "the"]),
        ("מה שלום", ["מה", "שלום"]),
        ("हिन्दी", ["हिन्दी"]),
        ("don't_do", ["do", "n't", "do"]),
        ("\ud800fox", ["fox"]),
    ],
)
def test_words_are_found_as_people_type_them(text: str, words: list[str], embedding: Embedding) -> None:
    assert Tokeniser(embedding.index).words(normalise(text).lower()) == words


PIECES = {"ssn", "tel", "born", "555", "12", "04", "123", "1987", "anna", "smith", "news", "example", "com", "de", "x", "see", "localhost"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ssn:555-12-3456", ["ssn", "555-12-3456"]),
        ("tel:555-12-3456.", ["tel", "555-12-3456"]),
        ("ssn=555.12.3456", ["ssn", "555.12.3456"]),
        ("ssn_555_12_3456", ["ssn", "555_12_3456"]),
        ("born:12/04/1987", ["born", "12/04/1987"]),
        ("12:04pm", ["12:04pm"]),
        ("(555)123-4567", ["555)123-4567"]),
        ("tel:(555)123-4567", ["tel", "555)123-4567"]),
        ("555–12—3456 555−12", ["555–12—3456", "555−12"]),
        ("555\u200b12", ["555\u200b12"]),
        ("ssn:555--(12).-[3456]", ["ssn", "555--(12).-[3456"]),
        ("ssn:٥٥٥-١٢-٣٤٥٦", ["ssn", "٥٥٥-١٢-٣٤٥٦"]),
        ("ssn:５５５-１２-３４５６", ["ssn", "555-12-3456"]),
        ("ssn:5\ufe0f\u20e3-1\ufe0f\u20e3", ["ssn", "5\ufe0f\u20e3-1\ufe0f\u20e3"]),
        ("de89-3704-0044-12", ["de89-3704-0044-12"]),
        ("ip:192.168.0.1", ["ip", "192.168.0.1"]),
    ],
)
def test_a_number_is_never_cut_where_marks_join_its_digits(text: str, words: list[str]) -> None:
    assert Tokeniser(PIECES).words(normalise(text)) == words


@pytest.mark.parametrize(
    "address",
    [
        "anna+news@example.com",
        "anna.smith@example.com",
        *(f"anna{mark}smith@example.com" for mark in "!#$%&'*+/=?^_`{|}~-."),
        "anna-@example.com",
        "mailto:anna@example.com?subject=anna",
        "example.com",
        "anna-smith.com",
        "example.com/anna",
        "see:example.com/~anna/smith",
        "example.de/anna",
        "example.de:555/anna",
        "example.de?x=anna",
        "example.de#anna",
        "Example.De/Anna",
        "ftp://example.com/anna",
        "x://anna",
        "see:http://localhost/(anna)?x=smith",
        "WWW.anna-smith.de",
        "see:www.anna-smith.de",
    ],
)
def test_an_address_is_one_word(address: str) -> None:
    address = normalise(address)
    assert Tokeniser(PIECES).words(f"see {address}\t{address} <{address}>") == ["see", address, address, address]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(555) 123-4567", ["555", "123-4567"]),
        ("anna-smith.de", ["anna", "smith", "de"]),
        ("12-anna-04", ["12", "anna", "04"]),
        ("anna/smith", ["anna", "smith"]),
        ("anna.x?see", ["anna", "x", "see"]),
        ("anna!see(x)", ["anna", "see", "x"]),
        ("x://", ["x"]),
    ],
)
def test_what_the_documentation_says_is_cut_still(text: str, words: list[str]) -> None:
    assert Tokeniser(PIECES).words(text) == words


def test_without_a_vocabulary_compounds_split_and_clitics_stay() -> None:
    assert words_of("The E-mail didn’t come at 5 o'clock") == ["the", "e", "mail", "did", "n't", "come", "at", "5", "o", "clock"]


@given(NASTY_TEXT)
def test_spans_are_where_the_words_are(text: str) -> None:
    tokeniser = Tokeniser({"the", "n't", "'s", "u.s.", "do"})
    normalised = normalise(text)
    assert [normalised[start:stop] for start, stop in tokeniser.spans(normalised)] == tokeniser.words(normalised)


@given(NASTY_TEXT)
def test_every_word_holds_a_letter_or_a_digit(text: str) -> None:
    assert all(regex.search(r"[\p{L}\p{N}]", word) for word in words_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "..." * 300_000,
        "'" * 300_000,
        "a's" * 200_000,
        "a-" * 300_000,
        "\u0301\u0316" * 300_000,
        "\u0301\u0316" * 5 + "\u0301\u00ad\u0316" * 100_000,
        "\uff9e\u0316" * 100_000,
        "a.a." * 200_000,
        "@" * 300_000,
        "a@" * 200_000,
        "www." * 200_000,
        "a+" * 60_000,
        "ssn:" + "5-" * 60_000,
        "ssn:5" + "." * 60_000 + "a",
        "ssn:" + "5\u0301-" * 60_000,
        "a5)(" * 60_000,
        "5--a" * 60_000,
        "a.bb" * 60_000,
        "a.bb?" * 60_000,
        "a.bb?" + "x" * 60_000,
        "a:" * 60_000,
        "a:// " * 60_000,
        "a" + "-" * 60_000,
        "a--" * 60_000,
    ],
    ids=[
        "letters",
        "stops",
        "apostrophes",
        "clitics",
        "hyphens",
        "marks",
        "marks-and-soft-hyphens",
        "half-width-marks",
        "initials",
        "ats",
        "addresses",
        "webs",
        "sums",
        "digits",
        "stops-after-a-digit",
        "digits-with-marks",
        "brackets-after-digits",
        "hyphens-after-digits",
        "hosts",
        "hosts-asked",
        "long-query",
        "colons",
        "schemes",
        "hyphens-after-a-letter",
        "dashes",
    ],
)
def test_a_megabyte_without_a_space_takes_no_quadratic_time(text: str) -> None:
    start = time.perf_counter()
    words_of(text)
    # Quadratic time would be minutes; a loaded machine is allowed a lot of linear time.
    assert time.perf_counter() - start < 20
