"""Two measures of single words: the share of the words of texts that come out unchanged, and the share that
no reader of single words exceeds (``bayes_bound``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deniable.channel.draws import Draws
from deniable.errors import InvalidParameter
from deniable.measures.bayes_bound import Words, bayes_bound
from deniable.measures.catalogue import Setting
from deniable.measures.estimate import Estimate, ends_of_mean
from deniable.measures.texts import Texts


@dataclass(frozen=True)
class ShareUnchanged:
    """The share of the words of texts that come out as themselves. An unknown word never does."""

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:
        """Return the share in one release of the texts."""
        same = (Draws(setting.made, seed=seed).of_each(texts.ids) == texts.ids).astype(np.float64)
        low, high = ends_of_mean(same)
        return Estimate(
            value=float(same.mean()), low=low, high=high, blind=0.0, statement="words released unchanged"
        )


@dataclass(frozen=True)
class LargestShareNamed:
    """The share of words that no reader of single released words exceeds who knows how frequent the words of
    the texts are."""

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:  # noqa: ARG002 - the bound has a seed of its own
        """Return the bound.

        :raises InvalidParameter: if no bound of this mechanism is known.
        """
        shares = np.bincount(texts.ids, minlength=len(setting.embedding) + 1).astype(np.float64)
        bound = bayes_bound(
            setting.made, Words(shares=shares, in_words="words as frequent as in these texts")
        )
        if bound is None:
            raise InvalidParameter("mechanism", setting.mechanism.name, "has no known Bayes bound")
        return bound
