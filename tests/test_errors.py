"""What stands in a message cannot act on a terminal, and an error reaches who waits for it in another
process."""

from __future__ import annotations

import inspect
import pickle

import pytest

from deniable import errors
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


def _made(kind: type[DeniableError]) -> DeniableError:
    """Return an error of a kind, whatever it asks for."""
    asked = list(inspect.signature(kind.__init__).parameters.values())[1:]
    needed = [
        each
        for each in asked
        if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    ]
    given = {
        each.name: {"one": "why"}
        if "dict" in str(each.annotation)
        else ["one"]
        if "list" in str(each.annotation)
        else 7
        if "int" in str(each.annotation)
        else "one"
        for each in needed
    }
    return kind(**given)


@pytest.mark.parametrize(
    "kind",
    [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, DeniableError)],
)
def test_an_error_goes_from_one_process_to_another_as_it_is(kind: type[DeniableError]) -> None:
    error = _made(kind)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.args, vars(again)) == (kind, str(error), error.args, vars(error))
