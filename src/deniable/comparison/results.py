"""What a comparison found: a row for each mechanism and target, and how it was made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import msgspec

from deniable.audit.results import EmbeddingSummary
from deniable.comparison.matching import Target
from deniable.comparison.readings import Name, Reading
from deniable.errors import RecordError


@dataclass(frozen=True, kw_only=True)
class MeanAndSpread:
    """The mean over runs, and their standard deviation; None if there was one run."""

    mean: float
    spread: float | None


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What a mechanism is worth at the ε that meets a target: the reading there, and what text released there is good for."""

    epsilon: float
    reached: Reading
    accuracy: MeanAndSpread
    unchanged: MeanAndSpread
    distance: MeanAndSpread
    words_per_second: float


@dataclass(frozen=True, kw_only=True)
class Row:
    """A mechanism at a target. ``worth`` is None where it cannot be brought there, and ``problem`` says why."""

    mechanism: str
    reading: Name
    target: float
    problem: str
    worth: Worth | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the row as flat JSON; where the mechanism cannot be brought there it ends with the problem."""
        data = asdict(self)
        worth = data.pop("worth")
        return data if worth is None else {**data, **worth}


@dataclass(frozen=True, kw_only=True)
class TextCounts:
    """Texts to learn from, texts to test on, and words to learn from."""

    learn: int
    test: int
    words: int


@dataclass(frozen=True, kw_only=True)
class SampleCounts:
    """The words that privacy is read on: how many, how many distinct ones, and how often a blind guess names one."""

    words: int
    distinct: int
    guess: float


@dataclass(frozen=True, kw_only=True)
class ComparisonSetup:
    """How a comparison was made: by which version, on which embedding, towards which targets, of what and on what."""

    version: str
    embedding: EmbeddingSummary
    seed: int
    runs: int
    tolerance: dict[Name, float]
    targets: tuple[Target, ...]
    mechanisms: tuple[str, ...]
    texts: TextCounts
    sample: SampleCounts


@dataclass(frozen=True, kw_only=True)
class ComparisonResult(ComparisonSetup):
    """The result of ``compare_mechanisms``.

    ``original`` is the accuracy of a classifier that learnt from original text, ``guess`` that of always naming the most frequent
    label. ``left_out`` are mechanisms that did not take part, with the reason.
    """

    original: float
    guess: float
    left_out: dict[str, str]
    rows: tuple[Row, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the result as the JSON that ``deniable compare --save`` writes."""
        data: dict[str, Any] = json.loads(json.dumps({**asdict(self), "rows": [row.to_dict() for row in self.rows]}))
        return data

    def matched(self) -> list[tuple[Row, Worth]]:
        """Return the rows of mechanisms that could be brought to the target, with what they are worth there."""
        return [(row, row.worth) for row in self.rows if row.worth is not None]

    def front(self) -> list[tuple[Row, Worth]]:
        """Return the rows that no other row beats in the adversary's success and accuracy together, weakest adversary first."""
        found = self.matched()
        return [found[place] for place in pareto_front([(worth.reached.adversary, worth.accuracy.mean) for _, worth in found])]


def read_comparison(path: Path) -> ComparisonResult:
    """Return a result that ``deniable compare --save`` wrote.

    :raises RecordError: if the file is not one.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        rows = [{**row, "worth": row if "epsilon" in row else None} for row in data["rows"]]
        return msgspec.convert({**data, "rows": rows}, type=ComparisonResult)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise RecordError(path, f"is not the result of a comparison ({error}); write one with: deniable compare … --save FILE") from None


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the places of the points (risk, utility) that no other point beats, by rising risk.

    One point beats another if it has no more risk and no less utility, and is better in one of the two.
    """
    front = [
        place
        for place, (risk, utility) in enumerate(points)
        if not any(r <= risk and u >= utility and (r < risk or u > utility) for r, u in points)
    ]
    return sorted(front, key=lambda place: points[place])
