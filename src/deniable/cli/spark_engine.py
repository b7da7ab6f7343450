"""``deniable privatize --engine spark``: folders of files, on as many machines as a Spark master has."""

from __future__ import annotations

import sys
from typing import Any

import typer

from deniable.cli.released import with_receipt

ENGINES = ("local", "spark")


def check_engine(engine: str, master: str | None, here_only: dict[str, bool]) -> None:
    """Do nothing if the engine is known and every option fits it; ``here_only`` says which options were given that Spark cannot heed."""
    if engine not in ENGINES:
        raise typer.BadParameter(f"--engine must be one of {', '.join(ENGINES)}")
    if engine == "local" and master is not None:
        raise typer.BadParameter("--master needs --engine spark")
    given = [name for name, was_given in here_only.items() if was_given]
    if engine == "spark" and given:
        raise typer.BadParameter(f"{', '.join(given)}: not with --engine spark")


def check_ends(source: str | None, output: str | None) -> tuple[str, str]:
    """Return what is read and what is written, both of which Spark must be given."""
    if source is None or output is None:
        raise typer.BadParameter("--engine spark needs a FILE or folder and an --output")
    return source, output


def privatize_with_spark(source: str, output: str, *, as_json: bool, quiet: bool, **options: Any) -> None:
    """Release the files and show the receipt."""
    from deniable.integrations.spark import privatize_files

    settings = {name: value for name, value in options.items() if value is not None}
    receipt = settings.pop("receipt", None)
    made = privatize_files(source, output, receipt_path=receipt, **settings)
    if as_json:
        print(made.to_json(), end="")
    elif not quiet:
        print(with_receipt(output, made, receipt), file=sys.stderr)
