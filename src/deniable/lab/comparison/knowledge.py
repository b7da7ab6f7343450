"""What attackers of a comparison know beside the texts' own word frequencies: a public text, and kinds of
words.

The public text is read for every embedding, as that embedding cuts it; documents that are part of the
compared texts are left out. Kinds are made once, from the first embedding and the words of the texts, and are
the same for all of them: what kind a word is of must not depend on the space that is judged by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

import numpy as np

from deniable.arrays import Ids
from deniable.audit.inversion.text import digest_of
from deniable.decoding.ngrams import Bigrams, PairCounts
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.kinds import Kinds, make_kinds, most_frequent_words
from deniable.errors import UnusableAuditData
from deniable.words.cutter import Cutter, Lookup
from deniable.words.public_text import read_documents


@dataclass(frozen=True, kw_only=True)
class WordKinds:
    """The kinds of words as they are spelt: those of ``embedding``. What it does not know has none."""

    embedding: Embedding = field(repr=False)
    kinds: Kinds

    def of(self, words: Sequence[str]) -> Ids:
        """Return the kind of each word; -1 where it has none."""
        found: Ids = self.kinds.of[np.array(Lookup(self.embedding).ids(list(words)), dtype=np.int64)]
        return found

    @property
    def digest(self) -> str:
        """What tells these kinds from others, to know saved measurements by."""
        return blake2b(self.kinds.of.tobytes(), digest_size=16).hexdigest()


def make_word_kinds(embedding: Embedding, ids: Ids) -> WordKinds:
    """Return kinds of the words of an embedding; the most frequent words of a text, given as ids, stand
    apart."""
    counts = np.bincount(ids, minlength=len(embedding) + 1)[:-1].astype(np.float64)
    return WordKinds(embedding=embedding, kinds=make_kinds(embedding, frequent=most_frequent_words(counts)))


@dataclass(frozen=True, kw_only=True)
class PublicContext:
    """Which words follow one another in the public text, over the words of one embedding, and what was read
    for it."""

    bigrams: Bigrams = field(repr=False)
    summary: PublicSummary
    digest: str


@dataclass(frozen=True, kw_only=True)
class PublicSummary:
    """The public text that attackers read: its words, and how many documents were left out since they are
    part of the compared texts."""

    source: str
    words: int
    left_out: int


def read_context(embedding: Embedding, path: Path, attacked: Iterable[str]) -> PublicContext:
    """Return what is known of a public text, one document a line, without documents that are among those that
    are attacked.

    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if no two words in a row are left.
    """
    cutter, lookup = Cutter(embedding), Lookup(embedding)
    counts, whole = PairCounts(len(embedding) + 1), blake2b(digest_size=16)
    apart, left_out = {digest_of(text) for text in attacked}, 0
    for line in read_documents(path):
        whole.update(line.encode() + b"\n")
        if not line.strip():
            continue
        if digest_of(line) in apart:
            left_out += 1
            continue
        # A protected word goes in as the word that stands in for it: so it does here.
        counts.add(embedding.stands_in(np.array(lookup.ids(cutter.words(line)), dtype=np.int64)))
    bigrams = counts.smooth()
    if bigrams is None:
        raise UnusableAuditData(
            path,
            "holds no two words in a row that are not part of the compared texts; give another public text",
        )
    summary = PublicSummary(source=path.name, words=int(bigrams.counts.sum()), left_out=left_out)
    return PublicContext(bigrams=bigrams, summary=summary, digest=whole.hexdigest())
