"""Releases for tests that are about something else than roles: every column that must be named is kept."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, TypeVar

from deniable.errors import UndecidedColumns
from deniable.records import privatize_file

Made = TypeVar("Made")
_SHEET = "the sheet "


def keeping(release: Callable[..., Made]) -> Callable[..., Made]:
    """Return a release of a file that keeps what it would refuse."""

    @functools.wraps(release)
    def run(*arguments: Any, **settings: Any) -> Made:
        while True:
            try:
                return release(*arguments, **settings)
            except UndecidedColumns as error:
                sheets = [name.removeprefix(_SHEET) for name in error.columns if name.startswith(_SHEET)]
                others = [name for name in error.columns if not name.startswith(_SHEET)]
                settings["keep"] = [*settings.get("keep", ()), *others]
                if sheets:
                    settings["keep_sheets"] = [*settings.get("keep_sheets", ()), *sheets]

    return run


def options_to_keep(said: str) -> list[str]:
    """Return the options by which a command keeps what it said that it refuses; none if it refused
    nothing."""
    found = [
        part
        for listed in re.findall(r"roles are missing for (.*?)\. Drop a column", said)
        for part in listed.split("), ")
    ]
    names = dict.fromkeys(part.rpartition(" (")[0].replace("(no name)", "") for part in found)
    sheets = [
        part
        for name in names
        if name.startswith(_SHEET)
        for part in ("--keep-sheet", name.removeprefix(_SHEET))
    ]
    return [*sheets, *(part for name in names if not name.startswith(_SHEET) for part in ("--keep", name))]


keep_all = keeping(privatize_file)
