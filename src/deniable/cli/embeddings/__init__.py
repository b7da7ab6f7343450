"""``deniable embeddings``: the embeddings on this machine, and spaces made from them."""

from __future__ import annotations

from collections.abc import Callable

import typer

from deniable.cli.embeddings import installed, purpose

app = typer.Typer(help="Manage the embeddings on this machine.", no_args_is_help=True, rich_markup_mode=None)
_COMMANDS: dict[str, Callable[..., None]] = {
    "add": installed.add,
    "list": installed.list_installed,
    "show": installed.show,
    "remove": installed.remove,
    "restrict": installed.restrict,
    "train": installed.train,
    "geometry": installed.geometry,
    "compare": installed.compare,
    "reduce": purpose.reduce,
    "shape": purpose.shape,
}
for _name, _command in _COMMANDS.items():
    app.command(_name)(_command)
