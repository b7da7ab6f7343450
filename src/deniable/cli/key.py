"""``deniable key``: the secret keys of repeatable releases."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    name="key",
    help="Secret keys: with one, releasing a record again spends nothing more.",
    no_args_is_help=True,
)


@app.callback()
def options() -> None:
    """Secret keys: with one, releasing a record again spends nothing more."""


@app.command("new")
def new(
    file: Annotated[Path, typer.Argument(help="The file to make; an existing file is never overwritten.")],
) -> None:
    """Make a key file that only its owner can read, and print the key's fingerprint."""
    from deniable.noise import Keyed

    fingerprint = Keyed.new_file(file).fingerprint
    print(
        f"The key is in {file}: keep it secret. Receipts name it by its fingerprint, which is no secret:",
        file=sys.stderr,
    )
    print(fingerprint)


@app.command("show")
def show(file: Annotated[Path, typer.Argument(help="A key file.")]) -> None:
    """Print the fingerprint of a key, by which receipts name it. It is no secret; the key itself is never
    shown."""
    from deniable.noise import Keyed

    print(Keyed.from_file(file).fingerprint)
