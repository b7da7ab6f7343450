"""``deniable lab``: the paper's tasks, and research on releases."""

from __future__ import annotations

import typer

from deniable.lab.commands import authorship, compare, inversion, membership, reproduce

app = typer.Typer(
    help="The paper's tasks, and research: more attackers, mechanisms compared.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.command("reproduce")(reproduce.reproduce)
app.command("compare")(compare.compare)
app.command("inversion")(inversion.inversion)
app.command("membership")(membership.membership)
app.command("authorship")(authorship.authorship)
