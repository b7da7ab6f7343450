"""The commands, put together, and the entry point of all of them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated

import typer

from deniable.cli import (
    audit,
    calibrate,
    check,
    doctor,
    embeddings,
    explain,
    key,
    mechanisms,
    privatize,
    receipt,
    receiving,
    release,
    serve,
    watch,
)
from deniable.cli.measuring import tune, utility
from deniable.cli.terminal import as_typed
from deniable.errors import DeniableError, printable
from deniable.version import __version__

app = typer.Typer(
    name="deniable",
    help="Plausible deniability for text: private text in, text with other words out, with a proven "
    "guarantee.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"deniable {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop."),
    ] = False,
) -> None:
    """Plausible deniability for text: private text in, text with other words out, with a proven guarantee."""


for _command in (
    release.release,
    privatize.privatize,
    check.check,
    watch.watch,
    receipt.receipt,
    receiving.decode,
    receiving.frequencies,
    explain.explain,
    calibrate.calibrate,
    mechanisms.mechanisms,
    utility.utility,
    tune.tune,
    serve.serve,
    doctor.doctor,
):
    app.command()(_command)  # named like its function
app.add_typer(embeddings.app, name="embeddings")
app.add_typer(audit.app, name="audit")
app.add_typer(key.app, name="key")
# By name: nothing outside the lab imports it.
app.add_typer(import_module("deniable.lab.commands").app, name="lab")


def _moved(command: str) -> Callable[[list[str] | None], None]:
    def moved(arguments: Annotated[list[str] | None, typer.Argument()] = None) -> None:  # noqa: ARG001 - whatever was typed
        raise typer.BadParameter(f"this command is now: deniable lab {command}")

    return moved


# Old names, so that scripts get an answer that says where the command is.
for _typer, _names in ((app, ("compare", "reproduce")), (audit.app, ("membership", "authorship"))):
    for _name in _names:
        _typer.command(_name, hidden=True, context_settings={"ignore_unknown_options": True})(_moved(_name))


def main() -> None:
    """Run the ``deniable`` command."""
    # By itself SIGTERM ends a program at once, and what it keeps for a while, words of a private text among
    # it, stays in temporary folders.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        app()
    except DeniableError as error:
        print(f"deniable: {printable(as_typed(error), keep_lines=True)}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever presses twice still gets this exit code
        sys.exit(130)
    except OSError as error:
        named = (
            f"{printable(error.filename)}: {error.strerror}"
            if error.filename and error.strerror
            else str(error)
        )
        print(f"deniable: {named}", file=sys.stderr)
        sys.exit(1)
