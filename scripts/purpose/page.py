"""The tables and the figure of docs/research/purpose.md: an accuracy each, by the reading that does best
on validation texts."""

from __future__ import annotations

import json
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from deniable.report.figure import apply_style, new_figure
from scripts.pages import EXPERIMENTS, csv_text, table
from scripts.purpose.rows import (
    AUTHORS,
    DATA,
    LEVELS,
    MAIN,
    MECHANISMS,
    NOT_LINEAR,
    OTHER_PURPOSE,
    PURPOSES,
    READINGS,
    SHAPES,
    SHIFTED,
    SOURCE,
    Found,
    Row,
    level_name,
    read_capacities,
    read_results,
    read_rows,
    space_name,
)

PAGE = EXPERIMENTS / "purpose.md"
SMALLEST, ON_THE_PAGE = 0.08, (0.08, 0.33)
"""The shares of words at which the tables of the page compare; purpose.csv has all."""
ORIGINAL = ("words", "vectors", "source vectors")
COLUMNS = [
    *("data", "at", "space", "chosen reading", "words named, %", "kinds, %", "in context, %", "ε"),
    *READINGS.values(),
    *("±", "most frequent label", "words, blind", "kinds, blind"),
    *(f"original text, {name}" for name in ORIGINAL),
]
_SHOWN = ("default", "sentiment-16-2", "topic-16-2")
"""The spaces whose words are on the page."""
_SPACES = {
    "default": "built-in, 50d",
    SOURCE: "GloVe 840B, 300d",
    "reduced-16": "reduced to 16",
    "{}-16-2": "**shaped** 16 × 2",
    "{}-16-4": "**shaped** 16 × 4",
}

_SERIES = {
    ("default", "multivariate"): ("built-in, 50d", "o"),
    ("glove-840b", "multivariate"): ("GloVe, 300d", "s"),
    ("reduced-16", "multivariate"): ("reduced to 16", "^"),
    ("{}-16-2", "multivariate"): ("shaped 16 × 2", "D"),
    ("{}-16-4", "multivariate"): ("shaped 16 × 4", "d"),
    ("default", "santext"): ("built-in, SanText", "v"),
    ("default", "randomized-response"): ("built-in, randomised response", "P"),
}
_DRAWN = [data for data in DATA if data not in (*AUTHORS, *NOT_LINEAR)]
_FURTHEST = 40


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    rows = [row for row in read_rows(read_results()) if row.level in ON_THE_PAGE]
    authors = [row for row in rows if row.data in AUTHORS]
    tasks = [row for row in rows if row.data not in AUTHORS]
    smallest = [row for row in tasks if row.level == SMALLEST]
    words = json.loads((EXPERIMENTS / "purpose-words.json").read_text(encoding="utf-8"))
    return {
        "spaces": spaces_table(tasks),
        "shapes": shapes_table(smallest),
        "mechanisms": mechanisms_table([row for row in smallest if row.data in MAIN]),
        "public texts": public_texts_table(smallest),
        "authors": spaces_table(authors),
        "capacity": capacity_table(rows, read_capacities()),
        "words": words_table([each for each in words if each["space"] in _SHOWN]),
    }


def data() -> dict[str, str]:
    """Return all readings of all rows, with what guessing and original text reach."""
    rows = read_rows(read_results())
    return {"purpose.csv": csv_text(COLUMNS, map(_whole, rows))}


def _whole(row: Row) -> list[object]:
    """Return a row in the order of COLUMNS."""
    shares = (row.named, row.kind, row.in_context, row.epsilon)
    readings = [row.accuracy.get(name) for name in READINGS]
    clean = [row.original.get(name) for name in ORIGINAL]
    numbers = (*shares, *readings, row.spread[row.chosen()], row.majority, row.blind, row.kind_blind, *clean)
    label = row.label.replace("*", "")
    shown = ("" if number is None else f"{number:.4g}" for number in numbers)
    return [DATA[row.data], level_name(row.data, row.level), label, READINGS[row.chosen()], *shown]


def draw() -> None:
    """Draw the figures."""
    rows = read_rows(read_results())
    frontier(rows).savefig(EXPERIMENTS / "purpose.png", dpi=150)
    against_capacity(rows, read_capacities()).savefig(EXPERIMENTS / "purpose-capacity.png", dpi=150)


def spaces_table(rows: list[Row]) -> str:
    """Return what each space leaves at equal attackers, beside what guessing and unperturbed text reach."""
    found, cells = Found(rows), []
    for data, level in found.places:
        own = [found.at(data, space, level) for space in _SPACES]
        there = [row for row in own if row]
        clean = f"{found.unperturbed(data):.1f}"
        cells.append([DATA[data], level_name(data, level), f"{there[0].majority:.1f}", *_shown(own), clean])
    return table(["data", "at", "guessing", *_SPACES.values(), "unperturbed"], cells, align="llr")


def shapes_table(rows: list[Row]) -> str:
    """Return what each dimension and strength leaves."""
    found = Found(rows)
    cells = []
    for data, level in found.places:
        own = [found.at(data, "{}-" + shape, level) for shape in SHAPES]
        if data in MAIN and level != "context":
            cells.append([DATA[data], level_name(data, level), *_shown(own)])
    return table(["data", "at", *(shape.replace("-", " × ") for shape in SHAPES)], cells, align="llr")


def mechanisms_table(rows: list[Row]) -> str:
    """Return what other mechanisms leave in the same space."""
    found, cells = Found(rows), []
    for data, level in found.places:
        for space in ("default", f"{PURPOSES[data]}-16-2"):
            own = [found.at(data, space, level, mechanism) for mechanism in MECHANISMS]
            if any(own[1:]):
                cells.append([DATA[data], level_name(data, level), space_name(data, space), *_shown(own)])
    return table(["data", "at", "space", "the paper's", *list(MECHANISMS.values())[1:]], cells, align="lllr")


def public_texts_table(rows: list[Row]) -> str:
    """Return what is left where a space was shaped by other public texts, or for two purposes."""
    found, cells = Found(rows), []
    levels = [level for level in LEVELS if level in {row.level for row in rows}]
    for data in MAIN:
        for space in ("{}-16-2", *SHIFTED[data], "both-16-2", OTHER_PURPOSE[data], "default"):
            own = [found.at(data, space, level) for level in levels]
            there = next((row for row in own if row), None)
            if there:
                label = (
                    "for its own purpose"
                    if there.is_shaped_for_it
                    else there.label.removeprefix("**shaped** 16 × 2 ")
                )
                label = "not shaped: built-in, 50d" if space == "default" else label
                cells.append([DATA[data], label, *(f"{row.best():.1f}" if row else "–" for row in own)])
    return table(
        ["data", "space, shaped 16 × 2", *(level_name(MAIN[0], level) for level in levels)],
        cells,
        align="llr",
    )


def _shown(own: list[Row | None]) -> list[str]:
    """Return the accuracies of a line, the largest bold."""
    shown = [f"{row.best():.1f}" if row else "–" for row in own]
    best = max(float(each) for each in shown if each != "–")
    return [f"**{each}**" if each != "–" and float(each) == best else each for each in shown]


def words_table(found: list[dict[str, Any]]) -> str:
    """Return how many words keep themselves in each space."""
    rows = []
    for each in found:
        above = f"{each['above_half'] * each['words']:,.0f} of {each['words']:,}"
        shares = [f"{100 * each['mean']:.1f} %", f"{100 * each['largest']:.0f} %", above]
        rows.append(
            [
                DATA[each["data"]],
                _space(each),
                f"{100 * each['named']:.0f} %",
                f"{each['epsilon']:g}",
                *shares,
            ]
        )
    return table(
        ["data", "space", "names", "ε", "N_w, mean", "N_w, worst word", "words above ½"], rows, align="llr"
    )


def _space(each: dict[str, Any]) -> str:
    return space_name(each["data"], each["space"])


@apply_style
def frontier(rows: list[Row]) -> Figure:
    """Return the figure: what is reached by the reading that does best on validation texts, a panel for each
    purpose."""
    figure, axes = new_figure(2, 4, width=10.4, height=5.4)
    panels, found = axes.flatten(), Found(rows)
    for panel, data in zip(panels, _DRAWN, strict=False):
        _draw(panel, [row for row in rows if row.data == data])
        panel.axhline(found.unperturbed(data), linestyle=":", color="C7", label="unperturbed")
        panel.set_title(DATA[data])
        panel.set_xlim(0, _FURTHEST)
        panel.yaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    for panel in panels[4:]:
        panel.set_xlabel("words the attacker names, %")
    for panel in (panels[0], panels[4]):
        panel.set_ylabel("accuracy, %")
    panels[-1].axis("off")
    panels[-1].legend(*panels[0].get_legend_handles_labels(), loc="center")
    return figure


@apply_style
def against_capacity(rows: list[Row], capacities: list[dict[str, Any]]) -> Figure:
    """Return the figure: the same accuracies against what is proved of every reader."""
    figure, axes = new_figure(1, 3, width=10.4, height=3.4)
    panels = axes.flatten()
    for panel, data in zip(panels, MAIN, strict=False):
        for number, name in enumerate(("default", SOURCE, "reduced-16", "{}-16-2", "{}-16-4", "{}-0")):
            points = capacity_points(rows, capacities, data, name.format(PURPOSES[data]))
            if points:
                label = _SPACES.get(name, "the purpose alone").replace("*", "")
                panel.plot(
                    *zip(*points, strict=True), marker="o", markersize=4, label=label, color=f"C{number}"
                )
        panel.axhline(Found(rows).unperturbed(data), linestyle=":", color="C7", label="unperturbed")
        panel.set_xscale("log")
        panel.set_title(DATA[data])
        panel.set_xlabel("capacity F, at most (95 %)")
    panels[0].set_ylabel("accuracy, %")
    panels[-1].axis("off")
    panels[-1].legend(*panels[0].get_legend_handles_labels(), loc="center")
    return figure


def capacity_points(
    rows: list[Row], capacities: list[dict[str, Any]], data: str, space: str
) -> list[tuple[float, float]]:
    """Return capacity and accuracy of one space, by rising capacity."""
    reached = {
        (row.data, row.space, row.level): row.best() for row in rows if row.mechanism == "multivariate"
    }
    return sorted(
        (
            each["capacity"]["at_most"],
            100.0 * each["accuracy"] if "accuracy" in each else reached[data, space, each["level"]],
        )
        for each in capacities
        if (each["data"], each["space"]) == (data, space)
    )


def capacity_table(rows: list[Row], capacities: list[dict[str, Any]]) -> str:
    """Return the points of the figure at the smallest level, and all of the purpose alone."""
    shown = [each for each in capacities if each.get("level") == SMALLEST or "accuracy" in each]
    reached = {
        (row.data, row.space, row.level): row.best() for row in rows if row.mechanism == "multivariate"
    }
    lines = []
    for each in sorted(shown, key=lambda each: (MAIN.index(each["data"]), each["capacity"]["at_most"])):
        alone = "accuracy" in each
        accuracy = 100.0 * each["accuracy"] if alone else reached[each["data"], each["space"], each["level"]]
        name = "the purpose alone" if alone else space_name(each["data"], each["space"])
        lines.append(
            [
                DATA[each["data"]],
                name,
                f"{each['epsilon']:g}",
                f"{each['capacity']['at_most']:,.0f}",
                f"{accuracy:.1f}",
            ]
        )
    return table(["data", "space", "ε", "capacity F, at most", "accuracy"], lines, align="llr")


def _draw(panel: Axes, rows: list[Row]) -> None:
    for number, ((space, mechanism), (label, marker)) in enumerate(_SERIES.items()):
        own = [
            row for row in rows if (row.space, row.mechanism) == (space.format(PURPOSES[row.data]), mechanism)
        ]
        if own:
            named, reached = zip(*sorted((row.named, row.best()) for row in own), strict=True)
            panel.plot(named, reached, marker=marker, markersize=4, label=label, color=f"C{number}")
