"""Finding the columns that hold private text.

Messages never show what stands in the first line of a file: without a header, that is a private record.
"""

from __future__ import annotations

from collections.abc import Sequence

from deniable.errors import InvalidParameter

TO_SEE_THE_NAMES = "to see the names: head -1 FILE"

_NAMES_SHOWN = 50
_OTHER_DELIMITERS = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}


def find_columns(wanted: Sequence[str], names: Sequence[str], source: str, *, there: str, advice: str) -> list[int]:
    """Return where each wanted column stands among the names.

    ``there`` says in words what columns there are, and ``advice`` what to do when one is not among them.

    :raises InvalidParameter: if none is wanted, or one is not there or is there twice.
    """
    if not wanted:
        raise InvalidParameter("columns", [], f"say which columns hold private text (--column); {source} has {there}; {advice}")
    for name in wanted:
        if name not in names:
            raise InvalidParameter("columns", name, f"{source} has {there}, none of that name; {advice}")
        if names.count(name) > 1:
            raise InvalidParameter("columns", name, f"{source} has {names.count(name)} columns of that name; rename them")
    return [names.index(name) for name in wanted]


def find_header_columns(wanted: Sequence[str], header: Sequence[str], source: str) -> list[int]:
    """Return where each wanted column stands in what should be a header, and may be a private record.

    :raises InvalidParameter: if none is wanted, or one is not there or is there twice.
    """
    return find_columns(wanted, header, source, there=counted(len(header), "column"), advice=_advice(wanted, header))


def _advice(wanted: Sequence[str], header: Sequence[str]) -> str:
    """Say what to do when a column is not found: if another delimiter would find one, or there is but one cell, say that."""
    missing = set(wanted).difference(header)
    for delimiter, option in _OTHER_DELIMITERS.items():
        if any(not missing.isdisjoint(part.strip(' "') for part in cell.split(delimiter)) for cell in header if delimiter in cell):
            return f"is the delimiter another one? --delimiter {option}"
    other = "is the delimiter another one? say it, such as --delimiter ';'; " if len(header) == 1 else ""
    return f"{other}if the file has no header use --no-header; {TO_SEE_THE_NAMES}"


def find_numbered_columns(wanted: Sequence[str], width: int, source: str) -> list[int]:
    """Return where each column, wanted by its number from 1, stands in a file without a header.

    :raises InvalidParameter: if none is wanted, or one is not the number of a column.
    """
    numbers = [str(number) for number in range(1, width + 1)]
    return find_columns(wanted, numbers, source, there=counted(width, "column"), advice="without a header, columns are numbers from 1")


def find_named_columns(wanted: Sequence[str], names: Sequence[str], source: str) -> list[int]:
    """Return where each wanted column stands in a schema, whose names are no private text and can be shown.

    :raises InvalidParameter: if none is wanted, or one is not there or is there twice; the message lists the columns.
    """
    return find_columns(wanted, names, source, there=listed(names), advice="name one of its columns")


def untouched_columns(names: Sequence[str], private: Sequence[int]) -> str | None:
    """Return in words which columns are released as they are; None if there are none."""
    others = [name for i, name in enumerate(names) if i not in private]
    return f"every value of {listed(others)}" if others else None


def counted(number: int, what: str) -> str:
    """Return the number with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """Return the names as words, the first few if they are many."""
    if not names:
        return "no columns"
    shown = ", ".join(name if name.isprintable() else ascii(name) for name in names[:_NAMES_SHOWN])
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return f"the column{'s' if len(names) > 1 else ''} {shown}{more}"
