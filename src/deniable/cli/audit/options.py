"""What all audits share on the command line: options, the chosen mechanism, and how a result is written and shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from deniable.audit.saved import AnyResult
    from deniable.mechanisms.chosen import ChosenMechanism

EmbeddingName = Annotated[str, typer.Option("--embedding", help="The name of an installed embedding.")]
Epsilon = Annotated[float, typer.Option("--epsilon", "-e", help="The privacy parameter, per word.")]
Epsilons = Annotated[list[float], typer.Option("--epsilon", "-e", help="A value of ε to look at. May be repeated.")]
Seed = Annotated[int, typer.Option(help="The seed of the audit's own draws; releases never use it.")]
Save = Annotated[Path | None, typer.Option("--save", help="Where to write the result as JSON, for `deniable audit report`.")]
PageFile = Annotated[Path | None, typer.Option("--report", help="Where to write the result as a page for people (HTML).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")]
DataFile = Annotated[Path, typer.Argument(help="CSV, TSV, JSON Lines or Parquet with one text per record; may be compressed.")]
TextColumn = Annotated[str, typer.Option("--text-column", "--column", "-c", help="The column that holds the text.")]


def choose(name: str, options: list[str] | None) -> ChosenMechanism:
    """Return the mechanism that was chosen on the command line.

    :raises InvalidParameter: if there is no mechanism or no option of that name.
    """
    from deniable.cli.mechanism import parse_options
    from deniable.mechanisms.chosen import ChosenMechanism

    return ChosenMechanism(name=name, options=parse_options(name, options))


def finish(result: AnyResult, *, save: Path | None, page: Path | None, as_json: bool) -> None:
    """Print the result, and write it where it was asked for."""
    import json

    from deniable.atomic import write_whole

    if save is not None:
        write_whole(save, json.dumps(result.to_dict(), indent=1, ensure_ascii=False) + "\n")
    if page is not None:
        from deniable.audit.report.page import audit_page

        audit_page([result]).write(page)
    if as_json:
        print(json.dumps(result.to_dict(), indent=2, ensure_ascii=False))
    else:
        _show(result)


def _show(result: AnyResult) -> None:
    """Print the finding in a sentence, then the tables."""
    from rich.console import Console
    from rich.table import Table

    from deniable.audit.report.words import finding, tables

    console = Console(highlight=False, markup=False)
    console.print(finding(result))
    for caption, columns, rows in tables(result):
        shown = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", title=caption, title_justify="left", title_style="")
        for place, column in enumerate(columns):
            shown.add_column(column, justify="right" if place else "left")
        for row in rows:
            shown.add_row(*row)
        console.print()
        console.print(shown)
    if result.audit == "bound":
        console.print()
        console.print(result.not_proven)


def check_places(*paths: Path | None) -> None:
    """Refuse a file that cannot be written before the work begins.

    :raises RecordError: if a path is a folder or its folder is not there.
    """
    from deniable.report.place import check_place

    for path in paths:
        if path is not None:
            check_place(path)
