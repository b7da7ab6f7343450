"""One version of all texts, the original or a release of it, as learners read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import Mechanism
from deniable.learning.passages import Passages, passages_of
from deniable.learning.perturbation import draw
from deniable.release.policies import TextPolicy
from deniable.words.cutter import Cutter


@dataclass(frozen=True, kw_only=True)
class Version:
    """Every text as words, and as ids of the embedding (in which all unknown words of the original are one).

    ``counts`` is how often each word stands in each text, or is expected there: sparse, one row a text, a
    column for each word of the embedding and one for ⊥. Only learners that read counts need it.
    """

    words: list[list[str]] = field(repr=False)
    passages: Passages
    counts: Any = field(default=None, repr=False)


def original_version(texts: list[str], embedding: Embedding) -> Version:
    """Return the texts as they are, cut into words and folded as a release does it."""
    cutter = Cutter(embedding)
    words = [cutter.words(text) for text in texts]
    return Version(words=words, passages=passages_of(texts, embedding, TextPolicy()))


def released_version(original: Version, mechanism: Mechanism, *, threads: int = 1) -> Version:
    """Return the texts after a release with secure noise. They are for learning in memory, never to be
    written."""
    passages = draw(original.passages, mechanism, threads=threads)
    vocabulary, ids, offsets = mechanism.embedding.words, passages.ids.tolist(), passages.offsets.tolist()
    words = [[vocabulary[i] for i in ids[start:end]] for start, end in pairwise(offsets)]
    return Version(words=words, passages=passages)


Classify = Callable[[Version, Ids], Ids]
"""Returns the classes of the texts of a version at some places."""


class Learner(Protocol):
    """Learns classes from the texts of a version at some places."""

    name: str

    def learn(self, version: Version, places: Ids, labels: Ids, *, seed: int) -> Classify:
        """Return what classifies texts after learning from those at ``places``; ``labels`` are those of all
        texts."""
        ...
