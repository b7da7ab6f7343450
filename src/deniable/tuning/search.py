"""The search: every space is brought to the same attacker, and the one that serves the purpose best on texts
to choose by is taken.

ε does not compare between spaces, so it is not what they are compared at. For each space the channels are
made at several ε; the attacker is read there, in the better of its ways, and what a receiver makes of
released text is read at the two ε between which the attacker meets the target. A receiver reads a release in
three ways: its words as released, decoded, and as the mean vector of each text, which is weak in a wide space
and strong in one that was shaped for the label. Reading in context takes time,
so part of the text is read so while spaces are compared, and all of it at the end. The channels of mapped
spaces stay on the disk until the search is over, so that an interrupted one goes on where it was.
"""

from __future__ import annotations

import math
import shutil
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.named import Named, Way
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channels
from deniable.embeddings.derived import check_mappable, map_embedding
from deniable.embeddings.embedding import Embedding
from deniable.errors import DeniableError, TargetsNotMet
from deniable.interfaces import Mechanism
from deniable.measures.estimate import halve
from deniable.measures.texts import Texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.progress import Report, Steps, part_of
from deniable.purposes.directions import learn_directions
from deniable.purposes.principal import covariance, reduce
from deniable.purposes.public_texts import PublicTexts
from deniable.purposes.shaping import map_of_directions
from deniable.utility.accuracy import Accuracy, DecodingEffort, Reading, Version

QUICK = DecodingEffort(support=3_000, directions=60)
THOROUGH = DecodingEffort(support=8_000, directions=200)

READINGS: tuple[Reading, ...] = ("as released", "decoded", "mean vectors")
OF_ORIGINAL: tuple[Reading, ...] = ("as released", "mean vectors")
"""Decoding has no sense for original text."""

_STRENGTH = 1.0
_VALUES = 5
_LEAST, _MOST = 1e-3, 1e5
_WORDS_TO_BRACKET = 4_000
_WORDS_IN_CONTEXT = 10_000
_ROUNDS = 5
_AROUND = (0.78, 0.81, 0.84, 0.87, 0.9, 0.93, 0.96, 1.0, 1.04)
_MADE_AROUND = 4
"""At most this many of those are made to find the one wanted, by halving."""


@dataclass(frozen=True, kw_only=True)
class Space:
    """A space to try: ``dimension`` is None for the embedding as it is, ``strength`` if it is not shaped."""

    embedding: Embedding = field(repr=False)
    dimension: int | None = None
    strength: float | None = None

    @property
    def name(self) -> str:
        """What it is, in a few words."""
        if self.dimension is None:
            return "as it is"
        if self.strength is None:
            return f"reduced to {self.dimension} axes"
        if self.dimension == 0:
            return "the purpose alone"
        return f"{self.dimension} axes and the purpose, strength {self.strength:g}"

    def facts(self) -> dict[str, Any]:
        """Return which space it is, for findings."""
        return {"name": self.name, "dimension": self.dimension, "strength": self.strength}


def make_spaces(
    embedding: Embedding, public: PublicTexts, dimensions: Sequence[int], strengths: Sequence[float]
) -> list[Space]:
    """Return the embedding as it is, and spaces shaped with each number of axes and each strength.

    :raises InvalidParameter: if there are not that many axes, or words are protected.
    :raises TaskDataError: if nothing can be learnt from the texts.
    """
    check_mappable(embedding)
    learnt, spread = learn_directions(embedding, public), covariance(embedding)
    spaces = [Space(embedding=embedding)]
    for dimension in dimensions:
        # With the purpose alone a strength is the unit of ε, and nothing else.
        for strength in strengths if dimension else strengths[:1]:
            linear_map = map_of_directions(
                embedding, [public], [learnt], dimension=dimension, strength=strength, spread=spread
            )
            spaces.append(
                Space(embedding=map_embedding(embedding, linear_map), dimension=dimension, strength=strength)
            )
    return spaces


def reduced_beside(shaped: Space, embedding: Embedding) -> Space:
    """Return the embedding reduced to as many axes as a shaped space has beside, or in place of, its
    purpose."""
    dimension = shaped.dimension or shaped.embedding.dimension
    return Space(embedding=reduce(embedding, dimension), dimension=dimension)


def tell_labels(
    version: Version, learnt: int, readings: Iterable[Reading] = READINGS
) -> dict[Reading, float]:
    """Return the share of labels predicted by each reading, after learning from the first
    ``learnt`` texts."""
    places, labels = np.arange(len(version.texts)), np.array(version.texts.labels)
    return {
        reading: Accuracy(
            version, labels, places[:learnt], places[learnt:], reading=reading, strength=_STRENGTH
        ).shares(version, ["both"])["both"]
        for reading in readings
    }


def best_reading(shares: dict[Reading, float]) -> Reading:
    """Return the reading that tells most labels."""
    return max(shares, key=lambda reading: shares[reading])


@dataclass(frozen=True, kw_only=True)
class Point:
    """A space at one ε: the share that an attacker names, of words or of kinds, and of words that stay
    unchanged; ``told`` is how well labels are predicted by each reading, if it was measured."""

    epsilon: float
    attacker: float
    unchanged: float
    told: dict[str, float] | None

    @property
    def accuracy(self) -> float | None:
        """What a receiver gets who reads the release in the best way."""
        return None if self.told is None else max(self.told.values())


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A tried space: its points, the ε at which the attacker meets the target, and the accuracy there."""

    space: Space
    points: tuple[Point, ...]
    epsilon: float
    accuracy: float

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as JSON-ready data, without the space itself."""
        numbers = {"epsilon": self.epsilon, "accuracy": self.accuracy}
        return {**self.space.facts(), **numbers, "points": [asdict(point) for point in self.points]}


class Search:
    """Brings spaces to one attacker. Of the ``labelled`` texts a receiver learns from the first ``learnt``,
    and choices are made by the others. Leaving the ``with`` block removes the channels that were kept on the
    disk, unless the search was interrupted."""

    def __init__(
        self,
        mechanism: ChosenMechanism,
        attacker: Named,
        labelled: Texts,
        learnt: int,
        *,
        reading: Way,
        target: float,
        quick: DecodingEffort,
        thorough: DecodingEffort,
    ) -> None:
        blind, what = attacker.blind.share_of(reading), "kinds" if reading == "kinds" else "words"
        if not attacker.blind.tries_of(reading):
            raise TargetsNotMet(f"{what}: these texts hold none to name; match on something else")
        if target <= blind:
            asked = "kinds" if reading == "kinds" else "attacker"
            problem = f"an attacker who sees nothing names {blind:.1%} of these {what}"
            raise TargetsNotMet(f"{asked} = {target:g}: {problem}; ask for more than that")
        self._mechanism, self._attacker, self._reading, self._target = mechanism, attacker, reading, target
        self._not_found = f"no ε was found at which the attacker names {target:.1%} of the {what}"
        self._labelled, self._learnt, self._quick, self._thorough = labelled, learnt, quick, thorough
        self._known: dict[Space, list[Channel]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # After an error the same would happen again: only an interrupted search goes on from there.
        if kind is None or issubclass(kind, DeniableError):
            for space in self._known:
                if space.dimension is not None:  # nobody else has channels of mapped spaces
                    shutil.rmtree(space.embedding.work_folder("channels"), ignore_errors=True)

    def look(self, space: Space, *, report: Report | None = None) -> Trial:
        """Return how a space does at the target.

        :raises TargetsNotMet: if no ε brings the attacker there.
        """
        self._known[space] = []  # should there be an error, there may be channels already
        points, channels = self._curve(space, report)
        self._known[space] = channels
        attackers = np.maximum.accumulate([point.attacker for point in points])
        above = int(np.searchsorted(attackers, self._target))
        ends = [max(above - 1, 0), min(above, len(points) - 1)]
        for place in set(ends):
            points[place] = self._used(space, points[place], channels[place])

        def at_target(values: list[float]) -> float:
            return float(np.interp(self._target, attackers[ends], values))

        epsilon = math.exp(at_target([math.log(points[place].epsilon) for place in ends]))
        accuracy = at_target([points[place].accuracy or 0.0 for place in ends])
        return Trial(space=space, points=tuple(points), epsilon=epsilon, accuracy=accuracy)

    def complete(self, trial: Trial, steps: Steps) -> Trial:
        """Return a trial with the accuracy at all its ε, for a curve."""
        points = []
        for point, channel in zip(trial.points, self._known[trial.space], strict=True):
            points.append(self._used(trial.space, point, channel) if point.told is None else point)
            steps.done()
        return replace(trial, points=tuple(points))

    def match(self, trial: Trial, *, report: Report | None = None) -> Channel:
        """Return the channel at the largest ε tried at which the attacker, who knows it finely now, stays
        within the target.

        :raises TargetsNotMet: if there is none.
        """
        around, within, made = trial.epsilon, None, 0

        def is_beyond(epsilon: float) -> bool:
            nonlocal within, made
            part = None if report is None else part_of(report, made, _MADE_AROUND)
            (channel,) = self._channels(trial.space, [epsilon], self._thorough, part)
            made += 1
            beyond = self._read(trial.space, channel).attacker > self._target
            if not beyond:
                within = channel
            return beyond

        for _ in range(_ROUNDS):
            epsilons = [float(f"{around * step:.3g}") for step in _AROUND]
            count = bisect_left(epsilons, True, key=is_beyond)
            if within is not None and 0 < count < len(epsilons):
                return within
            around = epsilons[0] if not count else epsilons[-1] * 1.15
        raise TargetsNotMet(f"{trial.space.name}: {self._not_found}")

    def release(self, space: Space, epsilon: float) -> Mechanism:
        """Return the mechanism that releases in a space."""
        return self._mechanism(space.embedding, epsilon=epsilon)

    def draw(self, space: Space, epsilon: float, ids: Ids, *, seed: int) -> Ids:
        """Return what words become in one draw each, always the same: the same texts give the same space."""
        return Draws(self.release(space, epsilon), seed=seed).of_each(ids)

    def _curve(self, space: Space, report: Report | None) -> tuple[list[Point], list[Channel]]:
        # An attacker names about as many words as stay unchanged, and more where many words are frequent.
        # Kinds it also names blindly.
        share = self._target
        if self._reading == "kinds":
            blind = self._attacker.blind.kinds
            share = (share - blind) / (1.0 - blind)
        epsilons = self._between(space, 0.2 * share, min(1.6 * share, (1.0 + share) / 2.0))
        for _ in range(_ROUNDS):
            channels = self._channels(space, epsilons, self._quick, report)
            points = [self._read(space, channel, in_context=_WORDS_IN_CONTEXT) for channel in channels]
            if points[0].attacker >= self._target:
                epsilons = [epsilon / 2.0 for epsilon in epsilons]
            elif max(point.attacker for point in points) < self._target:
                epsilons = [epsilon * 1.5 for epsilon in epsilons]
            else:
                return points, channels
        raise TargetsNotMet(f"{space.name}: {self._not_found}")

    def _between(self, space: Space, least: float, most: float) -> list[float]:
        """Return values of ε between those that leave these shares of the words unchanged."""
        ids = self._attacker.texts.ids[:_WORDS_TO_BRACKET]

        def find(share: float) -> float:
            def is_below(epsilon: float) -> bool:
                return float((self.draw(space, epsilon, ids, seed=0) == ids).mean()) < share

            return math.log(halve(_LEAST, _MOST, is_below, narrow=1.1))

        first, last = find(least), find(most)
        values: Floats = np.exp(np.linspace(first, max(last, first + 0.2), _VALUES))
        return [float(f"{value:.3g}") for value in values]

    def _channels(
        self, space: Space, epsilons: list[float], effort: DecodingEffort, report: Report | None
    ) -> list[Channel]:
        return make_channels(
            space.embedding,
            self._mechanism,
            epsilons=epsilons,
            inputs=self._attacker.inputs(effort.support),
            directions=effort.directions,
            keep=space.dimension is not None,  # others may use the channels of the embedding as it is
            report=report,
        )

    def _read(self, space: Space, channel: Channel, *, in_context: int | None = None) -> Point:
        ids = self._attacker.texts.ids
        released = self.draw(space, channel.epsilon, ids, seed=1)
        unchanged = float((released == ids).mean())
        texts = None if in_context is None else self._attacker.first_texts(in_context)
        named = self._attacker.success(self._reading, channel, released, texts=texts).share_of(self._reading)
        return Point(epsilon=channel.epsilon, attacker=named, unchanged=unchanged, told=None)

    def _used(self, space: Space, point: Point, channel: Channel) -> Point:
        released = self.draw(space, point.epsilon, self._labelled.ids, seed=3)
        version = Version(self._labelled.released(released, space.embedding), space.embedding, channel)
        shares = tell_labels(version, self._learnt)
        return replace(point, told={name.replace(" ", "_"): share for name, share in shares.items()})
