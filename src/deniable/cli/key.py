"""``deniable key``: the secret keys of repeatable releases."""

from __future__ import annotations

from pathlib import Path

import typer

from deniable.cli.options import with_groups
from deniable.cli.terminal import say

app = typer.Typer(
    name="key",
    help="Secret keys: with one, releasing a record again spends nothing more.",
    no_args_is_help=True,
)


@app.command("new")
@with_groups
def new(file: Path) -> None:
    """Make a key file that only its owner can read, and print the key's fingerprint.

    :param file: The file to make; an existing file is never overwritten.
    """
    from deniable.noise import Keyed

    fingerprint = Keyed.new_file(file).fingerprint
    say(f"The key is in {file}: keep it secret. Receipts name it by its fingerprint, which is no secret:")
    print(fingerprint)


@app.command("show")
@with_groups
def show(file: Path) -> None:
    """Print the fingerprint of a key, by which receipts name it. It is no secret; the key itself is never
    shown.

    :param file: A key file.
    """
    from deniable.noise import Keyed

    print(Keyed.from_file(file).fingerprint)
