"""An address of a person, a page or a host is one word."""

from __future__ import annotations

import pytest

from deniable.words.cutter import Tokeniser
from deniable.words.languages import normalise
from tests.words.vocabularies import PIECES


@pytest.mark.parametrize(
    "address",
    [
        "anna+news@example.com",
        "anna.smith@example.com",
        *(f"anna{mark}smith@example.com" for mark in "!#$%&'*+/=?^_`{|}~-."),
        *(
            "anna-@example.com mailto:anna@example.com?subject=anna example.com anna-smith.com "
            "example.com/anna see:example.com/~anna/smith example.de/anna example.de:555/anna "
            "example.de?x=anna example.de#anna example.de:555 example.com:555 "
            "mail.anna-smith.com Example.De/Anna ftp://example.com/anna x://anna "
            "see:http://localhost/(anna)?x=smith WWW.anna-smith.de see:www.anna-smith.de"
        ).split(),
    ],
)
def test_an_address_is_one_word(address: str) -> None:
    address = normalise(address)
    assert Tokeniser(PIECES).words(f"see {address}\t{address} <{address}>") == [
        "see",
        address,
        address,
        address,
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("'bob@example.com'", ["bob@example.com"]),
        ("`ann@example.com`", ["ann@example.com"]),
        ("‘x@example.com’", ["x@example.com"]),
        ("'x-@example.com'", ["x-@example.com"]),
        ("'x.de/anna see", ["x.de/anna", "see"]),
        ("'www.anna.de see", ["www.anna.de", "see"]),
        ("'ftp://anna see", ["ftp://anna", "see"]),
        ("'x.com'", ["x.com"]),
    ],
)
def test_an_address_in_quotation_marks_is_one_word(text: str, words: list[str]) -> None:
    assert Tokeniser(PIECES).words(normalise(text)) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("example.com's", ["example.com", "'s"]),
        ("Anna-Smith.COM’s", ["Anna-Smith.COM", "'s"]),
        ("example.com-owned", ["example.com", "owned"]),
        ("example.com,anna", ["example.com", "anna"]),
        ("see:example.com", ["see", "example.com"]),
        ("example.com_anna", ["example.com", "anna"]),
        ("example.com.Anna", ["example.com", "Anna"]),
        ("x.com-anna.smith.net-de.x", ["x.com-anna.smith.net", "de", "x"]),
        ("example.community", ["example", "community"]),
        ("example.com2", ["example", "com2"]),
    ],
)
def test_a_bare_host_is_one_word_whatever_follows_it(text: str, words: list[str]) -> None:
    assert Tokeniser(PIECES | {"'s"}).words(normalise(text)) == words


def test_a_host_is_kept_whole_where_the_vocabulary_has_no_clitics() -> None:
    assert Tokeniser(PIECES).words("example.com's") == ["example.com", "s"]
