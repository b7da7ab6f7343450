"""``deniable mechanisms``: the ways to draw words, and their options."""

from __future__ import annotations

from deniable.cli.options import AsJson
from deniable.cli.terminal import print_json


def mechanisms(as_json: AsJson = False) -> None:
    """List the mechanisms and their options."""
    from deniable.mechanisms.catalogue import CATALOGUE

    if as_json:
        listed = [
            {
                "name": entry.name,
                "summary": entry.summary,
                "options": [
                    {"name": option.name, "default": option.default, "help": option.help}
                    for option in entry.options
                ],
            }
            for entry in CATALOGUE.values()
        ]
        print_json(listed)
        return
    for entry in CATALOGUE.values():
        print(f"{entry.name:<20} {entry.summary}")
        for option in entry.options:
            default = "required" if option.default is None else f"default {option.default}"
            print(f"    {option.name + '=…':<16} {option.help} ({default})")
