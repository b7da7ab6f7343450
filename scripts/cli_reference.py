"""Write docs/reference/cli.md from the commands themselves. A test fails when the page and the commands
differ.

Usage: python -m scripts.cli_reference
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from deniable.cli.app import app

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "cli.md"

HEAD = """\
# Command line

This page is written by `python -m scripts.cli_reference` from the commands themselves; a test fails when they differ.

Messages go to standard error. Exit codes: 0 done, 1 the work failed (a file, an embedding, no entropy, an unknown word
under `--unknown error`), 2 the request was wrong (an option, a name, a column, a partial output of another job), 130 stopped
by Ctrl-C while releasing.

The environment variable `DENIABLE_HOME` names the folder that holds the installed embeddings; without it the user's data
folder is used.
"""  # noqa: E501

_SHARED = "Options of several commands"
_SEVERAL = 2
"""What so many commands describe in the same words is described once."""

_TABLE = ("| argument or option | | default |", "|---|---|---|")
_HELP = "| `--help` | Show this message and exit. | |"


def commands(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield every command with its full name, groups before their members; hidden ones, which only name the
    new place, are left out."""
    yield name, command
    for child in _members(command):
        yield from commands(child, f"{name} {child.name}")


def _members(command: Any) -> list[Any]:
    return [child for child in getattr(command, "commands", {}).values() if not child.hidden]


def reference() -> str:
    """Return the page. What several commands have in common is described once."""
    sections = list(commands(typer.main.get_command(app), "deniable"))
    rows = Counter(_row(parameter) for _, command in sections for parameter in command.params)
    shared = [_HELP, *(row for row, count in rows.items() if count >= _SEVERAL)]
    head = ["", f"## {_SHARED}", "", *_TABLE, *shared]
    return HEAD + "\n".join(head) + "\n" + "".join(_section(*each, set(shared)) for each in sections)


def _section(name: str, command: Any, shared: set[str]) -> str:
    lines = ["", f"## `{name}`", "", " ".join((command.help or "").split()), ""]
    members = [child.name for child in _members(command)]
    if members:
        lines += [
            "Commands: "
            + ", ".join(f"[`{child}`](#{name.replace(' ', '-')}-{child})" for child in members)
            + ".",
            "",
        ]
    own = [row for each in command.params if (row := _row(each)) not in shared]
    others = [_names(each) for each in command.params if _row(each) in shared]
    lines += [*_TABLE, *own, ""] if own else []
    lines.append(f"[Also](#{_SHARED.lower().replace(' ', '-')}): {', '.join([*others, '`--help`'])}.")
    return "\n".join(lines) + "\n"


def _row(parameter: Any) -> str:
    return f"| {_spelling(parameter)} | {_cell(parameter.help)} | {_default(parameter)} |"


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`"
    first, *others = (f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts))
    return f"{first} ({', '.join(others)})" if others else first


def _spelling(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`"
    names = [f"`{name}`" for name in (*parameter.opts, *parameter.secondary_opts)]
    choices = parameter.metavar if parameter.metavar and "|" in parameter.metavar else ""
    return ", ".join(names) + (f": {_cell(choices)}" if choices else "")


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    if getattr(parameter, "is_flag", False) and not parameter.secondary_opts:
        return ""
    value = parameter.default
    if value is None or callable(value) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, bool):
        return f"`{parameter.opts[0] if value else parameter.secondary_opts[0]}`"
    return f"`{value}`"


def main() -> None:
    """Write the page."""
    PAGE.write_text(reference(), encoding="utf-8")


if __name__ == "__main__":
    main()
