"""What docs/experiments/purpose.json holds, measured by an older script: shown where the refined results have nothing yet."""

from __future__ import annotations

import math
from statistics import mean
from typing import Any, NamedTuple

from purpose_page.names import DATA, space_name, table
from purpose_page.refined import Row

LEVELS = (0.08, 0.17, 0.33)
READINGS = ("released words", "decoded words", "released vectors", "decoded vectors")
_HEAD = ["words as released", "words decoded", "vectors as released", "vectors decoded"]


class Cell(NamedTuple):
    """The runs of one data set, space and mechanism at one ε, as means."""

    data: str
    space: str
    mechanism: str
    level: float | str
    runs: int
    epsilon: float
    named: float
    kind: float
    accuracy: dict[str, float]
    original: float
    blind: float
    majority: float
    spread: float
    by_receiver: float
    in_context: float | None

    @property
    def label(self) -> str:
        """The space in words."""
        return space_name(self.data, self.space, self.mechanism)

    @property
    def values(self) -> list[float]:
        """The accuracies of the four readings."""
        return [self.accuracy[name] for name in READINGS]

    @property
    def nearest(self) -> float:
        """The level that its attacker comes nearest to."""
        return min(LEVELS, key=lambda level: abs(math.log(self.named / level)))


def read_cells(results: list[dict[str, Any]]) -> list[Cell]:
    """Return the means over the runs of each setting at each ε."""
    cells = []
    for result in results:
        for level, epsilon in result["epsilons"]:
            found = [each for each in result["releases"] if each["epsilon"] == epsilon]
            if found:
                cells.append(_cell(result, level, epsilon, found))
    return cells


def _cell(result: dict[str, Any], level: float | str, epsilon: float, found: list[dict[str, Any]]) -> Cell:
    names = [name for name in found[0]["accuracy"] if all(name in each["accuracy"] for each in found)]
    return Cell(
        data=result["name"],
        space=result["embedding"]["name"],
        mechanism=result["mechanism"],
        level=level,
        runs=len(found),
        epsilon=epsilon,
        named=mean(each["named"] for each in found),
        kind=mean(each["kind_named"] for each in found),
        accuracy={name: 100.0 * mean(each["accuracy"][name]["both"] for each in found) for name in names},
        original=100.0 * mean(max(each.values()) for each in result["original"]),
        blind=result["blind"],
        majority=100.0 * result["majority"],
        spread=_spread(found, names),
        by_receiver=mean(each["named_by_receiver"] for each in found),
        in_context=mean(each["named_in_context"] for each in found) if "named_in_context" in found[0] else None,
    )


def _spread(found: list[dict[str, Any]], names: list[str]) -> float:
    """Return half of what lies between the best and the worst run, of the reading with the largest mean."""
    values: dict[str, list[float]] = {
        name: [100.0 * each["accuracy"][name]["both"] for each in found] for name in names if name in READINGS
    }
    best = max(values.values(), key=mean)
    return (max(best) - min(best)) / 2.0


def still_needed(cells: list[Cell], refined: list[Row]) -> list[Cell]:
    """Return for each data set, space and level the cell nearest to it, without those that a refined row takes the place of."""
    there = {row.key for row in refined}
    found = []
    for data in DATA:
        for level in LEVELS:
            near = _nearest_of_each([cell for cell in cells if cell.data == data and cell.nearest == level], level)
            near.sort(key=lambda cell: (cell.mechanism, cell.space not in ("default", "glove-840b"), "reduced" not in cell.space))
            found += [cell for cell in near if (cell.data, cell.space, cell.mechanism, level) not in there]
    return found


def _nearest_of_each(cells: list[Cell], level: float) -> list[Cell]:
    """Return for each space and mechanism the first cell whose attacker comes nearest to the level."""
    spaces = dict.fromkeys((cell.space, cell.mechanism) for cell in cells)
    own = ([cell for cell in cells if (cell.space, cell.mechanism) == each] for each in spaces)
    return [min(each, key=lambda cell: abs(cell.named - level)) for each in own]


def older_table(cells: list[Cell]) -> str:
    """Return accuracy at each level of the attacker."""
    rows = []
    for cell in cells:
        facts = [f"{100 * cell.named:.0f} %", f"{100 * cell.blind:.0f} %", f"{100 * cell.kind:.0f} %", f"{cell.epsilon:g}"]
        beside = [str(cell.runs), f"{cell.spread:.1f}" if cell.runs > 1 else "–", f"{cell.majority:.1f}", f"{cell.original:.1f}"]
        rows.append([DATA[cell.data], cell.label, *facts, *_accuracies(cell), *beside])
    return table(["data", "space", "names", "blind", "kind", "ε", *_HEAD, "runs", "±", "majority", "unperturbed"], 2, rows)


def author_table(cells: list[Cell]) -> str:
    """Return how many authors are named."""
    rows = []
    for cell in cells:
        facts = [f"{100 * cell.named:.0f} %", str(cell.runs), *_accuracies(cell), f"{cell.original:.1f}"]
        rows.append([DATA[cell.data], cell.label, *facts])
    return table(["data", "space", "names", "runs", *_HEAD, "unperturbed"], 2, rows)


def _accuracies(cell: Cell) -> list[str]:
    return [f"**{value:.1f}**" if value == max(cell.values) else f"{value:.1f}" for value in cell.values]


def context_table(cells: list[Cell]) -> str:
    """Return what reading in context names and gives."""
    rows = []
    for cell in cells:
        if cell.in_context is not None and "context words" in cell.accuracy and not str(cell.level).startswith("kind"):
            named = [f"{cell.epsilon:g}", f"{100 * cell.by_receiver:.1f} %", f"{100 * cell.in_context:.1f} %"]
            gained = [f"{cell.accuracy['decoded words']:.1f}", f"{cell.accuracy['context words']:.1f}"]
            rows.append([DATA[cell.data], cell.label, *named, *gained])
    return table(["data", "space", "ε", "alone", "in context", "words decoded", "words in context"], 2, rows)
