"""What stands in a message cannot act on a terminal."""

from __future__ import annotations

import pytest

from deniable.errors import DeniableError, InvalidParameter, MalformedEmbedding, RecordError, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, naïve, 日本語 😀", "plain, naïve, 日本語 😀"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\u2028b\u202ec\ufeff", "a\\u2028b\\u202ec\\ufeff"),
        ("two\nlines\r", "two\\nlines\\r"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_what_is_no_character_of_its_own_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_a_message_keeps_its_lines_and_a_name_does_not() -> None:
    assert printable("two\nlines\r", keep_lines=True) == "two\nlines\\r"
    assert str(DeniableError("two\nlines\r")) == "two\nlines\\r"


@pytest.mark.parametrize(
    "error",
    [
        DeniableError("\x1b[31m"),
        InvalidParameter("name", "x", "\x1b[31m"),
        MalformedEmbedding("\x1b[31m.txt", "bad"),
        RecordError("\x1b[31m.csv", "bad", line=3),
    ],
)
def test_no_message_holds_a_command_for_a_terminal(error: DeniableError) -> None:
    assert "\\x1b[31m" in str(error)
    assert "\x1b" not in str(error)


def test_what_is_no_text_stays_as_it_is() -> None:
    assert DeniableError("a", 3).args == ("a", 3)
