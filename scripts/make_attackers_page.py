"""Writes docs/experiments/attackers.md and its figure from the results of scripts/measure_attackers.py that are committed beside it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from attackers_prose import (
    COMPARED,
    DATA,
    beside_published,
    cautions,
    findings,
    headline,
    kinds_missed,
    read_results,
    setting_of,
    table,
    unlearnt,
    waiting,
)
from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT, LANGUAGE_MODEL, LEARNT
from deniable.report.figure import apply_style, new_figure
from deniable.report.palette import MUTED, SERIES

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
GROUPS = ("frequent", "rare", "names", "numbers", "unknown", "others")
LOOKS = {
    BLIND: ("|", MUTED),
    ALONE: ("o", SERIES[0]),
    IN_CONTEXT: ("s", SERIES[1]),
    LEARNT: ("^", SERIES[2]),
    LANGUAGE_MODEL: ("D", SERIES[3]),
}
PLACES = {BLIND: 0.0, ALONE: -0.3, IN_CONTEXT: -0.1, LEARNT: 0.1, LANGUAGE_MODEL: 0.3}
"""How far below the middle of its row each attacker is drawn."""


def main() -> None:
    """Write the page and the figure."""
    results = read_results(FOLDER)
    if not results:
        raise SystemExit(f"there is no result (attackers-*.json) in {FOLDER}: measure first")
    (FOLDER / "attackers.md").write_text(page(results), encoding="utf-8")
    for name, some in by_data(results).items():
        attackers_figure(some).savefig(FOLDER / f"attackers-{name}.png", dpi=150)


def page(results: list[dict[str, Any]]) -> str:
    """Return the page."""
    commands = "\n".join(result["command"] for result in results)
    return f"""# What the best attacker names

This page is written by `python scripts/make_attackers_page.py` from the results beside it. Each attacker knows what the one before it
knows; [What an attacker still learns](../audits.md) says what that is. Words are those of running text, as they occur. A kind is one of
100 clusters of public vectors, judged at places with a word that is not one of the 150 most frequent. The best attacker of each row of
ε is in bold; it is chosen on the same words, so its share is a little too large rather than too small. Intervals take the words of a
document together. An attacker that fails proves nothing about others.

{headline(results)}

{cautions(results)}

{pictures(results)}

## How much was measured

{sizes(results)}

{waiting(FOLDER)}

## The word

{shares(results, "word")}

## Its kind

{shares(results, "kind")}

## What attackers who read each word by itself missed

{missed(results)}

## Names, numbers and other groups, by the best attacker

{groups(results)}

## Beside published figures

{COMPARED}

{beside_published(results)}

## Repeat it

`measure_purpose.py prepare` writes the data sets and the public reviews, `spaces` the shaped spaces. `run_attackers.py` measures every
setting that has no result yet; what stands below is how those on this page were measured.

```text
deniable embeddings add glove.840B.300d.34k.w2v.txt.bz2 --name glove-840b
python scripts/measure_purpose.py prepare DATASETS --into data
python scripts/measure_purpose.py spaces --only 16-2 --data data --into data
cp DATASETS/imdb/imdb_50k.jsonl.xz data
python scripts/run_attackers.py data
{commands}
python scripts/make_attackers_page.py
```

{machines(results)}
"""


def shares(results: list[dict[str, Any]], reading: str) -> str:
    """Return the table of what every attacker reaches: first guess, interval, within ten."""
    present = {each["name"] for _, found in findings(results) for each in found["attackers"]}
    names = [name for name in LOOKS if name in present]

    def row(found: dict[str, Any]) -> list[str]:
        reached = {each["name"]: each[reading] for each in found["attackers"] if each.get(reading)}
        best = max((success["first"]["value"] for success in reached.values()), default=0.0)
        return [_cell(reached.get(name), best) for name in names]

    more = unlearnt(results) if reading == "word" else kinds_missed(results)
    return table_by_data(results, names, row) + f"\n\nFirst guess (95 % interval); within ten. {more}".rstrip()


def table_by_data(results: list[dict[str, Any]], columns: Sequence[str], row: Callable[[dict[str, Any]], list[str]]) -> str:
    """Return a table of all releases of each data set, under its name."""
    tables = []
    for name, some in by_data(results).items():
        rows = [[setting_of(result), f"{found['epsilon']:g}", *row(found)] for result, found in findings(some)]
        tables.append(f"### {DATA.get(name, name)}\n\n" + table([["release", "ε", *columns], *rows]))
    return "\n\n".join(tables)


def by_data(results: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Return the results of each data set, in the order in which they stand."""
    names = dict.fromkeys(result["name"] for result in results)
    return {name: [result for result in results if result["name"] == name] for name in names}


def pictures(results: list[dict[str, Any]]) -> str:
    """Return the figures of the page, one for each data set."""
    said = "share of words named by each attacker behind every mechanism and ε; the tables below hold the values"
    return "\n\n".join(f"![{DATA.get(name, name)}: {said}](attackers-{name}.png)" for name in by_data(results))


def sizes(results: list[dict[str, Any]]) -> str:
    """Return how many words were attacked, how much attackers read, and how many words they think of, in a table."""
    rows = [["data", "embedding", "mechanism", "words attacked", "documents", "unknown", "public words", "learnt from"]]
    rows[0] += ["words thought of", "directions or draws"]
    for result in results:
        text, asked = result["result"]["text"], options(result["command"])
        rows.append(
            [
                result["name"],
                result["result"]["embedding"]["name"],
                result["options"],
                f"{text['places']:,}",
                f"{text['documents']:,}",
                _percent(text["unknown"]),
                f"{text['public_words']:,}",
                f"about {int(asked['--shadow-words']):,}" if "--learnt" in result["command"] and "--shadow-words" in asked else "–",
                *(f"{int(asked[name]):,}" if name in asked else "as is usual" for name in ("--support", "--directions")),
            ]
        )
    return table(rows) + (
        "\n\nAttackers think of the most frequent words of the public text, as many as stands there; others they never name. What each of "
        "them becomes is known from that many directions or draws where it is not summed exactly. Where they think of fewer words they "
        "name fewer, so levels compare between rows of equal size only; what one attacker names beyond another compares in any row."
    )


@apply_style
def attackers_figure(results: list[dict[str, Any]]) -> Figure:
    """Return what each attacker names: a row for each release, under the name of its setting."""
    figure, axes = new_figure(width=7.2, height=1.2 + 0.3 * (len(results) + len(findings(results))))
    labels: list[str] = []
    for result in results:
        axes.text(0.008, len(labels), setting_of(result), va="center", fontsize=8)
        labels.append("")
        for found in result["result"]["results"]:
            for attacker in found["attackers"]:
                mark, colour = LOOKS[attacker["name"]]
                first = attacker["word"]["first"]
                axes.errorbar(
                    [first["value"]],
                    [len(labels) + PLACES[attacker["name"]]],
                    xerr=[[first["value"] - first["low"]], [first["high"] - first["value"]]],
                    marker=mark,
                    color=colour,
                    markersize=4,
                    linestyle="none",
                    elinewidth=0.8,
                )
            labels.append(f"ε = {found['epsilon']:g}")
    axes.set_yticks([row for row, label in enumerate(labels) if label], [label for label in labels if label], fontsize=7)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlim(0.0, 1.0)
    axes.set_xlabel("share of the words named at the first guess, with 95 % intervals")
    present = {attacker["name"] for _, found in findings(results) for attacker in found["attackers"]}
    handles = [
        Line2D([], [], marker=mark, color=colour, linestyle="none", markersize=4, label=name)
        for name, (mark, colour) in LOOKS.items()
        if name in present
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    names = dict.fromkeys(DATA.get(result["name"], result["name"]) for result in results)
    axes.set_title(", ".join(names))
    return figure


def missed(results: list[dict[str, Any]]) -> str:
    """Return how much more the best attacker names than the one who reads word by word."""

    def row(found: dict[str, Any]) -> list[str]:
        by_name = {each["name"]: each for each in found["attackers"]}
        alone, best = by_name[ALONE], _best(found)
        one, other = (each["word"]["first"]["value"] for each in (alone, best))
        kinds = [each["kind"]["first"]["value"] for each in found["attackers"] if each.get("kind")]
        kind = [_percent(alone["kind"]["first"]["value"]), _percent(max(kinds))] if alone.get("kind") else ["–", "–"]
        return [_percent(one), _percent(other), best["name"], f"{100 * (other - one):+.1f}", *kind]

    return table_by_data(results, ["word by word", "best", "which", "more", "kind, word by word", "kind, best"], row)


def groups(results: list[dict[str, Any]]) -> str:
    """Return how often the best attacker names words of each group, and of each list of words."""

    def row(found: dict[str, Any]) -> list[str]:
        by_group = {each["group"]: each for each in _best(found)["groups"]}
        return [_group(by_group.get(name)) for name in GROUPS]

    return table_by_data(results, GROUPS, row) + (
        "\n\nThe number of places stands in brackets. A rare word is often one that the attackers never think of (the table of sizes says "
        "how many words they do think of): where none is named, that is no protection. An unknown word counts as named where the attacker "
        "says that it is unknown."
    )


def _best(found: dict[str, Any]) -> dict[str, Any]:
    attackers: list[dict[str, Any]] = found["attackers"]
    return max(attackers, key=lambda each: each["word"]["first"]["value"])


def machines(results: list[dict[str, Any]]) -> str:
    """Return where and for how long was measured, and with which language models."""
    lines = []
    for result in results:
        card = ", channels drawn on a GPU" if options(result["command"]).get("--device") == "cuda" else ""
        lines.append(f"- {result['name']}, {setting_of(result)}: {result['seconds']:,} s ({result['machine']}{card})")
    for _, found in findings(results):
        knows = [each["knows"] for each in found["attackers"] if each["name"] == LANGUAGE_MODEL]
        lines += [f"- Language model at ε = {found['epsilon']:g}: {each}" for each in knows]
    return "\n".join(lines)


def options(command: str) -> dict[str, str]:
    """Return what a command gives for each option; the last value counts."""
    words = shlex.split(command)
    return {option: value for option, value in pairwise(words) if option.startswith("-")}


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


if __name__ == "__main__":
    main()
