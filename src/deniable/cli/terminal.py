"""How commands give their results: JSON for machines, and tables in one style for people."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.errors import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from deniable.progress import Report


def say(line: str) -> None:
    """Print to standard error."""
    print(line, file=sys.stderr, flush=True)


def warn(warning: str) -> None:
    """Print a warning to standard error."""
    say(f"deniable: warning: {printable(warning)}")


@contextmanager
def warnings_shown() -> Iterator[None]:
    """Show Python's warnings of the work inside as commands show theirs."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: warn(str(message))
        warnings.simplefilter("always", UserWarning)
        yield


@contextmanager
def progress(label: str, *, unit: str, quiet: bool) -> Iterator[Report | None]:
    """Show progress: lend what work reports to, or None if nothing is to be shown."""
    from deniable.progress import Progress

    with Progress(label, unit=unit) as shown:
        yield None if quiet else shown.report


def print_json(value: object) -> None:
    """Print a value as JSON."""
    print(escape_json(json.dumps(value, indent=2, ensure_ascii=False)))


def escape_json(written: str) -> str:
    """Return the same JSON with everything escaped that could act on a terminal, such as marks of
    direction."""
    if written.isprintable():
        return written
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in written)


def as_typed(message: object) -> str:
    """Return a message with the options it names written as they are typed, not as they are given in
    Python."""
    return re.sub(r"\b(force|resume)=True\b", r"--\1", str(message))


def save_json(path: Path, value: object) -> None:
    """Write a result to a file that commands and Python read again."""
    from deniable.atomic import write_whole

    write_whole(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def open_console(width: int | None = None) -> Console:
    """Return a console that prints text without colours of its own. Names from files may be in the text and
    in tables: what could act on a terminal is written out."""
    from rich.console import Console

    class Escaping(Console):
        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(printable(text, keep_lines=True), **options)

    return Escaping(highlight=False, markup=False, width=width)


def make_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    title: str | None = None,
    left: Collection[int] = (0,),
) -> Table:
    """Return a table without lines. The columns at the places ``left`` are set to the left, others right."""
    from rich.table import Table

    style: dict[str, Any] = {"header_style": "bold", "title_justify": "left", "title_style": ""}
    table = Table(title=title, box=None, padding=(0, 2, 0, 0), **style)
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place in left else "right")
    for row in rows:
        table.add_row(*row)
    return table
