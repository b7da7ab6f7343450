"""``deniable lab``: the paper's tasks, and research on releases."""

from __future__ import annotations

import typer

from deniable.lab.commands.attacks import authorship, inversion, membership
from deniable.lab.commands.experiments import compare, reproduce

app = typer.Typer(
    help="The paper's tasks, and research: more attackers, mechanisms compared.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for command in (reproduce, compare, inversion, membership, authorship):
    app.command()(command)
