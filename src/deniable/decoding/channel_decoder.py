"""Released text in, an estimate of the text behind it out, by a channel and how frequent words are.

It is an estimate of words, not the words: at a private ε it is wrong for most places, and right in sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from deniable.arrays import Floats, Ids, Vectors
from deniable.channel.channel import Channel
from deniable.decoding.context import ContextDecoder
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.posterior import Posterior, make_posterior
from deniable.decoding.reading import Reading
from deniable.decoding.shares import MOST_STEPS, LearntShares, learn_shares
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.parameters import validated_share
from deniable.progress import Report
from deniable.words.released import ReleasedCounts, ReleasedWords

if TYPE_CHECKING:
    from scipy.sparse import csr_array, csr_matrix

UNKNOWN = "[unknown]"
"""What stands for ⊥ in decoded text: some word that the embedding does not know."""

LEAST_COUNT = 1e-3
"""Expected counts below this are left out of features."""

_TEXTS_AT_ONCE = 1_000


class Candidate(NamedTuple):
    """A word that may have stood behind a released one, and how likely that is."""

    word: str
    probability: float


class ChannelDecoder:
    """Decodes text that was released through a channel: each word by itself, or with a language model in its
    context.

    ``inputs`` are the ids of the words that may have gone in, sorted, and ``shares`` their shares. ``learnt``
    says how the shares were learnt and ``counts`` how often each word was released; a decoder has them if it
    was learnt in this process.
    """

    channel: Channel
    prior: Floats
    embedding: Embedding
    context: ContextDecoder | None
    inputs: Ids
    shares: Floats
    marks: tuple[str, ...]
    learnt: LearntShares
    counts: ReleasedCounts

    def __init__(
        self,
        channel: Channel,
        prior: Floats | None = None,
        *,
        context: Bigrams | None = None,
        marks: Iterable[str] = (),
    ) -> None:
        """Decode by Bayes' rule with a prior over the channel's inputs, by default an even one.

        ``context`` are bigrams of public text over the same embedding. ``marks`` stand for no word.

        :raises InvalidParameter: if the prior or the language model does not fit the channel.
        """
        order, prior = np.argsort(channel.inputs), np.ones(len(channel)) if prior is None else prior
        self.channel, self.prior, self.embedding = channel, prior / prior.sum(), channel.embedding
        self.inputs, self.shares = channel.inputs[order], self.prior[order]
        self.marks = tuple(marks)
        self.context = None if context is None else ContextDecoder(channel, context, self.prior)

    @classmethod
    def learn_from(
        cls,
        channel: Channel,
        released: Iterable[str | None] | ReleasedCounts,
        *,
        start: Floats | None = None,
        weight: float | None = None,
        context: Bigrams | None = None,
        marks: Iterable[str] = (),
        most_steps: int = MOST_STEPS,
    ) -> Self:
        """Return a decoder over an open channel, with a prior learnt from the release itself.

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
            problem = "hold no word of the embedding: nothing can be decoded"
            raise InvalidParameter("released", f"{counts.records:,} texts", problem)
        if weight is None:
            weight = 0.1 * counts.words if start is not None and channel.is_coarse else 0.0
        learnt = learn_shares(
            channel, counts.learn, held_out=counts.hold, start=start, weight=weight, most_steps=most_steps
        )
        decoder = cls(channel, learnt.shares, context=context, marks=marks)
        decoder.learnt, decoder.counts = learnt, counts
        return decoder

    def __repr__(self) -> str:
        """Return what is decoded: which release, and from how many words."""
        return f"<{type(self).__name__} of {self._release}: {len(self.inputs):,} words may have gone in>"

    @property
    def _release(self) -> str:
        return f"a channel at ε = {self.channel.epsilon:g}"

    def __call__(self, text: str) -> str:
        """Return the likeliest word for each word of a released text."""
        return str(self.decode([text])[0])

    def decode(self, texts: Sequence[str | None], *, report: Report | None = None) -> list[str | None]:
        """Return the texts decoded, in order; None stays None."""
        likeliest = self.likeliest(texts, report=report)
        decoded = (" ".join(map(self._words.__getitem__, ids.tolist())) for ids in likeliest)
        return [None if text is None else words for text, words in zip(texts, decoded, strict=True)]

    def likeliest(self, texts: Sequence[str | None], *, report: Report | None = None) -> Iterator[Ids]:
        """Yield the ids of the likeliest input words of each text; unknown words stay unknown."""
        for ids, known, reading in self._read(texts, most=1, report=report):
            answer = ids.copy()
            answer[known] = reading.likeliest
            yield answer

    def candidates(self, word: str, *, top: int = 10) -> list[Candidate]:
        """Return the words that are likeliest behind a released word by itself.

        :raises InvalidParameter: if the embedding does not have the word, so that it cannot have been
            released.
        """
        output = self.reader.cutter.ids([word])[0]
        if output == self.embedding.unknown_id:
            problem = f"is not a word of {self.embedding.name!r}, and cannot have been released"
            raise InvalidParameter("word", word, problem)
        self._check(np.array([output]))
        return self._named(*self.bayes.of(output), top)

    def candidates_in(
        self, texts: Sequence[str | None], *, top: int = 5, report: Report | None = None
    ) -> Iterator[list[tuple[str, list[Candidate]]]]:
        """Yield the released words of each text, each with the words that are likeliest behind it."""
        for ids, known, reading in self._read(texts, most=top, report=report):
            places = np.where(known, np.cumsum(known) - 1, -1).tolist()
            yield [
                (self._words[output], [] if place < 0 else self._named(*reading.at(place), top))
                for output, place in zip(ids.tolist(), places, strict=True)
            ]

    def expected_counts(
        self, texts: Sequence[str | None], *, least: float = LEAST_COUNT, report: Report | None = None
    ) -> csr_matrix:
        """Return how often each input word is expected in each text: rows are texts, columns ``input_words``.

        Counts below ``least`` are left out: every text has thousands, which together say next to nothing.

        :raises InvalidParameter: if ``least`` is no number from 0 to 1.
        """
        from scipy.sparse import csr_array, csr_matrix, vstack

        least, blocks = validated_share(least, "least"), []
        for start in range(0, len(texts), _TEXTS_AT_ONCE):
            part = texts[start : start + _TEXTS_AT_ONCE]
            counts = (
                self._counts(part) @ self.bayes.matrix
                if self.context is None
                else self._counts_in_context(part)
            )
            counts.data[counts.data < least] = 0.0
            counts.eliminate_zeros()
            blocks.append(counts)
            if report is not None:
                report(start + len(part), len(texts))
        counts = vstack(blocks, format="csr") if blocks else csr_array((0, len(self.inputs)))
        # The rows of a channel lie in the order in which they are made fastest.
        columns = np.searchsorted(self.inputs, self.channel.inputs).astype(np.int32)[counts.indices]
        # Solvers of scikit-learn take small indices only.
        starts = counts.indptr.astype(np.int32) if counts.nnz <= np.iinfo(np.int32).max else counts.indptr
        matrix = csr_matrix((counts.data, columns, starts), shape=counts.shape)
        matrix.sort_indices()
        return matrix

    @property
    def input_words(self) -> list[str]:
        """The words that may have gone in, by their ids; ``[unknown]`` for ⊥, which is last."""
        return [self._words[i] for i in self.inputs.tolist()]

    def expected_words(
        self, texts: Sequence[str | None], *, least: float = LEAST_COUNT
    ) -> Iterator[dict[str, float] | None]:
        """Yield how often words are expected in each text, the most frequent first; None for None."""
        counts, words = self.expected_counts(texts, least=least), self.input_words
        for text, start, end in zip(texts, counts.indptr[:-1], counts.indptr[1:], strict=True):
            part, columns = counts.data[start:end], counts.indices[start:end]
            order = np.argsort(-part, kind="stable").tolist()
            yield None if text is None else {words[columns[i]]: float(part[i]) for i in order}

    def expected_vectors(self, texts: Sequence[str | None], *, report: Report | None = None) -> Vectors:
        """Return the expected mean vector of the words of each text; zeros for a text without a word."""
        if self.context is None:
            counts = self._counts(texts)
            vectors = self.embedding.rows(self.channel.inputs).astype(np.float64)
            seen = np.unique(counts.indices)  # a table of all released words would be large
            sums = counts[:, seen] @ self.bayes.expect(vectors, seen)
        else:
            counts = self.expected_counts(texts, least=0.0, report=report)
            sums = counts @ self.embedding.rows(self.inputs).astype(np.float64)
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        means: Vectors = (sums / np.maximum(lengths, 1e-12)[:, None]).astype(np.float32)
        return means

    @property
    def unchanged(self) -> float:
        """The share of the words it was learnt from that come out as they went in."""
        return self.bayes.share_unchanged(self.counts.learn + self.counts.hold)

    @cached_property
    def reader(self) -> ReleasedWords:
        """What reads the words of released text."""
        return ReleasedWords(self.embedding, self.marks)

    @cached_property
    def bayes(self) -> Posterior:
        """The posterior of every released word by itself."""
        return make_posterior(self.channel, self.prior)

    @cached_property
    def _words(self) -> list[str]:
        return [*self.embedding.words, UNKNOWN]

    def _counts(self, texts: Sequence[str | None]) -> csr_array:
        counts = self.reader.counts(texts)
        self._check(counts.indices)
        return counts

    def _check(self, outputs: Ids) -> None:
        """Check that the channel knows these words: for others the decoder would repeat the prior."""
        missing = outputs[~self.channel.knows(outputs)]
        if len(missing):
            problem = "was not in the texts that this decoder is for; learn it with every_word=True"
            raise InvalidParameter("text", self._words[int(missing[0])], problem)

    def _counts_in_context(self, texts: Sequence[str | None]) -> Any:
        from scipy.sparse import csr_array

        starts, columns, chances = [0], [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
        for _, _, reading in self._read(texts):
            inside = reading.words >= 0
            columns.append(self.channel.places(reading.words[inside]))
            chances.append(reading.chances[inside])
            starts.append(starts[-1] + int(inside.sum()))
        counts = csr_array(
            (np.concatenate(chances), np.concatenate(columns), starts), shape=(len(texts), len(self.channel))
        )
        counts.sum_duplicates()
        return counts

    def _read(
        self, texts: Sequence[str | None], *, most: int | None = None, report: Report | None = None
    ) -> Iterator[tuple[Ids, Any, Reading]]:
        """Yield the ids of each text, which of them are known, and what is read at these: without a context
        at most ``most`` candidates, since a table of all takes kilobytes a word."""
        every = list(self.reader.ids(texts))
        known = [ids != self.embedding.unknown_id for ids in every]
        released = [ids[inside] for ids, inside in zip(every, known, strict=True)]
        for outputs in released:
            self._check(outputs)
        readings = (
            self.bayes.decode(released, most=most, report=report)
            if self.context is None
            else self.context.decode(released, report=report)
        )
        yield from zip(every, known, readings, strict=True)

    def _named(self, words: Ids, chances: Floats, top: int) -> list[Candidate]:
        pairs = zip(words[:top].tolist(), chances[:top].tolist(), strict=True)
        return [Candidate(self._words[i], chance) for i, chance in pairs]
