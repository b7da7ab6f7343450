"""What the audits print for people."""

from __future__ import annotations

from typing import Any

from deniable.audit.report.words import said_first, tables


def show(answer: dict[str, Any]) -> None:
    """Print the finding in a sentence, then the tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    console.print(said_first(answer))
    for caption, columns, rows in tables(answer):
        shown = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", title=caption, title_justify="left", title_style="")
        for place, column in enumerate(columns):
            shown.add_column(column, justify="right" if place else "left")
        for row in rows:
            shown.add_row(*row)
        console.print()
        console.print(shown)
    if "not_proven" in answer:
        console.print()
        console.print(answer["not_proven"])
