"""What docs/experiments/decoding.md has to show: one row for each setting and way of measuring, from the
results beside the page."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

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
READINGS = ("released words", "decoded words", "released vectors", "decoded vectors")
CPU, GPU = "CPU", "GPU"


@dataclass(frozen=True)
class Row:
    """One data set through one mechanism where the attacker names about a share of the words: means of the
    runs, in %.

    ``level`` is the share that was wanted and ``named`` what was reached. ``accuracy`` is by reading, with
    released text on both sides; ``places`` by the side that is released ("train" or "test") and how its words
    are read. ``frequencies`` are distances of word frequencies as released and decoded. ``context`` is what
    reading in context gave, where that was measured, and beside it what the same runs gave alone.
    """

    data: str
    mechanism: str
    dimension: int
    level: float
    measured: str
    epsilon: float
    texts: int
    runs: int
    named: float
    unperturbed: float
    accuracy: dict[str, float]
    places: dict[tuple[str, str], float]
    frequencies: tuple[float, float]
    context: dict[str, float]

    @property
    def names(self) -> list[str]:
        """The first cells of a line: data, mechanism, attacker."""
        return [DATA[self.data], f"{MECHANISMS[self.mechanism]}, {self.dimension}d", f"{self.named:.0f} %"]

    @property
    def gain(self) -> float:
        """The points that words decoded are above words as released, of the figures as they are shown."""
        return round(round(self.accuracy["decoded words"], 1) - round(self.accuracy["released words"], 1), 1)

    @property
    def nearer(self) -> float:
        """By how much decoded word frequencies are nearer to the true ones than those as released, in %."""
        return 100.0 * (1.0 - self.frequencies[1] / self.frequencies[0])


def read_rows(folder: Path) -> list[Row]:
    """Return all rows, in the order of the page."""
    rows = []
    for path in sorted(folder.glob("decoding-*.json")):
        result = json.loads(path.read_text(encoding="utf-8"))
        there = {each["attacker"] for each in result["releases"]}
        rows += [
            _row(result, level, epsilon, CPU)
            for level, epsilon in result["epsilons"]
            if level in LEVELS and level in there
        ]
    for result in _plain(folder / "purpose.json"):
        if result["level"] in LEVELS and result["releases"]:
            rows.append(_row(result, result["level"], result["epsilon"], GPU))
    data, mechanisms, ways = list(DATA), list(MECHANISMS), (CPU, GPU)
    return sorted(
        rows,
        key=lambda row: (
            data.index(row.data),
            mechanisms.index(row.mechanism),
            row.dimension,
            ways.index(row.measured),
            row.level,
        ),
    )


def _plain(path: Path) -> list[dict[str, Any]]:
    """Return the results in spaces as they are, neither reduced nor shaped, of data on this page."""
    results: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [
        each
        for each in results
        if each["embedding"]["name"] in SPACES and each["name"] in DATA and each["mechanism"] in MECHANISMS
    ]


def _row(result: dict[str, Any], level: float, epsilon: float, measured: str) -> Row:
    releases = [each for each in result["releases"] if each.get("attacker", level) == level]
    accuracy = [each["accuracy"] for each in releases]
    frequencies = [mean(each["frequencies"][name] for each in releases) for name in ("released", "decoded")]
    return Row(
        data=result["name"],
        mechanism=result["mechanism"],
        dimension=result["embedding"]["dimension"],
        level=level,
        measured=measured,
        epsilon=epsilon,
        texts=result["texts"],
        runs=len(releases),
        named=100.0 * mean(each["named"] for each in releases),
        unperturbed=100.0 * mean(_both(each["words"]) for each in result["original"]),
        accuracy={name: _percent([each[name]["both"] for each in accuracy]) for name in READINGS},
        places=_places(result, accuracy),
        frequencies=(frequencies[0], frequencies[1]),
        context=_context(releases),
    )


def _percent(runs: list[float]) -> float:
    """Return the mean of the runs in %."""
    return 100.0 * mean(runs)


def _both(judged: Any) -> float:
    """Return the accuracy of a model of original text on original text; models on a GPU say more than one
    number."""
    return float(judged["both"] if isinstance(judged, dict) else judged)


def _places(result: dict[str, Any], accuracy: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for version in ("released", "decoded"):
        judged = [each[f"{version} words"] for each in accuracy]
        clean = [each["words"] for each in result["original"] if isinstance(each["words"], dict)]
        sides = {
            "train": [each["train"] for each in judged if "train" in each],
            "test": [each["test"] for each in judged if "test" in each]
            or [each[f"{version} words"] for each in clean],
        }
        found |= {(side, version): _percent(values) for side, values in sides.items() if values}
    return found


def _context(releases: list[dict[str, Any]]) -> dict[str, float]:
    """Return what is named alone and in context, and what is learnt from words and vectors: all of the runs
    read in context, no others."""
    read = [each for each in releases if "context words" in each["accuracy"]]
    if not read:
        return {}
    learnt = {
        f"{kind} {way}": _percent([each["accuracy"][f"{version} {kind}"]["both"] for each in read])
        for kind in ("words", "vectors")
        for way, version in (("alone", "decoded"), ("in context", "context"))
    }
    return {
        "attacker": 100.0 * mean(each["named"] for each in read),
        "alone": 100.0 * mean(each["named_by_receiver"] for each in read),
        "in context": 100.0 * mean(each["named_in_context"] for each in read),
        **learnt,
        "runs": len(read),
    }
