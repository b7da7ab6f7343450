"""What docs/experiments/purpose-refined.json holds: one row for each data set, space, mechanism and level of an attacker."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean

from purpose_page.names import DATA, LEVELS, MECHANISMS, READINGS, is_shaped, level_name, space_name, table, wanted_share
from purpose_results import Result, shaped_before
from purpose_settings import AUTHORS, SOURCE

CLOSE = 0.3
"""Points within which an attacker was to be brought to its level."""


@dataclass(frozen=True)
class Row:
    """One data set in one space by one mechanism where an attacker reaches one level: means of the runs, in %."""

    data: str
    space: str
    mechanism: str
    level: float | str
    epsilon: float
    runs: int
    named: float
    kind: float
    in_context: float | None
    accuracy: dict[str, float]
    fixed: dict[str, float]
    validation: dict[str, float]
    spread: dict[str, float]
    majority: float
    blind: float
    kind_blind: float
    original: dict[str, float]
    earlier: bool

    @property
    def key(self) -> tuple[str, str, str, float | str]:
        """What was measured."""
        return self.data, self.space, self.mechanism, self.level

    @property
    def label(self) -> str:
        """The space and the mechanism in words; a mark says that the space was shaped as spaces were before."""
        return space_name(self.data, self.space, self.mechanism) + (" †" if self.earlier else "")

    @property
    def reached(self) -> float:
        """What the attacker of this level reached."""
        found = {"kind": self.kind, "context": self.in_context}.get(str(self.level), self.named)
        assert found is not None
        return found

    @property
    def off(self) -> float:
        """By how many points the attacker is off its level."""
        return round(round(self.reached, 1) - wanted_share(self.data, self.level), 1)

    def chosen(self, beginning: str = "") -> str:
        """Return the reading that does best on validation texts, of those whose name begins so."""
        return max((name for name in self.validation if name.startswith(beginning)), key=lambda name: self.validation[name])

    def best(self, beginning: str = "") -> float:
        """Return the accuracy by that reading."""
        return self.accuracy[self.chosen(beginning)]


def read_rows(results: list[Result]) -> list[Row]:
    """Return a row for each result: level by level, the shaped space first, other mechanisms last."""
    return sorted((_row(result) for result in results if result["releases"]), key=_place)


def _place(row: Row) -> tuple[int, int, int, int, str]:
    plain = {"default": 3, SOURCE: 4}.get(row.space, 2 if row.space.startswith("reduced") else 1)
    rank = 0 if is_shaped(row.data, row.space) else plain
    return list(DATA).index(row.data), LEVELS.index(row.level), list(MECHANISMS).index(row.mechanism), rank, row.space


def _row(result: Result) -> Row:
    releases = result["releases"]
    # At other levels a receiver read in context, who knows less.
    contexts = [each["named_in_context"] for each in releases if "named_in_context" in each] if result["level"] == "context" else []

    def runs(reading: str, by: str) -> list[float]:
        return [100.0 * each["accuracy"][reading][by] for each in releases]

    readings = [name for name in READINGS if name in releases[0]["accuracy"]]
    return Row(
        data=result["name"],
        space=result["embedding"]["name"],
        mechanism=result["mechanism"],
        level=result["level"],
        epsilon=result["epsilon"],
        runs=len(releases),
        named=100.0 * mean(each["named"] for each in releases),
        kind=100.0 * mean(each["kind_named"] for each in releases),
        in_context=100.0 * mean(contexts) if contexts else None,
        accuracy={name: mean(runs(name, "chosen")) for name in readings},
        fixed={name: mean(runs(name, "both")) for name in readings},
        validation={name: mean(runs(name, "validation")) for name in readings},
        spread={name: (max(runs(name, "chosen")) - min(runs(name, "chosen"))) / 2.0 for name in readings},
        majority=100.0 * result["majority"],
        blind=100.0 * result["blind"],
        kind_blind=100.0 * releases[0]["kind_blind"],
        original={name: 100.0 * each["chosen"] for name, each in result["original"][0].items()},
        earlier=shaped_before(result),
    )


def refined_table(rows: list[Row]) -> str:
    """Return what is named and what is learnt."""
    head = ["data", "at", "space", "names", "kind", "in context", "ε", *READINGS.values(), "±", "runs"]
    return table(head, 3, [_cells(row) for row in rows])


def _cells(row: Row) -> list[str]:
    context = "–" if row.in_context is None else f"{row.in_context:.1f} %"
    shares = [f"{row.named:.1f} %", f"{row.kind:.1f} %", context, f"{row.epsilon:g}"]
    best = row.chosen()
    readings = [("–" if name not in row.accuracy else f"{row.accuracy[name]:.1f}", name == best) for name in READINGS]
    reached = [f"**{text}**" if bold else text for text, bold in readings]
    return [DATA[row.data], level_name(row.data, row.level), row.label, *shares, *reached, f"{row.spread[best]:.1f}", str(row.runs)]


def unperturbed_table(rows: list[Row]) -> str:
    """Return what guessing and unperturbed text reach, for each data set and space."""
    head = ["data", "space", "majority", "words, blind", "kinds, blind", "words", "vectors", "source vectors"]
    spaces = {(row.data, row.space): row for row in reversed(rows)}
    cells = []
    for row in sorted(spaces.values(), key=lambda row: (list(DATA).index(row.data), _place(row)[3:])):
        label = space_name(row.data, row.space)
        learnt = [f"{row.original[name]:.1f}" if name in row.original else "–" for name in ("words", "vectors", "source vectors")]
        cells.append([DATA[row.data], label, f"{row.majority:.1f}", f"{row.blind:.1f} %", f"{row.kind_blind:.1f} %", *learnt])
    return table(head, 2, cells)


def tasks(rows: list[Row]) -> list[Row]:
    """Return the rows of purposes."""
    return [row for row in rows if row.data not in AUTHORS]


def authors(rows: list[Row]) -> list[Row]:
    """Return the rows of other attributes."""
    return [row for row in rows if row.data in AUTHORS]


def attackers_reached(rows: list[Row]) -> str:
    """Say where the attacker is not where it was to be."""
    off = [row for row in rows if abs(row.off) > CLOSE]
    said = f"As rounded there, it is within {CLOSE:g} points in {len(rows) - len(off)} of {len(rows)} rows"
    if not off:
        return said + "."
    others = "; ".join(
        f"{DATA[row.data]}, {row.label.replace('*', '').removesuffix(' †')}, at {level_name(row.data, row.level)}: {row.reached:.1f} %"
        for row in off
    )
    return f"{said}. In the other{'s' if len(off) > 1 else ''} it reached another share than was asked for: {others}."


def shaped_earlier(rows: list[Row]) -> str:
    """Say which rows are of spaces that were shaped as spaces were before; nothing if there are none."""
    earlier = sum(row.earlier for row in rows)
    if not earlier:
        return ""
    return f"""
- **†** ({earlier} rows): the space was shaped by directions that were learnt with a smaller penalty than now.
  [Directions](#directions) measures what that loses; these rows are to be measured again."""


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
