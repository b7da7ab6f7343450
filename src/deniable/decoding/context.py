"""Decoding in context: the hidden words form a chain by a language model of public text, the released words are what is seen of it.

Forward–backward gives P(x_i | all released words of the text), exactly within the model, over the likeliest candidates of each place:

    forward   α_i(b) = P(y_i | b)·Σ_a α_{i-1}(a)·P(b | a),     backward   β_i(a) = Σ_b P(b | a)·P(y_{i+1} | b)·β_{i+1}(b).

The language model is sparse bigrams plus a back-off that is one number a word (``ngrams``), so a step costs the stored bigrams of the
candidates. Texts go through side by side, one place at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.posterior import make_posterior
from deniable.errors import InvalidParameter
from deniable.progress import Report

CANDIDATES = 100
"""How many words are followed at each place, unless told otherwise."""

_TEXTS_AT_ONCE = 64


@dataclass(frozen=True, kw_only=True)
class PlaceCandidates:
    """The words that may have stood at each place of one text: ids, and their probabilities given the whole text, a row a place."""

    words: Ids = field(repr=False)
    chances: Floats = field(repr=False)

    @property
    def likeliest(self) -> Ids:
        """The likeliest word of each place."""
        return self.words[np.arange(len(self.words)), self.chances.argmax(axis=1)] if len(self.words) else np.zeros(0, dtype=np.int64)

    def at(self, place: int) -> tuple[Ids, Floats]:
        """Return the words that may have stood at a place, by falling probability, and their probabilities."""
        inside = np.flatnonzero(self.words[place] >= 0)
        order = inside[np.argsort(-self.chances[place, inside], kind="stable")]
        return self.words[place, order], self.chances[place, order]


class ContextDecoder:
    """Decodes texts of released ids by a channel and a language model over the same embedding."""

    def __init__(self, channel: Channel, model: Bigrams, prior: Floats, *, candidates: int = CANDIDATES) -> None:
        """Prepare the candidates of every released word: the likeliest by the prior, which also begins each text.

        :raises InvalidParameter: if the prior or the model does not fit the channel.
        """
        if len(model.alone) != len(channel.embedding) + 1:
            raise InvalidParameter("model", f"{len(model.alone):,} words", f"must be one of the {len(channel.embedding):,} words and ⊥")
        self._channel = channel
        found = make_posterior(channel, prior, candidates=candidates)
        outputs = len(channel.embedding)
        width = max(1, int(np.diff(found.starts).max(initial=1)))
        places = np.arange(width)
        lengths = np.diff(found.starts)
        inside = places < lengths[:, None]
        at = np.where(inside, found.starts[:-1, None] + places, 0)
        rows = np.where(inside, found.rows[at], 0) if len(found.rows) else np.zeros((outputs, width), dtype=np.int64)
        self._words: Ids = np.where(inside, channel.inputs[rows], -1)
        share = found.prior[rows]
        expected = channel.output_shares(found.prior)
        with np.errstate(divide="ignore", invalid="ignore"):
            likelihoods = np.where(inside & (share > 0.0), found.chances[at] * expected[:, None] / share, 0.0)
        self._likelihoods: Floats = likelihoods
        self._begin = np.zeros(outputs + 1)
        self._begin[channel.inputs] = found.prior
        # A word without candidates says nothing: the likeliest word before anything was seen stands for it.
        nothing = lengths == 0
        self._words[nothing, 0] = int(channel.inputs[int(np.argmax(found.prior))])
        self._likelihoods[nothing, 0] = 1.0
        self._forward, self._backward, self._model = model.follows, model.follows.T.tocsr(), model

    def decode(self, texts: Sequence[Ids], *, report: Report | None = None) -> Iterator[PlaceCandidates]:
        """Yield the candidates of every place of every text, in order; texts are ids of released words."""
        order = np.argsort([-len(text) for text in texts], kind="stable")
        found: dict[int, PlaceCandidates] = {}
        done = 0
        for start in range(0, len(order), _TEXTS_AT_ONCE):
            part = order[start : start + _TEXTS_AT_ONCE].tolist()
            found.update(zip(part, self._together([np.asarray(texts[i]) for i in part]), strict=True))
            done += len(part)
            if report is not None:
                report(done, len(order))
        for place in range(len(texts)):
            yield found.pop(place)

    def _together(self, texts: list[Ids]) -> list[PlaceCandidates]:
        lengths = np.array([len(text) for text in texts])
        longest = int(lengths.max(initial=0))
        if not longest:
            empty = np.zeros((0, 1))
            return [PlaceCandidates(words=empty.astype(np.int64), chances=empty) for _ in texts]
        padded = np.zeros((len(texts), longest), dtype=np.int64)
        for row, text in enumerate(texts):
            padded[row, : len(text)] = text
        words, likely = self._words[padded], self._likelihoods[padded]
        known = np.maximum(words, 0)
        forward, backward = np.zeros_like(likely), np.ones_like(likely)
        forward[:, 0] = _scaled(likely[:, 0] * np.where(words[:, 0] >= 0, self._begin[known[:, 0]], 0.0))
        for place in range(1, longest):
            active = lengths > place  # texts are sorted by length: the first ones
            count = int(active.sum())
            reached = self._step(forward[:count, place - 1], words[:count, place - 1], known[:count, place], back=False)
            forward[:count, place] = _scaled(likely[:count, place] * reached)
        for place in range(longest - 2, -1, -1):
            count = int((lengths > place + 1).sum())
            seen = likely[:count, place + 1] * backward[:count, place + 1]
            backward[:count, place] = _scaled(self._step(seen, words[:count, place + 1], known[:count, place], back=True))
        chances = forward * backward
        chances /= np.maximum(chances.sum(axis=2, keepdims=True), 1e-300)
        return [PlaceCandidates(words=words[row, : lengths[row]], chances=chances[row, : lengths[row]]) for row in range(len(texts))]

    def _step(self, weights: Floats, words: Ids, wanted: Ids, *, back: bool) -> Floats:
        """Return Σ_a weight(a)·P(b | a) at the wanted words b, or Σ_b weight(b)·P(b | a) at the wanted words a."""
        from scipy.sparse import csr_array

        texts = len(weights)
        inside = words >= 0
        starts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        held: Any = csr_array((weights[inside], words[inside], starts), shape=(texts, len(self._begin)))
        reached = (held @ (self._backward if back else self._forward)).toarray()
        direct = reached[np.arange(texts)[:, None], wanted]
        off = self._model.alone if back else self._model.backing_off
        through = np.where(inside, weights * off[np.maximum(words, 0)], 0.0).sum(axis=1)
        answer: Floats = direct + through[:, None] * (self._model.backing_off if back else self._model.alone)[wanted]
        return answer


def _scaled(values: Floats) -> Floats:
    """Return rows that sum to 1; only ratios matter, and products over long texts would vanish. A row of zeros becomes even."""
    sums = values.sum(axis=1, keepdims=True)
    scaled: Floats = np.where(sums > 0.0, values / np.where(sums > 0.0, sums, 1.0), 1.0 / values.shape[1])
    return scaled
