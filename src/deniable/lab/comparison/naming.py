"""The attacker over all words of a text: how often it names the word behind a released one, or its kind.

It knows the mechanism, ε, the embedding, and how frequent each word of this very text is; it looks at each
released word by itself, and names the likeliest word. If it has a public text it also reads each word beside
its neighbours, and the better of the two ways counts. P(y | x) it computes as a receiver does, from exact
sums, rays or draws, for every word x of the text. It is judged on words that are released afterwards, so its
success is a lower bound on that of the exact Bayes rule.

It is the same attacker for every embedding, which is why embeddings are compared by it. It names words as
they are spelt, not ids, and it is judged on all words of the text. Words that an embedding does not know all
go in as ⊥: behind ⊥ the best it can do is to name the most frequent of them. The same holds for words that go
in as another word because they are protected. So an embedding with a small vocabulary hides its unknown words
among one another, and pays for it in what the text is good for. Upper and lower case are one word, so that an
embedding that tells them apart does not look more private for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.distribution import binomial_error
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.decoding.context import ContextDecoder
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.posterior import make_posterior
from deniable.embeddings.embedding import Embedding
from deniable.lab.comparison.knowledge import WordKinds
from deniable.lab.comparison.readings import Named
from deniable.learning.texts import Texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.tuning.attacker import OfAllWords

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST_JUDGED = 20_000
"""On how many words of the text the attacker is judged at most, drawn at random. It may name any word of the
text."""

MOST_IN_CONTEXT = 10_000
"""On how many words the attacker in context is judged, or a few more: those of whole texts, drawn at
random."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NamingAttacker:
    """Attacks releases of one text over one embedding.

    ``ids`` are the words of the text as they go in, ``spelt`` which word each of them is. ``counts`` is how
    often each id goes in, and ``shares`` (a row for each id, a column for each word) how often it is then
    this word. Of the words that go in as one id alone, only the most frequent one stands there: no other is
    ever the likeliest.

    ``texts`` says where each text begins, and where the last one ends; ``context`` is what is known of public
    text. ``kinds`` is the kind of each word, -1 without one, and ``kind_shares`` how often each id is a word
    of each kind.
    """

    embedding: Embedding = field(repr=False)
    ids: Ids = field(repr=False)
    spelt: Ids = field(repr=False)
    counts: Floats = field(repr=False)
    shares: csr_array = field(repr=False)
    texts: Ids = field(repr=False)
    context: Bigrams | None = field(repr=False)
    kinds: Ids | None = field(repr=False)
    kind_shares: csr_array | None = field(repr=False)

    @property
    def blind(self) -> float:
        """How often somebody is right who sees nothing and names the most frequent word."""
        return float(np.bincount(self.spelt).max() / len(self.spelt))

    @property
    def blind_kinds(self) -> float | None:
        """How often somebody is right who sees nothing and names the most frequent kind; None without
        kinds."""
        if self.kinds is None:
            return None
        judged = self.kinds[self.spelt]
        counts = np.bincount(judged[judged >= 0], minlength=1)
        return float(counts.max() / max(1, counts.sum()))

    @property
    def unknown(self) -> float:
        """The share of the words of the text that the embedding does not know."""
        return float((self.ids == self.embedding.unknown_id).mean())

    def attack(
        self,
        mechanism: ChosenMechanism,
        reading: OfAllWords = "named",
        *,
        epsilon: float,
        directions: int,
        seed: int,
    ) -> Named:
        """Return how often the word, or its kind, is named, P(y | x) being known from so many directions,
        points or draws if not exactly.

        :raises ValueError: if the reading needs a public text or kinds, and the attacker has none.
        """
        if (reading == "context" and self.context is None) or (reading == "kinds" and self.kinds is None):
            raise ValueError(f"the attacker lacks what it needs for {reading}")
        inputs = np.unique(self.ids)
        channel = make_channel(
            self.embedding, mechanism, epsilon=epsilon, inputs=inputs, directions=directions, keep=False
        )
        context = None if reading == "named" else self.context
        texts = self._draw_places(seed) if context is None else self._draw_texts(seed)
        places = np.concatenate(texts)
        released = Draws(mechanism(self.embedding, epsilon=epsilon), seed=seed).of_each(self.ids[places])
        truth = self.spelt if reading != "kinds" or self.kinds is None else self.kinds[self.spelt]
        judged = truth[places] >= 0
        alone = self._kinds_alone(channel) if reading == "kinds" else self._words_alone(channel)
        guesses = [alone[released]]
        if context is not None:
            guesses.append(
                self._read_in_context(
                    channel,
                    context,
                    np.split(released, np.cumsum([len(text) for text in texts])[:-1]),
                    reading,
                )
            )
        right = np.array([(each == truth[places])[judged].sum() for each in guesses]).max()
        tries = int(judged.sum())
        return Named(
            epsilon=epsilon, share=float(right) / max(1, tries), error=float(binomial_error(right, tries))
        )

    def _draw_places(self, seed: int) -> list[Ids]:
        judged = np.arange(len(self.ids))
        if len(judged) > MOST_JUDGED:
            judged = np.random.Generator(np.random.PCG64([seed, 3])).choice(
                judged, MOST_JUDGED, replace=False
            )
        return [judged]

    def _draw_texts(self, seed: int) -> list[Ids]:
        """Return the places of whole texts, drawn at random until they have enough words."""
        order = np.random.Generator(np.random.PCG64([seed, 4])).permutation(len(self.texts) - 1)
        before = np.cumsum(np.diff(self.texts)[order]) - np.diff(self.texts)[order]
        return [
            np.arange(self.texts[text], self.texts[text + 1])
            for text in order[before < MOST_IN_CONTEXT].tolist()
        ]

    def _read_in_context(
        self, channel: Channel, context: Bigrams, released: list[Ids], reading: OfAllWords
    ) -> Ids:
        """Return the word, or the kind, that is likeliest at each place, given all released words of its
        text."""
        from scipy.sparse import csr_array

        decoder = ContextDecoder(channel, context, self.counts[channel.inputs])
        guesses = []
        for found in decoder.decode(released):
            rows, columns = np.nonzero(found.words >= 0)
            behind = csr_array(
                (found.chances[rows, columns], (rows, found.words[rows, columns])),
                shape=(len(found.words), len(self.embedding) + 1),
            )
            if reading == "kinds":
                guesses.append(np.asarray((behind @ self.kind_shares).toarray()).argmax(axis=1))
            else:
                guesses.append(
                    _likeliest_columns(behind @ self.shares, int(np.bincount(self.spelt).argmax()))
                )
        return np.concatenate(guesses)

    def _kinds_alone(self, channel: Channel) -> Ids:
        """Return the kind that is likeliest behind each released word, if a word with a kind stood there."""
        assert self.kind_shares is not None  # noqa: S101 - asked before
        of_inputs = self.kind_shares[channel.inputs].toarray()
        having = of_inputs.sum(axis=1)
        if not having.any():
            return np.zeros(len(self.embedding), dtype=np.int64)
        behind = make_posterior(channel, self.counts[channel.inputs] * having)
        of_inputs /= np.maximum(having, 1e-300)[:, None]
        return behind.likeliest_kinds(of_inputs)

    def _words_alone(self, channel: Channel) -> Ids:
        """Return the word that is likeliest behind each released word."""
        behind = make_posterior(channel, self.counts[channel.inputs])  # a channel has an order of its own
        frequent, shares = int(np.bincount(self.spelt).argmax()), self.shares[channel.inputs]
        at_once = 4_096
        parts = range(0, len(self.embedding), at_once)
        return np.concatenate(
            [_likeliest_columns(behind.matrix[start : start + at_once] @ shares, frequent) for start in parts]
        )


def _likeliest_columns(chances: csr_array, otherwise: int) -> Ids:
    """Return the column with the largest number of each row, the first of them on a tie; ``otherwise`` for an
    empty row."""
    likeliest, found = np.full(chances.shape[0], otherwise, dtype=np.int64), chances.tocoo()
    order = np.lexsort((-found.col, found.data, found.row))  # the likeliest one of each row stands last
    likeliest[found.row[order]] = found.col[order]
    return likeliest


def make_attacker(
    embedding: Embedding,
    parts: Sequence[Texts],
    *,
    context: Bigrams | None = None,
    kinds: WordKinds | None = None,
) -> NamingAttacker:
    """Return the attacker of texts that are released together; ``context`` is what it knows of public
    text."""
    from scipy.sparse import csr_array

    ids = embedding.stands_in(np.concatenate([part.ids for part in parts]))
    texts = [text for part in parts for text in part.words]
    written = [word for text in texts for word in text]
    _, first, spelt = np.unique(
        np.array([word.casefold() for word in written]), return_index=True, return_inverse=True
    )
    (entering, named), counts = np.unique(np.stack([ids, spelt]), axis=1, return_counts=True)
    totals = np.bincount(ids, minlength=len(embedding) + 1).astype(np.float64)
    order = np.lexsort((counts, entering))
    top = order[np.append(np.diff(entering[order]) != 0, True)]
    kept = np.bincount(named)[named] > 1  # words that go in as several ids: The and the
    kept[top] = True
    shape = (len(embedding) + 1, int(spelt.max()) + 1)
    shares = csr_array((counts[kept] / totals[entering[kept]], (entering[kept], named[kept])), shape=shape)
    of_words = None if kinds is None else kinds.of([written[place] for place in first.tolist()])
    return NamingAttacker(
        embedding=embedding,
        ids=ids,
        spelt=spelt.astype(np.int64),
        counts=totals,
        shares=shares,
        texts=np.array(list(accumulate(map(len, texts), initial=0)), dtype=np.int64),
        context=context,
        kinds=of_words,
        kind_shares=None if of_words is None else _shares_of_kinds(ids, of_words[spelt], totals),
    )


def _shares_of_kinds(ids: Ids, kinds: Ids, totals: Floats) -> csr_array:
    """Return how often each id, as it goes in, is a word of each kind."""
    from scipy.sparse import coo_array

    judged = kinds >= 0
    weights = 1.0 / totals[ids[judged]]
    return coo_array(
        (weights, (ids[judged], kinds[judged])), shape=(len(totals), int(kinds.max(initial=0)) + 1)
    ).tocsr()
