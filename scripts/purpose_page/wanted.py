"""What was wanted of shaped spaces before it was measured, beside what was reached."""

from __future__ import annotations

from purpose_page.names import DATA, READINGS, is_of_purpose, level_name, table, wanted_share
from purpose_page.rows import CLOSE, Row
from purpose_settings import PURPOSES

WANTED: dict[tuple[str, float | str], tuple[float, float | None]] = {
    # The accuracy of decoded text and, where it was said, the points above the built-in space decoded.
    ("sst2", 0.08): (72.0, 12.0),
    ("sst2", "kind"): (71.0, None),
    ("sst2", "context"): (72.0, 12.0),
    ("agnews", 0.08): (81.0, 12.0),
    ("agnews", "kind"): (81.0, None),
    ("agnews", "context"): (81.0, 12.0),
}

BY_DEFAULT = "16-4"
"""The shape that ``deniable embeddings shape`` makes unless told otherwise."""


class Goal:
    """One thing that was wanted, and the rows that say what was reached; the text decoded by the reading chosen on validation texts."""

    def __init__(self, rows: list[Row], data: str, level: float | str) -> None:
        self.data, self.level = data, level
        self.wanted, self.points = WANTED[data, level]
        own = [row for row in rows if row.data == data and row.mechanism == "multivariate"]
        at = [row for row in own if row.level == level]
        shapes = [row for row in at if is_of_purpose(data, row.space)]
        self.shaped = next(iter(sorted(shapes, key=lambda row: -row.validation[row.chosen("decoded")])))
        self.default = next((row for row in at if row.space == f"{PURPOSES[data]}-{BY_DEFAULT}"), None)
        self.plain = next(row for row in at if row.space == "default")
        self.others = sorted((row for row in own if row.space == "default"), key=lambda row: row.named)

    @property
    def name(self) -> str:
        """The data and the attacker in words."""
        return f"{DATA[self.data]} at {level_name(self.data, self.level)}"

    @property
    def apart(self) -> float:
        """The points between the two spaces, decoded, of the figures as they are shown."""
        return round(self.shaped.best("decoded"), 1) - round(self.plain.best("decoded"), 1)

    def fairer(self) -> str | None:
        """Say what the built-in space has where its attacker names no less than was asked for, if at this level it names less."""
        if self.plain.off >= -CLOSE or not isinstance(self.level, float):
            return None
        enough = [row for row in self.others if row.named >= wanted_share(self.data, self.level) - CLOSE]
        if not enough:
            return None
        apart = round(self.shaped.best("decoded"), 1) - round(enough[0].best("decoded"), 1)
        return (
            f"- {self.name}, the attacker of the built-in space names {self.plain.named:.1f} %, less than was asked for. Where it names "
            f"{enough[0].named:.1f} %, the built-in space decoded has {enough[0].best('decoded'):.1f}, {apart:.1f} points less than the "
            "shaped one."
        )

    def out_of_reach(self) -> str | None:
        """Say, where the lead was missed, what it would have needed."""
        if self.points is None or _short(self.apart, self.points) <= 0.0:
            return None
        needed, clean = self.plain.best("decoded") + self.points, max(self.shaped.original.values())
        return (
            f"- {self.name}, the built-in space keeps {self.plain.best('decoded'):.1f} itself: a lead of {self.points:.0f} points over it "
            f"would be {needed:.1f}, where models on unperturbed text have at most {clean:.1f}."
        )


def goals(rows: list[Row]) -> tuple[list[Goal], list[str]]:
    """Return what was wanted and measured, and the names of what was wanted and was not."""
    found, missing = [], []
    for data, level in WANTED:
        try:
            found.append(Goal(rows, data, level))
        except StopIteration:
            missing.append(f"{DATA[data]} at {level_name(data, level)}")
    return found, missing


def wanted_section(rows: list[Row]) -> str:
    """Return what was wanted beside what was reached, level by level, and the sum of it."""
    found, missing = goals(rows)
    lines = [
        wanted_table(found),
        "",
        *_sums(found),
        *_by_default(found),
        *(said for goal in found for said in (goal.fairer(), goal.out_of_reach()) if said),
    ]
    if missing:
        lines.append(f"- Not measured: {', '.join(missing)}.")
    return "\n".join(lines)


def wanted_table(found: list[Goal]) -> str:
    """Return a line for each thing that was wanted."""
    head = [
        "data",
        "at",
        "wanted",
        "shaped",
        "shaped, decoded",
        "shaped, as released",
        "built-in, decoded",
        "built-in, as released",
        "lead wanted",
        "lead",
    ]
    cells = []
    for goal in found:
        texts = [f"{_said(goal.shaped, way)}: {met(goal.shaped.best(way), goal.wanted)}" for way in ("decoded", "released")]
        plain = [_said(goal.plain, way) for way in ("decoded", "released")]
        points = ["–" if goal.points is None else f"{goal.points:.0f}", f"{goal.apart:.1f}"]
        points[1] += "" if goal.points is None else f": {met(goal.apart, goal.points)}"
        shape = " × ".join(goal.shaped.space.split("-")[1:])
        cells.append([DATA[goal.data], level_name(goal.data, goal.level), f"{goal.wanted:.0f}", shape, *texts, *plain, *points])
    return table(head, 2, cells)


def _said(row: Row, way: str) -> str:
    """Return an accuracy, and by which reading."""
    return f"{row.best(way):.1f} ({READINGS[row.chosen(way)].replace(' decoded', '').replace(' as released', '')})"


def _sums(found: list[Goal]) -> list[str]:
    """Say how much of it was met."""
    if not found:
        return []
    decoded, released = (sum(_short(goal.shaped.best(way), goal.wanted) <= 0 for goal in found) for way in ("decoded", "released"))
    pointed = [(goal, goal.points) for goal in found if goal.points is not None]
    apart = sum(_short(goal.apart, points) <= 0 for goal, points in pointed)
    return [
        f"- Of {len(found)} accuracies wanted of decoded text, {decoded} are met, and {released} by text as released, which needs no "
        f"decoding. Of {len(pointed)} leads over the built-in space, {apart} are met."
    ]


def _by_default(found: list[Goal]) -> list[str]:
    """Say what the shape reaches that ``shape`` makes unless told otherwise."""
    reached = [(goal, goal.default.best("decoded")) for goal in found if goal.default]
    if not reached:
        return []
    said = [f"{goal.name} {accuracy:.1f} ({met(accuracy, goal.wanted)})" for goal, accuracy in reached]
    shape = BY_DEFAULT.replace("-", " × ")
    return [f"- Shaped {shape}, which `deniable embeddings shape` makes unless told otherwise, decoded: {'; '.join(said)}."]


def met(reached: float, wanted: float) -> str:
    """Say it of the figures as they are shown, to one decimal."""
    short = _short(reached, wanted)
    return "met" if short <= 0.0 else f"missed by {short:.1f}"


def _short(reached: float, wanted: float) -> float:
    return round(wanted - round(reached, 1), 1)
