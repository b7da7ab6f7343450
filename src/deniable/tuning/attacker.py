"""What an attacker names behind released words: the word itself, and its kind; alone, or in the context of
the text.

The attacker knows the mechanism, ε, the embedding, and how frequent the words of this very text are. It
computes P(y | x) as a receiver does, guesses by Bayes' rule, and is judged on words that were released
afterwards; so what it reaches is a lower bound on what the exact rule reaches. Kinds ("a disease", "a first
name") are those of ``decoding.kinds``; the words that stand apart there are not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Literal

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.distribution import binomial_error
from deniable.decoding.context import ContextDecoder
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.posterior import make_posterior
from deniable.embeddings.kinds import Kinds

OfAllWords = Literal["named", "context", "kinds"]
"""What an attacker over all words may be asked for: words alone, words in context, or kinds of words."""

OF_ALL_WORDS: tuple[OfAllWords, ...] = ("named", "context", "kinds")


@dataclass(frozen=True, kw_only=True)
class NamedShares:
    """The shares of words, and of kinds of less frequent words, that are named rightly, of how many; with
    standard errors."""

    words: float
    kinds: float
    judged: int
    judged_kinds: int

    def share_of(self, reading: OfAllWords) -> float:
        """Return the share of what a reading is about: kinds or words."""
        return self.kinds if reading == "kinds" else self.words

    @property
    def words_error(self) -> float:
        """The standard error of ``words``."""
        return _error(self.words, self.judged)

    @property
    def kinds_error(self) -> float:
        """The standard error of ``kinds``."""
        return _error(self.kinds, self.judged_kinds)


@dataclass(frozen=True, kw_only=True, eq=False)
class Attacker:
    """Attacks releases of one text: ``ids`` are all its words in order, ``kinds`` the kinds of the
    vocabulary.

    ``lengths`` says how many words each record has, and ``model`` is what an attacker knows of public text
    who reads in context too.
    """

    ids: Ids = field(repr=False)
    lengths: Sequence[int] = field(repr=False)
    kinds: Kinds = field(repr=False)
    model: Bigrams | None = field(default=None, repr=False)

    @property
    def unknown_id(self) -> int:
        """The id of ⊥: the number of words of the vocabulary."""
        return len(self.kinds.of) - 1

    @cached_property
    def counts(self) -> Floats:
        """How often each word stands in the text: the attacker knows it. Unknown words are left out: nobody
        can name them."""
        return np.bincount(self.ids, minlength=self.unknown_id + 1)[: self.unknown_id].astype(np.float64)

    @cached_property
    def content(self) -> Floats:
        """The same without the words that stand apart."""
        return np.where(self.kinds.of[:-1] >= 0, self.counts, 0.0)

    def inputs(self, most: int) -> Ids:
        """Return the words that may have gone in: ⊥, and of the words of the text at most this number, the
        most frequent ones."""
        order = np.argsort(-self.counts, kind="stable")[:most]
        return np.append(np.sort(order[self.counts[order] > 0.0]), self.unknown_id)

    def blind(self) -> NamedShares:
        """Return what is named by somebody who sees nothing: the most frequent word, and the most frequent
        kind."""
        by_kind = np.bincount(np.maximum(self.kinds.of[:-1], 0), weights=self.content, minlength=1)
        return self._named(
            float(self.counts.max() / self.counts.sum()), float(by_kind.max() / max(by_kind.sum(), 1.0))
        )

    def alone(self, channel: Channel, released: Ids) -> NamedShares:
        """Return what is named by looking at each released word by itself."""
        return self._named(self.words_alone(channel, released), self._kinds_alone(channel, released))

    def words_alone(self, channel: Channel, released: Ids) -> float:
        """Return the share of words alone that is named by looking at each by itself."""
        guesses = make_posterior(channel, self._prior(channel, self.counts)).best
        return float((guesses[released] == self.ids)[self.ids != channel.embedding.unknown_id].mean())

    def success(
        self, reading: OfAllWords, channel: Channel, released: Ids, *, in_context: int | None = None
    ) -> float:
        """Return the share that is named, as ``OF_ALL_WORDS`` has it: of the words alone or in context, or of
        their kinds.

        In context and of kinds the better of the ways counts that the attacker has: alone, and in context
        with a model. About ``in_context`` words, or all, are read in context.
        """
        alone = (
            self._kinds_alone(channel, released)
            if reading == "kinds"
            else self.words_alone(channel, released)
        )
        context = None if reading == "named" else self.in_context(channel, released, most=in_context)
        return alone if context is None else max(alone, context.share_of(reading))

    def in_context(self, channel: Channel, released: Ids, *, most: int | None = None) -> NamedShares | None:
        """Return what is named by reading each record as a whole, with a language model of public text; None
        without a model.

        Records are read until they have ``most`` words, or all of them.
        """
        if self.model is None:
            return None
        decoder = ContextDecoder(channel, self.model, self._prior(channel, self.counts))
        places = [
            each for each in pairwise(accumulate(self.lengths, initial=0)) if most is None or each[0] < most
        ]
        apart = self.kinds.of < 0  # ⊥ too
        right = kinds_right = judged = judged_kinds = 0
        for (start, end), found in zip(
            places, decoder.decode([released[start:end] for start, end in places]), strict=True
        ):
            truth = self.ids[start:end]
            right += int(((found.likeliest == truth) & (truth != self.unknown_id)).sum())
            judged += int((truth != self.unknown_id).sum())
            rare = np.flatnonzero(~apart[truth])
            judged_kinds += len(rare)
            if not len(rare):
                continue
            candidates, chances = found.words[rare], found.chances[rare].copy()
            chances[(candidates < 0) | apart[candidates]] = 0.0  # a word of a kind is looked for
            sums = np.zeros((len(rare), self.kinds.count))
            np.add.at(
                sums, (np.arange(len(rare))[:, None], np.maximum(self.kinds.of[candidates], 0)), chances
            )
            kinds_right += int((sums.argmax(axis=1) == self.kinds.of[truth[rare]]).sum())
        words, kinds = right / max(judged, 1), kinds_right / max(judged_kinds, 1)
        return NamedShares(words=words, kinds=kinds, judged=judged, judged_kinds=judged_kinds)

    def _kinds_alone(self, channel: Channel, released: Ids) -> float:
        judged = self.kinds.of[self.ids] >= 0
        prior = self._prior(channel, self.content)
        if not judged.any() or not prior.any():
            return 0.0
        kinds = self.kinds.of[channel.inputs]
        of_inputs = np.zeros((len(kinds), self.kinds.count))
        words = np.flatnonzero(kinds >= 0)
        of_inputs[words, kinds[words]] = 1.0
        guesses = make_posterior(channel, prior).likeliest_kinds(of_inputs)
        right = guesses[released[judged]] == self.kinds.of[self.ids[judged]]
        return float(right.mean())

    def _prior(self, channel: Channel, counts: Floats) -> Floats:
        return np.append(counts, 0.0)[channel.inputs]

    def _named(self, words: float, kinds: float) -> NamedShares:
        return NamedShares(
            words=words, kinds=kinds, judged=int(self.counts.sum()), judged_kinds=int(self.content.sum())
        )


def _error(share: float, tries: int) -> float:
    return float(binomial_error(np.array(share * tries), tries))
