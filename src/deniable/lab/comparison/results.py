"""What a comparison found: a row for each mechanism and target, and how it was made."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np

from deniable.atomic import read_plain_file
from deniable.audit.results import EmbeddingSummary, plain
from deniable.errors import RecordError
from deniable.lab.comparison.readings import Name, Target
from deniable.utility.accuracy import DecodingEffort

_LONGEST = 64 << 20


@dataclass(frozen=True, kw_only=True)
class MeanAndSpread:
    """The mean over runs, and their standard deviation; None if there was one run."""

    mean: float
    spread: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Return those of some values."""
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else None
        return cls(mean=float(np.mean(values)), spread=spread)


@dataclass(frozen=True, kw_only=True)
class PrivacyReadings:
    """The readings at one ε and their standard errors; None where one was not asked for."""

    epsilon: float
    average: float
    worst: float
    adversary: float
    errors: dict[str, float]
    named: float | None = None
    context: float | None = None
    kinds: float | None = None

    def value(self, name: Name) -> float:
        """Return one of the readings."""
        return float(getattr(self, name))


@dataclass(frozen=True, kw_only=True)
class Row:
    """A mechanism at a target: the ε that meets it, the readings there, and accuracies; or the ``problem``.

    ``accuracy`` judged original text after learning from words as released, ``on_released`` words as
    released. ``as_released`` and ``decoded`` are the accuracies by where text is released (train, test,
    both), ``on_vectors`` those on mean vectors (as_released, decoded), released on both sides.
    """

    mechanism: str
    reading: Name
    target: float
    problem: str = ""
    embedding: str = ""
    epsilon: float | None = None
    reached: PrivacyReadings | None = None
    accuracy: MeanAndSpread | None = None
    on_released: MeanAndSpread | None = None
    unchanged: MeanAndSpread | None = None
    distance: MeanAndSpread | None = None
    words_per_second: float | None = None
    as_released: dict[str, MeanAndSpread] | None = None
    decoded: dict[str, MeanAndSpread] | None = None
    on_vectors: dict[str, MeanAndSpread] | None = None

    @property
    def name(self) -> str:
        """The mechanism, and the embedding where there are several."""
        return f"{self.mechanism} in {self.embedding}" if self.embedding else self.mechanism

    def of(self, measured: str, place: str) -> MeanAndSpread | None:
        """Return one of the accuracies that stand by place."""
        by_place: dict[str, MeanAndSpread] | None = getattr(self, measured)
        return None if by_place is None else by_place.get(place)

    @property
    def received(self) -> MeanAndSpread | None:
        """The accuracy with words as released, on both sides where that was measured."""
        return self.of("as_released", "both") or self.on_released or self.accuracy

    @property
    def best_known(self) -> MeanAndSpread | None:
        """The accuracy that rows are ordered by: decoded on both sides, where that was measured."""
        return self.of("decoded", "both") or self.received

    def at(self, target: Target) -> bool:
        """Return whether the row is one of this target."""
        return (self.reading, self.target) == (target.reading, target.value)


@dataclass(frozen=True, kw_only=True)
class SpaceCounts:
    """What the texts are in one embedding, how often a blind guess names a word, and accuracies on original
    text."""

    embedding: EmbeddingSummary
    dimension: int
    vocabulary: int
    words: int
    unknown: float
    blind: float
    original: float
    original_on_vectors: float | None
    blind_kinds: float | None = None


@dataclass(frozen=True, kw_only=True)
class ComparisonResult:
    """The result of ``compare_mechanisms``.

    ``original`` is the accuracy of a classifier that learnt from original text, ``guess`` that of always
    naming the most frequent label. ``left_out`` are mechanisms that did not take part, with the reason.
    ``texts`` counts texts and words, ``sample`` the words that privacy is read on, with the share that a
    blind guess names. ``spaces`` are the embeddings, the first of which is the one that all else is about.
    ``kinds`` says what kinds are.
    """

    version: str
    embedding: EmbeddingSummary
    seed: int
    runs: int
    tolerance: dict[Name, float]
    targets: tuple[Target, ...]
    mechanisms: tuple[str, ...]
    texts: dict[str, int]
    sample: dict[str, int | float]
    original: float
    guess: float
    left_out: dict[str, str]
    rows: tuple[Row, ...]
    decoding: DecodingEffort | None = None
    spaces: tuple[SpaceCounts, ...] = ()
    public: dict[str, str | int] | None = None
    kinds: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as the JSON that ``deniable lab compare --save`` writes."""
        data: dict[str, Any] = plain(self)
        for row in data["rows"]:
            row.setdefault("problem", "")
        return data

    @property
    def judged_on(self) -> str:
        """What the accuracies as released are judged on; original text only in results of old versions."""
        judged = all(row.as_released or row.on_released for row in self.matched())
        return "released text" if judged else "original text"

    @property
    def several(self) -> bool:
        """Whether several embeddings were compared."""
        return len(self.spaces) > 1

    def matched(self, target: Target | None = None) -> list[Row]:
        """Return the rows of mechanisms that could be brought to their target, of one target or of all."""
        return [row for row in self.rows if row.reached is not None and (target is None or row.at(target))]

    def risk(self, row: Row) -> float:
        """Return how often a word, or its kind, is named by the attacker that rows are compared by."""
        return 0.0 if row.reached is None else row.reached.value(self.attacker)

    @property
    def attacker(self) -> Name:
        """The strongest attacker over all words that was read for every row, else that of a sample."""
        readings = [row.reached for row in self.matched()]
        of_all: tuple[Name, ...] = ("context", "named", "kinds")
        for name in of_all:
            if readings and all(getattr(each, name) is not None for each in readings):
                return name
        return "adversary"

    def front(self, accuracy: Callable[[Row], MeanAndSpread | None]) -> list[Row]:
        """Return the rows that no other row beats in risk and accuracy together, weakest attacker first."""
        found = [row for row in self.matched() if accuracy(row) is not None]
        points = [(self.risk(row), share.mean) for row in found if (share := accuracy(row)) is not None]
        return [found[place] for place in pareto_front(points)]


def read_comparison(path: Path) -> ComparisonResult:
    """Return a result that ``deniable lab compare --save`` wrote.

    :raises RecordError: if the file is not one.
    """
    try:
        data = json.loads(read_plain_file(path, longest=_LONGEST, what="comparison", error=RecordError))
        return msgspec.convert(data, type=ComparisonResult)
    except (ValueError, OverflowError, RecursionError) as error:
        problem = (
            f"is not the result of a comparison ({error}); write one: deniable lab compare … --save FILE"
        )
        raise RecordError(path, problem) from None


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the places of the points (risk, utility) that no other point beats in both, by rising risk."""
    front = [
        place
        for place, (risk, utility) in enumerate(points)
        if not any(r <= risk and u >= utility and (r < risk or u > utility) for r, u in points)
    ]
    return sorted(front, key=lambda place: points[place])
