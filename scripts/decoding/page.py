"""The tables of docs/research/decoding.md, from purpose.json beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import mean
from typing import Any

from scripts.pages import EXPERIMENTS, csv_text, read_json, table

PAGE = EXPERIMENTS / "decoding.md"
DATA = {
    "agnews": "AG News (topic)",
    "sst2": "SST-2 (sentiment)",
    "mr": "MR (sentiment)",
    "imdb": "IMDb (sentiment)",
    "cr": "CR (sentiment)",
}
MECHANISMS = {
    "multivariate": "paper's mechanism",
    "santext": "SanText",
    "randomized-response": "randomised response",
}
SPACES = ("default", "glove-840b")
LEVELS = (0.08, 0.17, 0.33)
READINGS = {
    "released words": "words as released",
    "decoded words": "words decoded",
    "released vectors": "vectors as released",
    "decoded vectors": "vectors decoded",
}
NAMES = ["data", "mechanism", "attacker names"]
ACCURACY = ["ε", "texts", "runs", *READINGS.values(), "original text"]
PLACES = ["train: as released", "train: decoded", "test: as released", "test: decoded"]
FREQUENCIES = ["frequencies as released", "frequencies decoded", "smaller by"]
Release = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One data set released by one mechanism, where the attacker names about a share of the words."""

    result: dict[str, Any]

    @property
    def runs(self) -> list[Release]:
        """The releases of the text."""
        return list(self.result["releases"])

    @property
    def in_context(self) -> list[Release]:
        """The releases that were also read in context."""
        return [run for run in self.runs if "context words" in run["accuracy"]]

    def mean(self, value: Callable[[Release], float], runs: list[Release] | None = None) -> float:
        """Return the mean of a value of the runs, in %."""
        return 100.0 * mean(map(value, runs or self.runs))

    def accuracy(self, reading: str, by: str = "both", runs: list[Release] | None = None) -> float:
        """Return the accuracy of a model of one reading of the text; ``by`` says which side is released."""
        return self.mean(lambda run: run["accuracy"][reading][by], runs)

    @property
    def names(self) -> list[str]:
        """The first cells of a line: data, mechanism, attacker."""
        mechanism = f"{MECHANISMS[self.result['mechanism']]}, {self.result['embedding']['dimension']}d"
        return [DATA[self.result["name"]], mechanism, f"{self.mean(lambda run: run['named']):.0f} %"]


def read_rows() -> list[Row]:
    """Return the results in spaces that are neither reduced nor shaped, in the order of the page."""
    shown = [
        each
        for each in read_json(EXPERIMENTS / "purpose.json")
        if each["embedding"]["name"] in SPACES
        and each["name"] in DATA
        and each["mechanism"] in MECHANISMS
        and each["level"] in LEVELS
        and each["releases"]
    ]
    data, mechanisms = list(DATA), list(MECHANISMS)
    shown.sort(
        key=lambda each: (
            data.index(each["name"]),
            mechanisms.index(each["mechanism"]),
            each["embedding"]["dimension"],
            each["level"],
        )
    )
    return [Row(each) for each in shown]


def tables() -> dict[str, str]:
    """Return the tables of the page: two data sets; sides and frequencies at the middle attacker."""
    rows = [row for row in read_rows() if row.result["name"] in ("agnews", "sst2")]
    larger = [row for row in rows if row.result["level"] > LEVELS[0]]
    middle = [row for row in rows if row.result["level"] == LEVELS[1]]
    sides = [[*row.names[:2], *places(row), *frequencies(row)] for row in middle]
    shown = [[*row.names, *accuracies(row)[3:]] for row in larger]
    return {
        "accuracy": table([*NAMES, *ACCURACY[3:]], shown, align="llr"),
        "context": in_context([row for row in larger if row not in middle]),
        "sides": table([*NAMES[:2], *PLACES, *FREQUENCIES], sides, align="llr"),
    }


def data() -> dict[str, str]:
    """Return what was measured of every data set, mechanism and attacker."""
    lines = [[*row.names, *accuracies(row), *places(row), *frequencies(row)] for row in read_rows()]
    return {"decoding.csv": csv_text([*NAMES, *ACCURACY, *PLACES, *FREQUENCIES], lines)}


def accuracies(row: Row) -> list[object]:
    """Return the setting, and accuracies with released text on both sides."""
    reached = (f"{row.accuracy(reading):.1f}" for reading in READINGS)
    clean = 100.0 * mean(each["words"]["both"] for each in row.result["original"])
    setting = [f"{row.result['epsilon']:g}", f"{row.result['texts']:,}", len(row.runs)]
    return [*setting, *reached, f"{clean:.1f}"]


def in_context(rows: list[Row]) -> str:
    """Return what reading in context gave, compared with reading alone in the same runs."""
    cells = []
    for row in (row for row in rows if row.in_context):
        runs = row.in_context
        shares = [row.mean(lambda run: run["named"], runs)]
        named = [
            row.mean(lambda run, name=name: run[name], runs)  # type: ignore[misc]
            for name in ("named_by_receiver", "named_in_context")
        ]
        learnt = [row.accuracy(f"{version} words", runs=runs) for version in ("decoded", "context")]
        numbers = [f"{shares[0]:.0f} %", *(f"{each:.1f} %" for each in named), *(f"{x:.1f}" for x in learnt)]
        cells.append([*row.names[:2], *numbers])
    head = [*NAMES, "receiver names alone", "in context", "words decoded alone", "in context"]
    return table(head, cells, align="llr")


def places(row: Row) -> list[str]:
    """Return accuracies with released text on one side: to learn from, or to judge by."""
    trained = [row.accuracy(f"{version} words", "train") for version in ("released", "decoded")]
    tested = [
        100.0 * mean(each["words"][f"{version} words"] for each in row.result["original"])
        for version in ("released", "decoded")
    ]
    return [f"{each:.1f}" for each in (*trained, *tested)]


def frequencies(row: Row) -> list[str]:
    """Return the distances of word frequencies."""
    released, decoded = (
        mean(run["frequencies"][name] for run in row.runs) for name in ("released", "decoded")
    )
    return [f"{released:.3f}", f"{decoded:.3f}", f"{100.0 * (1.0 - decoded / released):.0f} %"]
