"""What was found, in one place: for machines, for the table, the figure and the page.

The answer is the one for somebody who is given released text and nothing else: learnt from released text,
judged on released text. Who also has original text does better on one side, and those curves are shown beside
it. Where the original text does not teach the labels, there is nothing to lose: that is the answer then, and
no ε is recommended.

Where released text was decoded too, the answer is that of the reading that validation texts chose, never the
better of the two on the texts that are judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from deniable.report.wording import percent
from deniable.utility.accuracy import AS_RELEASED, DECODED, Reading
from deniable.utility.summary import MeasuredEmbedding, Point, markdown, score_cell, table_of

SCORE = "accuracy"

RECEIVED = "both"
"""The place of perturbation that the answer speaks of: who receives a release has released text only."""

CHOSEN = "chosen"
"""The name of the points of the reading that each run chose."""

SHOWN_PLACES = (RECEIVED, "train", "test")
"""The places of perturbation in the order in which they are shown."""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The reading that one run takes at one place and one ε, and the accuracies on validation texts."""

    at: str
    epsilon: float
    run: int
    reading: Reading
    validation: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """The channel that decoded: ``support`` input words, ``directions`` each (0: exact sums), by
    ``method``."""

    support: int
    directions: int
    method: str


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What was measured and how. ``left_out`` counts records without a text or a label, ``held_out`` is the
    share of every class that was judged, ``judged`` how many texts these are in each run;
    ``average_unchanged_from`` says where the average N_w comes from, ``not_decoded`` why nothing was
    decoded."""

    texts: int
    classes: int
    left_out: int
    model: str
    mechanism: str
    mechanism_options: Mapping[str, object]
    embedding: MeasuredEmbedding
    runs: int
    held_out: float
    judged: int
    average_unchanged_from: str
    not_decoded: str = ""


@dataclass(frozen=True, kw_only=True)
class Findings:
    """The points of the curve by reading (words as released, decoded, and ``CHOSEN``), the average N_w by ε,
    the scores of always naming the most frequent class, and what else a reader has to know."""

    points: Mapping[str, list[Point]]
    unchanged: dict[float, float]
    majority: dict[str, float]
    acceptable_loss: float
    about: Circumstances
    decoding: Decoding | None = None
    choices: Sequence[Choice] = ()

    @property
    def clean(self) -> Point:
        """The unperturbed point."""
        return next(point for point in self.points[AS_RELEASED] if point.epsilon is None)

    @property
    def learns(self) -> bool:
        """Whether the original text taught the labels: better than always naming the most frequent class, by
        twice the standard error of one run."""
        most = self.majority[SCORE]
        return self.clean.mean(SCORE) > most + 2.0 * math.sqrt(most * (1.0 - most) / self.about.judged)

    def at(self, place: str, reading: str = AS_RELEASED) -> list[Point]:
        """Return the points perturbed at a place, by ε, in one reading; none where nothing was decoded."""
        return [point for point in self.points.get(reading, ()) if point.at == place]

    @property
    def answer(self) -> str:
        """The reading that the answer goes by: the one that validation texts chose, where there are two."""
        return AS_RELEASED if self.decoding is None else CHOSEN

    @property
    def headline(self) -> str:
        """The answer in one or two sentences."""
        clean, best = self.clean.mean(SCORE), self.smallest_acceptable()
        within = f"within {100 * self.acceptable_loss:g} points of the"
        if not self.learns:
            return (
                f"The labels cannot be learnt from the original text: {clean:.3f} accuracy, where always "
                f"naming the most frequent class gives {self.majority[SCORE]:.3f}. So nothing follows about "
                "what ε costs, and no ε is recommended."
            )
        if best is None or best.epsilon is None:
            answer = (
                "At no ε looked at does a classifier that is given released text only, to learn from and to "
                f"judge, stay {within} {clean:.3f} accuracy that the original text gives."
            )
        else:
            chosen = self.choice_at(best)
            reading = f" (read {chosen}, as validation texts advise)" if chosen else ""
            answer = (
                f"From ε = {best.epsilon:g} on, a classifier that is given released text only, to learn from "
                f"and to judge, stays {within} original: {best.mean(SCORE):.3f} accuracy against "
                f"{clean:.3f}{reading}. At this ε an average word stays itself in "
                f"{percent(self.unchanged[best.epsilon])} of the draws."
            )
        return f"{answer} {self.gain}".strip()

    @property
    def gain(self) -> str:
        """What decoding gained, in a sentence; empty where nothing was decoded."""
        pairs = list(zip(self.at(RECEIVED), self.at(RECEIVED, DECODED), strict=False))
        if not pairs:
            return ""
        gains = [decoded.mean(SCORE) - released.mean(SCORE) for released, decoded in pairs]
        mean = 100 * sum(gains) / len(gains)
        released, decoded = pairs[gains.index(max(gains))]
        over = "" if len(pairs) == 1 else " on average over the ε looked at"
        if round(mean, 1) <= 0.0:
            return f"Decoding the release first gained nothing ({mean:+.1f} points{over})."
        if mean < 100 * self._gain_by_chance(pairs):
            judged = f"{self.about.judged:,} texts judged in each of {self.about.runs} runs"
            return (
                f"Decoding the release first gained {mean:.1f} points{over}, which may be chance: {judged}."
            )
        at_most = (
            f"at ε = {released.epsilon:g}: {decoded.mean(SCORE):.3f} instead of {released.mean(SCORE):.3f}"
        )
        return (
            f"Decoding the release first gained {mean:.1f} points{over}; "
            f"{'most ' if len(pairs) > 1 else ''}{at_most}."
        )

    def _gain_by_chance(self, pairs: list[tuple[Point, Point]]) -> float:
        """Return twice the standard error of the mean gain, as if each reading had judged texts of
        its own."""
        means = [point.mean(SCORE) for pair in pairs for point in pair]
        variance = sum(mean * (1.0 - mean) for mean in means) / (self.about.judged * self.about.runs)
        return 2.0 * math.sqrt(variance) / len(pairs)

    def smallest_acceptable(self, place: str = RECEIVED) -> Point | None:
        """Return the point with the smallest ε from which on the mean score is never lower than acceptable,
        or None."""
        return self._smallest(self.at(place, self.answer))

    def _smallest(self, points: list[Point]) -> Point | None:
        found = None
        for point in reversed(points if self.learns else []):
            if point.mean(SCORE) < self.clean.mean(SCORE) - self.acceptable_loss:
                break
            found = point
        return found

    def choice_at(self, point: Point) -> str:
        """Return which reading the runs chose at the place and ε of a point, in a few words."""
        taken = [
            each.reading for each in self.choices if (each.at, each.epsilon) == (point.at, point.epsilon)
        ]
        decoded = taken.count(DECODED)
        if 0 < decoded < len(taken):
            return f"{DECODED} in {decoded} of {len(taken)} runs"
        return taken[0] if taken else ""

    @property
    def in_order(self) -> list[Point]:
        """The points as they are shown: unperturbed, the place that the answer speaks of, the others."""
        return [self.clean, *(point for place in SHOWN_PLACES for point in self.at(place))]

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return the columns and the rows of the table of all points."""
        more: dict[str, list[str]] = {}
        if self.decoding is not None:
            decoded = {(each.at, each.epsilon): each for each in self.points[DECODED]}
            found = [decoded.get((point.at, point.epsilon)) for point in self.in_order]
            more = {
                f"{name}, decoded": ["" if each is None else score_cell(each, name) for each in found]
                for name in self.clean.scores
            }
            more["chosen reading"] = [self.choice_at(point) for point in self.in_order]
        return table_of(self.in_order, self.unchanged, more=more)

    def table(self) -> str:
        """Return the answer, and all points as a Markdown table."""
        lines = [f"{self.headline}\n", markdown(*self.cells())]
        scores = ", ".join(f"{score} {value:.3f}" for score, value in self.majority.items())
        lines.append(f"Always the most frequent class: {scores}. Scores: mean (lowest to highest run).")
        lines.append(f"N_w, how often an average word stays itself: {self.about.average_unchanged_from}.")
        if self.decoding is not None:
            lines.append(
                "Decoded: read as the words that are expected behind it. Chosen on validation texts, which "
                "are not judged."
            )
        elif self.about.not_decoded:
            lines.append(f"Words as released only: {self.about.not_decoded}.")
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""

        def epsilon_of(best: Point | None) -> float | None:
            return None if best is None else best.epsilon

        acceptable = {place: epsilon_of(self.smallest_acceptable(place)) for place in SHOWN_PLACES}
        readings = {AS_RELEASED: self.at(RECEIVED)}
        decoding = None
        if self.decoding is not None:
            readings[DECODED] = self.at(RECEIVED, DECODED)
            choices = [asdict(choice) for choice in self.choices]
            decoding = {"gain": self.gain, **asdict(self.decoding), "choices": choices}
        return {
            "headline": self.headline,
            **asdict(self.about),
            "majority": self.majority,
            "labels_can_be_learnt": self.learns,
            "acceptable_loss": self.acceptable_loss,
            "smallest_acceptable_epsilon": acceptable[RECEIVED],
            "smallest_acceptable_epsilon_by_place": acceptable,
            "smallest_acceptable_epsilon_by_reading": {
                name: epsilon_of(self._smallest(points)) for name, points in readings.items()
            },
            "points": [self._point(point, AS_RELEASED) for point in self.points[AS_RELEASED]],
            "decoded_points": [self._point(point, DECODED) for point in self.points.get(DECODED, ())],
            "decoding": decoding,
        }

    def _point(self, point: Point, reading: Reading) -> dict[str, Any]:
        return {
            "at": point.at,
            "reading": reading,
            "epsilon": point.epsilon,
            "average_unchanged": None if point.epsilon is None else self.unchanged[point.epsilon],
            "words_changed": point.changed,
            "scores": {
                name: {
                    "mean": point.mean(name),
                    "lowest": min(values),
                    "highest": max(values),
                    "runs": values,
                }
                for name, values in point.scores.items()
            },
        }
