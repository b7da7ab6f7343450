"""All rows in whole, for docs/experiments/purpose-tables.md, and how they were reached."""

from __future__ import annotations

from purpose_page.names import DATA, READINGS, level_name, space_name, table
from purpose_page.rows import CLOSE, Row, place


def whole_table(rows: list[Row]) -> str:
    """Return what is named and what is learnt."""
    head = ["data", "at", "space", "names", "kind", "in context", "ε", *READINGS.values(), "±"]
    return table(head, 3, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    context = "–" if row.in_context is None else f"{row.in_context:.1f} %"
    shares = [f"{row.named:.1f} %", f"{row.kind:.1f} %", context, f"{row.epsilon:g}"]
    best = row.chosen()
    readings = [("–" if name not in row.accuracy else f"{row.accuracy[name]:.1f}", name == best) for name in READINGS]
    reached = [f"**{text}**" if bold else text for text, bold in readings]
    return [DATA[row.data], level_name(row.data, row.level), row.label, *shares, *reached, f"{row.spread[best]:.1f}"]


def unperturbed_table(rows: list[Row]) -> str:
    """Return what guessing and unperturbed text reach, for each data set and space."""
    head = ["data", "space", "majority", "words, blind", "kinds, blind", "words", "vectors", "source vectors"]
    spaces = {(row.data, row.space): row for row in reversed(rows)}
    cells = []
    for row in sorted(spaces.values(), key=lambda row: (list(DATA).index(row.data), place(row)[3:])):
        label = space_name(row.data, row.space)
        learnt = [f"{row.original[name]:.1f}" if name in row.original else "–" for name in ("words", "vectors", "source vectors")]
        cells.append([DATA[row.data], label, f"{row.majority:.1f}", f"{row.blind:.1f} %", f"{row.kind_blind:.1f} %", *learnt])
    return table(head, 2, cells)


def attackers_reached(rows: list[Row]) -> str:
    """Say where the attacker is not where it was to be."""
    off = [row for row in rows if abs(row.off) > CLOSE]
    said = f"As rounded there, it is within {CLOSE:g} points in {len(rows) - len(off)} of {len(rows)} rows"
    if not off:
        return said + "."
    others = "; ".join(
        f"{DATA[row.data]}, {row.label.replace('*', '')}, at {level_name(row.data, row.level)}: {row.reached:.1f} %" for row in off
    )
    return f"{said}. In the other{'s' if len(off) > 1 else ''} it reached another share than was asked for: {others}."


def regularisation(rows: list[Row]) -> str:
    """Say how much the choice of the regularisation changes."""
    own, source = _moved(rows, False), _moved(rows, True)
    less = sum(abs(each) < 1.0 for each in own)
    said = f"Beside one fixed beforehand, that changes {less} of {len(own)} accuracies by words and vectors by less than a point"
    beside = f", and adds {min(source):+.1f} to {max(source):+.1f} points to those by source vectors" if source else ""
    return f"{said} (at most {max(map(abs, own)):.1f}){beside}.".replace("-", "−")


def _moved(rows: list[Row], of_source: bool) -> list[float]:
    """Return what choosing adds to each accuracy, by source vectors or by the others."""
    return [row.accuracy[name] - row.fixed[name] for row in rows for name in row.accuracy if name.endswith("source vectors") == of_source]
