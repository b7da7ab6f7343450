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
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from deniable.learning.summary import MeasuredEmbedding, Point, markdown_table, score_cell
from deniable.report.wording import percent
from deniable.utility.accuracy import AS_RELEASED, DECODED, Reading

SCORE = "accuracy"

RECEIVED = "both"
"""The place of perturbation that the answer speaks of: who receives a release has released text only."""

_PLACES = (RECEIVED, "train", "test")


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The reading that one run takes at one place of perturbation and one ε, and the accuracies on validation
    texts that say so."""

    at: str
    epsilon: float
    run: int
    reading: Reading
    validation: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class DecodedPoints:
    """What decoding gave: the points of decoded text, those of the reading that each run chose, and the
    choices.

    The channel was made for ``support`` input words from ``directions`` rays, points or draws each (0: exact
    sums) by ``method``.
    """

    points: list[Point]
    chosen: list[Point]
    choices: list[Choice]
    support: int
    directions: int
    method: str

    def reading_of(self, at: str, epsilon: float) -> str:
        """Return which reading the runs chose at a place and ε, in a few words."""
        taken = [choice.reading for choice in self.choices if (choice.at, choice.epsilon) == (at, epsilon)]
        decoded = taken.count(DECODED)
        if decoded in (0, len(taken)):
            return DECODED if decoded else AS_RELEASED
        return f"{DECODED} in {decoded} of {len(taken)} runs"

    def to_dict(self) -> dict[str, Any]:
        """Return the choices and the channel as JSON-ready data; the points are shown with those as
        released."""
        return {
            "support": self.support,
            "directions": self.directions,
            "method": self.method,
            "choices": [asdict(choice) for choice in self.choices],
        }


@dataclass(frozen=True, kw_only=True)
class Circumstances:
    """What was measured and how: the texts, the model, the mechanism and its options, the embedding, the
    runs.

    ``left_out`` counts the records without a text or a label, ``held_out`` is the share of every class that
    was judged, ``judged`` how many texts that were in each run, and ``average_unchanged_from`` says in words
    where the average N_w comes from. ``not_decoded`` says why nothing was decoded, if nothing was.
    """

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
    """The points of the curve and what they are compared with.

    ``points`` are those of words as released, ``decoded`` what decoding gave, if it was done. ``unchanged``
    is the average N_w by ε, ``majority`` the scores of always naming the most frequent class, ``about`` what
    else a reader has to know.
    """

    points: list[Point]
    unchanged: dict[float, float]
    majority: dict[str, float]
    acceptable_loss: float
    about: Circumstances
    decoded: DecodedPoints | None = None

    @property
    def clean(self) -> Point:
        """The unperturbed point."""
        return next(point for point in self.points if point.epsilon is None)

    @property
    def learns(self) -> bool:
        """Whether the original text taught the labels: better than always naming the most frequent class, by
        more than chance gives.

        By chance alone the texts that are judged in one run give twice their standard error once in 40 times.
        """
        most = self.majority[SCORE]
        return self.clean.mean(SCORE) > most + 2.0 * math.sqrt(most * (1.0 - most) / self.about.judged)

    def at(self, place: str) -> list[Point]:
        """Return the points perturbed at a place, by ε, with words as released."""
        return [point for point in self.points if point.at == place]

    def decoded_at(self, place: str) -> list[Point]:
        """Return the points perturbed at a place, by ε, with released text decoded; none where nothing was
        decoded."""
        return [] if self.decoded is None else [point for point in self.decoded.points if point.at == place]

    def chosen_at(self, place: str) -> list[Point]:
        """Return the points perturbed at a place, by ε, with the reading that validation texts chose."""
        return (
            self.at(place)
            if self.decoded is None
            else [point for point in self.decoded.chosen if point.at == place]
        )

    @property
    def headline(self) -> str:
        """The answer in one or two sentences."""
        clean, best, points = (
            self.clean.mean(SCORE),
            self.smallest_acceptable(),
            f"{100 * self.acceptable_loss:g} points",
        )
        if not self.learns:
            return (
                f"The labels cannot be learnt from the original text: {clean:.3f} accuracy, where always "
                "naming the most frequent class "
                f"gives {self.majority[SCORE]:.3f}. So nothing follows about what ε costs, and no ε is "
                "recommended."
            )
        if best is None or best.epsilon is None:
            return (
                "At no ε looked at does a classifier that is given released text only, to learn from and to "
                "judge, stay within "
                f"{points} of the {clean:.3f} accuracy that the original text gives. {self.gain}"
            ).strip()
        reading = (
            "" if self.decoded is None else f" (read {self.choice_at(best)}, as validation texts advise)"
        )
        return (
            f"From ε = {best.epsilon:g} on, a classifier that is given released text only, to learn from and "
            "to judge, stays within "
            f"{points} of the original: {best.mean(SCORE):.3f} accuracy against {clean:.3f}{reading}. At "
            "this ε an average word stays "
            f"itself in {percent(self.unchanged[best.epsilon])} of the draws. {self.gain}"
        ).strip()

    @property
    def gain(self) -> str:
        """What decoding gained somebody who has released text only, in a sentence; empty where nothing was
        decoded."""
        pairs = list(zip(self.at(RECEIVED), self.decoded_at(RECEIVED), strict=False))
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
        """Return twice the standard error of the mean gain, as if each reading had been judged on texts of
        its own: rather too much."""
        means = [point.mean(SCORE) for pair in pairs for point in pair]
        variance = sum(mean * (1.0 - mean) for mean in means) / (self.about.judged * self.about.runs)
        return 2.0 * math.sqrt(variance) / len(pairs)

    @property
    def in_order(self) -> list[Point]:
        """The points as they are shown: unperturbed, then the place that the answer speaks of, then the
        others."""
        return [self.clean, *(point for place in _PLACES for point in self.at(place))]

    def smallest_acceptable(self, place: str = RECEIVED) -> Point | None:
        """Return the point with the smallest ε from which on the mean score is never lower than acceptable.

        None if there is none, or if the labels cannot be learnt at all.
        """
        return self._smallest(self.chosen_at(place))

    def _smallest(self, points: list[Point]) -> Point | None:
        found = None
        if not self.learns:
            return None
        for point in reversed(points):
            if point.mean(SCORE) < self.clean.mean(SCORE) - self.acceptable_loss:
                break
            found = point
        return found

    def decoded_of(self, point: Point) -> Point | None:
        """Return the point of decoded text at the same place and ε."""
        return next((each for each in self.decoded_at(point.at) if each.epsilon == point.epsilon), None)

    def choice_at(self, point: Point) -> str:
        """Return which reading was chosen at the place and ε of a point, in a few words; empty where nothing
        was."""
        return (
            ""
            if self.decoded is None or point.epsilon is None
            else self.decoded.reading_of(point.at, point.epsilon)
        )

    def table(self) -> str:
        """Return the answer, and all points as a Markdown table."""
        more: dict[str, list[str]] = {}
        if self.decoded is not None:
            found = [self.decoded_of(point) for point in self.in_order]
            more = {
                f"{name}, decoded": ["" if each is None else score_cell(each, name) for each in found]
                for name in self.clean.scores
            }
            more["chosen reading"] = [self.choice_at(point) for point in self.in_order]
        lines = [f"{self.headline}\n", markdown_table(self.in_order, self.unchanged, more=more)]
        scores = ", ".join(f"{score} {value:.3f}" for score, value in self.majority.items())
        lines.append(f"Always the most frequent class: {scores}. Scores: mean (lowest to highest run).")
        lines.append(f"N_w, how often an average word stays itself: {self.about.average_unchanged_from}.")
        if self.decoded is not None:
            lines.append(
                "Decoded: read as the words that are expected behind it. Chosen on validation texts, which "
                "are not judged."
            )
        elif self.about.not_decoded:
            lines.append(f"Words as released only: {self.about.not_decoded}.")
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data."""
        acceptable = {
            place: None if (best := self.smallest_acceptable(place)) is None else best.epsilon
            for place in _PLACES
        }
        return {
            "headline": self.headline,
            **asdict(self.about),
            "majority": self.majority,
            "labels_can_be_learnt": self.learns,
            "acceptable_loss": self.acceptable_loss,
            "smallest_acceptable_epsilon": acceptable[RECEIVED],
            "smallest_acceptable_epsilon_by_place": acceptable,
            "smallest_acceptable_epsilon_by_reading": {
                name: None if (best := self._smallest(points)) is None else best.epsilon
                for name, points in self._by_reading().items()
            },
            "points": [self._point(point, AS_RELEASED) for point in self.points],
            "decoded_points": []
            if self.decoded is None
            else [self._point(point, DECODED) for point in self.decoded.points],
            "decoding": None if self.decoded is None else {"gain": self.gain, **self.decoded.to_dict()},
        }

    def _by_reading(self) -> dict[Reading, list[Point]]:
        decoded: dict[Reading, list[Point]] = (
            {} if self.decoded is None else {DECODED: self.decoded_at(RECEIVED)}
        )
        return {AS_RELEASED: self.at(RECEIVED), **decoded}

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
