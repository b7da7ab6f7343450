"""Decoding in context: the hidden words form a chain by a language model of public text, the released words
are what is seen of it.

Forward–backward gives P(x_i | all released words of the text), over the likeliest candidates of each place:

    forward   α_i(b) = P(y_i | b)·Σ_a α_{i-1}(a)·P(b | a),     backward   β_i(a) = Σ_b P(b | a)·P(y_{i+1} |
    b)·β_{i+1}(b).

All words that are no candidates are one more state, "another word", which comes and goes as the prior says:
P(b | another) = π(b). Without it a chain at a small ε, where a few dozen candidates hold a small part of the
probability, would take its neighbours for certain, and name fewer words than Bayes' rule does without
context. With every word a candidate the chain is exact within the model.

How much the model is trusted is a number λ: P(b | a) is taken as π(b)·(P(b | a)/π(b))^λ. With 1 it is the
model, with 0 no context.

The language model is sparse bigrams plus a back-off that is one number a word (``ngrams``). A step needs P(b
| a) for the candidates of two places only; these are looked up in the sorted list of all bigrams. Texts of
similar length go through side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.posterior import make_posterior
from deniable.decoding.reading import Reading
from deniable.errors import InvalidParameter
from deniable.neighbours.threads import threads
from deniable.progress import Report

CANDIDATES = 64
"""The number of words that are followed at each place, by default."""

PLACES_AT_ONCE = 2_000
"""Places of one batch; a longer text goes in parts. A thread holds 65 × 65 numbers for each place."""


class ContextDecoder:
    """Decodes texts of released ids by a channel and a language model over the same embedding."""

    def __init__(
        self,
        channel: Channel,
        model: Bigrams,
        prior: Floats,
        *,
        candidates: int = CANDIDATES,
        trust: float = 1.0,
    ) -> None:
        """Prepare the candidates of every released word by the prior, which also begins each text.

        ``trust`` is the weight of the model, from 0 to 1.

        :raises InvalidParameter: if the prior or the model does not fit the channel.
        """
        if len(model.alone) != len(channel.embedding) + 1:
            raise InvalidParameter(
                "model",
                f"{len(model.alone):,} words",
                f"must be one of the {len(channel.embedding):,} words and ⊥",
            )
        self.posterior = make_posterior(channel, prior, candidates=candidates)
        shares, outputs = self.posterior.prior, len(channel.embedding)
        expected = channel.output_shares(shares)
        inside, rows, chances = self.posterior.padded(np.arange(outputs))
        share = shares[rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihoods = np.where(share > 0.0, chances * expected[:, None] / share, 0.0)
        # In the order of their ids, so that bigrams are looked up one after the other; where there is none
        # its likelihood is zero.
        words = np.where(inside, channel.inputs[rows], outputs + 1)
        order = np.argsort(words, axis=1, kind="stable")
        words = np.take_along_axis(words, order, axis=1)
        self._words: Ids = np.where(words <= outputs, words, -1)
        others = expected * np.clip(1.0 - chances.sum(axis=1), 0.0, 1.0)
        self.likelihoods: Floats = np.column_stack([np.take_along_axis(likelihoods, order, axis=1), others])
        self._begin = np.zeros(outputs + 1)
        self._begin[channel.inputs] = shares
        pairs = model.follows
        firsts = np.repeat(np.arange(outputs + 1, dtype=np.int64), np.diff(pairs.indptr))
        self._pairs, self._chances, self._model = firsts * (outputs + 1) + pairs.indices, pairs.data, model
        self.trust = trust

    def read(self, texts: Sequence[Ids]) -> Reading:
        """Return the candidates of every place of the texts, one text after the other."""
        parts = list(self.decode(texts))
        return Reading.join(parts) if parts else self.posterior.read(np.zeros(0, dtype=np.int64))

    def decode(self, texts: Sequence[Ids], *, report: Report | None = None) -> Iterator[Reading]:
        """Yield the candidates of every place of every text, in order; texts are ids of released words."""
        order = np.argsort([-len(text) for text in texts], kind="stable").tolist()
        readings: dict[int, Reading] = {}
        with ThreadPoolExecutor(threads()) as pool:
            for part, read in pool.map(
                lambda part: (part, self._together([np.asarray(texts[i]) for i in part])),
                _batches(texts, order),
            ):
                readings.update(zip(part, read, strict=True))
                if report is not None:
                    report(len(readings), len(order))
        for place in range(len(texts)):
            yield readings.pop(place)

    def _together(self, texts: list[Ids]) -> list[Reading]:
        if len(texts) == 1 and len(texts[0]) > PLACES_AT_ONCE:
            starts = range(0, len(texts[0]), PLACES_AT_ONCE)
            parts = [self._together([texts[0][start : start + PLACES_AT_ONCE]])[0] for start in starts]
            return [Reading.join(parts)]
        lengths = np.array([len(text) for text in texts])
        longest = int(lengths.max(initial=0))
        padded = np.zeros((len(texts), longest), dtype=np.int64)
        for row, text in enumerate(texts):
            padded[row, : len(text)] = text
        words, likely = self._words[padded], self.likelihoods[padded]
        known = np.maximum(words, 0)
        forward, backward = np.zeros_like(likely), np.ones_like(likely)
        moves = []
        if longest:
            forward[:, 0] = _scaled(
                likely[:, 0] * np.column_stack([self._begin[known[:, 0]], np.ones(len(texts))])
            )
        for place in range(1, longest):
            count = int((lengths > place).sum())  # texts are sorted by length: the first ones
            moves.append(self._moves(known[:count, place - 1], known[:count, place]))
            reached = np.einsum("ta,tab->tb", forward[:count, place - 1], moves[-1])
            forward[:count, place] = _scaled(likely[:count, place] * reached)
        for place in range(longest - 2, -1, -1):
            count = len(moves[place])
            seen = likely[:count, place + 1] * backward[:count, place + 1]
            backward[:count, place] = _scaled(np.einsum("tab,tb->ta", moves[place], seen))
        chances = forward * backward
        chances /= np.maximum(chances.sum(axis=2, keepdims=True), 1e-300)
        return [
            Reading.of_candidates(
                words[row, :length],
                chances[row, :length, :-1],
                chances[row, :length, -1],
                self.posterior.elsewhere,
            )
            for row, length in enumerate(lengths.tolist())
        ]

    def _moves(self, first: Ids, second: Ids) -> Floats:
        """Return P(b | a) for candidates of one place and the next, "another word" last, for each text."""
        wanted = first[:, :, None] * len(self._begin) + second[:, None, :]
        at = np.minimum(np.searchsorted(self._pairs, wanted.ravel()), len(self._pairs) - 1).reshape(
            wanted.shape
        )
        follows: Floats = np.where(self._pairs[at] == wanted, self._chances[at], 0.0)
        follows += self._model.backing_off[first][:, :, None] * self._model.alone[second][:, None, :]
        share = self._begin[second]
        if self.trust != 1.0:
            with np.errstate(divide="ignore", invalid="ignore"):
                follows = np.where(
                    share[:, None, :] > 0.0,
                    share[:, None, :] * (follows / share[:, None, :]) ** self.trust,
                    0.0,
                )
        moves = np.ones((len(follows), follows.shape[1] + 1, follows.shape[2] + 1))
        moves[:, :-1, :-1], moves[:, -1, :-1] = follows, share
        return moves


def _batches(texts: Sequence[Ids], order: list[int]) -> Iterator[list[int]]:
    """Yield places of texts that go through together, the longest first."""
    start = 0
    while start < len(order):
        longest = max(1, len(texts[order[start]]))
        end = start + max(1, PLACES_AT_ONCE // longest)
        yield order[start:end]
        start = end


def _scaled(values: Floats) -> Floats:
    """Return rows that sum to 1, since products over long texts would vanish; rows of zeros become even."""
    sums = values.sum(axis=1, keepdims=True)
    scaled: Floats = np.where(sums > 0.0, values / np.where(sums > 0.0, sums, 1.0), 1.0 / values.shape[1])
    return scaled
