"""What privacy is at one ε: the readings of a mechanism on one task in one embedding, what attackers know for
them, and what mechanisms are brought to.

Privacy is read in ways that mean the same for every mechanism:

- ``average``: the share of the words of the text that come out unchanged (N_w, averaged as words occur).
- ``worst``: the average N_w of the most exposed 1 % of the words of the text.
- ``adversary``: how often the Bayes attacker names the word, if it is one of a sample.
- ``named``: how often the Bayes attacker over all words of the text names the word (``audit.named``, by
  spelling); the same for every embedding too.
- ``context``: the same, where it also reads each word beside its neighbours, with bigrams of a public text;
  the better of the two ways.
- ``kinds``: how often it tells of what kind a less frequent word was; in the better of the two ways too, if
  there is a public text.

An unknown word never comes out as itself, so it counts as changed; a protected word counts as the word that
stands in for it.

Kinds of words are made once, from the first embedding and the words of the texts, and are the same for all
embeddings: what kind a word is of must not depend on the space that is judged by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.text import digest_of
from deniable.audit.named import WAYS, Named, Way
from deniable.channel.distribution import binomial_error
from deniable.channel.draws import Draws
from deniable.decoding.ngrams import Bigrams, PairCounts
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.kinds import Kinds
from deniable.errors import InvalidParameter, UnusableAuditData
from deniable.measures.catalogue import Setting
from deniable.measures.estimate import Estimate
from deniable.measures.texts import Texts
from deniable.parameters import validated_count
from deniable.utility.accuracy import DecodingEffort
from deniable.words.cutter import Cutter
from deniable.words.public_text import read_documents

Name = Literal["average", "worst", "adversary"] | Way
NAMES: tuple[Name, ...] = ("average", "worst", "adversary", *WAYS)


@dataclass(frozen=True, kw_only=True)
class Target:
    """A reading that all mechanisms are to have."""

    reading: Name
    value: float


@dataclass(frozen=True, kw_only=True)
class ReadingEffort:
    """How many draws of each word, words that the adversary is judged on, and directions of a channel."""

    draws: int
    judged: int
    directions: int = 100

    def __post_init__(self) -> None:
        validated_count(self.draws, "draws", at_least=2)
        validated_count(self.judged, "judged")
        validated_count(self.directions, "directions")


TOLERANCE: Mapping[Name, float] = {
    "average": 0.01,
    "worst": 0.03,
    "adversary": 0.015,
    "named": 0.005,
    "context": 0.01,
    "kinds": 0.01,
}
"""How far what is reached may be from what is wanted: about two standard errors of a thorough reading."""

QUICK = ReadingEffort(draws=30, judged=3_000, directions=60)
THOROUGH = ReadingEffort(draws=120, judged=8_000, directions=300)

TARGETS = (
    Target(reading="average", value=0.1),
    Target(reading="average", value=0.3),
    Target(reading="worst", value=0.5),
    Target(reading="adversary", value=0.2),
    Target(reading="adversary", value=0.4),
)
"""What mechanisms are brought to unless other targets are given."""
ATTACKERS = (Target(reading="named", value=0.1), Target(reading="named", value=0.2))
"""The same for several embeddings: one attacker over all words of the text."""
DECODING = DecodingEffort(support=10_000, directions=300)
"""How finely receivers know the channel by default: many channels are made, so they are coarser
than those of one release."""


@dataclass(frozen=True, kw_only=True)
class ComparisonSettings:
    """How a comparison is made: targets, releases at each ε, words that privacy is read on, and effort.
    Without ``decoding`` released text is read as released only; ``public`` is a text for the attacker in
    context."""

    targets: tuple[Target, ...] = TARGETS
    runs: int = 2
    words: int = 1_000
    seed: int = 0
    quick: ReadingEffort = QUICK
    thorough: ReadingEffort = THOROUGH
    decoding: DecodingEffort | None = DECODING
    public: Path | None = None

    def __post_init__(self) -> None:
        validated_count(self.runs, "runs")
        validated_count(self.words, "words")
        validated_count(self.seed, "seed", at_least=0)
        if not self.targets:
            raise InvalidParameter("targets", "none", "give at least one reading for all mechanisms")
        readings = {target.reading for target in self.targets}
        if "context" in readings and self.public is None:
            problem = "the reading context needs a public text, one document a line: give public too"
            raise InvalidParameter("public", "none", problem)
        if self.public is not None and not readings & {"context", "kinds"}:
            problem = "is read for the readings context and kinds only: give such a target too"
            raise InvalidParameter("public", str(self.public), problem)


EXPOSED = 0.01
_PAIRS = 20_000


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The distinct words of a sample of the text, their shares, and the mean distance of two words of the
    text."""

    embedding: Embedding = field(repr=False)
    ids: Ids
    shares: Floats
    typical: float

    @property
    def guess(self) -> float:
        """How often a blind guess names one of the words."""
        return float(self.shares.max())

    def adversary(self, judged: int) -> Named:
        """Return the Bayes attacker who knows that the word is one of the sample. ⊥ is a word like any
        other."""
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


@dataclass(frozen=True, kw_only=True)
class SampleUnchanged:
    """The measure ``average``, or ``worst`` if only the most ``exposed`` words count. These are chosen on one
    half of the draws and judged on the other, so that luck does not look like exposure."""

    sample: Sample
    draws: int
    exposed: bool = False

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:  # noqa: ARG002 - it has words of its own
        """Return the share of the words of the sample that stay unchanged."""
        ids, weights = self.sample.ids, self.sample.shares
        outputs = Draws(setting.mechanism_at_epsilon, seed=seed).of_each(np.repeat(ids, self.draws))
        stayed = outputs.reshape(-1, self.draws) == ids[:, None]
        share = float(weights @ stayed.mean(axis=1))
        if self.exposed:
            halves = [stayed[:, half::2].mean(axis=1) for half in (0, 1)]
            first, second = (most_exposed(half, self.sample.shares) for half in halves)
            share, weights = float(first @ halves[1] + second @ halves[0]) / 2, (first + second) / 2
        variances = np.square(binomial_error(stayed.sum(axis=1), self.draws))
        error = float(np.sqrt(weights**2 @ variances))
        return Estimate.of_share(share, error, blind=0.0, statement="words of the text released unchanged")


def most_exposed(unchanged: Floats, shares: Floats, part: float = EXPOSED) -> Floats:
    """Return weights, of sum 1, of the words that stay unchanged most often and make up this part of the
    text."""
    order = np.argsort(-unchanged, kind="stable")
    before = np.cumsum(shares[order]) - shares[order]
    weights: Floats = np.empty(len(shares))
    weights[order] = np.clip(part - before, 0.0, shares[order])
    weights /= weights.sum()
    return weights


def kinds_by_spelling(embedding: Embedding, kinds: Kinds) -> Callable[[list[str]], Ids]:
    """Return a function that gives the kinds of words as they are spelt; -1 for an unknown word."""

    def of(words: list[str]) -> Ids:
        found: Ids = kinds.of[np.array(Cutter(embedding).ids(words), dtype=np.int64)]
        return found

    return of


@dataclass(frozen=True, kw_only=True)
class PublicContext:
    """Which words follow one another in a public text, and how many documents were left out."""

    source: str
    bigrams: Bigrams = field(repr=False)
    left_out: int

    @property
    def summary(self) -> dict[str, str | int]:
        """Which text it is, its words, and how many documents were left out."""
        return {"source": self.source, "words": int(self.bigrams.counts.sum()), "left_out": self.left_out}


def read_context(embedding: Embedding, path: Path, attacked: Iterable[str]) -> PublicContext:
    """Return what is known of a public text, without documents that are among the attacked texts.

    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if no two words in a row are left.
    """
    cutter = Cutter(embedding)
    counts = PairCounts(len(embedding) + 1)
    apart, left_out = {digest_of(text) for text in attacked}, 0
    for line in read_documents(path):
        if line.strip() and digest_of(line) in apart:
            left_out += 1
        elif line.strip():
            # A protected word goes in as the word that stands in for it: so it does here.
            counts.add(embedding.stands_in(np.array(cutter.ids(cutter.words(line)), dtype=np.int64)))
    bigrams = counts.smooth()
    if bigrams is None:
        problem = "holds no two words in a row outside of the compared texts; give another public text"
        raise UnusableAuditData(path, problem)
    return PublicContext(source=path.name, bigrams=bigrams, left_out=left_out)
