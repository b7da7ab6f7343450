"""``deniable check``: a look at a private file before it is released."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deniable.cli.options import FileOptions, with_groups
from deniable.cli.terminal import make_table, open_console, print_json, progress

if TYPE_CHECKING:
    from deniable.records.check import FileCheck
    from deniable.records.profile import ColumnProfile

LOOK_FIRST = 3
"""The exit code that says: the file can be read, and something in it should be looked at before it is
released."""

_MOST_ROWS, _WIDEST_NAME = 24, 40
_NO_NAME = "(no name)"


@with_groups
def check(
    file: Path,
    *,
    embedding: str = "default",
    reading: FileOptions,
    records: int = 10_000,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Look at a private file before it is released: its columns, what would be released as it is, and the
    command for it.

    What is printed is private, as the file is. The exit code is 0 if nothing stands out, 3 if something
    should be looked at first, 1 if the file cannot be read.

    :param file: The private file, in any format that `deniable privatize` reads, or a folder.
    :param embedding: The name of the embedding that the file would be released with.
    :param records: How many records to look at, from the first on.
    """
    from deniable.embeddings.embedding import Embedding
    from deniable.records.check import check_file
    from deniable.records.formats.layout import make_layout

    layout = make_layout(file, **reading.reading())
    with progress("looking at the file", unit="bytes", quiet=quiet or as_json) as report:
        found = check_file(
            file,
            layout,
            Embedding.open(embedding),
            options=(*_options(reading), *(("--embedding", embedding) if embedding != "default" else ())),
            most=records,
            report=report,
        )
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found)
    if found.look_first:
        raise typer.Exit(LOOK_FIRST)


def _options(reading: FileOptions) -> tuple[str, ...]:
    cells = reading.cells
    given = {"--format": reading.format, "--delimiter": cells.delimiter, "--sheet": cells.sheet}
    given["--encoding"] = cells.encoding if cells.encoding != "utf-8" else None
    named = [part for name, value in given.items() if value is not None for part in (name, value)]
    return (*named, *(() if cells.header else ("--no-header",)))


def _show(found: FileCheck) -> None:
    from deniable.errors import printable
    from deniable.records.formats.columns import number_of

    console = open_console()
    records = number_of(found.records, "record")
    looked = records if found.complete else f"the first {records}"
    console.print(
        f"{printable(found.file)}: {found.format}, {looked}. This is about private text: keep it to "
        "yourself.\n"
    )
    headings = [
        "column",
        "looks like",
        "filled",
        "different",
        "words",
        "longest",
        "unknown",
        "likely language",
    ]
    rows = [_row(column) for column in found.columns[:_MOST_ROWS]]
    table = make_table(headings, rows, left=(0, 1, 7))
    # Names that begin alike, such as visits[].date and visits[].note, must not be cut to the same letters.
    table.columns[0].min_width, table.columns[0].overflow = (
        min(_WIDEST_NAME, max((len(row[0]) for row in rows), default=0)),
        "fold",
    )
    console.print(table)
    if len(found.columns) > _MOST_ROWS:
        console.print(f"and {len(found.columns) - _MOST_ROWS:,} more columns: --json lists them all")
    if found.findings:
        console.print()
    for finding in sorted(found.findings, key=lambda each: each.level != "look"):
        console.print(f"{'look first' if finding.level == 'look' else 'note'}: {finding.says}")
    if found.command:
        names = ", ".join(printable(name) or _NO_NAME for name in found.public) or "nothing"
        console.print(f"\nReleased unchanged: {names}")
        if found.dropped:
            console.print(f"Dropped: {', '.join(printable(name) or _NO_NAME for name in found.dropped)}")
        console.print(
            "Words replaced in: "
            f"{', '.join('the text' if name is None else printable(name) or _NO_NAME for name in found.private)}"  # noqa: E501
        )
        console.print(f"\n{printable(found.command)}", soft_wrap=True)
        console.print(
            "This ε is a starting value. deniable release chooses one by risk, and attacks the text first."
        )


def _row(column: ColumnProfile) -> list[str]:
    from deniable.errors import printable
    from deniable.report.wording import percent_fixed

    texts = column.words > 0
    languages = ", ".join([column.language, *column.other_languages]) if column.language else ""
    in_script = "" if column.script is None else f"{column.script} script"
    return [
        "(the text)" if column.path is None else printable(column.path) or _NO_NAME,
        column.kind,
        f"{column.values - column.empty:,}",
        f"{column.distinct:,}",
        f"{column.words:,}" if texts else "",
        f"{column.longest:,}" if texts else "",
        percent_fixed(column.unknown, 0) if texts else "",
        (languages or in_script) if texts and column.kind in ("free text", "short text") else "",
    ]
