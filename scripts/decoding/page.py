"""The tables of docs/experiments/decoding.md, from the results of scripts/decoding/measure.py and
scripts/purpose/measure.py beside it."""

from __future__ import annotations

from scripts.decoding.rows import READINGS, Row, read_rows
from scripts.pages import EXPERIMENTS, table

PAGE = EXPERIMENTS / "decoding.md"


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    rows = read_rows(EXPERIMENTS)
    return {
        "accuracy": accuracies(rows),
        "context": in_context(rows),
        "places": places(rows),
        "frequencies": frequencies(rows),
    }


def draw() -> None:
    """Draw nothing: the page has no figure."""


def accuracies(rows: list[Row]) -> str:
    """Return accuracies with released text on both sides."""
    readings = ["words as released", "**words decoded**", "vectors as released", "vectors decoded"]
    head = [
        "data",
        "mechanism",
        "attacker names",
        "ε",
        "texts",
        "runs",
        *readings,
        "unperturbed",
        "measured on",
    ]
    cells = []
    for row in rows:
        first, second, *others = (f"{row.accuracy[name]:.1f}" for name in READINGS)
        reached = [first, f"**{second}**", *others, f"{row.unperturbed:.1f}"]
        cells.append([*row.names, f"{row.epsilon:g}", f"{row.texts:,}", row.runs, *reached, row.measured])
    return table(head, cells, align="llrrrrrrrrrl")


def in_context(rows: list[Row]) -> str:
    """Return what reading in context gave, beside reading alone."""
    head = [
        "data",
        "mechanism",
        "attacker names",
        "receiver names alone",
        "in context",
        "words decoded alone",
        "in context",
    ]
    head += ["vectors decoded alone", "in context", "runs", "measured on"]
    ways = [f"{kind} {way}" for kind in ("words", "vectors") for way in ("alone", "in context")]
    cells = []
    for row in (each for each in rows if each.context):
        named = [
            f"{row.context['attacker']:.0f} %",
            *(f"{row.context[name]:.1f} %" for name in ("alone", "in context")),
        ]
        learnt = [f"{row.context[way]:.1f}" for way in ways]
        cells.append([*row.names[:2], *named, *learnt, f"{row.context['runs']:.0f}", row.measured])
    return table(head, cells, align="llrrrrrrrrl")


def places(rows: list[Row]) -> str:
    """Return accuracies with released text on one side."""
    sides = [(side, version) for side in ("train", "test") for version in ("released", "decoded")]
    titles = [f"{side}: {'as released' if version == 'released' else version}" for side, version in sides]
    shown = [row for row in rows if len(row.places) == len(sides)]
    cells = [[*row.names, *(f"{row.places[side]:.1f}" for side in sides), row.measured] for row in shown]
    return table(["data", "mechanism", "attacker names", *titles, "measured on"], cells, align="llrrrrrl")


def frequencies(rows: list[Row]) -> str:
    """Return the distances of word frequencies."""
    head = ["data", "mechanism", "attacker names", "as released", "decoded", "smaller by", "measured on"]
    cells = [
        [*row.names, *(f"{each:.3f}" for each in row.frequencies), f"{row.nearer:.0f} %", row.measured]
        for row in rows
    ]
    return table(head, cells, align="llrrrrl")
