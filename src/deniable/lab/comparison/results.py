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
from deniable.audit.named import Way
from deniable.audit.results import EmbeddingSummary, plain
from deniable.errors import RecordError
from deniable.lab.comparison.knowledge import PublicSummary
from deniable.lab.comparison.matching import Target
from deniable.lab.comparison.probe import SampleCounts
from deniable.lab.comparison.readings import Name, PrivacyReadings
from deniable.lab.comparison.texts import TextCounts
from deniable.utility.accuracy import DecodingEffort


@dataclass(frozen=True, kw_only=True)
class MeanAndSpread:
    """The mean over runs, and their standard deviation; None if there was one run."""

    mean: float
    spread: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Self:
        """Return those of some values."""
        return cls(
            mean=float(np.mean(values)), spread=float(np.std(values, ddof=1)) if len(values) > 1 else None
        )


def means(runs: Sequence[Any]) -> dict[str, MeanAndSpread]:
    """Return the mean and spread over runs of each field of what was measured."""
    return {name: MeanAndSpread.of([getattr(run, name) for run in runs]) for name in vars(runs[0])}


@dataclass(frozen=True, kw_only=True)
class ByPlace:
    """Accuracies by where text is released: texts to learn from ("train"), those that are judged ("test"), or
    both."""

    train: MeanAndSpread
    test: MeanAndSpread
    both: MeanAndSpread


@dataclass(frozen=True, kw_only=True)
class OnVectors:
    """Accuracies with text released on both sides, where a classifier reads the mean vector of each text: as
    released, and as expected."""

    as_released: MeanAndSpread
    decoded: MeanAndSpread


@dataclass(frozen=True, kw_only=True)
class ReceiverAccuracies:
    """What a receiver gets: with words as released and decoded, for every place; ``on_vectors`` is missing in
    results of old versions."""

    as_released: ByPlace
    decoded: ByPlace
    on_vectors: OnVectors | None = None


@dataclass(frozen=True, kw_only=True)
class Worth:
    """What a mechanism is worth at the ε that meets a target: the reading there, and what text released there
    is good for.

    ``accuracy`` is that of a classifier that learnt from words as released and judged original text,
    ``on_released`` where it judged words as released. ``receiver`` says it for whoever has released text
    only, decoded too, and comes first where it was measured. Results of old versions may have neither.
    """

    epsilon: float
    reached: PrivacyReadings
    accuracy: MeanAndSpread
    unchanged: MeanAndSpread
    distance: MeanAndSpread
    words_per_second: float
    receiver: ReceiverAccuracies | None = None
    on_released: MeanAndSpread | None = None

    @property
    def on_vectors(self) -> OnVectors | None:
        """The accuracies of a classifier that reads mean vectors, where they were measured."""
        return None if self.receiver is None else self.receiver.on_vectors

    @property
    def received(self) -> MeanAndSpread:
        """The accuracy with words as released: on both sides, or judged on original text where nothing else
        was measured."""
        return (
            self.receiver.as_released.both if self.receiver is not None else self.on_released or self.accuracy
        )

    @property
    def best_known(self) -> MeanAndSpread:
        """The accuracy that rows are ordered by: decoded on both sides, where that was measured."""
        return self.received if self.receiver is None else self.receiver.decoded.both


@dataclass(frozen=True, kw_only=True)
class Row:
    """A mechanism at a target. ``worth`` is None where it cannot be brought there, and ``problem`` says why.

    ``embedding`` is named where there are several.
    """

    mechanism: str
    reading: Name
    target: float
    problem: str
    worth: Worth | None = None
    embedding: str = ""

    @property
    def name(self) -> str:
        """The mechanism, and the embedding where there are several."""
        return f"{self.mechanism} in {self.embedding}" if self.embedding else self.mechanism

    def to_dict(self) -> dict[str, Any]:
        """Return the row as flat JSON; where the mechanism cannot be brought there it ends with the
        problem."""
        data: dict[str, Any] = plain(self)
        worth = data.pop("worth", {})
        receiver = worth.pop("receiver", {})
        return {**data, **worth, **receiver}


@dataclass(frozen=True, kw_only=True)
class SpaceCounts:
    """What the texts are in one embedding: words, the share it does not know, and how often a blind guess
    names a word.

    ``original`` is the accuracy of a classifier that learnt from original text, on words and on mean vectors.
    """

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
    ``decoding`` is how finely receivers knew the channels; it is None if nothing was decoded. ``spaces`` are
    the embeddings, the first of which is the one that all else is about; results of earlier versions have
    none. ``public`` is the public text that attackers read, and ``kinds`` says what kinds of words are, if
    they were asked for.
    """

    version: str
    embedding: EmbeddingSummary
    seed: int
    runs: int
    tolerance: dict[Name, float]
    targets: tuple[Target, ...]
    mechanisms: tuple[str, ...]
    texts: TextCounts
    sample: SampleCounts
    original: float
    guess: float
    left_out: dict[str, str]
    rows: tuple[Row, ...]
    decoding: DecodingEffort | None = None
    spaces: tuple[SpaceCounts, ...] = ()
    public: PublicSummary | None = None
    kinds: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as the JSON that ``deniable lab compare --save`` writes."""
        return {**plain(self), "rows": [row.to_dict() for row in self.rows]}

    @property
    def judged_on(self) -> str:
        """What the texts are that the accuracies as released are judged on; original only in results of old
        versions."""
        released = all(
            worth.receiver is not None or worth.on_released is not None for _, worth in self.matched()
        )
        return "released text" if released else "original text"

    @property
    def several(self) -> bool:
        """Whether several embeddings were compared."""
        return len(self.spaces) > 1

    def matched(self) -> list[tuple[Row, Worth]]:
        """Return the rows of mechanisms that could be brought to the target, with what they are worth
        there."""
        return [(row, row.worth) for row in self.rows if row.worth is not None]

    def front(self) -> list[tuple[Row, Worth]]:
        """Return the rows that no other row beats in the attacker's success and accuracy together, weakest
        attacker first.

        The accuracy is that of words as released. The attacker is that of ``attacker``.
        """
        return self._front(lambda worth: worth.received)

    def decoded_front(self) -> list[tuple[Row, Worth]]:
        """Return the rows that no other row beats once the text of all of them is decoded; none where nothing
        was."""
        return self._front(lambda worth: worth.best_known) if self.decoding is not None else []

    def _front(self, accuracy: Callable[[Worth], MeanAndSpread]) -> list[tuple[Row, Worth]]:
        found = self.matched()
        return [
            found[place]
            for place in pareto_front([(self.risk(worth), accuracy(worth).mean) for _, worth in found])
        ]

    def risk(self, worth: Worth) -> float:
        """Return how often a word, or its kind, is named by the attacker that rows are compared by."""
        return worth.reached.value(self.attacker)

    @property
    def attacker(self) -> Name:
        """The attacker that rows are compared by: the strongest over all words that was read for every row,
        else that of a sample."""
        read = [worth.reached for _, worth in self.matched()]
        of_all: tuple[Way, ...] = ("context", "named", "kinds")
        known = (name for name in of_all if read and all(getattr(each, name) is not None for each in read))
        return next(known, "adversary")


_LONGEST = 64 << 20


def read_comparison(path: Path) -> ComparisonResult:
    """Return a result that ``deniable lab compare --save`` wrote.

    :raises RecordError: if the file is not one.
    """
    try:
        data = json.loads(read_plain_file(path, longest=_LONGEST, what="comparison", error=RecordError))
        rows = [{**row, "worth": _worth_in(row)} for row in data["rows"]]
        return msgspec.convert({**data, "rows": rows}, type=ComparisonResult)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise RecordError(
            path,
            f"is not the result of a comparison ({error}); write one: deniable lab compare … --save FILE",
        ) from None


def _worth_in(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the worth that a row of JSON has flat in it; None if the mechanism could not be brought to the
    target."""
    return {**row, "receiver": row if "as_released" in row else None} if "epsilon" in row else None


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
