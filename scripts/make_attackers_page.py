"""Writes docs/experiments/attackers.md from the results of scripts/measure_attackers.py that are committed beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
GROUPS = ("frequent", "rare", "names", "numbers", "unknown", "others")


def main() -> None:
    """Write the page."""
    results = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("attackers-*.json"))]
    if not results:
        raise SystemExit(f"there is no result (attackers-*.json) in {FOLDER}: measure first")
    (FOLDER / "attackers.md").write_text(page(results), encoding="utf-8")


def page(results: list[dict[str, Any]]) -> str:
    """Return the page."""
    commands = "\n".join(result["command"] for result in results)
    return f"""# What the best attacker names

This page is written by `python scripts/make_attackers_page.py` from the results beside it. Each attacker knows what the one before it
knows; [What an attacker still learns](../audits.md) says what that is. Words are those of running text, as they occur. A kind is one of
100 clusters of public vectors, judged at places with a word that is not one of the 150 most frequent. The best attacker of each row of
ε is in bold. An attacker that fails proves nothing about others.

## The word

{shares(results, "word")}

## Its kind

{shares(results, "kind")}

## What attackers who read each word by itself missed

{missed(results)}

## Names, numbers and other groups, by the best attacker

{groups(results)}

## Repeat it

```text
{commands}
python scripts/make_attackers_page.py
```

{machines(results)}
"""


def shares(results: list[dict[str, Any]], reading: str) -> str:
    """Return the table of what every attacker reaches: first guess, interval, within ten."""
    names = list(dict.fromkeys(each["name"] for _, found in _findings(results) for each in found["attackers"]))
    rows = [["data", "embedding", "mechanism", "ε", *names]]
    for result, found in _findings(results):
        reached = {each["name"]: each[reading] for each in found["attackers"] if each.get(reading)}
        best = max((success["first"]["value"] for success in reached.values()), default=0.0)
        rows.append([*_about(result, found), *(_cell(reached.get(name), best) for name in names)])
    return _table(rows) + "\n\nFirst guess (95 % interval); within ten."


def missed(results: list[dict[str, Any]]) -> str:
    """Return how much more the best attacker names than the one who reads word by word."""
    rows = [["data", "embedding", "mechanism", "ε", "word by word", "best", "which", "more", "kind, word by word", "kind, best"]]
    for result, found in _findings(results):
        by_name = {each["name"]: each for each in found["attackers"]}
        alone, best = by_name["word by word"], max(found["attackers"], key=lambda each: each["word"]["first"]["value"])
        one, other = (each["word"]["first"]["value"] for each in (alone, best))
        kinds = [each["kind"]["first"]["value"] for each in found["attackers"] if each.get("kind")]
        kind = [_percent(alone["kind"]["first"]["value"]), _percent(max(kinds))] if alone.get("kind") else ["–", "–"]
        rows.append([*_about(result, found), _percent(one), _percent(other), best["name"], f"{100 * (other - one):+.1f}", *kind])
    return _table(rows)


def groups(results: list[dict[str, Any]]) -> str:
    """Return how often the best attacker names words of each group, and of each list of words."""
    rows = [["data", "embedding", "mechanism", "ε", *GROUPS]]
    for result, found in _findings(results):
        best = max(found["attackers"], key=lambda each: each["word"]["first"]["value"])
        by_group = {each["group"]: each for each in best["groups"]}
        rows.append([*_about(result, found), *(_group(by_group.get(name)) for name in GROUPS)])
    return _table(rows) + "\n\nThe number of places stands in brackets."


def machines(results: list[dict[str, Any]]) -> str:
    """Return where and for how long was measured, and with which language models."""
    lines = [f"- {result['name']}, {result['options']}: {result['seconds']:,} s ({result['machine']})" for result in results]
    models = {each["knows"] for _, found in _findings(results) for each in found["attackers"] if each["name"] == "language model"}
    return "\n".join([*lines, *(f"- {knows}" for knows in sorted(models))])


def _findings(results: list[dict[str, Any]]) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    return [(result, found) for result in results for found in result["result"]["results"]]


def _about(result: dict[str, Any], found: dict[str, Any]) -> list[str]:
    return [result["name"], result["result"]["embedding"]["name"], result["options"], f"{found['epsilon']:g}"]


def _cell(success: dict[str, Any] | None, best: float) -> str:
    if success is None:
        return "–"
    first = success["first"]
    value = _percent(first["value"])
    shown = f"**{value}**" if first["value"] == best else value
    return f"{shown} ({100 * first['low']:.1f} to {100 * first['high']:.1f}); {_percent(success['within_ten']['value'])}"


def _group(found: dict[str, Any] | None) -> str:
    if found is None or not found.get("word"):
        return "–"
    return f"{_percent(found['word']['first']['value'])} ({found['places']:,})"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _table(rows: list[list[str]]) -> str:
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([head, "|" + "---|" * len(rows[0]), *body])


if __name__ == "__main__":
    main()
