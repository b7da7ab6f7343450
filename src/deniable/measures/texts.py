"""Texts as a release cuts them: word ids laid end to end, and what else is known of each text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ids
from deniable.embeddings.embedding import Embedding
from deniable.words.cutter import Cutter


@dataclass(frozen=True, kw_only=True, eq=False)
class Texts:
    """Text ``i`` is ``ids[offsets[i]:offsets[i + 1]]``, with ``unknown_id`` for an unknown word.

    ``spelled`` are the words of all texts, folded as the embedding folds them, or empty. ``labels`` has one
    label for each text, or is empty. Messages never quote a text.
    """

    ids: NDArray[Any] = field(repr=False)
    offsets: Ids = field(repr=False)
    spelled: Sequence[str] = field(default=(), repr=False)
    labels: Sequence[str] = field(default=(), repr=False)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.offsets) - 1

    @property
    def lengths(self) -> Ids:
        """The number of words of each text."""
        return np.diff(self.offsets)

    @cached_property
    def words(self) -> list[list[str]]:
        """The written words of each text."""
        return [list(self.spelled[start:end]) for start, end in pairwise(self.offsets.tolist())]

    def split(self, flat: Ids) -> list[Ids]:
        """Return one number for each word as one array for each text."""
        return np.split(flat, self.offsets[1:-1])

    def places(self, texts: Ids, *, longest: int | None = None) -> Ids:
        """Return the places of the words of some texts in ``ids``, one text after the other, of each at most
        the first ``longest``."""
        lengths = self._lengths_of(texts, longest)
        before = np.cumsum(lengths) - lengths
        return np.repeat(self.offsets[texts] - before, lengths) + np.arange(int(lengths.sum()))

    def _lengths_of(self, texts: Ids, longest: int | None) -> Ids:
        lengths = self.lengths[texts]
        return lengths if longest is None else np.minimum(lengths, longest)

    def take(self, texts: Ids, *, longest: int | None = None) -> Texts:
        """Return some of the texts, in this order, at most the first ``longest`` words of each."""
        places, lengths = self.places(texts, longest=longest), self._lengths_of(texts, longest)
        return Texts(
            ids=self.ids[places],
            offsets=np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)]),
            spelled=[self.spelled[place] for place in places.tolist()] if len(self.spelled) else (),
            labels=[self.labels[text] for text in texts.tolist()] if len(self.labels) else (),
        )

    def released(self, ids: Ids, embedding: Embedding) -> Texts:
        """Return texts with other words, for measuring in memory, never to be written."""
        words = embedding.words
        return Texts(
            ids=ids, offsets=self.offsets, spelled=[words[i] for i in ids.tolist()], labels=self.labels
        )


def cut_texts(
    texts: Sequence[str], embedding: Embedding, *, labels: Sequence[str] = (), longest: int | None = None
) -> Texts:
    """Return texts cut into words as a release cuts them, at most ``longest`` words of each.

    A text without words stays, with length 0.
    """
    cutter = Cutter(embedding)
    words = [cutter.words(text)[:longest] for text in texts]
    spelled = [word for each in words for word in each]
    return Texts(
        ids=np.array(cutter.ids(spelled, folded=cutter.folds), dtype=np.int64),
        offsets=np.cumsum([0, *map(len, words)], dtype=np.int64),
        spelled=spelled,
        labels=labels,
    )


def join_texts(first: Texts, second: Texts) -> Texts:
    """Return the texts of both, one after the other."""
    return Texts(
        ids=np.concatenate([first.ids, second.ids]),
        offsets=np.concatenate([first.offsets, second.offsets[1:] + first.offsets[-1]]),
        spelled=[*first.spelled, *second.spelled],
        labels=[*first.labels, *second.labels],
    )
