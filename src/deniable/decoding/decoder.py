"""Released text in, an estimate of the text behind it out.

It is an estimate of words, not the words: at a private ε it is wrong for most places, and right in sums.
Whoever holds a release and knows the mechanism can make it, so whatever it shows was released.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.channel.channel import Channel
from deniable.decoding.context import ContextDecoder, PlaceCandidates
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.posterior import MOST_CANDIDATES, Posterior, make_posterior
from deniable.decoding.shares import MOST_STEPS, LearntShares, learn_shares
from deniable.errors import InvalidParameter
from deniable.progress import Report
from deniable.words.released import ReleasedCounts, ReleasedWords

if TYPE_CHECKING:
    from scipy.sparse import csr_array

UNKNOWN = "[unknown]"
"""What stands for ⊥ in decoded text: some word that the embedding does not know."""

LEAST_COUNT = 1e-3
"""Expected counts below this are left out of features."""


class Candidate(NamedTuple):
    """A word that may have stood behind a released one, and how likely that is."""

    word: str
    probability: float


class Decoder:
    """Decodes text that was released through a channel: each word by itself, or with a language model in its
    context.

    >>> decoder = Decoder(channel, prior)                # doctest: +SKIP
    >>> decoder("released words")                        # the likeliest words    # doctest: +SKIP
    >>> decoder.posterior("surgeon")                     # candidates with probabilities    # doctest: +SKIP
    """

    def __init__(
        self,
        channel: Channel,
        prior: Floats | None = None,
        *,
        context: Bigrams | None = None,
        marks: Iterable[str] = (),
        candidates: int = MOST_CANDIDATES,
    ) -> None:
        """Decode by Bayes' rule with a prior over the channel's inputs; even shares without one.

        ``context`` are bigrams of public text over the same embedding. ``marks`` stand in released text for
        no word.

        :raises InvalidParameter: if the prior or the language model does not fit the channel.
        """
        self.channel, self.prior = (
            channel,
            np.ones(len(channel)) / len(channel) if prior is None else prior / prior.sum(),
        )
        self.reader = ReleasedWords(channel.embedding, marks)
        self._words = [*channel.embedding.words, UNKNOWN]
        self._candidates = candidates
        self._context = None if context is None else ContextDecoder(channel, context, self.prior)

    @classmethod
    def learn(
        cls,
        channel: Channel,
        released: Iterable[str | None] | ReleasedCounts,
        *,
        start: Floats | None = None,
        weight: float | None = None,
        context: Bigrams | None = None,
        marks: Iterable[str] = (),
        most_steps: int = MOST_STEPS,
        report: Report | None = None,
    ) -> tuple[Decoder, LearntShares]:
        """Return a decoder whose prior is learnt from the release itself, and how it was learnt.

        ``start`` are shares of words known before. They count as ``weight`` words: a tenth of those released
        where the channel comes from a few rays or draws, whose errors would be learnt otherwise, and none
        where it is exact or comes from shared points. One record in five is held back to say when to stop,
        after ``most_steps`` at the latest.

        :raises InvalidParameter: if the texts hold no word that the embedding has.
        """
        counts = (
            released
            if isinstance(released, ReleasedCounts)
            else ReleasedWords(channel.embedding, marks).count(released)
        )
        if counts.words == counts.strange:
            raise InvalidParameter(
                "released",
                f"{counts.records:,} texts",
                "hold no word of the embedding: nothing can be decoded",
            )
        if weight is None:
            weight = 0.1 * counts.words if start is not None and channel.is_coarse else 0.0
        found = learn_shares(
            channel,
            counts.learn,
            held_out=counts.hold,
            start=start,
            weight=weight,
            most_steps=most_steps,
            report=report,
        )
        return cls(channel, found.shares, context=context, marks=marks), found

    def __call__(self, text: str) -> str:
        """Return the likeliest word for each word of a released text."""
        return str(self.many([text])[0])

    def many(self, texts: Sequence[str | None], *, report: Report | None = None) -> list[str | None]:
        """Return the texts decoded, in order; None stays None."""
        likeliest = self.likeliest(texts, report=report)
        decoded = (" ".join(map(self._words.__getitem__, ids.tolist())) for ids in likeliest)
        return [None if text is None else words for text, words in zip(texts, decoded, strict=True)]

    def likeliest(self, texts: Sequence[str | None], *, report: Report | None = None) -> Iterator[Ids]:
        """Yield for each text the id of the likeliest input word at each place; what cannot have been
        released stays unknown."""
        for ids, places in zip(self._ids(texts), self._places(texts, report), strict=True):
            answer = np.full(len(ids), self.channel.embedding.unknown_id, dtype=np.int64)
            known = ids != self.channel.embedding.unknown_id
            answer[known] = self.bayes.best[ids[known]] if places is None else places.likeliest
            yield answer

    def posterior(self, word: str, *, top: int = 10) -> list[Candidate]:
        """Return the words that are likeliest behind a released word by itself.

        :raises InvalidParameter: if the embedding does not have the word, so that it cannot have been
            released.
        """
        output = int(self.reader.lookup.ids([word])[0])
        if output == self.channel.embedding.unknown_id:
            raise InvalidParameter(
                "word",
                word,
                f"is not a word of {self.channel.embedding.name!r}, and cannot have been released",
            )
        self._check(np.array([output]))
        return self._named(*self.bayes.of(output), top)

    def candidates(
        self, texts: Sequence[str | None], *, top: int = 5, report: Report | None = None
    ) -> Iterator[list[tuple[str, list[Candidate]]]]:
        """Yield for each text its released words, each with the words that are likeliest behind it; none for
        what was not released."""
        for ids, places in zip(self._ids(texts), self._places(texts, report), strict=True):
            found, place = [], 0
            for output in ids.tolist():
                if output == self.channel.embedding.unknown_id:
                    found.append((UNKNOWN, list[Candidate]()))
                    continue
                behind = self.bayes.of(output) if places is None else places.at(place)
                found.append((self._words[output], self._named(*behind, top)))
                place += 1
            yield found

    @cached_property
    def bayes(self) -> Posterior:
        """The posterior of every released word by itself."""
        return make_posterior(self.channel, self.prior, candidates=self._candidates)

    def expected_counts(
        self, texts: Sequence[str | None], *, least: float = LEAST_COUNT, report: Report | None = None
    ) -> csr_array:
        """Return how often each input word is expected in each text: one row a text, one column for each row
        of the channel.

        Counts below ``least`` are left out: there are thousands in every text, and together they say next to
        nothing.
        """
        from scipy.sparse import csr_array, vstack

        blocks, at_once = [], 1_000
        for start in range(0, len(texts), at_once):
            part = texts[start : start + at_once]
            counts = (
                self._counts(part) @ self.bayes.matrix
                if self._context is None
                else self._counts_in_context(part)
            )
            counts.data[counts.data < least] = 0.0
            counts.eliminate_zeros()
            blocks.append(counts)
            if report is not None:
                report(min(start + at_once, len(texts)), len(texts))
        return vstack(blocks, format="csr") if blocks else csr_array((0, len(self.channel)))

    def expected_vectors(self, texts: Sequence[str | None], *, report: Report | None = None) -> Vectors:
        """Return the mean vector that is expected of the words of each text; zeros for a text without a
        word."""
        vectors = self.channel.embedding.rows(self.channel.inputs).astype(np.float64)
        if self._context is None:
            counts = self._counts(texts)
            seen = np.unique(counts.indices)  # a table of all released words would be large
            lengths, sums = (
                np.asarray(counts.sum(axis=1)).ravel(),
                counts[:, seen] @ self.bayes.expect(vectors, seen),
            )
        else:
            expected = self.expected_counts(texts, least=0.0, report=report)
            lengths, sums = np.asarray(expected.sum(axis=1)).ravel(), expected @ vectors
        means: Vectors = (sums / np.maximum(lengths, 1e-12)[:, None]).astype(np.float32)
        return means

    def _ids(self, texts: Sequence[str | None]) -> Iterator[Ids]:
        for ids in self.reader.ids(texts):
            self._check(ids[ids != self.channel.embedding.unknown_id])
            yield ids

    def _counts(self, texts: Sequence[str | None]) -> csr_array:
        counts = self.reader.counts(texts)
        self._check(counts.indices)
        return counts

    def _check(self, outputs: Ids) -> None:
        """Check that the channel knows these released words: of others the decoder would repeat the prior,
        and nobody would see it."""
        missing = outputs[~self.channel.knows(outputs)]
        if len(missing):
            word = self._words[int(missing[0])]
            raise InvalidParameter(
                "text",
                word,
                "was not in the texts that this decoder is for; receive them with every_word=True",
            )

    def _counts_in_context(self, texts: Sequence[str | None]) -> Any:
        from scipy.sparse import csr_array

        starts, columns, chances = [0], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for places in self._places(texts, None):
            assert places is not None  # noqa: S101 - there is a context
            inside = places.words >= 0
            columns.append(self.channel.places(places.words[inside]))
            chances.append(places.chances[inside])
            starts.append(starts[-1] + int(inside.sum()))
        counts = csr_array(
            (np.concatenate(chances), np.concatenate(columns), starts), shape=(len(texts), len(self.channel))
        )
        counts.sum_duplicates()
        return counts

    def _places(self, texts: Sequence[str | None], report: Report | None) -> Iterator[PlaceCandidates | None]:
        """Yield the candidates of each text in context, at the places of released words; None where there is
        no context."""
        if self._context is None:
            yield from (None for _ in texts)
            return
        unknown = self.channel.embedding.unknown_id
        yield from self._context.decode([ids[ids != unknown] for ids in self._ids(texts)], report=report)

    def _named(self, words: Ids, chances: Floats, top: int) -> list[Candidate]:
        return [
            Candidate(self._words[i], p)
            for i, p in zip(words[:top].tolist(), chances[:top].tolist(), strict=True)
        ]
