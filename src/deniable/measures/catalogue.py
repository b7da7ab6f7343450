"""The measures by name, and the two questions that are asked of every measure.

``measure`` estimates what a release is at one ε; ``solve_for`` finds the largest ε at which a measure of risk
stays within a target. An entry of ``MEASURES`` names a class as ``module:attribute``, so that nothing is
loaded before it is needed. A new measure is one file and one entry.

>>> from deniable import Embedding
>>> setting = Setting(embedding=Embedding.open(), epsilon=6.0)
>>> measure("named", setting, ["my doctor said so"])  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Protocol, cast

import numpy as np

from deniable.arrays import Ids
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.interfaces import Mechanism
from deniable.measures.bayes_bound import Words, bayes_bound
from deniable.measures.estimate import Estimate, ends_of_mean, solve
from deniable.measures.texts import Texts, cut_texts
from deniable.mechanisms.catalogue import ChosenMechanism

MEASURES = {
    "accuracy": "deniable.utility.accuracy:AccuracyOfLabels",
    "bayes-bound": "deniable.measures.catalogue:LargestShareNamed",
    "linked": "deniable.audit.linked:ShareLinked",
    "named": "deniable.audit.named:ShareNamed",
    "unchanged": "deniable.measures.catalogue:ShareUnchanged",
}
"""Where each measure is defined."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """How text is released: the embedding, the mechanism and ε."""

    embedding: Embedding = field(repr=False)
    epsilon: float
    mechanism: ChosenMechanism = field(default_factory=ChosenMechanism)
    _channels: dict[tuple[bytes, int], Channel] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def mechanism_at_epsilon(self) -> Mechanism:
        """The mechanism at ε.

        :raises InvalidParameter: if an option or ε is not allowed.
        """
        return self.mechanism(self.embedding, epsilon=self.epsilon)

    def channel(self, inputs: Ids, *, directions: int) -> Channel:
        """Return the channel from these words; it is made once and stays in memory with the setting."""
        key = inputs.tobytes(), directions
        if key not in self._channels:
            self._channels[key] = make_channel(
                self.embedding,
                self.mechanism,
                epsilon=self.epsilon,
                inputs=inputs,
                directions=directions,
                keep=False,
            )
        return self._channels[key]


class Measure(Protocol):
    """A number about texts that are released by a setting. The same seed gives the same number."""

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:
        """Return the number, its ends, and what it is for somebody who sees nothing of the release."""
        ...


def measure_named(name: str) -> Measure:
    """Return a measure by its name, with its defaults.

    :raises InvalidParameter: if there is none of that name.
    """
    if name not in MEASURES:
        raise InvalidParameter("measure", name, f"must be one of: {', '.join(sorted(MEASURES))}")
    module, _, attribute = MEASURES[name].partition(":")
    return cast(Measure, getattr(import_module(module), attribute)())


def measure(
    what: str | Measure, setting: Setting, texts: Texts | Sequence[str], *, seed: int = 0
) -> Estimate:
    """Estimate a measure, or the one of that name, on texts.

    :raises InvalidParameter: if there is no measure of that name, or a value is not allowed.
    """
    cut = texts if isinstance(texts, Texts) else cut_texts(texts, setting.embedding)
    return (measure_named(what) if isinstance(what, str) else what)(setting, cut, seed=seed)


def solve_for(
    what: str | Measure, setting: Setting, texts: Texts | Sequence[str], *, at_most: float
) -> tuple[Setting, Estimate]:
    """Return the setting with the largest ε found at which the upper end of a measure is at most ``at_most``,
    and the estimate there. The search begins at the setting's ε.

    :raises TargetsNotMet: if the measure exceeds the target at any ε.
    """
    cut = texts if isinstance(texts, Texts) else cut_texts(texts, setting.embedding)
    chosen = measure_named(what) if isinstance(what, str) else what
    epsilon, estimate = solve(
        lambda epsilon, turn: chosen(replace(setting, epsilon=epsilon), cut, seed=turn),
        at_most,
        start=setting.epsilon,
        what=what if isinstance(what, str) else type(what).__name__,
    )
    return replace(setting, epsilon=epsilon), estimate


@dataclass(frozen=True)
class ShareUnchanged:
    """The share of the words of texts that come out as themselves. An unknown word never does."""

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:
        """Return the share in one release of the texts."""
        same = (Draws(setting.mechanism_at_epsilon, seed=seed).of_each(texts.ids) == texts.ids).astype(
            np.float64
        )
        low, high = ends_of_mean(same)
        return Estimate(
            value=float(same.mean()), low=low, high=high, blind=0.0, statement="words released unchanged"
        )


@dataclass(frozen=True)
class LargestShareNamed:
    """The share of words that no reader of single words exceeds who knows the frequencies of the texts."""

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:  # noqa: ARG002 - the bound has a seed of its own
        """Return the bound.

        :raises InvalidParameter: if no bound of this mechanism is known.
        """
        shares = np.bincount(texts.ids, minlength=len(setting.embedding) + 1).astype(np.float64)
        bound = bayes_bound(
            setting.mechanism_at_epsilon, Words(shares=shares, in_words="words as frequent as in these texts")
        )
        if bound is None:
            raise InvalidParameter("mechanism", setting.mechanism.name, "has no known Bayes bound")
        return bound
