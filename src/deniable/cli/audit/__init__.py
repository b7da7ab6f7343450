"""``deniable audit``: attack your own release before somebody else does."""

from __future__ import annotations

import typer

from deniable.cli.audit import bound, inversion, report

app = typer.Typer(
    help="Attack your own release: what can an adversary still learn?",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("bound")(bound.bound)
app.command("inversion")(inversion.inversion)
app.command("report")(report.report)
