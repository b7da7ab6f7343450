"""The tables and figures of docs/experiments/attackers.md, from the results of scripts/attackers/measure.py
beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from deniable.audit.inversion.results import ALONE
from scripts.attackers.figure import LOOKS, attackers_figure
from scripts.attackers.results import (
    DATA,
    Result,
    by_data,
    channel_of,
    findings,
    options,
    read_results,
    release_of,
    setting_of,
)
from scripts.pages import EXPERIMENTS, percent, points, table

PAGE = EXPERIMENTS / "attackers.md"
GROUPS = ("frequent", "rare", "names", "numbers", "unknown", "others")


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    results = read_results(EXPERIMENTS)
    return {
        "sizes": sizes(results),
        "word": shares(results, "word"),
        "kind": shares(results, "kind"),
        "missed": missed(results),
        "groups": groups(results),
        "times": times(results),
    }


def draw() -> None:
    """Draw a figure for each data set."""
    for name, some in by_data(read_results(EXPERIMENTS)).items():
        attackers_figure(some).savefig(EXPERIMENTS / f"attackers-{name}.png", dpi=150)


def table_by_data(results: list[Result], columns: Sequence[str], row: Callable[[Result], list[str]]) -> str:
    """Return a table of all releases of each data set, under its name."""
    parts = []
    for name, some in by_data(results).items():
        rows = [
            [setting_of(result), channel_of(result), f"{found['epsilon']:g}", *row(found)]
            for result, found in findings(some)
        ]
        parts.append(f"### {DATA.get(name, name)}\n\n" + table(["release", "channel", "ε", *columns], rows))
    return "\n\n".join(parts)


def sizes(results: list[Result]) -> str:
    """Return how many words were attacked, how much attackers read, and how many words they think of."""
    rows = []
    for result in results:
        text, asked = result["result"]["text"], options(result["command"])
        drawn = (
            f"{int(asked['--directions']):,} points" if result["channel"] == "points" else channel_of(result)
        )
        learnt = f"{int(asked['--shadow-words']):,}" if "--learnt" in result["command"] else "–"
        counts = [
            f"{text['places']:,}",
            f"{text['documents']:,}",
            percent(text["unknown"]),
            f"{text['public_words']:,}",
        ]
        rows.append([release_of(result), *counts, learnt, f"{int(asked['--support']):,}", drawn])
    head = [
        "release",
        "words attacked",
        "documents",
        "unknown",
        "public words",
        "learnt from about",
        "thought of",
        "channel",
    ]
    return table(head, rows)


def shares(results: list[Result], reading: str) -> str:
    """Return what every attacker reaches: first guess, interval, within ten; the best of each release in
    bold."""
    present = {each["name"] for _, found in findings(results) for each in found["attackers"]}
    names = [name for name in LOOKS if name in present]

    def row(found: Result) -> list[str]:
        reached = {each["name"]: each[reading] for each in found["attackers"] if each.get(reading)}
        best = max((success["first"]["value"] for success in reached.values()), default=0.0)
        return [_cell(reached.get(name), best) for name in names]

    return table_by_data(results, names, row)


def missed(results: list[Result]) -> str:
    """Return how much more the best attacker names than the one who reads word by word."""

    def row(found: Result) -> list[str]:
        alone, best = next(each for each in found["attackers"] if each["name"] == ALONE), best_of(found)
        one, other = (each["word"]["first"]["value"] for each in (alone, best))
        kinds = [each["kind"]["first"]["value"] for each in found["attackers"] if each.get("kind")]
        kind = (
            [percent(alone["kind"]["first"]["value"]), percent(max(kinds))]
            if alone.get("kind")
            else ["–", "–"]
        )
        return [percent(one), percent(other), best["name"], f"{100 * (other - one):+.1f}", *kind]

    return table_by_data(
        results, ["word by word", "best", "which", "more", "kind, word by word", "kind, best"], row
    )


def missed_by_setting(results: list[Result]) -> str:
    """Return for each setting what was named word by word and by the best attacker, at each ε."""
    rows = []
    for result in results:
        found = result["result"]["results"]
        alone = [
            each["word"]["first"]["value"]
            for some in found
            for each in some["attackers"]
            if each["name"] == ALONE
        ]
        best = [best_of(some)["word"]["first"]["value"] for some in found]
        more = [points(high - low) for low, high in zip(alone, best, strict=True)]
        cells = [[f"{some['epsilon']:g}" for some in found], map(percent, alone), map(percent, best), more]
        rows.append([release_of(result), channel_of(result), *(", ".join(each) for each in cells)])
    return table(["release", "channel", "ε", "word by word", "best attacker", "more, in points"], rows)


def groups(results: list[Result]) -> str:
    """Return how often the best attacker names words of each group, with the number of places."""

    def row(found: Result) -> list[str]:
        by_group = {each["group"]: each for each in best_of(found)["groups"] if each.get("word")}
        return [
            f"{percent(by_group[name]['word']['first']['value'])} ({by_group[name]['places']:,})"
            if name in by_group
            else "–"
            for name in GROUPS
        ]

    return table_by_data(results, GROUPS, row)


def times(results: list[Result]) -> str:
    """Return where and for how long was measured."""
    lines = []
    for result in results:
        made = ", channels made on a GPU" if options(result["command"]).get("--device") == "cuda" else ""
        lines.append(
            f"- {result['name']}, {setting_of(result)}: {result['seconds']:,} s ({result['machine']}{made})"
        )
    return "\n".join(lines)


def best_of(found: Result) -> Result:
    """Return the attacker that names most words of a release."""
    attackers: list[Result] = found["attackers"]
    return max(attackers, key=lambda each: float(each["word"]["first"]["value"]))


def _cell(success: dict[str, Any] | None, best: float) -> str:
    if success is None:
        return "–"
    first = success["first"]
    shown = f"**{percent(first['value'])}**" if first["value"] == best else percent(first["value"])
    return (
        f"{shown} ({100 * first['low']:.1f} to {100 * first['high']:.1f}); "
        f"{percent(success['within_ten']['value'])}"
    )
