"""The numbers of docs/research/comparison.md, from the results of ``deniable lab compare`` beside it.

Words per second are left out: they were measured on busy machines. docs/research/search.md counts processor
seconds instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from deniable.lab.comparison import ComparisonResult, read_comparison
from deniable.lab.comparison.page import levels_of, lines_of, risk_label
from deniable.lab.comparison.results import Row
from deniable.lab.comparison.words import columns_of, met_and_missed, received
from deniable.report.curves import curves
from deniable.report.figure import png
from scripts.pages import EXPERIMENTS, csv_text, table

PAGE = EXPERIMENTS / "comparison.md"
SETTINGS = {
    "comparison-sst2-default": "SST-2, 50d",
    "comparison-imdb-default": "IMDb, 50d",
    "comparison-sst2-glove-840b": "SST-2, 300d",
    "comparison-imdb-glove-840b": "IMDb, 300d",
}
CONSTANTS, AT_EQUAL_ATTACKERS = "comparison-sst2-default-constants", "comparison-sst2-attackers"
COLUMNS = (
    *("result", "reading", "target", "embedding", "mechanism", "epsilon", "average", "worst", "adversary"),
    *("named", "context", "kinds", "accuracy", "spread", "moved", "problem"),
)


def read_comparisons() -> dict[str, ComparisonResult]:
    """Return the results beside the page."""
    names = (*SETTINGS, CONSTANTS, AT_EQUAL_ATTACKERS)
    return {name: read_comparison(EXPERIMENTS / f"{name}.json") for name in names}


def tables() -> dict[str, str]:
    """Return what every mechanism reaches at each target, one column per setting."""
    results = read_comparisons()
    four = {title: results[name] for name, title in SETTINGS.items()}
    baselines = [
        ["original text", *(f"{100 * each.original:.1f}" for each in four.values())],
        ["most frequent label", *(f"{100 * each.guess:.1f}" for each in four.values())],
    ]
    accuracies = by_mechanism(four, "adversary", _accuracy)
    return {
        "adversary": "\n".join([accuracies, *table(["", *four], baselines).splitlines()[2:]]),
        "average": by_mechanism(four, "average", _adversary),
        "attackers": at_equal_attackers(results[AT_EQUAL_ATTACKERS]),
    }


def data() -> dict[str, str]:
    """Return every row of every result."""
    return {"comparison.csv": csv_text(COLUMNS, rows(read_comparisons()))}


def draw() -> None:
    """Draw the figure of each setting; at equal attackers there is nothing to draw."""
    for name, result in read_comparisons().items():
        if name != AT_EQUAL_ATTACKERS:
            lines, levels = lines_of(result, received), levels_of(result)
            figure = curves(lines, x=risk_label(result), y="accuracy", levels=levels)
            (EXPERIMENTS / f"{name}.png").write_bytes(png(figure, dpi=150))


def by_mechanism(results: dict[str, ComparisonResult], reading: str, cell: Callable[[Row], str]) -> str:
    """Return a table of one reading: a row per mechanism, a column per setting."""
    cells = {
        title: {row.mechanism: cell(row) if row.reached else "not reached" for row in result.rows
                if row.reading == reading}
        for title, result in results.items()
    }  # fmt: skip
    names = next(iter(cells.values()))
    lines = [[name.partition(":")[0], *(each[name] for each in cells.values())] for name in names]
    return table(["mechanism", *cells], lines, align="lr")


def at_equal_attackers(result: ComparisonResult) -> str:
    """Return the rows of every target of a result, without their ε."""
    lines = [
        [f"{target.reading} = {target.value:g}", *cells[:2], *cells[3:]]
        for target in result.targets
        for cells in met_and_missed(result, target)[0]
    ]
    columns = columns_of(result)
    return table(["matched at", *columns[:2], *columns[3:]], lines)


def rows(results: dict[str, ComparisonResult]) -> Iterator[list[object]]:
    """Return one row per result, target and mechanism, in the order of COLUMNS."""
    for name, result in results.items():
        for row in result.rows:
            head: list[object] = [name, row.reading, row.target, row.embedding, row.mechanism]
            if row.reached is None:
                yield [*head, *[""] * (len(COLUMNS) - len(head) - 1), row.problem]
                continue
            readings = [getattr(row.reached, each) for each in COLUMNS[6:12]]
            accuracy, moved = row.received if result.several else row.accuracy, row.distance
            assert accuracy is not None and moved is not None  # noqa: PT018 - every result has them
            shown = [row.epsilon, *readings, accuracy.mean, accuracy.spread, moved.mean]
            yield [*head, *("" if each is None else f"{each:.4g}" for each in shown), row.problem]


def _accuracy(row: Row) -> str:
    return f"{100 * row.accuracy.mean:.1f}" if row.accuracy else ""


def _adversary(row: Row) -> str:
    return f"{100 * row.reached.adversary:.0f}" if row.reached else ""
