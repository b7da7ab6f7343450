"""The tables and figures of docs/research/attackers.md, from the results of scripts/attackers/measure.py
beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT, LANGUAGE_MODEL, LEARNT, NEAREST_WORD
from deniable.report.figure import MUTED, SERIES, apply_style, new_figure
from scripts.pages import EXPERIMENTS, csv_text, read_json, table

PAGE = EXPERIMENTS / "attackers.md"
DATA = {"sst2": "SST-2", "agnews": "AG News", "enron": "Enron"}
METHODS = {"exact": "exact sums", "points": "shared points", "simulation": "draws", "rays": "rays"}
"""By which channel attackers knew what words become: the names of ``deniable.channel`` in words."""
COLUMNS = ["data", "release", "channel", "epsilon", "attacker", "judged", "places"]
COLUMNS += ["first", "low", "high", "within_ten"]
GROUPS = ("frequent", "rare", "names", "numbers", "unknown", "others")
Result = dict[str, Any]
LOOKS = {
    BLIND: ("|", MUTED, 0.0),
    NEAREST_WORD: ("x", SERIES[4], 0.0),
    ALONE: ("o", SERIES[0], -0.3),
    IN_CONTEXT: ("s", SERIES[1], -0.1),
    LEARNT: ("^", SERIES[2], 0.1),
    LANGUAGE_MODEL: ("D", SERIES[3], 0.3),
}
"""The mark and the colour of each attacker, and how far below the middle of its row it is drawn."""


def read_results(folder: Path) -> list[Result]:
    """Return the results in a folder, by data set and setting."""
    order = list(DATA)
    return sorted(
        map(read_json, sorted(folder.glob("attackers-*.json"))),
        key=lambda result: (order.index(result["name"]), setting_of(result)),
    )


def by_data(results: list[Result]) -> dict[str, list[Result]]:
    """Return the results of each data set, under its name."""
    return {
        title: some
        for name, title in DATA.items()
        if (some := [result for result in results if result["name"] == name])
    }


def setting_of(result: Result) -> str:
    """Return the mechanism, and the embedding where it is not the built-in one."""
    embedding = result["result"]["embedding"]["name"]
    parts = [result["options"].partition(":")[0]]
    parts += ["k = 10"] if "k=10" in result["options"] else []
    parts += [] if embedding == "default" else [embedding]
    parts += ["with a language model"] if result["asked"]["language_model"] else []
    return ", ".join(parts)


def release_of(result: Result) -> str:
    """Return the data set and the setting."""
    return f"{DATA[result['name']]}, {setting_of(result)}"


def tables() -> dict[str, str]:
    """Return the tables of the page, which are about one data set; attackers.csv has all."""
    results = read_results(EXPERIMENTS)
    shown = [each for each in results if each["name"] == "agnews"]
    return {"words": words(shown), "groups": groups(shown)}


def data() -> dict[str, str]:
    """Return every result in one file, one row per release, attacker and what is judged."""
    return {"attackers.csv": csv_text(COLUMNS, rows(read_results(EXPERIMENTS)))}


def draw() -> None:
    """Draw a figure for each data set."""
    for title, some in by_data(read_results(EXPERIMENTS)).items():
        releases = [
            (f"{setting_of(each)} (channel: {METHODS[each['channel']]})", each["result"]["results"])
            for each in some
        ]
        figure = attackers_figure(releases, title)
        figure.savefig(EXPERIMENTS / f"attackers-{some[0]['name']}.png", dpi=150)


def words(results: list[Result]) -> str:
    """Return the share of words and kinds that attackers name, one row per setting, at each ε."""
    lines = []
    for result in results:
        releases = result["result"]["results"]
        alone = [first(attacker_alone(each)) for each in releases]
        best = [first(best_of(each)) for each in releases]
        kinds = [
            max(
                (first(attacker, "kind") for attacker in each["attackers"] if attacker.get("kind")),
                default=0.0,
            )
            for each in releases
        ]
        blind = first(releases[0]["attackers"][0])
        cells = [
            [f"{each['epsilon']:g}" for each in releases],
            *([f"{100 * share:.1f}" for share in shares] for shares in (alone, best, kinds)),
        ]
        joined = ["\u202f/\u202f".join(each) for each in cells]
        lines.append([release_of(result), joined[0], f"{100 * blind:.1f}", *joined[1:]])
    return table(
        ["release", "ε", "guessing", "word by word", "best attacker", "kind, best"], lines, align="lr"
    )


def groups(results: list[Result]) -> str:
    """Return how often the best attacker names words of each group of AG News, at the middle ε."""
    lines, head = [], []
    for result in results:
        release = result["result"]["results"][1]
        judged = {each["group"]: each for each in best_of(release)["groups"] if each.get("word")}
        cells = [f"{100 * judged[name]['word']['first']['value']:.1f}" for name in GROUPS]
        lines.append([setting_of(result), f"{release['epsilon']:g}", *cells])
        head = [f"{name} ({judged[name]['places']})" for name in GROUPS]
    return table(["release", "ε", *head], lines, align="lr")


def rows(results: list[Result]) -> Iterator[list[object]]:
    """Return what each attacker names of the words, the kinds and the groups of words of each release."""
    for result in results:
        setting = [DATA[result["name"]], setting_of(result), METHODS[result["channel"]]]
        for release in result["result"]["results"]:
            for attacker in release["attackers"]:
                judged = {"word": attacker["word"], "kind": attacker.get("kind")}
                judged |= {each["group"]: each.get("word") for each in attacker["groups"]}
                for name, success in judged.items():
                    if success:
                        share = success["first"]
                        ends = [share["tries"], *(round(share[end], 4) for end in ("value", "low", "high"))]
                        within_ten = round(success["within_ten"]["value"], 4)
                        yield [*setting, release["epsilon"], attacker["name"], name, *ends, within_ten]


def first(attacker: Result, judged: str = "word") -> float:
    """Return the share of first guesses of an attacker that are right."""
    return float(attacker[judged]["first"]["value"])


def attacker_alone(release: Result) -> Result:
    """Return the attacker who reads word by word."""
    return next(each for each in release["attackers"] if each["name"] == ALONE)


def best_of(release: Result) -> Result:
    """Return the attacker that names most words of a release."""
    attackers: list[Result] = release["attackers"]
    return max(attackers, key=first)


@apply_style
def attackers_figure(settings: Sequence[tuple[str, list[dict[str, Any]]]], title: str) -> Figure:
    """Return what each attacker names: a row for each release, under the name of its setting."""
    releases = [release for _, some in settings for release in some]
    figure, axes = new_figure(width=7.2, height=1.2 + 0.3 * (len(settings) + len(releases)))
    row, ticks, present = 0, {}, set()
    for name, some in settings:
        axes.text(0.008, row, name, va="center", fontsize=8)
        for release in some:
            row += 1
            ticks[row] = f"ε = {release['epsilon']:g}"
            for attacker in release["attackers"]:
                (mark, colour, below), share = LOOKS[attacker["name"]], attacker["word"]["first"]
                present.add(attacker["name"])
                spread = [[share["value"] - share["low"]], [share["high"] - share["value"]]]
                look = {"marker": mark, "color": colour, "markersize": 4, "linestyle": "none"}
                axes.errorbar([share["value"]], [row + below], xerr=spread, elinewidth=0.8, **look)
        row += 1
    axes.set_yticks(list(ticks), list(ticks.values()), fontsize=7)
    axes.set_ylim(row - 0.4, -0.6)
    axes.set_xlim(0.0, 1.0)
    axes.set_xlabel("share of the words named at the first guess, with 95 % intervals")
    handles = [
        Line2D([], [], marker=mark, color=colour, linestyle="none", markersize=4, label=name)
        for name, (mark, colour, _) in LOOKS.items()
        if name in present
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=min(3, len(handles)))
    axes.set_title(title)
    return figure
