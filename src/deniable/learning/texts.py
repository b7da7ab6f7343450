"""Labelled texts as words and ids."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding


@dataclass(frozen=True, kw_only=True)
class Texts:
    """Texts of the task: ``words[i]`` are those of text i, ``labels[i]`` its label. Nothing of it stands in
    messages."""

    words: list[list[str]] = field(repr=False)
    labels: list[str] = field(repr=False)
    ids: Ids = field(repr=False)

    def with_words(self, embedding: Embedding, ids: Ids) -> list[list[str]]:
        """Return the words of the texts with the words of these ids in place of theirs."""
        spelled = iter([embedding.words[i] for i in ids.tolist()])
        return [[next(spelled) for _ in words] for words in self.words]

    @cached_property
    def digest(self) -> str:
        """A digest of labels and words, to know saved measurements by."""
        whole = hashlib.blake2b(digest_size=16)
        for label, words in zip(self.labels, self.words, strict=True):
            whole.update(f"{label}\t{' '.join(words)}\n".encode())
        return whole.hexdigest()
