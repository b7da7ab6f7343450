"""The attacker over all words of a text: how often it names the word behind a released one.

It knows the mechanism, ε, the embedding, and how frequent each word of this very text is; it looks at each released word by itself, and
names the likeliest word. P(y | x) it computes as a receiver does, from exact sums, rays or draws, for every word x of the text. It is
judged on words that are released afterwards, so its success is a lower bound on that of the exact Bayes rule.

It is the same attacker for every embedding, which is why embeddings are compared by it. It names words as they are spelt, not ids, and it
is judged on all words of the text. Words that an embedding does not know all go in as ⊥: behind ⊥ the best it can do is to name the most
frequent of them. The same holds for words that go in as another word because they are protected. So an embedding with a small vocabulary
hides its unknown words among one another, and pays for it in what the text is good for. Upper and lower case are one word, so that
an embedding that tells them apart does not look more private for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.comparison.readings import Name
from deniable.comparison.texts import Texts
from deniable.decoding.posterior import Posterior, make_posterior
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.catalogue import ChosenMechanism

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_JUDGED = 20_000
"""On how many words of the text the attacker is judged at most, drawn at random. It may name any word of the text."""

_OUTPUTS_AT_ONCE = 4_096


@dataclass(frozen=True, kw_only=True)
class Named:
    """The share of words that is named at one ε, and its standard error."""

    epsilon: float
    share: float
    error: float

    def value(self, name: Name) -> float:  # noqa: ARG002 - there is one only
        """Return the share."""
        return self.share


@dataclass(frozen=True, kw_only=True, eq=False)
class NamingAttacker:
    """Attacks releases of one text over one embedding.

    ``ids`` are the words of the text as they go in, ``spelt`` which word each of them is. ``counts`` is how often each id goes in, and
    ``shares`` (a row for each id, a column for each word) how often it is then this word. Of the words that go in as one id alone, only
    the most frequent one stands there: no other is ever the likeliest.
    """

    embedding: Embedding = field(repr=False)
    ids: Ids = field(repr=False)
    spelt: Ids = field(repr=False)
    counts: Floats = field(repr=False)
    shares: csr_array = field(repr=False)

    @property
    def blind(self) -> float:
        """How often somebody is right who sees nothing and names the most frequent word."""
        return float(np.bincount(self.spelt).max() / len(self.spelt))

    @property
    def unknown(self) -> float:
        """The share of the words of the text that the embedding does not know."""
        return float((self.ids == self.embedding.unknown_id).mean())

    def attack(self, mechanism: ChosenMechanism, *, epsilon: float, directions: int, seed: int) -> Named:
        """Return how often the word is named, P(y | x) being known from this number of directions or draws where it is not exact."""
        inputs = np.unique(self.ids)
        channel = make_channel(self.embedding, mechanism, epsilon=epsilon, inputs=inputs, directions=directions, keep=False)
        guesses = self._likeliest_words(make_posterior(channel, self.counts[channel.inputs]))
        judged = np.arange(len(self.ids))
        if len(judged) > MOST_JUDGED:
            judged = np.random.Generator(np.random.PCG64([seed, 3])).choice(judged, MOST_JUDGED, replace=False)
        released = Draws(mechanism(self.embedding, epsilon=epsilon), seed=seed).of_each(self.ids[judged])
        share = float((guesses[released] == self.spelt[judged]).mean())
        # Two words more, one named and one not, keep the error of "never" and "always" above zero.
        smoothed = (share * len(judged) + 1.0) / (len(judged) + 2.0)
        return Named(epsilon=epsilon, share=share, error=float(np.sqrt(smoothed * (1.0 - smoothed) / (len(judged) + 2.0))))

    def _likeliest_words(self, behind: Posterior) -> Ids:
        """Return the word that is likeliest behind each released word."""
        likeliest = np.full(len(self.embedding), np.bincount(self.spelt).argmax(), dtype=np.int64)
        shares = self.shares[behind.channel.inputs]
        for start in range(0, len(likeliest), _OUTPUTS_AT_ONCE):
            found = (behind.matrix[start : start + _OUTPUTS_AT_ONCE] @ shares).tocoo()
            order = np.lexsort((-found.col, found.data, found.row))  # the likeliest word of each released one stands last
            likeliest[start + found.row[order]] = found.col[order]
        return likeliest


def make_attacker(embedding: Embedding, parts: Sequence[Texts]) -> NamingAttacker:
    """Return the attacker of texts that are released together."""
    from scipy.sparse import csr_array

    ids = embedding.stands_in(np.concatenate([part.ids for part in parts]))
    words = np.array([word.casefold() for part in parts for text in part.words for word in text])
    _, spelt = np.unique(words, return_inverse=True)
    (entering, named), counts = np.unique(np.stack([ids, spelt]), axis=1, return_counts=True)
    totals = np.bincount(ids, minlength=len(embedding) + 1).astype(np.float64)
    order = np.lexsort((counts, entering))
    top = order[np.append(np.diff(entering[order]) != 0, True)]
    kept = np.bincount(named)[named] > 1  # words that go in as several ids: The and the
    kept[top] = True
    shape = (len(embedding) + 1, int(spelt.max()) + 1)
    shares = csr_array((counts[kept] / totals[entering[kept]], (entering[kept], named[kept])), shape=shape)
    return NamingAttacker(embedding=embedding, ids=ids, spelt=spelt.astype(np.int64), counts=totals, shares=shares)
