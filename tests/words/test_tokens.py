"""Text is cut into words as people type them, and as the documentation says."""

from __future__ import annotations

import hashlib

import pytest

from deniable import Embedding
from deniable.words.cutter import RULES, Cutter, Tokeniser, words_of
from deniable.words.languages import normalise
from tests.words.vocabularies import PIECES


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


@pytest.mark.parametrize(
    "example", ["Xyzzylotl", "encrpytoin", "anna.smith@example.com", "5512-AB-3456", "12-AB-34"]
)
def test_what_the_readme_calls_unknown_is_one_unknown_word(example: str) -> None:
    embedding = Embedding.open()
    assert [embedding.index.get(word) for word in Cutter(embedding).words(f"my {example}, please")[1:-1]] == [
        None
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the '90s", ["the", "'90s"]),
        ("'tis", ["'tis"]),
        ("get 'em, anna", ["get", "'em", "anna"]),
        ("get 'em.", ["get", "'em"]),
        ("'em...anna", ["'em", "anna"]),
        ("'em--anna", ["'em", "anna"]),
        ("'em' '90's", ["em", "90", "'s"]),
    ],
)
def test_a_short_word_on_its_own_keeps_the_apostrophe_before_it(text: str, words: list[str]) -> None:
    assert Tokeniser(PIECES | {"'s", "'90s", "'tis", "'em"}).words(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [("की)...(5", ["की", "5"]), ("ab)...(5", ["ab", "5"]), (".ab/...", ["ab"]), (".ab/...'s", ["ab", "'s"])],
)
def test_punctuation_is_no_word_even_if_the_vocabulary_holds_it(text: str, words: list[str]) -> None:
    assert Tokeniser({"...", ")", "(", "/", ")...(", "5", "'s"}).words(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(555) 123-4567", ["555", "123-4567"]),
        ("anna-smith.de", ["anna", "smith", "de"]),
        ("anna-04", ["anna", "04"]),
        ("12_x_anna x_12_de", ["12", "x", "anna", "x", "12", "de"]),
        ("12–anna", ["12", "anna"]),
        ("x–12–de", ["x", "12", "de"]),
        ("12-anna-smith", ["12", "anna", "smith"]),
        ("anna-12-de", ["anna", "12", "de"]),
        ("anna/smith", ["anna", "smith"]),
        ("anna.x?see", ["anna", "x", "see"]),
        ("anna!see(x)", ["anna", "see", "x"]),
        ("x://", ["x"]),
        ('555"1234 555<12>04', ["555", "1234", "555", "12", "04"]),
        ("example.com.au", ["example.com", "au"]),
        ("end.Start:5", ["end.Start:5"]),
        ("'90s-style", ["90s", "style"]),
    ],
)
def test_what_the_documentation_says_is_cut_still(text: str, words: list[str]) -> None:
    assert Tokeniser(PIECES).words(text) == words


def test_whoever_changes_where_text_is_cut_counts_the_rules_up() -> None:
    text = """Don't e-mail 'bob@example.com', John's (555)123-4567 or o'clock-ish U.S. p.m. '90s rock'n'roll; see www.a.org/b?c=d#e,
    google.com's 1,234.56 – naïve Straße की 3½ x=y_z a/b A&B 10:30pm C++ #tag @you :-) 日本語 …5° 'tis 192.168.1.10:80"""  # noqa: E501
    text += (
        " 12-AB-34 12–AB–34 A-12-B, B-MW-1234's AB/1234/56 1-800-FLOWERS a_12_b 10-yr-old f-16 "
        "mid-1990s ssn:9-feb-02 x.5/y.6"
    )
    known = {"don't", "do", "n't", "'s", "e-mail", "u.s.", "p.m.", "o'clock", "google", "com"}
    cut = "\n".join(Tokeniser(known).words(normalise(text)))
    assert (RULES, hashlib.blake2b(cut.encode(), digest_size=8).hexdigest()) == (2, "10538dbafd9bba8b"), (
        "keyed releases change: RULES + 1"
    )


def test_without_a_vocabulary_compounds_split_and_clitics_stay() -> None:
    assert words_of("The E-mail didn’t come at 5 o'clock") == "the e mail did n't come at 5 o clock".split()
