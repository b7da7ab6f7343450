"""What privacy is at one ε: the readings of a mechanism on one task in one embedding, and what attackers know
for them.

Kinds of words are made once, from the first embedding and the words of the texts, and are the same for all
embeddings: what kind a word is of must not depend on the space that is judged by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.text import digest_of
from deniable.audit.named import Named, Way, read_named, standard_error
from deniable.channel.distribution import binomial_error
from deniable.channel.draws import Draws
from deniable.decoding.ngrams import Bigrams, PairCounts
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.kinds import Kinds, make_kinds, most_frequent_words
from deniable.errors import UnusableAuditData
from deniable.interfaces import Mechanism
from deniable.measures.catalogue import Setting
from deniable.measures.texts import Texts
from deniable.words.cutter import Cutter, Lookup
from deniable.words.public_text import read_documents

EXPOSED = 0.01
_PAIRS = 20_000


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Words drawn from the text, so that frequent words count as often as they occur.

    ``ids`` are the distinct ones, and ``shares`` their shares. ``typical`` is the mean distance of two words
    of the text.
    """

    embedding: Embedding = field(repr=False)
    ids: Ids
    shares: Floats
    typical: float

    @property
    def guess(self) -> float:
        """How often a blind guess names one of the words."""
        return float(self.shares.max())

    def adversary(self, judged: int) -> Named:
        """Return the Bayes attacker who knows that the word is one of the sample, to be judged on about so
        many words. ⊥ is a word like any other."""
        from scipy.sparse import csr_array

        count = len(self.embedding) + 1
        ids = np.repeat(self.ids, np.maximum(1, np.round(self.shares * judged)).astype(np.int64))
        return Named(
            texts=Texts(ids=ids, offsets=np.array([0, len(ids)])),
            answers=ids,
            shares=csr_array((np.ones(len(self.ids)), (self.ids, self.ids)), shape=(count, count)),
            counts=np.bincount(ids, minlength=count).astype(np.float64),
        )


def make_sample(embedding: Embedding, text: Ids, *, words: int, seed: int) -> Sample:
    """Return ``words`` words drawn from a text."""
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    drawn = embedding.stands_in(text[generator.integers(0, len(text), words)])
    ids, counts = np.unique(drawn, return_counts=True)
    pairs = text[generator.integers(0, len(text), 2 * _PAIRS)]
    typical = mean_distance(embedding, pairs[:_PAIRS], pairs[_PAIRS:])
    return Sample(embedding=embedding, ids=ids, shares=counts / counts.sum(), typical=typical)


def mean_distance(embedding: Embedding, before: Ids, after: Ids) -> float:
    """Return the mean distance between words and what became of them."""
    total, at_once = 0.0, 16_384
    for start in range(0, len(before), at_once):
        part = slice(start, start + at_once)
        gaps = embedding.rows(before[part]).astype(np.float64) - embedding.rows(after[part])
        total += float(np.linalg.norm(gaps, axis=1).sum())
    return total / len(before)


def read_unchanged(mechanism: Mechanism, sample: Sample, *, draws: int, seed: int) -> dict[str, float]:
    """Return the readings ``average`` and ``worst`` with their standard errors.

    The most exposed words are chosen on one half of the draws and judged on the other, so that luck in the
    draws does not look like exposure. The single largest N_w is not read: it belongs to some isolated word,
    and says more about which words were sampled than about the mechanism.
    """
    outputs = Draws(mechanism, seed=seed).of_each(np.repeat(sample.ids, draws)).reshape(-1, draws)
    stayed = outputs == sample.ids[:, None]
    halves = [stayed[:, half::2].mean(axis=1) for half in (0, 1)]
    exposed = [most_exposed(half, sample.shares) for half in halves]
    variances = np.square(binomial_error(stayed.sum(axis=1), draws))
    return {
        "average": float(sample.shares @ stayed.mean(axis=1)),
        "worst": float(exposed[0] @ halves[1] + exposed[1] @ halves[0]) / 2,
        "average error": float(np.sqrt(sample.shares**2 @ variances)),
        "worst error": float(np.sqrt(((exposed[0] + exposed[1]) / 2) ** 2 @ variances)),
    }


def read_attacker(
    attacker: Named, setting: Setting, reading: str, way: Way, *, directions: int, seed: int
) -> dict[str, float]:
    """Return what an attacker names in one way, with its standard error."""
    shares = read_named(attacker, setting, way, directions=directions, seed=seed)
    share = shares.share_of(way)
    return {reading: share, f"{reading} error": standard_error(share, shares.tries_of(way))}


def most_exposed(unchanged: Floats, shares: Floats, part: float = EXPOSED) -> Floats:
    """Return the weights, of sum 1, of the words that stay unchanged most often and make up this part of the
    text."""
    order = np.argsort(-unchanged, kind="stable")
    before = np.cumsum(shares[order]) - shares[order]
    weights: Floats = np.empty(len(shares))
    weights[order] = np.clip(part - before, 0.0, shares[order])
    weights /= weights.sum()
    return weights


def kinds_in(embedding: Embedding, ids: Ids) -> Kinds:
    """Return kinds of the words of an embedding; the most frequent words of a text, given as ids, stand
    apart."""
    counts = np.bincount(ids, minlength=len(embedding) + 1)[:-1].astype(np.float64)
    return make_kinds(embedding, frequent=most_frequent_words(counts))


def kinds_by_spelling(embedding: Embedding, kinds: Kinds) -> Callable[[list[str]], Ids]:
    """Return a function that gives the kinds of words as they are spelt; -1 for a word that the embedding
    does not know."""

    def of(words: list[str]) -> Ids:
        found: Ids = kinds.of[np.array(Lookup(embedding).ids(words), dtype=np.int64)]
        return found

    return of


@dataclass(frozen=True, kw_only=True)
class PublicContext:
    """Which words follow one another in the public text, over the words of one embedding; how many documents
    were left out since they are among the compared texts; and a digest of the text."""

    bigrams: Bigrams = field(repr=False)
    left_out: int
    digest: str


def read_context(embedding: Embedding, path: Path, attacked: Iterable[str]) -> PublicContext:
    """Return what is known of a public text, one document a line, without documents that are among the
    attacked texts.

    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if no two words in a row are left.
    """
    cutter, lookup = Cutter(embedding), Lookup(embedding)
    counts, whole = PairCounts(len(embedding) + 1), blake2b(digest_size=16)
    apart, left_out = {digest_of(text) for text in attacked}, 0
    for line in read_documents(path):
        whole.update(line.encode() + b"\n")
        if line.strip() and digest_of(line) in apart:
            left_out += 1
        elif line.strip():
            # A protected word goes in as the word that stands in for it: so it does here.
            counts.add(embedding.stands_in(np.array(lookup.ids(cutter.words(line)), dtype=np.int64)))
    bigrams = counts.smooth()
    if bigrams is None:
        problem = "holds no two words in a row outside of the compared texts; give another public text"
        raise UnusableAuditData(path, problem)
    return PublicContext(bigrams=bigrams, left_out=left_out, digest=whole.hexdigest())
