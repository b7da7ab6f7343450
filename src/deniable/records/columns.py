"""Finding the columns that hold private text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from deniable.errors import InvalidParameter

_NAMES_SHOWN = 50
_LIKE_A_NAME = re.compile(r"[\w.:/#()\[\]-]{1,40}(?: [\w.:/#()\[\]-]{1,20}){0,2}")


def find_columns(wanted: Sequence[str], names: Sequence[str], source: str) -> list[int]:
    """Return where each wanted column stands among the names.

    :raises InvalidParameter: if none is wanted, or one is not there or is there twice; the message lists the columns.
    """
    if not wanted:
        raise InvalidParameter("columns", [], f"say which columns hold private text (--column); {source} has {listed(names)}")
    for name in wanted:
        if name not in names:
            raise InvalidParameter("columns", name, f"{source} has no such column; it has {listed(names)}")
        if names.count(name) > 1:
            raise InvalidParameter("columns", name, f"{source} has {names.count(name)} columns of that name; rename them")
    return [names.index(name) for name in wanted]


def find_numbered_columns(wanted: Sequence[str], width: int, source: str) -> list[int]:
    """Return where each column, wanted by its number from 1, stands in a file without a header.

    :raises InvalidParameter: if none is wanted, or one is not the number of a column.
    """
    numbers = [str(number) for number in range(1, width + 1)]
    return find_columns(wanted, numbers, source)


def untouched_columns(names: Sequence[str], private: Sequence[int]) -> str | None:
    """Return in words which columns are released as they are; None if there are none."""
    others = [name for i, name in enumerate(names) if i not in private]
    return f"every value of {listed(others)}" if others else None


def listed(names: Sequence[str]) -> str:
    """Return the names as words for a message, the first few if they are many."""
    if not names:
        return "no columns"
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return f"the column{'s' if len(names) > 1 else ''} {', '.join(_shown(name) for name in names[:_NAMES_SHOWN])}{more}"


def _shown(name: str) -> str:
    # A file without a header, read as if it had one, has its first private record here. Names are short; text is not.
    return name if _LIKE_A_NAME.fullmatch(name) else "(not shown: does not look like a name)"
