"""What runs gave, one by one and brought together: mean and spread of every score at every ε, as a table and
as curves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from deniable.embeddings.embedding import Embedding
from deniable.report.wording import Lines, percent_fixed
from deniable.report.wording import Point as Drawn

PLACES = {"nowhere": "nothing", "train": "at training time", "test": "at test time", "both": "at both times"}
"""Where text is perturbed, in the order in which it is shown."""


@dataclass(frozen=True, kw_only=True)
class MeasuredEmbedding:
    """Which embedding a result was measured with."""

    name: str
    fingerprint: str
    words: int
    dimension: int

    @classmethod
    def of(cls, embedding: Embedding) -> Self:
        """Return the facts of an embedding."""
        return cls(
            name=embedding.name,
            fingerprint=embedding.fingerprint,
            words=len(embedding),
            dimension=embedding.dimension,
        )


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one run gave at one ε (None: unperturbed) and one place: scores, and for each part of the data
    its words and the share of them that changed."""

    at: str
    epsilon: float | None
    run: int
    scores: dict[str, float]
    words: dict[str, int]
    changed: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON-ready data."""
        return asdict(self)


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


def points_of(outcomes: Iterable[Outcome]) -> list[Point]:
    """Return one point for each place and ε: unperturbed first, then place by place, each by ε."""
    groups: dict[tuple[str, float | None], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[outcome.at, outcome.epsilon].append(outcome)
    points = []
    for (at, epsilon), group in groups.items():
        scores = {name: [outcome.scores[name] for outcome in group] for name in group[0].scores}
        words = [(sum(o.words.values()), sum(o.words[s] * o.changed[s] for s in o.words)) for o in group]
        total = sum(count for count, _ in words)
        changed = sum(count for _, count in words) / total if total else 0.0
        points.append(Point(at=at, epsilon=epsilon, runs=len(group), scores=scores, changed=changed))
    places = list(PLACES)
    return sorted(points, key=lambda point: (places.index(point.at), point.epsilon or 0.0))


def table_of(
    points: Sequence[Point], unchanged: dict[float, float], *, more: Mapping[str, Sequence[str]] | None = None
) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of the points: scores as mean (lowest to highest), words changed, average
    N_w; ``more`` are further columns by name."""
    scores, more = list(points[0].scores), more or {}
    rows = []
    for place, point in enumerate(points):
        perturbed = point.epsilon is not None
        cells = [
            PLACES[point.at],
            f"{point.epsilon:g}" if perturbed else "",
            f"{unchanged[point.epsilon]:.3f}" if point.epsilon in unchanged else "",
            percent_fixed(point.changed) if perturbed else "",
            str(point.runs),
        ]
        cells += [score_cell(point, name) for name in scores]
        rows.append(cells + [column[place] for column in more.values()])
    return ["perturbed", "ε", "average N_w", "words changed", "runs", *scores, *more], rows


def markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table whose first column holds text and the others numbers."""
    lines = [f"| {' | '.join(cells)} |" for cells in (columns, *rows)]
    lines.insert(1, "|---|" + "--:|" * (len(columns) - 1))
    return "\n".join(lines) + "\n"


def lines_of(points: Sequence[Point], score: str, *, read: str = "") -> Lines:
    """Return a score against ε with the range of its runs, a line for each place of perturbation."""
    lines: dict[str, list[Drawn]] = {}
    for point in points:
        if point.epsilon is not None:
            name = f"perturbed {PLACES[point.at]}{read}"
            lines.setdefault(name, []).append(Drawn(point.epsilon, point.mean(score), *point.spread(score)))
    return lines


def score_cell(point: Point, score: str) -> str:
    """Return a score as tables show it: its mean, and after several runs the lowest and the highest."""
    low, high = point.spread(score)
    return f"{point.mean(score):.3f}" + (f" ({low:.3f} to {high:.3f})" if point.runs > 1 else "")
