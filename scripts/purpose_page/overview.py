"""The rows of docs/experiments/purpose.md in few columns: an accuracy each, by the reading that does best on validation texts."""

from __future__ import annotations

from purpose_page.names import DATA, LEVELS, MECHANISMS, is_shaped, level_name, space_name, table
from purpose_page.rows import Row
from purpose_settings import MAIN, OTHER_PURPOSE, PURPOSES, SHAPES, SHIFTED, SOURCE

_SPACES = {
    "default": "built-in, 50d",
    SOURCE: "GloVe 840B, 300d",
    "reduced-16": "reduced to 16",
    "{}-16-2": "**shaped** 16 × 2",
    "{}-16-4": "**shaped** 16 × 4",
}


class Found:
    """Rows by what they are of."""

    def __init__(self, rows: list[Row]) -> None:
        self.rows = {row.key: row for row in rows}
        self.places = list(dict.fromkeys((row.data, row.level) for row in rows))

    def at(self, data: str, space: str, level: float | str, mechanism: str = "multivariate") -> Row | None:
        """Return a row; ``{}`` in the name of a space is the purpose of the data."""
        return self.rows.get((data, space.format(PURPOSES[data]), mechanism, level))

    def unperturbed(self, data: str) -> float:
        """Return what the best model on unperturbed text of a data set reaches."""
        return max(max(row.original.values()) for row in self.rows.values() if row.data == data)


def spaces_table(rows: list[Row]) -> str:
    """Return what each space leaves at equal attackers, beside what guessing and unperturbed text reach."""
    found, cells = Found(rows), []
    for data, level in found.places:
        own = [found.at(data, space, level) for space in _SPACES]
        there = [row for row in own if row]
        clean = f"{found.unperturbed(data):.1f}"
        cells.append([DATA[data], level_name(data, level), f"{there[0].majority:.1f}", *_shown(own), clean])
    return table(["data", "at", "guessing", *_SPACES.values(), "unperturbed"], 2, cells)


def shapes_table(rows: list[Row]) -> str:
    """Return what each dimension and strength leaves."""
    found = Found(rows)
    shapes = [f"{dimension}-{strength:g}" for dimension, strength in sorted(SHAPES)]
    cells = []
    for data, level in found.places:
        own = [found.at(data, "{}-" + shape, level) for shape in shapes]
        if data in MAIN and level != "context":
            cells.append([DATA[data], level_name(data, level), *_shown(own)])
    return table(["data", "at", *(shape.replace("-", " × ") for shape in shapes)], 2, cells)


def mechanisms_table(rows: list[Row]) -> str:
    """Return what other mechanisms leave in the same space."""
    found, cells = Found(rows), []
    for data, level in found.places:
        for space in ("default", f"{PURPOSES[data]}-16-2"):
            own = [found.at(data, space, level, mechanism) for mechanism in MECHANISMS]
            if any(own[1:]):
                cells.append([DATA[data], level_name(data, level), space_name(data, space), *_shown(own)])
    return table(["data", "at", "space", "the paper's", *list(MECHANISMS.values())[1:]], 3, cells)


def public_texts_table(rows: list[Row]) -> str:
    """Return what is left where a space was shaped by other public texts, or for two purposes."""
    found, cells = Found(rows), []
    levels = [level for level in LEVELS if isinstance(level, float)]
    for data in MAIN:
        for space in ("{}-16-2", *SHIFTED[data], "both-16-2", OTHER_PURPOSE[data], "default"):
            own = [found.at(data, space, level) for level in levels]
            there = next((row for row in own if row), None)
            if there:
                label = "for its own purpose" if is_shaped(data, there.space) else there.label.removeprefix("**shaped** 16 × 2 ")
                label = "not shaped: built-in, 50d" if space == "default" else label
                cells.append([DATA[data], label, *(f"{row.best():.1f}" if row else "–" for row in own)])
    return table(["data", "space, shaped 16 × 2", *(level_name(MAIN[0], level) for level in levels)], 2, cells)


def _shown(own: list[Row | None]) -> list[str]:
    """Return the accuracies of a line, the largest bold."""
    shown = [f"{row.best():.1f}" if row else "–" for row in own]
    best = max(float(each) for each in shown if each != "–")
    return [f"**{each}**" if each != "–" and float(each) == best else each for each in shown]
