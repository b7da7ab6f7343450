"""Lists of words that a user gives in a file."""

from __future__ import annotations

from pathlib import Path

from deniable.errors import InvalidParameter


def read_word_list(path: Path | str, *, name: str = "word list") -> list[str]:
    """Return the words of a UTF-8 file that holds one a line; empty lines, and blanks around a word, are passed over.

    :raises InvalidParameter: of that name, if the file cannot be read or is not UTF-8.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        problem = error.strerror or type(error).__name__
    except UnicodeDecodeError as error:
        problem = f"{error.reason} at byte {error.start:,}"
    else:
        # Other blanks than these can be part of a word of an embedding.
        return [word for line in text.split("\n") if (word := line.strip(" \t\r"))]
    raise InvalidParameter(name, str(path), f"must be a UTF-8 file of words, one a line ({problem})")
