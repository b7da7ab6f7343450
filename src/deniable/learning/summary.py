"""Results of all runs, brought together: mean and spread of every score at every ε."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

PLACES = {"nowhere": "nothing", "train": "at training time", "test": "at test time", "both": "at both times"}
"""Where text is perturbed, in the order in which it is told."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One ε at one place (or no perturbation at all, ε None): what its runs gave."""

    at: str
    epsilon: float | None
    runs: int
    scores: dict[str, list[float]]
    changed: float

    def mean(self, score: str) -> float:
        """Return the mean over the runs."""
        return float(np.mean(self.scores[score]))

    def spread(self, score: str) -> tuple[float, float]:
        """Return the lowest and the highest value of the runs."""
        return min(self.scores[score]), max(self.scores[score])


def points_of(outcomes: Iterable[dict[str, Any]]) -> list[Point]:
    """Return one point for each place and ε: unperturbed first, then place by place, each by ε."""
    grouped: dict[tuple[str, float | None], list[dict[str, Any]]] = defaultdict(list)
    for outcome in outcomes:
        grouped[outcome["at"], outcome["epsilon"]].append(outcome)
    points = []
    for (at, epsilon), group in grouped.items():
        scores = {name: [outcome["scores"][name] for outcome in group] for name in group[0]["scores"]}
        words = [(sum(o["words"].values()), sum(o["words"][s] * o["changed"][s] for s in o["words"])) for o in group]
        total = sum(count for count, _ in words)
        changed = sum(count for _, count in words) / total if total else 0.0
        points.append(Point(at=at, epsilon=epsilon, runs=len(group), scores=scores, changed=changed))
    places = list(PLACES)
    return sorted(points, key=lambda point: (places.index(point.at), point.epsilon or 0.0))


def markdown_table(points: list[Point], unchanged: dict[float, float]) -> str:
    """Return the points as a Markdown table: scores as mean (lowest to highest), words changed, average N_w where it is known."""
    scores = list(points[0].scores)
    lines = [
        "| perturbed | ε | average N_w | words changed | runs | " + " | ".join(scores) + " |",
        "|---|--:|--:|--:|--:|" + "--:|" * len(scores),
    ]
    for point in points:
        cells = [
            PLACES[point.at],
            "" if point.epsilon is None else f"{point.epsilon:g}",
            f"{unchanged[point.epsilon]:.3f}" if point.epsilon in unchanged else "",
            "" if point.epsilon is None else f"{point.changed:.1%}",
            str(point.runs),
        ]
        for name in scores:
            low, high = point.spread(name)
            cells.append(f"{point.mean(name):.3f}" + (f" ({low:.3f} to {high:.3f})" if point.runs > 1 else ""))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
