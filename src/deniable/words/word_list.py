"""Lists of words that a user gives in a file."""

from __future__ import annotations

from pathlib import Path

from deniable.atomic import read_plain_file
from deniable.errors import InvalidParameter

_LONGEST = 1 << 27


def read_word_list(path: Path | str, *, name: str = "word list") -> list[str]:
    """Return the words of a UTF-8 file that holds one a line; empty lines, and blanks around a word, are
    passed over.

    :raises InvalidParameter: of that name, if the file cannot be read or is not UTF-8.
    """

    def unusable(_: Path, problem: str) -> InvalidParameter:
        return InvalidParameter(name, str(path), f"must be a UTF-8 file of words, one a line ({problem})")

    try:
        text = read_plain_file(
            Path(path), longest=_LONGEST, what="list of words", error=unusable, pipe=True
        ).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise unusable(Path(path), f"{error.reason} at byte {error.start:,}") from error
    # Other blanks than these can be part of a word of an embedding.
    return [word for line in text.split("\n") if (word := line.strip(" \t\r"))]
