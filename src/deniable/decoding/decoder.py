"""Released text in, an estimate of the text behind it out.

It is an estimate of words, not the words: at a private ε it is wrong for most places, and right in sums. Whoever holds a release and
knows the mechanism can make it, so whatever it shows was released.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.channel.channel import Channel
from deniable.decoding.posterior import MOST_CANDIDATES, Posterior, make_posterior
from deniable.decoding.shares import LearntShares, learn_shares
from deniable.errors import InvalidParameter
from deniable.words.cutter import Cutter, Lookup

if TYPE_CHECKING:
    from scipy.sparse import csr_array

UNKNOWN = "[unknown]"
"""What stands for ⊥ in decoded text: some word that the embedding does not know."""

_HELD_OUT = 5
"""One record in this many is held back to say when the shares of words are learnt well enough."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A word that may have stood behind a released one, and how likely that is."""

    word: str
    probability: float


class Decoder:
    """Decodes text that was released through a channel.

    >>> decoder = Decoder(channel, prior)                # doctest: +SKIP
    >>> decoder("released words")                        # the likeliest words    # doctest: +SKIP
    >>> decoder.posterior("surgeon")                     # candidates with probabilities    # doctest: +SKIP
    """

    def __init__(self, channel: Channel, prior: Floats | None = None, *, candidates: int = MOST_CANDIDATES) -> None:
        """Decode by Bayes' rule with a prior over the channel's inputs; even shares without one.

        :raises InvalidParameter: if the prior does not fit the channel.
        """
        self.channel = channel
        embedding = channel.embedding
        self._cutter, self._lookup, self._unknown = Cutter(embedding), Lookup(embedding), embedding.unknown_id
        self._words = [*embedding.words, UNKNOWN]
        self._bayes = make_posterior(channel, np.ones(len(channel)) if prior is None else prior, candidates=candidates)

    @classmethod
    def learn(
        cls, channel: Channel, released: Sequence[str | None], *, start: Floats | None = None, weight: float = 0.0, seed: int = 0
    ) -> tuple[Decoder, LearntShares]:
        """Return a decoder whose prior is learnt from the release itself, and how it was learnt.

        ``start`` are shares of words known before, and count as ``weight`` words. One record in five is held back to say when to stop.

        :raises InvalidParameter: if the texts hold no word that the embedding has.
        """
        counts = cls(channel)._counts(released)
        if not counts.nnz:
            raise InvalidParameter("released", f"{len(released):,} texts", "hold no word of the embedding: nothing can be decoded")
        held = np.random.Generator(np.random.PCG64(seed)).permutation(counts.shape[0]) % _HELD_OUT == 0
        learn, hold = (np.asarray(counts[np.flatnonzero(part)].sum(axis=0)).ravel() for part in (~held, held))
        found = learn_shares(channel, learn, held_out=hold, start=start, weight=weight)
        return cls(channel, found.shares), found

    def __call__(self, text: str) -> str:
        """Return the likeliest word for each word of a released text, by itself and without its context."""
        return " ".join(self._words[i] for i in self.likeliest(text).tolist())

    def many(self, texts: Iterable[str | None]) -> list[str | None]:
        """Return the texts decoded, in order; None stays None."""
        return [None if text is None else self(text) for text in texts]

    def posterior(self, word: str, *, top: int = 10) -> list[Candidate]:
        """Return the words that are likeliest behind a released word.

        :raises InvalidParameter: if the embedding does not have the word, so that it cannot have been released.
        """
        output = int(self._lookup.ids([word])[0])
        if output == self._unknown:
            raise InvalidParameter("word", word, f"is not a word of {self.channel.embedding.name!r}, and cannot have been released")
        found, chances = self._bayes.of(output)
        return [Candidate(self._words[i], p) for i, p in zip(found[:top].tolist(), chances[:top].tolist(), strict=True)]

    def ids(self, text: str) -> Ids:
        """Return the ids of the words of a released text; ``unknown_id`` for what no release of this embedding holds."""
        return np.array(self._lookup.ids(self._cutter.words(text)), dtype=np.int64)

    def likeliest(self, text: str) -> Ids:
        """Return the id of the likeliest input word for each word of a released text; what was not released stays unknown."""
        ids = self.ids(text)
        answer = np.full(len(ids), self._unknown, dtype=np.int64)
        known = ids != self._unknown
        answer[known] = self._bayes.best[ids[known]]
        return answer

    @property
    def bayes(self) -> Posterior:
        """The posterior of every released word."""
        return self._bayes

    def expected_counts(self, texts: Sequence[str | None]) -> csr_array:
        """Return how often each input word is expected in each text: one row a text, one column for each row of the channel.

        Only listed candidates count; what they leave out (``bayes.rest``) is the same for all texts but for their length.
        """
        return self._counts(texts) @ self._bayes.matrix

    def expected_vectors(self, texts: Sequence[str | None]) -> Vectors:
        """Return the mean vector that is expected of the words of each text; zeros for a text without a word."""
        vectors = self.channel.embedding.rows(self.channel.inputs).astype(np.float64)
        by_output = self._bayes.matrix @ vectors + self._bayes.rest[:, None] * (self._bayes.unlisted @ vectors)
        counts = self._counts(texts)
        lengths = np.maximum(np.asarray(counts.sum(axis=1)).ravel(), 1.0)
        means: Vectors = ((counts @ by_output) / lengths[:, None]).astype(np.float32)
        return means

    def _counts(self, texts: Sequence[str | None]) -> csr_array:
        from scipy.sparse import csr_array

        ids = [self.ids(text or "") for text in texts]
        known = [each[each != self._unknown] for each in ids]
        starts = np.cumsum([0, *(len(each) for each in known)])
        flat = np.concatenate([*known, np.zeros(0, dtype=np.int64)])
        counts = csr_array((np.ones(len(flat)), flat, starts), shape=(len(known), len(self.channel.embedding)))
        counts.sum_duplicates()
        return counts
