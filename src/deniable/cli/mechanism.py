"""The options that choose a mechanism, shared by the commands that take one, and ``deniable mechanisms``."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

Name = Annotated[str, typer.Option("--mechanism", "-m", metavar="NAME", help="How words are drawn; `deniable mechanisms` lists them.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--mechanism-option", "-O", metavar="NAME=VALUE", help="An option of the mechanism, such as t=0.5. May be repeated."),
]


def parse_options(name: str, given: list[str] | None) -> dict[str, Any]:
    """Return the options of a mechanism as values; nothing is loaded for it.

    :raises InvalidParameter: if the mechanism or an option does not exist, is missing, given twice, or no such value.
    """
    from deniable.errors import InvalidParameter
    from deniable.mechanisms.catalogue import checked_options, entry_of

    options: dict[str, object] = {}
    for text in given or []:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InvalidParameter("--mechanism-option", text, "must be NAME=VALUE, such as t=0.5")
        if key in options:
            raise InvalidParameter("--mechanism-option", text, f"gives {key} a second time")
        options[key] = value
    return checked_options(entry_of(name), options)


def mechanisms(as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False) -> None:
    """List the mechanisms and their options."""
    from deniable.mechanisms.catalogue import CATALOGUE

    if as_json:
        listed = [
            {
                "name": entry.name,
                "summary": entry.summary,
                "options": [{"name": option.name, "default": option.default, "help": option.help} for option in entry.options],
            }
            for entry in CATALOGUE.values()
        ]
        print(json.dumps(listed, indent=2, ensure_ascii=False))
        return
    for entry in CATALOGUE.values():
        print(f"{entry.name:<20} {entry.summary}")
        for option in entry.options:
            default = "required" if option.default is None else f"default {option.default}"
            print(f"    {option.name + '=…':<16} {option.help} ({default})")
