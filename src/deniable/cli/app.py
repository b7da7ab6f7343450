"""The commands, put together, and the entry point of all of them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from deniable.cli import audit, embeddings, key, receiving
from deniable.cli.options import Sectioned
from deniable.cli.terminal import as_typed, say
from deniable.errors import DeniableError, printable
from deniable.version import __version__

_GROUPS = {
    "Release": {
        "release": "Take a private file to a decision, in one command.",
        "privatize": "Replace the words of a text, or of columns of a file.",
        "check": "Look at a private file before it is released.",
        "watch": "Release every file that appears in a folder.",
        "receipt": "Write the receipt of a release as a page to print.",
        "key": "Make keys, by which a release can be repeated.",
    },
    "Read a release": {
        "decode": "Estimate the words behind released text.",
        "frequencies": "Estimate how often words are used behind it.",
        "explain": "Show what a word may become.",
    },
    "Measure": {
        "calibrate": "Choose ε by what happens to words.",
        "audit": "Attack your own release.",
        "utility": "Measure what ε costs on your own labelled texts.",
        "tune": "Find the space and the ε that serve a purpose best.",
    },
    "Run": {
        "serve": "Serve an HTTP API and a page.",
        "mcp": "Serve a tool for agents.",
        "embeddings": "Manage the embeddings on this machine.",
        "mechanisms": "List the mechanisms and their options.",
        "doctor": "Show which search is in use, and why.",
    },
    "Research": {"lab": "Run the paper's tasks, and research."},
}
_HELP = "Plausible deniability for text: private text in, text with other words out, with a proven guarantee."


_EFFORT, _OLD_NAMES = "--effort", {"--directions", "--rays", "--points", "--draws"}


class Grouped(TyperGroup):
    """Shows commands in the groups of ``_GROUPS``."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an option that is called ``--effort`` now is named so."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            refused: Any = error  # the command line's own errors have no public names
            if getattr(refused, "option_name", None) in _OLD_NAMES and refused.ctx is not None:
                flags = {flag for each in refused.ctx.command.params for flag in each.opts}
                refused.possibilities = [_EFFORT] if _EFFORT in flags else refused.possibilities
            raise

    def format_commands(self, _: Any, formatter: Any) -> None:
        """Write the commands."""
        for title, summaries in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<11}", summary) for name, summary in summaries.items()])


app = typer.Typer(
    name="deniable",
    cls=Grouped,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"deniable {__version__}")
        raise typer.Exit


_Version = Annotated[
    bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
]


@app.callback(help=_HELP)
def options(version: _Version = False) -> None:
    """Show the version if it is asked for."""


# The lab by its name: nothing outside imports it.
_APPS = {"key": key.app, "audit": audit.app, "embeddings": embeddings.app}
_APPS["lab"] = import_module("deniable.lab.commands").app
_MODULES = {"decode": receiving, "frequencies": receiving}
for _name in (name for summaries in _GROUPS.values() for name in summaries):
    if _name in _APPS:
        app.add_typer(_APPS[_name], name=_name)
    else:
        _module = _MODULES.get(_name) or import_module(f"deniable.cli.{_name}")
        app.command(_name, cls=Sectioned)(getattr(_module, _name))


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
        if sys.platform == "win32":
            raise DeniableError("Windows is not supported; use the Windows Subsystem for Linux (WSL)")
        app()
    except DeniableError as error:
        say(f"deniable: {printable(as_typed(error), keep_lines=True)}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # anybody who presses twice still gets this exit code
        sys.exit(130)
    except OSError as error:
        named = error.filename and error.strerror
        say(f"deniable: {printable(error.filename)}: {error.strerror}" if named else f"deniable: {error}")
        sys.exit(1)
