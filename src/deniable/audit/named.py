"""The Bayes attacker: how often it names the word behind a released one, or its kind.

The attacker knows the mechanism, ε, the embedding, and how often each word stands in this very text. It names
the likeliest word by Bayes' rule, with P(y | x) as a receiver computes it: from each released word alone, or
in the context of its text with bigrams of public text. It is judged on words that were released afterwards,
so what it reaches is a lower bound on what the exact rule reaches.

There are two ways to say what the true answer at a place is:

- ``by_ids``: the word that went in. Unknown words are all released as ⊥; nobody can name them, so they are
  not judged.
- ``by_spelling``: the word as it is written, in any case. All embeddings are judged on the same words then,
  so it is how embeddings are compared. Behind ⊥ the best guess is the most frequent unknown word. The same
  holds for a protected word and its stand-in.

Kinds ("a disease", "a first name") are those of ``embeddings.kinds``. Places whose word has no kind are not
judged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.distribution import binomial_error
from deniable.channel.draws import Draws
from deniable.decoding.context import ContextDecoder
from deniable.decoding.ngrams import Bigrams, read_bigrams
from deniable.decoding.posterior import make_posterior
from deniable.decoding.reading import Reading
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.kinds import Kinds, make_kinds
from deniable.errors import InvalidParameter
from deniable.measures.catalogue import Setting
from deniable.measures.estimate import Estimate
from deniable.measures.texts import Texts

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Way = Literal["named", "context", "kinds"]
"""What is asked of the attacker: words alone, words in the better of both ways, or kinds in the better of
both ways."""

WAYS: tuple[Way, ...] = ("named", "context", "kinds")


@dataclass(frozen=True, kw_only=True)
class NamedShares:
    """The shares of words, and of kinds of words, that are named correctly, and of how many places each."""

    words: float
    kinds: float
    judged: int
    judged_kinds: int

    def share_of(self, way: Way) -> float:
        """Return the share of what a way asks for: kinds or words."""
        return self.kinds if way == "kinds" else self.words

    def tries_of(self, way: Way) -> int:
        """Return at how many places a way was judged."""
        return self.judged_kinds if way == "kinds" else self.judged

    @property
    def words_error(self) -> float:
        """The standard error of ``words``."""
        return standard_error(self.words, self.judged)

    @property
    def kinds_error(self) -> float:
        """The standard error of ``kinds``."""
        return standard_error(self.kinds, self.judged_kinds)


def standard_error(share: float, tries: int) -> float:
    """Return the standard error of a share of so many tries."""
    return float(binomial_error(np.array(share * tries), tries))


@dataclass(frozen=True, kw_only=True, eq=False)
class Named:
    """The attacker of one release of some texts.

    ``answers`` and ``kinds`` are the truth at each place, -1 where none is judged. ``shares`` says how often
    an id that goes in stands for each answer, ``kind_shares`` the same of kinds, ``counts`` how often each
    id goes in. ``context`` is known of public text.
    """

    texts: Texts
    answers: Ids = field(repr=False)
    shares: csr_array = field(repr=False)
    counts: Floats = field(repr=False)
    kinds: Ids | None = field(default=None, repr=False)
    kind_shares: csr_array | None = field(default=None, repr=False)
    context: Bigrams | None = field(default=None, repr=False)

    @classmethod
    def by_ids(
        cls, texts: Texts, kinds: Kinds, *, counts: Floats | None = None, context: Bigrams | None = None
    ) -> Named:
        """Return the attacker who names word ids; ``counts`` are those of the texts unless others
        are given."""
        from scipy.sparse import csr_array

        vocabulary = len(kinds.of) - 1
        if counts is None:
            counts = np.bincount(texts.ids, minlength=vocabulary + 1).astype(np.float64)
            counts[vocabulary] = 0.0
        known, kinded = np.flatnonzero(counts), np.flatnonzero(kinds.of >= 0)
        shape = (vocabulary + 1, vocabulary + 1)
        return cls(
            texts=texts,
            answers=np.where(texts.ids == vocabulary, -1, texts.ids),
            shares=csr_array((np.ones(len(known)), (known, known)), shape=shape),
            counts=counts,
            kinds=kinds.of[texts.ids],
            kind_shares=csr_array(
                (np.ones(len(kinded)), (kinded, kinds.of[kinded])), shape=(vocabulary + 1, kinds.count)
            ),
            context=context,
        )

    @classmethod
    def by_spelling(
        cls,
        texts: Texts,
        embedding: Embedding,
        *,
        kinds_of: Callable[[list[str]], Ids] | None = None,
        context: Bigrams | None = None,
    ) -> Named:
        """Return the attacker who names words as they are spelled; ``kinds_of`` returns their kinds, or -1.
        Of the words that go in as one id, only the most frequent is an answer: no other is ever the
        likeliest."""
        from scipy.sparse import coo_array, csr_array

        ids = embedding.stands_in(texts.ids)
        _, first, spelled = np.unique(
            np.array([word.casefold() for word in texts.spelled]), return_index=True, return_inverse=True
        )
        (entering, named), often = np.unique(np.stack([ids, spelled]), axis=1, return_counts=True)
        counts = np.bincount(ids, minlength=len(embedding) + 1).astype(np.float64)
        order = np.lexsort((often, entering))
        kept = np.bincount(named)[named] > 1  # words that go in as several ids: The and the
        kept[order[np.append(np.diff(entering[order]) != 0, True)]] = True
        shares = csr_array(
            (often[kept] / counts[entering[kept]], (entering[kept], named[kept])),
            shape=(len(counts), int(spelled.max()) + 1),
        )
        kinds = of_kinds = None
        if kinds_of is not None:
            kinds = kinds_of([texts.spelled[place] for place in first.tolist()])[spelled]
            judged = kinds >= 0
            of_kinds = coo_array(
                (1.0 / counts[ids[judged]], (ids[judged], kinds[judged])),
                shape=(len(counts), int(kinds.max(initial=0)) + 1),
            ).tocsr()
        entered = Texts(ids=ids, offsets=texts.offsets)
        return cls(
            texts=entered,
            answers=spelled.astype(np.int64),
            shares=shares,
            counts=counts,
            kinds=kinds,
            kind_shares=of_kinds,
            context=context,
        )

    def inputs(self, most: int) -> Ids:
        """Return the words that may have gone in: ⊥, and at most so many of the most frequent words of the
        texts."""
        known = self.counts[:-1]
        order = np.argsort(-known, kind="stable")[:most]
        return np.append(np.sort(order[known[order] > 0.0]), len(known))

    @cached_property
    def blind(self) -> NamedShares:
        """What is named by somebody who sees nothing: the most frequent word, and the most frequent kind."""
        words, kinds = self._judged(self.answers), self._judged(self.kinds)
        return NamedShares(
            words=_largest_share(words),
            kinds=_largest_share(kinds),
            judged=len(words),
            judged_kinds=len(kinds),
        )

    def alone(self, channel: Channel, released: Ids) -> NamedShares:
        """Return what is named by looking at each released word of the texts by itself."""
        return self._shares(self.words_alone(channel, released), self.kinds_alone(channel, released))

    def in_context(self, channel: Channel, released: Ids, *, texts: Ids | None = None) -> NamedShares | None:
        """Return what is named by reading whole texts, all or some; None without public text."""
        if self.context is None:
            return None
        places = slice(None) if texts is None else self.texts.places(texts)
        parts = self.texts if texts is None else self.texts.take(texts)
        return self._shares(*self.guesses_in_context(channel, parts.split(released)), places)

    def success(
        self,
        way: Way,
        channel: Channel,
        released: Ids,
        *,
        places: Ids | slice = slice(None),
        texts: Ids | None = None,
    ) -> NamedShares:
        """Return what is named in one way, or in the better of two. ``released`` are the words at the
        ``places``, by default all. Only some ``texts`` are read in context: the first ones if ``places`` are
        all, else ``places`` are those of these texts.

        :raises ValueError: if kinds are asked for and none are known.
        """
        if way == "kinds" and self.kinds is None:
            raise ValueError("the attacker knows no kinds of words")
        if way == "kinds":
            alone = self._shares(None, self.kinds_alone(channel, released), places)
        else:
            alone = self._shares(self.words_alone(channel, released), None, places)
        if way == "named" or self.context is None:
            return alone
        begun = released if texts is None else released[: int(self.texts.lengths[texts].sum())]
        context = self.in_context(channel, begun, texts=texts)
        return alone if context is None or context.share_of(way) < alone.share_of(way) else context

    def first_texts(self, words: int) -> Ids:
        """Return the first texts that have so many words together, or all."""
        return np.flatnonzero(self.texts.offsets[:-1] < words)

    def words_alone(self, channel: Channel, released: Ids) -> Ids:
        """Return the answer that is likeliest behind each released word."""
        outputs, where = np.unique(released, return_inverse=True)
        reading = make_posterior(channel, self.counts[channel.inputs]).read(outputs)
        return self._best_answers(self._behind(reading) @ self.shares)[where]

    def kinds_alone(self, channel: Channel, released: Ids) -> Ids | None:
        """Return the kind that is likeliest behind each released word, given that a word with a kind stood
        there."""
        if self.kind_shares is None:
            return None
        of_inputs = self.kind_shares[channel.inputs].toarray()
        having = of_inputs.sum(axis=1)
        if not (having * self.counts[channel.inputs]).any():
            return np.zeros(len(released), dtype=np.int64)
        behind = make_posterior(channel, self.counts[channel.inputs] * having)
        return behind.likeliest_kinds(of_inputs / np.maximum(having, 1e-300)[:, None])[released]

    def guesses_in_context(self, channel: Channel, released: Sequence[Ids]) -> tuple[Ids, Ids | None]:
        """Return the likeliest answer and kind at each place of released texts, read as a whole."""
        assert self.context is not None  # noqa: S101 - asked before
        decoder = ContextDecoder(channel, self.context, self.counts[channel.inputs])
        behind = self._behind(decoder.read(released))
        kinds = None if self.kind_shares is None else (behind @ self.kind_shares).toarray().argmax(axis=1)
        return self._best_answers(behind @ self.shares), kinds

    def _behind(self, reading: Reading) -> csr_array:
        """Return the probability of each id at each place, of the candidates of a reading."""
        from scipy.sparse import csr_array

        rows, columns = np.nonzero(reading.words >= 0)
        return csr_array(
            (reading.chances[rows, columns], (rows, reading.words[rows, columns])),
            shape=(len(reading), len(self.counts)),
        )

    def _best_answers(self, chances: csr_array) -> Ids:
        """Return the likeliest answer of each row, the first on a tie; the most frequent one for an empty
        row."""
        answers = np.full(chances.shape[0], np.bincount(self._judged(self.answers)).argmax(), dtype=np.int64)
        chances.sort_indices()
        lengths = np.diff(chances.indptr)
        some = np.flatnonzero(lengths)
        if len(some):
            top = np.maximum.reduceat(chances.data, chances.indptr[some])
            best = np.flatnonzero(chances.data == np.repeat(top, lengths[some]))
            _, first = np.unique(np.repeat(some, lengths[some])[best], return_index=True)
            answers[some] = chances.indices[best[first]]
        return answers

    def _judged(self, truth: Ids | None) -> Ids:
        return np.zeros(0, dtype=np.int64) if truth is None else truth[truth >= 0]

    def _shares(self, words: Ids | None, kinds: Ids | None, places: Ids | slice = slice(None)) -> NamedShares:
        right, judged = _share_right(words, self.answers[places])
        of_kinds = np.zeros(0, dtype=np.int64) if self.kinds is None else self.kinds[places]
        right_kinds, judged_kinds = _share_right(kinds, of_kinds)
        return NamedShares(words=right, kinds=right_kinds, judged=judged, judged_kinds=judged_kinds)


def _largest_share(answers: Ids) -> float:
    return float(np.bincount(answers, minlength=1).max() / max(1, len(answers)))


def _share_right(guesses: Ids | None, truth: Ids) -> tuple[float, int]:
    judged = truth >= 0
    count = int(judged.sum())
    return (0.0 if guesses is None else float((guesses == truth)[judged].sum() / max(1, count))), count


MOST_JUDGED = 20_000
"""On how many words the attacker alone is judged at most, drawn at random."""

MOST_IN_CONTEXT = 10_000
"""On how many words the attacker in context is judged, or a few more: those of whole texts, drawn at
random."""


def read_named(
    named: Named, setting: Setting, way: Way, *, directions: int, seed: int, support: int | None = None
) -> NamedShares:
    """Return what the attacker names in a release of some of its texts, by a channel of so many directions,
    from all their words or the ``support`` most frequent ones."""
    inputs = np.unique(named.texts.ids) if support is None else named.inputs(support)
    channel = setting.channel(inputs, directions=directions)
    texts = None if way == "named" or named.context is None else _some_texts(named, seed)
    places = _some_places(named, seed) if texts is None else named.texts.places(texts)
    released = Draws(setting.mechanism_at_epsilon, seed=seed).of_each(named.texts.ids[places])
    return named.success(way, channel, released, places=places, texts=texts)


def _some_places(named: Named, seed: int) -> Ids:
    places = np.arange(len(named.texts.ids))
    if len(places) <= MOST_JUDGED:
        return places
    return np.random.Generator(np.random.PCG64([seed, 3])).choice(places, MOST_JUDGED, replace=False)


def _some_texts(named: Named, seed: int) -> Ids:
    """Return texts, drawn at random until they have enough words."""
    order = np.random.Generator(np.random.PCG64([seed, 4])).permutation(len(named.texts))
    lengths = named.texts.lengths[order]
    return order[np.cumsum(lengths) - lengths < MOST_IN_CONTEXT]


@dataclass(frozen=True, kw_only=True)
class NamedBy:
    """The measure: the share of words, or of kinds, that one attacker names in one ``way``, in a release of
    its own texts; see ``read_named``."""

    attacker: Named
    way: Way = "named"
    directions: int = 100
    support: int | None = None

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:  # noqa: ARG002 - the attacker has texts of its own
        """Return the share in one release."""
        shares = read_named(
            self.attacker, setting, self.way, directions=self.directions, seed=seed, support=self.support
        )
        share = shares.share_of(self.way)
        return Estimate.of_share(
            share,
            standard_error(share, shares.tries_of(self.way)),
            blind=self.attacker.blind.share_of(self.way),
            statement=f"{_what(self.way)}s named by Bayes' rule with the texts' own frequencies",
        )


@dataclass(frozen=True, kw_only=True)
class ShareNamed:
    """The measure: the share of words, or of kinds, that the attacker names in one ``way``; ``public`` is a
    text file from which it knows what words follow one another."""

    way: Way = "named"
    public: Path | None = None
    directions: int = 100

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:
        """Return the share in one release of the texts.

        :raises InvalidParameter: if a public text is needed and not given.
        """
        if self.way == "context" and self.public is None:
            raise InvalidParameter("public", "none", "the way context needs a public text: give public too")
        context = None if self.public is None else read_bigrams(setting.embedding, self.public)
        counts = np.bincount(texts.ids, minlength=len(setting.embedding))
        kinds = make_kinds(setting.embedding, counts=counts)
        named = Named.by_ids(texts, kinds, context=context)
        if not named.blind.tries_of(self.way):
            raise InvalidParameter("texts", f"{len(texts)} texts", f"hold no {_what(self.way)} to name")
        return NamedBy(attacker=named, way=self.way, directions=self.directions)(setting, texts, seed=seed)


def _what(way: Way) -> str:
    return "kind" if way == "kinds" else "word"
