"""Released text is read in two ways: its words as released, or decoded. Which one to take is chosen on
validation texts, run by run.

The validation texts are a part of the texts to learn from. What is judged afterwards has no say in the
choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from deniable.channel.channel import Channel
from deniable.learning.summary import Outcome, Point, points_of

TextReading = Literal["as released", "decoded"]
AS_RELEASED: TextReading = "as released"
DECODED: TextReading = "decoded"


@dataclass(frozen=True, kw_only=True)
class Choice:
    """The reading that one run takes at one place of perturbation and one ε, and the accuracies on validation
    texts that say so."""

    at: str
    epsilon: float
    run: int
    reading: TextReading
    validation: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One outcome for each run, ε and place, for both readings; ``decoded`` and ``choices`` are empty where
    nothing was decoded."""

    released: list[Outcome]
    decoded: list[Outcome]
    choices: list[Choice]

    def chosen(self) -> list[Outcome]:
        """Return the outcomes of the readings that were chosen."""
        taken = {(each.at, each.epsilon, each.run): each.reading for each in self.choices}
        both = ((AS_RELEASED, self.released), (DECODED, self.decoded))
        return [
            each
            for name, outcomes in both
            for each in outcomes
            if taken.get((each.at, each.epsilon or 0.0, each.run)) == name
        ]


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


def decoded_points(measured: Measured, channel: Channel) -> DecodedPoints:
    """Return the points of decoded text; ``channel`` is the one of any ε."""
    return DecodedPoints(
        points=points_of(measured.decoded),
        chosen=points_of(measured.chosen()),
        choices=measured.choices,
        support=len(channel) - 1,
        directions=channel.directions,
        method=channel.method,
    )


def choose(at: str, epsilon: float, run: int, validation: Mapping[str, float]) -> Choice:
    """Return the reading with the higher accuracy on validation texts; words as released if both are alike or
    there are no such texts."""
    decoded = bool(validation) and validation[DECODED] > validation[AS_RELEASED]
    return Choice(
        at=at, epsilon=epsilon, run=run, reading=DECODED if decoded else AS_RELEASED, validation=validation
    )
