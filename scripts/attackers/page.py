"""The tables and figures of docs/research/attackers.md, from the results of scripts/attackers/measure.py
beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT, LANGUAGE_MODEL, LEARNT, NEAREST_WORD
from deniable.report.figure import apply_style, new_figure
from deniable.report.palette import MUTED, SERIES
from scripts.pages import EXPERIMENTS, percent, points, read_json, table

PAGE = EXPERIMENTS / "attackers.md"
DATA = {"sst2": "SST-2", "agnews": "AG News", "enron": "Enron"}
METHODS = {"exact": "exact sums", "points": "shared points", "simulation": "draws", "rays": "rays"}
"""By which channel attackers knew what words become: the names of ``deniable.channel`` in words."""
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
    for title, some in by_data(read_results(EXPERIMENTS)).items():
        releases = [
            (f"{setting_of(each)} (channel: {METHODS[each['channel']]})", each["result"]["results"])
            for each in some
        ]
        figure = attackers_figure(releases, title)
        figure.savefig(EXPERIMENTS / f"attackers-{some[0]['name']}.png", dpi=150)


def table_by_data(results: list[Result], columns: Sequence[str], row: Callable[[Result], list[str]]) -> str:
    """Return a table of all releases of each data set, under its name."""
    parts = []
    for title, some in by_data(results).items():
        rows = [
            [setting_of(result), METHODS[result["channel"]], f"{release['epsilon']:g}", *row(release)]
            for result in some
            for release in result["result"]["results"]
        ]
        parts.append(f"### {title}\n\n" + table(["release", "channel", "ε", *columns], rows))
    return "\n\n".join(parts)


def sizes(results: list[Result]) -> str:
    """Return how many words were attacked, how much attackers read, and how many words they think of."""
    rows = []
    for result in results:
        text, asked = result["result"]["text"], result["asked"]
        counts = [
            text["places"],
            text["documents"],
            text["public_words"],
            asked["shadow_words"],
            asked["support"],
        ]
        places, documents, *others = (f"{count:,}" for count in counts)
        channel = f"{asked['points']} points" if asked.get("points") else METHODS[result["channel"]]
        rows.append([release_of(result), places, documents, percent(text["unknown"]), *others, channel])
    head = ["release", "words attacked", "documents", "unknown", "public words", "learnt from about"]
    return table([*head, "thought of", "channel"], rows)


def shares(results: list[Result], reading: str) -> str:
    """Return what every attacker reaches: first guess, interval, within ten; the best of each release in
    bold."""
    releases = [release for result in results for release in result["result"]["results"]]
    present = {each["name"] for release in releases for each in release["attackers"]}
    names = [name for name in LOOKS if name in present]

    def row(release: Result) -> list[str]:
        reached = {each["name"]: each[reading] for each in release["attackers"] if each.get(reading)}
        best = max((success["first"]["value"] for success in reached.values()), default=0.0)
        return [_cell(reached.get(name), best) for name in names]

    return table_by_data(results, names, row)


def missed(results: list[Result]) -> str:
    """Return how much more the best attacker names than the one who reads word by word."""

    def row(release: Result) -> list[str]:
        alone, best = attacker_alone(release), best_of(release)
        one, other = (each["word"]["first"]["value"] for each in (alone, best))
        kinds = [each["kind"]["first"]["value"] for each in release["attackers"] if each.get("kind")]
        kind = ["–", "–"]
        if alone.get("kind"):
            kind = [percent(alone["kind"]["first"]["value"]), percent(max(kinds))]
        return [percent(one), percent(other), best["name"], f"{100 * (other - one):+.1f}", *kind]

    columns = ["word by word", "best", "which", "more", "kind, word by word", "kind, best"]
    return table_by_data(results, columns, row)


def missed_by_setting(results: list[Result]) -> str:
    """Return for each setting what was named word by word and by the best attacker, at each ε."""
    rows = []
    for result in results:
        releases = result["result"]["results"]
        alone = [attacker_alone(each)["word"]["first"]["value"] for each in releases]
        best = [best_of(each)["word"]["first"]["value"] for each in releases]
        more = [points(high - low) for low, high in zip(alone, best, strict=True)]
        cells = [[f"{each['epsilon']:g}" for each in releases], map(percent, alone), map(percent, best), more]
        rows.append([release_of(result), METHODS[result["channel"]], *(", ".join(each) for each in cells)])
    return table(["release", "channel", "ε", "word by word", "best attacker", "more, in points"], rows)


def groups(results: list[Result]) -> str:
    """Return how often the best attacker names words of each group, with the number of places."""

    def row(release: Result) -> list[str]:
        judged = {each["group"]: each for each in best_of(release)["groups"] if each.get("word")}
        cells = {
            name: f"{percent(each['word']['first']['value'])} ({each['places']:,})"
            for name, each in judged.items()
        }
        return [cells.get(name, "–") for name in GROUPS]

    return table_by_data(results, GROUPS, row)


def times(results: list[Result]) -> str:
    """Return where and for how long was measured."""
    lines = []
    for result in results:
        where = result["machine"] + (", channels made on a GPU" if result["asked"].get("points") else "")
        lines.append(f"- {result['name']}, {setting_of(result)}: {result['seconds']:,} s ({where})")
    return "\n".join(lines)


def attacker_alone(release: Result) -> Result:
    """Return the attacker who reads word by word."""
    return next(each for each in release["attackers"] if each["name"] == ALONE)


def best_of(release: Result) -> Result:
    """Return the attacker that names most words of a release."""
    attackers: list[Result] = release["attackers"]
    return max(attackers, key=lambda each: float(each["word"]["first"]["value"]))


def _cell(success: Result | None, best: float) -> str:
    if success is None:
        return "–"
    first = success["first"]
    shown = f"**{percent(first['value'])}**" if first["value"] == best else percent(first["value"])
    interval = f"({100 * first['low']:.1f} to {100 * first['high']:.1f})"
    return f"{shown} {interval}; {percent(success['within_ten']['value'])}"


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
