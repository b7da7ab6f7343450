"""Results of scripts/attackers/measure.py beside the page, and how the page calls them."""

from __future__ import annotations

import json
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

DATA = {"sst2": "SST-2", "agnews": "AG News", "enron": "Enron"}
METHODS = {"exact": "exact sums", "points": "shared points", "simulation": "draws", "rays": "rays"}
"""By which channel attackers knew what words become: the names of ``deniable.channel`` in words."""
Result = dict[str, Any]


def read_results(folder: Path) -> list[Result]:
    """Return the results in a folder, data sets in one order."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("attackers-*.json"))]
    order = list(DATA)
    return sorted(
        found,
        key=lambda result: (
            order.index(result["name"]) if result["name"] in order else len(order),
            setting_of(result),
        ),
    )


def by_data(results: list[Result]) -> dict[str, list[Result]]:
    """Return the results of each data set, in their order."""
    names = dict.fromkeys(result["name"] for result in results)
    return {name: [result for result in results if result["name"] == name] for name in names}


def findings(results: list[Result]) -> list[tuple[Result, Result]]:
    """Return each release with the result it belongs to."""
    return [(result, found) for result in results for found in result["result"]["results"]]


def setting_of(result: Result) -> str:
    """Return the mechanism, and the embedding where it is not the built-in one."""
    embedding = result["result"]["embedding"]["name"]
    more = ", k = 10" if "k=10" in result["options"] else ""
    read = ", with a language model" if "--language-model" in result["command"] else ""
    return f"{result['options'].partition(':')[0]}{more}{'' if embedding == 'default' else f', {embedding}'}{read}"  # noqa: E501


def release_of(result: Result) -> str:
    """Return the data set and the setting."""
    return f"{DATA.get(result['name'], result['name'])}, {setting_of(result)}"


def channel_of(result: Result) -> str:
    """Return by which channel attackers knew what words become."""
    return METHODS[result["channel"]]


def options(command: str) -> dict[str, str]:
    """Return what a command gives for each option; the last value counts."""
    words = shlex.split(command)
    return {option: value for option, value in pairwise(words) if option.startswith("-")}
