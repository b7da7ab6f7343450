"""``deniable mechanisms``: the ways to draw words, and their options."""

from __future__ import annotations

from deniable.cli.options import with_groups
from deniable.cli.terminal import print_json


@with_groups
def mechanisms(*, as_json: bool = False) -> None:
    """List the mechanisms and their options."""
    from deniable.mechanisms.catalogue import CATALOGUE

    if as_json:
        print_json([entry.to_dict() for entry in CATALOGUE.values()])
        return
    for entry in CATALOGUE.values():
        print(f"{entry.name:<20} {entry.summary}")
        for option in entry.options:
            default = "required" if option.default is None else f"default {option.default}"
            print(f"    {option.name + '=…':<16} {option.help} ({default})")
