"""The tables of docs/research/purpose-tables.md: all rows in whole."""

from __future__ import annotations

from scripts.pages import EXPERIMENTS, table
from scripts.purpose.rows import DATA, READINGS, Row, level_name, place, read_results, read_rows, space_name

PAGE = EXPERIMENTS / "purpose-tables.md"


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    rows = read_rows(read_results())
    return {"whole": whole_table(rows), "unperturbed": unperturbed_table(rows)}


def whole_table(rows: list[Row]) -> str:
    """Return what is named and what is learnt."""
    head = ["data", "at", "space", "names", "kind", "in context", "ε", *READINGS.values(), "±"]
    return table(head, [_cells(row) for row in rows], align="lllr")


def _cells(row: Row) -> list[str]:
    context = "–" if row.in_context is None else f"{row.in_context:.1f} %"
    shares = [f"{row.named:.1f} %", f"{row.kind:.1f} %", context, f"{row.epsilon:g}"]
    best = row.chosen()
    readings = [
        ("–" if name not in row.accuracy else f"{row.accuracy[name]:.1f}", name == best) for name in READINGS
    ]
    reached = [f"**{text}**" if bold else text for text, bold in readings]
    return [
        DATA[row.data],
        level_name(row.data, row.level),
        row.label,
        *shares,
        *reached,
        f"{row.spread[best]:.1f}",
    ]


def unperturbed_table(rows: list[Row]) -> str:
    """Return what guessing and unperturbed text reach, for each data set and space."""
    head = ["data", "space", "majority", "words, blind", "kinds, blind", "words", "vectors", "source vectors"]
    spaces = {(row.data, row.space): row for row in reversed(rows)}
    cells = []
    for row in sorted(spaces.values(), key=lambda row: (list(DATA).index(row.data), place(row)[3:])):
        label = space_name(row.data, row.space)
        learnt = [
            f"{row.original[name]:.1f}" if name in row.original else "–"
            for name in ("words", "vectors", "source vectors")
        ]
        cells.append(
            [
                DATA[row.data],
                label,
                f"{row.majority:.1f}",
                f"{row.blind:.1f} %",
                f"{row.kind_blind:.1f} %",
                *learnt,
            ]
        )
    return table(head, cells, align="llr")
