"""The search: every space is brought to the same attacker, and the one that serves the purpose best on texts
to choose by is taken.

ε does not compare between spaces, so it is not what they are compared at. A sweep measures each space at
several ε: what the attacker names, in the better of its ways, and what a receiver makes of released text; in
between lies the accuracy where the attacker meets the target. A receiver reads a release in three ways: its
words as released, decoded, and as the mean vector of each text, which is weak in a wide space and strong in
one that was shaped for the label. The numbers of a sweep are saved, so an interrupted search goes on where it
was.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Floats
from deniable.audit.named import Named, NamedBy, Way
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.embeddings.derived import check_mappable, map_embedding
from deniable.embeddings.embedding import Embedding
from deniable.errors import TargetsNotMet
from deniable.measures.catalogue import Measure, Setting, ShareUnchanged
from deniable.measures.estimate import Estimate, halve, solve
from deniable.measures.sweep import Row, measured, sweep
from deniable.measures.texts import Texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.progress import Report, Steps
from deniable.purposes.directions import learn_directions
from deniable.purposes.principal import covariance, reduce
from deniable.purposes.public_texts import PublicTexts
from deniable.purposes.shaping import map_of_directions
from deniable.utility.accuracy import Accuracy, AccuracyOfLabels, DecodingEffort, Reading, Version

QUICK = DecodingEffort(support=3_000, directions=60)
THOROUGH = DecodingEffort(support=8_000, directions=200)

READINGS: tuple[Reading, ...] = ("as released", "decoded", "mean vectors")
OF_ORIGINAL: tuple[Reading, ...] = ("as released", "mean vectors")
"""Decoding has no sense for original text."""

_STRENGTH = 1.0
_VALUES = 5
_LEAST, _MOST = 1e-3, 1e5
_WORDS_TO_BRACKET = 4_000
_ROUNDS = 5
_STEPS_OF_A_MATCH = 3
"""About so many times the attacker is measured finely to find one ε."""
_SEED = 1


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
class Trial:
    """A tried space: its rows, the ε at which the attacker meets the target, and the accuracy there."""

    space: Space
    rows: tuple[Row, ...]
    epsilon: float
    accuracy: float

    @property
    def points(self) -> list[tuple[float, float]]:
        """What the attacker names at each ε, and what a receiver gets who reads the release in the best
        way."""
        return [(row.estimates["attacker"].value, best_accuracy(row)) for row in self.rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as JSON-ready data, without the space itself."""
        points = [
            {
                "epsilon": setting.epsilon,
                "attacker": found["attacker"].value,
                "unchanged": found["unchanged"].value,
                "told": {each.replace(" ", "_"): found[each].value for each in READINGS},
            }
            for setting, found in self.rows
        ]
        numbers = {"epsilon": self.epsilon, "accuracy": self.accuracy}
        return {**self.space.facts(), **numbers, "points": points}


def best_accuracy(row: Row) -> float:
    """Return what a receiver gets who reads a release in the best way."""
    return max(row.estimates[each].value for each in READINGS)


@dataclass(frozen=True, kw_only=True)
class Search:
    """Brings spaces to one attacker. Of the ``labelled`` texts a receiver learns from the first ``learnt``,
    and choices are made by the others. What is measured is saved in the folder ``keep``."""

    mechanism: ChosenMechanism
    attacker: Named
    labelled: Texts
    learnt: int
    reading: Way
    target: float
    quick: DecodingEffort
    thorough: DecodingEffort
    keep: Path | None = None

    def __post_init__(self) -> None:
        blind = self.attacker.blind.share_of(self.reading)
        if not self.attacker.blind.tries_of(self.reading):
            raise TargetsNotMet(f"{self._what}: these texts hold none to name; match on something else")
        if self.target <= blind:
            asked = "kinds" if self.reading == "kinds" else "attacker"
            problem = f"an attacker who sees nothing names {blind:.1%} of these {self._what}"
            raise TargetsNotMet(f"{asked} = {self.target:g}: {problem}; ask for more than that")

    def look(self, space: Space, *, report: Report | None = None) -> Trial:
        """Return how a space does at the target.

        :raises TargetsNotMet: if no ε brings the attacker there.
        """
        rows = self._curve(space, report)
        attackers = np.maximum.accumulate([row.estimates["attacker"].value for row in rows])
        above = int(np.searchsorted(attackers, self.target))
        ends = [max(above - 1, 0), min(above, len(rows) - 1)]

        def at_target(values: list[float]) -> float:
            return float(np.interp(self.target, attackers[ends], values))

        epsilon = math.exp(at_target([math.log(rows[place].setting.epsilon) for place in ends]))
        accuracy = at_target([best_accuracy(rows[place]) for place in ends])
        return Trial(space=space, rows=tuple(rows), epsilon=epsilon, accuracy=accuracy)

    def match(self, trial: Trial, *, report: Report | None = None) -> Setting:
        """Return the setting with the largest ε found at which the upper end of what the attacker names, who
        knows the channel finely now, stays within the target.

        :raises TargetsNotMet: if there is none.
        """
        steps, blind = Steps(report, _STEPS_OF_A_MATCH), self.attacker.blind.share_of(self.reading)
        at = lru_cache(maxsize=1)(lambda epsilon: self.setting(trial.space, epsilon))  # keeps its channel
        epsilons = np.log([_LEAST, *(row.setting.epsilon for row in trial.rows), _MOST])
        attackers = np.maximum.accumulate([blind, *(named for named, _ in trial.points), 1.0])

        def measure(epsilon: float, turn: int) -> Estimate:
            if not turn:  # as the space was looked at
                near = float(np.interp(math.log(epsilon), epsilons, attackers))
                return Estimate(value=near, low=near, high=near, blind=blind)
            named = self._named(self.thorough)
            found = measured(named, at(epsilon), self.labelled, seed=_SEED + turn, keep=self.keep)
            steps.done()
            return found

        what = f"{trial.space.name}: what the attacker names"
        epsilon, _ = solve(measure, self.target, start=trial.epsilon, what=what)
        return at(epsilon)

    def setting(self, space: Space, epsilon: float) -> Setting:
        """Return how text is released in a space."""
        return Setting(embedding=space.embedding, mechanism=self.mechanism, epsilon=epsilon)

    def channel(self, setting: Setting) -> Channel:
        """Return the channel as the attacker and a receiver know it in the end."""
        inputs = self.attacker.inputs(self.thorough.support)
        return setting.channel(inputs, directions=self.thorough.directions)

    @property
    def _what(self) -> str:
        return "kinds" if self.reading == "kinds" else "words"

    def _named(self, effort: DecodingEffort) -> NamedBy:
        return NamedBy(
            attacker=self.attacker, way=self.reading, directions=effort.directions, support=effort.support
        )

    def _measures(self) -> dict[str, Measure]:
        inputs = self.attacker.inputs(self.quick.support)
        told: dict[str, Measure] = {
            reading: AccuracyOfLabels(
                reading=reading,
                effort=self.quick,
                learnt=self.learnt,
                inputs=inputs,
                strength=_STRENGTH,
            )
            for reading in READINGS
        }
        return {"attacker": self._named(self.quick), "unchanged": ShareUnchanged(), **told}

    def _curve(self, space: Space, report: Report | None) -> list[Row]:
        # An attacker names about as many words as stay unchanged, and more where many words are frequent.
        # Kinds it also names blindly.
        share = self.target
        if self.reading == "kinds":
            blind = self.attacker.blind.kinds
            share = (share - blind) / (1.0 - blind)
        epsilons = self._between(space, 0.2 * share, min(1.6 * share, (1.0 + share) / 2.0))
        for _ in range(_ROUNDS):
            settings = [self.setting(space, epsilon) for epsilon in epsilons]
            rows = sweep(settings, self._measures(), self.labelled, seed=_SEED, keep=self.keep, report=report)
            attackers = [row.estimates["attacker"].value for row in rows]
            if attackers[0] >= self.target:
                epsilons = [epsilon / 2.0 for epsilon in epsilons]
            elif max(attackers) < self.target:
                epsilons = [epsilon * 1.5 for epsilon in epsilons]
            else:
                return rows
        problem = f"no ε was found at which the attacker names {self.target:.1%} of the {self._what}"
        raise TargetsNotMet(f"{space.name}: {problem}")

    def _between(self, space: Space, least: float, most: float) -> list[float]:
        """Return values of ε between those that leave these shares of the words unchanged."""
        ids = self.attacker.texts.ids[:_WORDS_TO_BRACKET]

        def find(share: float) -> float:
            def is_below(epsilon: float) -> bool:
                released = Draws(self.setting(space, epsilon).mechanism_at_epsilon, seed=0).of_each(ids)
                return float((released == ids).mean()) < share

            return math.log(halve(_LEAST, _MOST, is_below, narrow=1.1))

        first, last = find(least), find(most)
        values: Floats = np.exp(np.linspace(first, max(last, first + 0.2), _VALUES))
        return [float(f"{value:.3g}") for value in values]
