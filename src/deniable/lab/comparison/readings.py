"""What privacy is at one ε, in readings that mean the same for every mechanism.

- ``average``: the share of the words of the text that come out unchanged (N_w, averaged as words occur).
- ``worst``: the average N_w of the most exposed 1 % of the words of the text, chosen on one half of the draws
  and judged on the other, so that luck in the draws does not look like exposure. The single largest N_w is
  not used: it belongs to some isolated word and says more about which words were sampled than about the
  mechanism.
- ``adversary``: how often the learnt Bayes adversary names the word, if it is one of a sample
  (``adversary``).
- ``named``: how often the Bayes attacker over all words of the text names the word (``audit.named``, by
  spelling); the same for every embedding too.
- ``context``: the same, where it also reads each word beside its neighbours, with bigrams of a public text;
  the better of the two ways.
- ``kinds``: how often it tells of what kind a less frequent word was; in the better of the two ways too, if
  there is a public text.

The last three take longest, and are read only where they are asked for.

An unknown word never comes out as itself, so it counts as changed; a protected word counts as the word that
stands in for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.named import WAYS, Way
from deniable.channel.distribution import binomial_error
from deniable.channel.draws import Draws
from deniable.interfaces import Mechanism
from deniable.lab.comparison.adversary import LearntAdversary, Seen
from deniable.lab.comparison.probe import Probe
from deniable.parameters import validated_count

Name = Literal["average", "worst", "adversary"] | Way
NAMES: tuple[Name, ...] = ("average", "worst", "adversary", *WAYS)
EXPOSED = 0.01


@dataclass(frozen=True, kw_only=True)
class ReadingEffort:
    """How many draws of each probed word the adversary learns from, and on how many words of the text it is
    tuned and judged.

    ``directions`` is how many directions, shared points or draws of each word of the text the attacker over
    all words knows.
    """

    draws: int
    judged: int
    directions: int = 100

    def __post_init__(self) -> None:
        validated_count(self.draws, "draws", at_least=2)
        validated_count(self.judged, "judged")
        validated_count(self.directions, "directions")


QUICK = ReadingEffort(draws=30, judged=3_000, directions=60)
THOROUGH = ReadingEffort(draws=120, judged=8_000, directions=300)


@dataclass(frozen=True, kw_only=True)
class PrivacyReadings:
    """The readings at one ε; ``errors`` are standard errors of the draws, the sample of words taken as given.

    ``named``, ``context`` and ``kinds`` are None where nobody asked for them.
    """

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
class NamedReading:
    """The share of words, or of kinds, that the attacker over all words names at one ε, and its standard
    error."""

    epsilon: float
    share: float
    error: float

    def value(self, name: Name) -> float:  # noqa: ARG002 - there is one only
        """Return the share."""
        return self.share


def read_privacy(mechanism: Mechanism, probe: Probe, *, effort: ReadingEffort, seed: int) -> PrivacyReadings:
    """Return the readings of a mechanism on the probed words, from draws of this seed."""
    draws = Draws(mechanism, seed=seed)
    picks = np.random.Generator(np.random.PCG64([seed, 2])).choice(
        len(probe.ids), (2, effort.judged), p=probe.shares
    )

    def seen(places: Ids) -> Seen:
        return Seen(places=places, outputs=draws.of_each(probe.ids[places]))

    learnt = seen(np.repeat(np.arange(len(probe.ids)), effort.draws))
    tuning, judged = seen(picks[0]), seen(picks[1])
    unchanged, tries = _unchanged(probe, [learnt, tuning, judged])
    halves = [_unchanged(probe, [_part(learnt, half)])[0] for half in (0, 1)]
    exposed = [most_exposed(halves[half], probe.shares) for half in (0, 1)]
    adversary = float(
        (LearntAdversary(probe, learnt, tuning).guesses(judged.outputs) == judged.places).mean()
    )
    return PrivacyReadings(
        epsilon=mechanism.epsilon,
        average=float(probe.shares @ unchanged),
        worst=float(exposed[0] @ halves[1] + exposed[1] @ halves[0]) / 2,
        adversary=adversary,
        errors={
            "average": float(np.sqrt(probe.shares**2 @ _variance(unchanged, tries))),
            "worst": float(
                np.sqrt(
                    ((exposed[0] + exposed[1]) / 2) ** 2
                    @ _variance(unchanged, np.full(len(tries), effort.draws))
                )
            ),
            "adversary": float(np.sqrt(_variance(np.array([adversary]), np.array([effort.judged]))[0])),
        },
    )


def most_exposed(unchanged: Floats, shares: Floats, part: float = EXPOSED) -> Floats:
    """Return the weights, of sum 1, of the words that stay unchanged most often and make up this part of the
    text."""
    order = np.argsort(-unchanged, kind="stable")
    before = np.cumsum(shares[order]) - shares[order]
    weights: Floats = np.empty(len(shares))
    weights[order] = np.clip(part - before, 0.0, shares[order])
    weights /= weights.sum()
    return weights


def _part(seen: Seen, half: int) -> Seen:
    return Seen(places=seen.places[half::2], outputs=seen.outputs[half::2])


def _unchanged(probe: Probe, lots: list[Seen]) -> tuple[Floats, Floats]:
    """Return each probed word's share of draws that left it as it is, and the number of draws."""
    stayed, tries = np.zeros(len(probe.ids)), np.zeros(len(probe.ids))
    for lot in lots:
        tries += np.bincount(lot.places, minlength=len(tries))
        stayed += np.bincount(lot.places, weights=lot.outputs == probe.ids[lot.places], minlength=len(tries))
    return stayed / tries, tries


def _variance(shares: Floats, tries: Floats) -> Floats:
    variances: Floats = np.square(binomial_error(shares * tries, tries))
    return variances
