"""What docs/research/purpose.json holds: one row for each data set, space, mechanism and level of an
attacker."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean

from scripts.purpose.names import DATA, LEVELS, MECHANISMS, READINGS, is_shaped, space_name, wanted_share
from scripts.purpose.results import Result, shaped_before
from scripts.purpose.settings import AUTHORS, PURPOSES, SOURCE

CLOSE = 0.3
"""Points within which an attacker was to be brought to its level."""


@dataclass(frozen=True)
class Row:
    """One data set in one space by one mechanism where an attacker reaches one level: means of the runs, in
    %."""

    data: str
    space: str
    mechanism: str
    level: float | str
    epsilon: float
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

    @property
    def key(self) -> tuple[str, str, str, float | str]:
        """What was measured."""
        return self.data, self.space, self.mechanism, self.level

    @property
    def label(self) -> str:
        """The space and the mechanism in words."""
        return space_name(self.data, self.space, self.mechanism)

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
        return max(
            (name for name in self.validation if name.startswith(beginning)),
            key=lambda name: self.validation[name],
        )

    def best(self, beginning: str = "") -> float:
        """Return the accuracy by that reading."""
        return self.accuracy[self.chosen(beginning)]


def read_rows(results: list[Result]) -> list[Row]:
    """Return a row for each result with releases in spaces as they are shaped now, in the order of
    ``place``."""
    return sorted(
        (_row(result) for result in results if result["releases"] and not shaped_before(result)), key=place
    )


def place(row: Row) -> tuple[int, int, int, int, str]:
    """Return where a row stands: by data and level, the shaped space first, other mechanisms last."""
    plain = {"default": 3, SOURCE: 4}.get(row.space, 2 if row.space.startswith("reduced") else 1)
    rank = 0 if is_shaped(row.data, row.space) else plain
    return (
        list(DATA).index(row.data),
        LEVELS.index(row.level),
        list(MECHANISMS).index(row.mechanism),
        rank,
        row.space,
    )


def _row(result: Result) -> Row:
    releases = result["releases"]
    # At other levels a receiver read in context, who knows less.
    contexts = (
        [each["named_in_context"] for each in releases if "named_in_context" in each]
        if result["level"] == "context"
        else []
    )

    def runs(reading: str, by: str) -> list[float]:
        return [100.0 * each["accuracy"][reading][by] for each in releases]

    readings = [name for name in READINGS if name in releases[0]["accuracy"]]
    return Row(
        data=result["name"],
        space=result["embedding"]["name"],
        mechanism=result["mechanism"],
        level=result["level"],
        epsilon=result["epsilon"],
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
    )


def tasks(rows: list[Row]) -> list[Row]:
    """Return the rows of purposes."""
    return [row for row in rows if row.data not in AUTHORS]


def authors(rows: list[Row]) -> list[Row]:
    """Return the rows of other attributes."""
    return [row for row in rows if row.data in AUTHORS]


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
