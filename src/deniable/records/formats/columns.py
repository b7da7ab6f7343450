"""Columns by their names: where they stand in a file, what was probably meant, and how sentences list them.

Messages never show the first line of a file: without a header, that is a private record.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from deniable.errors import InvalidParameter, printable

TO_SEE_THE_NAMES = "`deniable check FILE` shows the names"
OTHER_DELIMITERS = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
"""What may stand between cells, and how ``--delimiter`` takes it."""

_NAMES_SHOWN = 50
_SHORTEST_MISTYPED = 4


def find_columns(
    wanted: Sequence[str], names: Sequence[str], source: str, *, there: str, advice: str
) -> list[int]:
    """Return the places of the wanted columns among the names.

    ``there`` says in words what columns there are, and ``advice`` what to do when one is missing.

    :raises InvalidParameter: if none is wanted, or one is missing or there twice.
    """
    source = printable(source)
    if not wanted:
        problem = f"say which columns hold private text (--column); {source} has {there}; {advice}"
        raise InvalidParameter("columns", [], problem)
    for name in wanted:
        if name not in names:
            raise InvalidParameter("columns", name, f"{source} has {there}, none of that name; {advice}")
        if names.count(name) > 1:
            problem = f"{source} has {names.count(name)} columns of that name; rename them"
            raise InvalidParameter("columns", name, problem)
    return [names.index(name) for name in wanted]


def find_header_columns(wanted: Sequence[str], header: Sequence[str], source: str) -> list[int]:
    """Return the places of the wanted columns in what should be a header, and may be a private record.

    :raises InvalidParameter: if none is wanted, or one is missing or there twice.
    """
    advice = _advice(wanted, header)
    return find_columns(wanted, header, source, there=number_of(len(header), "column"), advice=advice)


def find_numbered_columns(wanted: Sequence[str], width: int, source: str) -> list[int]:
    """Return the places of columns that are wanted by their numbers from 1, in a file without a header.

    :raises InvalidParameter: if none is wanted, or one is not the number of a column.
    """
    numbers, advice = (
        [str(number + 1) for number in range(width)],
        "without a header, columns are numbers from 1",
    )
    return find_columns(wanted, numbers, source, there=number_of(width, "column"), advice=advice)


def find_named_columns(wanted: Sequence[str], names: Sequence[str], source: str) -> list[int]:
    """Return the places of the wanted columns in a schema, whose names are public.

    :raises InvalidParameter: if none is wanted, or one is missing or there twice; the message lists all
    columns.
    """
    return find_columns(wanted, names, source, there=names_as_text(names), advice="name one of its columns")


def _advice(wanted: Sequence[str], header: Sequence[str]) -> str:
    missing = set(wanted).difference(header)
    if meant := meant_columns(missing, header):
        return meant
    for delimiter, option in OTHER_DELIMITERS.items():
        parts = {part.strip(' "') for cell in header if delimiter in cell for part in cell.split(delimiter)}
        if not missing.isdisjoint(parts):
            return f"is the delimiter another one? --delimiter {option}"
    other = "is the delimiter another one? say it, such as --delimiter ';'; " if len(header) == 1 else ""
    return f"{other}if the file has no header use --no-header; {TO_SEE_THE_NAMES}"


def likely_delimiter(header: Sequence[str], delimiter: str) -> str | None:
    """Return the option for ``--delimiter`` if another mark is more frequent in the first row; else None."""
    marks = {mark: sum(cell.count(mark) for cell in header) for mark in OTHER_DELIMITERS if mark != delimiter}
    mark = max(marks, key=lambda each: marks[each])
    return OTHER_DELIMITERS[mark] if marks[mark] >= max(1, len(header)) else None


def meant_columns(missing: Collection[str], names: Collection[str]) -> str | None:
    """Return which columns are probably meant: up to case, blanks or one slip, or as a comma list.

    No other name of the file is shown: its first row may be a private record. The answer tells at most one
    letter of it.
    """
    for name in sorted(missing):
        parts = [part.strip() for part in name.split(",")]
        if len(parts) > 1 and set(parts) <= set(names):
            options = " ".join(f"--column {printable(part)}" for part in parts)
            return f"give each column an option of its own: {options}"
        for most_slips in (0, 1):
            similar = [each for each in names if _slips(_plain(each), _plain(name)) <= most_slips]
            if len(similar) == 1:
                return f"did you mean {printable(similar[0])}?"
    return None


def _slips(one: str, other: str) -> int:
    """Return 0 for equal names, 1 if a character is left out, put in, mistaken or swapped, else 2."""
    if one == other:
        return 0
    if min(len(one), len(other)) < _SHORTEST_MISTYPED:
        return 2
    pairs = enumerate(zip(one, other, strict=False))
    start = next((i for i, (mine, yours) in pairs if mine != yours), min(len(one), len(other)))
    one, other = one[start:], other[start:]
    swapped = one[1::-1] == other[:2] and one[2:] == other[2:]
    return 1 if one[1:] == other[1:] or one[1:] == other or one == other[1:] or swapped else 2


def _plain(name: str) -> str:
    return "".join(name.split()).replace("_", "").casefold()


def untouched_columns(names: Sequence[str], private: Collection[int]) -> str | None:
    """Return in words which columns are released as they are; None if there are none."""
    others = [name for i, name in enumerate(names) if i not in private]
    return f"every value of {names_as_text(others)}" if others else None


def number_of(number: int, what: str) -> str:
    """Return the number with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def names_as_text(names: Sequence[str], what: str = "column") -> str:
    """Return the names as words, the first few if they are many."""
    if not names:
        return f"no {what}s"
    shown = ", ".join(map(printable, names[:_NAMES_SHOWN]))
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return f"the {what}{'s' if len(names) > 1 else ''} {shown}{more}"
