"""The part of docs/experiments/purpose.md at refined attackers and in context, from docs/experiments/purpose-refined.json."""

from __future__ import annotations

from statistics import mean
from typing import Any, NamedTuple

SPACES = {
    "sentiment-16-2": "**shaped** 16 × 2",
    "topic-16-2": "**shaped** 16 × 2",
    "reduced-16": "reduced to 16",
    "default": "built-in, 50d",
}
LEVELS: dict[float | str, str] = {0.08: "words named", "kind": "kinds named", "context": "words named in context"}
READINGS = {
    "released words": "words as released",
    "decoded words": "words decoded",
    "released vectors": "vectors as released",
    "decoded vectors": "vectors decoded",
    "released source vectors": "source vectors as released",
    "decoded source vectors": "source vectors decoded",
}
WANTED: dict[tuple[str, float | str], tuple[int, float, float | None]] = {
    # Set before it was measured: the attacker, the accuracy, and, where it was said, the points above the built-in space decoded.
    ("sst2", 0.08): (8, 72.0, 12.0),
    ("sst2", "kind"): (28, 71.0, None),
    ("sst2", "context"): (10, 72.0, 12.0),
    ("agnews", 0.08): (8, 81.0, 12.0),
    ("agnews", "kind"): (27, 81.0, None),
    ("agnews", "context"): (10, 81.0, 12.0),
}
NAMES = {"sst2": "SST-2", "agnews": "AG News"}


class Row(NamedTuple):
    """One data set in one space where an attacker reaches one level: means of the runs, in %."""

    data: str
    space: str
    level: float | str
    epsilon: float
    runs: int
    named: float
    kind: float
    in_context: float | None
    accuracy: dict[str, float]


def read_rows(results: list[dict[str, Any]]) -> list[Row]:
    """Return a row for each result: level by level, the shaped space first."""
    rows = [_row(result) for result in results if result["releases"]]
    levels, spaces = list(LEVELS), list(SPACES)
    return sorted(rows, key=lambda row: (list(NAMES).index(row.data), levels.index(row.level), spaces.index(row.space)))


def _row(result: dict[str, Any]) -> Row:
    releases = result["releases"]
    contexts = [each["named_in_context"] for each in releases if "named_in_context" in each]
    return Row(
        data=result["name"],
        space=result["embedding"]["name"],
        level=result["level"],
        epsilon=result["epsilon"],
        runs=len(releases),
        named=100.0 * mean(each["named"] for each in releases),
        kind=100.0 * mean(each["kind_named"] for each in releases),
        in_context=100.0 * mean(contexts) if contexts else None,
        accuracy={name: 100.0 * mean(each["accuracy"][name]["both"] for each in releases) for name in releases[0]["accuracy"]},
    )


def refined_section(rows: list[Row]) -> str:
    """Return the section."""
    return f"""## At a refined attacker, and in context

Here ε is refined until the attacker is within 0.3 points of what is wanted, in four tries at most, on draws of the words that occur. The
attacker in context runs forward and backward over bigrams of public text, and knows the true frequencies as the other one does. The
receiver's posterior is over all words: no candidate is left out. "Names", "kind" and "in context" are what was reached on the releases
themselves (in context: on the first of them), which comes near to what was wanted. "Source vectors" are the mean vectors in 300 dimensions
of the words of a reduced or shaped space, which anyone can look up. Means of the runs, accuracy in %.

{refined_table(rows)}

{refined_findings(rows)}"""


def refined_table(rows: list[Row]) -> str:
    """Return what is named and what is learnt."""
    head = ["data", "at equal", "space", "names", "kind", "in context", "ε", *READINGS.values(), "runs"]
    lines = ["| " + " | ".join(head) + " |", "|---|---|---" + "|--:" * (len(head) - 3) + "|"]
    for row in rows:
        context = "–" if row.in_context is None else f"{row.in_context:.1f} %"
        shares = [f"{row.named:.1f} %", f"{row.kind:.1f} %", context, f"{row.epsilon:g}"]
        reached = [f"{row.accuracy[name]:.1f}" if name in row.accuracy else "–" for name in READINGS]
        lines.append("| " + " | ".join([NAMES[row.data], LEVELS[row.level], SPACES[row.space], *shares, *reached, str(row.runs)]) + " |")
    return "\n".join(lines)


def refined_findings(rows: list[Row]) -> str:
    """Return whether what we set out to reach is reached, level by level, and what was not measured."""
    lines, missing = [], []
    for (data, level), (attacker, wanted, above) in WANTED.items():
        at = {row.space: row for row in rows if (row.data, row.level) == (data, level)}
        shaped = next((row for space, row in at.items() if SPACES[space].startswith("**shaped**")), None)
        name = f"{NAMES[data]} at {attacker} % of {LEVELS[level]}"
        if shaped is None or "default" not in at:
            missing.append(name)
            continue
        reached = [
            f"{shaped.accuracy[each]:.1f} by {READINGS[each]} ({_met(shaped.accuracy[each], wanted)})"
            for each in ("released vectors", "decoded vectors", "decoded words")
        ]
        lines.append(f"- {name}, {wanted:.0f} wanted: shaped {', '.join(reached)}. {_beside(shaped, at['default'], above)}")
    lines += _weaker_in_context(rows)
    if missing:
        lines.append(f"- Not measured this way: {', '.join(missing)}.")
    return "\n".join(lines)


def _beside(shaped: Row, plain: Row, wanted: float | None) -> str:
    """Return what the built-in space has by the same readings, and how far apart the best decoded readings of both are."""
    said = (
        f"The built-in space has {plain.accuracy['released vectors']:.1f} by vectors as released, "
        f"{plain.accuracy['decoded vectors']:.1f} by vectors decoded and {plain.accuracy['decoded words']:.1f} by words decoded, where the "
        f"attacker names {plain.named:.1f} % of the words and {plain.kind:.1f} % of the kinds, against {shaped.named:.1f} and "
        f"{shaped.kind:.1f} % in the shaped space."
    )
    if wanted is None:
        return said
    ours, theirs = (max(value for name, value in row.accuracy.items() if name.startswith("decoded")) for row in (shaped, plain))
    apart = round(ours, 1) - round(theirs, 1)
    return f"{said} Between the best decoded readings lie {apart:.1f} points; {wanted:.0f} were wanted ({_met(apart, wanted)})."


def _weaker_in_context(rows: list[Row]) -> list[str]:
    """Say it where the attacker in context names fewer words than the one who reads word by word, for whom ε is then too large."""
    weaker = [
        f"{row.in_context:.1f} against {row.named:.1f} % ({NAMES[row.data]}, {SPACES[row.space].replace('*', '')})"
        for row in rows
        if row.in_context is not None and row.in_context < row.named
    ]
    if not weaker:
        return []
    said = "- This attacker in context names fewer words than the one who reads word by word, so it is the weaker one here: "
    return [said + ", ".join(weaker) + "."]


def _met(reached: float, wanted: float) -> str:
    """Say it of the figures as they are shown, to one decimal."""
    short = round(wanted - round(reached, 1), 1)
    return "reached" if short <= 0.0 else f"missed by {short:.1f}"
