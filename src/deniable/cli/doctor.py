"""``deniable doctor``: how fast this machine can search, and why not faster."""

from __future__ import annotations

from typing import Any

from deniable.cli.options import with_groups
from deniable.cli.terminal import print_json


@with_groups
def doctor(*, as_json: bool = False) -> None:
    """Show which search is in use, what the processor offers, the threads, library versions and extras."""
    from deniable.neighbours.diagnosis import diagnose

    found = diagnose().to_dict()
    if as_json:
        print_json(found)
        return
    extras = found.pop("extras")
    for key, value in found.items():
        print(f"{key.replace('_', ' ') + ':':<20} {_in_words(value)}")
    for name, state in extras.items():
        print(f"{f'extra {name}:':<20} {state}")


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_in_words(one)}" for key, one in value.items()) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
