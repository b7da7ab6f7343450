"""What all audits share on the command line: groups of options, what is checked first, and how a result is
written and shown."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.terminal import make_table, open_console, print_json, progress, save_json

if TYPE_CHECKING:
    from deniable.audit.results import AuditResult
    from deniable.progress import Report

Epsilons = Annotated[
    list[float], typer.Option("--epsilon", "-e", help="A value of ε to look at. May be repeated.")
]


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """The seed of an audit, and what becomes of its result.

    :param seed: The seed of the audit's own draws; releases never use it.
    :param save: Where to write the result as JSON, for `deniable audit report`.
    """

    seed: int = 0
    save: Path | None = None
    report: Path | None = None
    as_json: bool = False
    quiet: bool = False
    device: str = "cpu"

    def __post_init__(self) -> None:
        """Refuse a file that cannot be written before the work begins.

        :raises RecordError: if a path is a folder or its folder is not there.
        """
        from deniable.atomic import check_place

        for path in (self.save, self.report):
            if path is not None:
                check_place(path)

    def progress(self, label: str, *, unit: str) -> AbstractContextManager[Report | None]:
        """Show progress unless it is not wanted: lend what an audit reports to."""
        return progress(label, unit=unit, quiet=self.quiet)

    def finish(self, result: AuditResult) -> None:
        """Print the result, and write it where it was asked for."""
        if self.save is not None:
            save_json(self.save, result.to_dict())
        if self.report is not None:
            from deniable.audit.page import audit_page

            audit_page([result]).write(self.report)
        if self.as_json:
            print_json(result.to_dict())
        else:
            _show(result)


def _show(result: AuditResult) -> None:
    """Print the finding in a sentence, then the tables."""
    from deniable.audit.bound import BoundResult
    from deniable.audit.results import finding, tables

    console = open_console()
    console.print(finding(result))
    for table in tables(result):
        console.print()
        console.print(
            make_table(table.columns, table.rows, title=table.caption, left=range(table.text_columns))
        )
    if isinstance(result, BoundResult):
        console.print()
        console.print(result.not_proven)
