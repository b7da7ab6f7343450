"""What was found, in one place: for machines, for the table, the figure and the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from deniable.learning.summary import EmbeddingFacts, Point, markdown_table

SCORE = "accuracy"


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What was measured and how: the texts, the model, the mechanism and its options, the embedding, the runs.

    ``left_out`` counts the records without a text or a label, ``held_out`` is the share of every class that was judged, and
    ``average_unchanged_from`` says in words where the average N_w comes from.
    """

    texts: int
    classes: int
    left_out: int
    model: str
    mechanism: str
    mechanism_options: Mapping[str, object]
    embedding: EmbeddingFacts
    runs: int
    held_out: float
    average_unchanged_from: str


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The points of the curve and what they are compared with.

    ``unchanged`` is the average N_w by ε, ``majority`` the scores of always naming the most frequent class, ``about`` what else a
    reader has to know.
    """

    points: list[Point]
    unchanged: dict[float, float]
    majority: dict[str, float]
    acceptable_loss: float
    about: Circumstances

    @property
    def clean(self) -> Point:
        """The unperturbed point."""
        return next(point for point in self.points if point.epsilon is None)

    @property
    def learns(self) -> bool:
        """Whether the original text taught anything: all runs are better than always naming the most frequent class."""
        return self.clean.spread(SCORE)[0] > self.majority[SCORE]

    def at(self, place: str) -> list[Point]:
        """Return the points perturbed at a place, by ε."""
        return [point for point in self.points if point.at == place]

    def smallest_acceptable(self, place: str = "train") -> Point | None:
        """Return the point with the smallest ε from which on the mean score is never lower than acceptable; None if there is none."""
        found = None
        for point in reversed(self.at(place)):
            if point.mean(SCORE) < self.clean.mean(SCORE) - self.acceptable_loss:
                break
            found = point
        return found

    def table(self) -> str:
        """Return all points as a Markdown table."""
        lines = [markdown_table(self.points, self.unchanged)]
        scores = ", ".join(f"{score} {value:.3f}" for score, value in self.majority.items())
        lines.append(f"Always the most frequent class: {scores}. Scores: mean (lowest to highest run).")
        lines.append(f"N_w, how often an average word stays itself: {self.about.average_unchanged_from}.")
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        acceptable = self.smallest_acceptable()
        return {
            **asdict(self.about),
            "majority": self.majority,
            "acceptable_loss": self.acceptable_loss,
            "smallest_acceptable_epsilon": None if acceptable is None else acceptable.epsilon,
            "points": [
                {
                    "at": point.at,
                    "epsilon": point.epsilon,
                    "average_unchanged": None if point.epsilon is None else self.unchanged[point.epsilon],
                    "words_changed": point.changed,
                    "scores": {
                        name: {"mean": point.mean(name), "lowest": min(values), "highest": max(values), "runs": values}
                        for name, values in point.scores.items()
                    },
                }
                for point in self.points
            ],
        }
