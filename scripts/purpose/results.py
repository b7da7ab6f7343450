"""The results of docs/research/purpose.json: what is there, what is not, and how new ones join."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deniable.purposes.directions import PENALTY
from scripts.pages import EXPERIMENTS, read_json
from scripts.purpose.settings import Setting, settings

KEPT = EXPERIMENTS / "purpose.json"
Result = dict[str, Any]


def read_results(path: Path) -> list[Result]:
    """Return the results in a file; none if there is no file."""
    return list(read_json(path)) if path.exists() else []


def write_results(path: Path, results: list[Result]) -> None:
    """Write results, a line each."""
    lines = ",\n".join(json.dumps(_rounded(each)) for each in results)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def setting_of(result: Result) -> Setting:
    """Return the setting that was measured."""
    return Setting(result["name"], result["embedding"]["name"], result["level"], result["mechanism"])


def shaped_before(result: Result) -> bool:
    """Say whether the space of a result was shaped with another penalty than spaces are shaped with now."""
    return setting_of(result).is_shaped and result["embedding"].get("penalty") != PENALTY


def not_measured(results: list[Result]) -> list[Setting]:
    """Return the settings without a result in the space as it is shaped now, in order of worth."""
    there = {setting_of(each) for each in results if not shaped_before(each)}
    return [each for each in settings() if each not in there]


def merged(known: list[Result], new: list[Result]) -> list[Result]:
    """Return all results in order of worth, a new one in place of a known one; those of settings no longer
    asked for come last."""
    results = {setting_of(each): each for each in [*known, *new]}
    order = dict.fromkeys([*(each for each in settings() if each in results), *results])
    return [results[each] for each in order]


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value
