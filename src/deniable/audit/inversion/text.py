"""Running text to attack, and the public text that attackers learn from.

Without a text of one's own, one document in ten of the public text is held back and attacked: its attackers know text of just that kind.
Words are put into groups by what they are, for the report alone; no attacker knows them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.decoding.ngrams import Bigrams, count_bigrams
from deniable.embeddings.embedding import Embedding
from deniable.errors import UnusableAuditData
from deniable.words.cutter import Cutter, Lookup
from deniable.words.public_text import read_lines

GROUPS = ("frequent", "rare", "names", "numbers", "unknown", "others")
MOST_FREQUENT, NOT_RARE = 150, 10_000
"""Frequent are the first so many words, rare those that come after the first so many."""

_HELD_BACK = 10
_SHADOW_DOCUMENTS = 20_000
_ENDS_SENTENCE = frozenset('.!?:;"“”«»()\n\t•|')

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class PublicText:
    """What the attackers have read: how often words stand in it and follow one another, and some documents of it as ids."""

    source: str
    bigrams: Bigrams = field(repr=False)
    documents: list[Ids] = field(repr=False)

    @property
    def words(self) -> int:
        """How many words it has."""
        return int(self.bigrams.counts.sum())


@dataclass(frozen=True, kw_only=True)
class AttackedText:
    """Documents as ids of their words, ``unknown_id`` for ⊥, and whether each word is written as a name is."""

    source: str
    documents: list[Ids] = field(repr=False)
    names: Ids = field(repr=False)

    @property
    def ids(self) -> Ids:
        """The words of all documents, one after the other."""
        return np.concatenate(self.documents)

    def split(self, flat: Ids) -> list[Ids]:
        """Return one number a word as documents again."""
        return np.split(flat, np.cumsum([len(each) for each in self.documents])[:-1])

    def groups(self, embedding: Embedding, shares: Floats) -> Ids:
        """Return the group of each word, as its place in ``GROUPS``; ``shares`` say how frequent the words of the embedding are."""
        order = np.argsort(-shares[: len(embedding)], kind="stable")
        rank = np.empty(len(embedding) + 1, dtype=np.int64)
        rank[order], rank[-1] = np.arange(len(embedding)), -1
        ids = self.ids
        digits = np.array([any(letter.isdigit() for letter in word) for word in embedding.words] + [False])
        chosen = [ids == embedding.unknown_id, digits[ids], rank[ids] < MOST_FREQUENT, np.isin(ids, self.names), rank[ids] >= NOT_RARE]
        names = ("unknown", "numbers", "frequent", "names", "rare")
        return np.select(chosen, [GROUPS.index(name) for name in names], GROUPS.index("others"))


def read_public_text(
    embedding: Embedding, path: Path, *, hold_back: bool, places: int, seed: int
) -> tuple[PublicText, AttackedText | None]:
    """Return what attackers learn from a public text, one document a line, and if some of it is held back, the text to attack.

    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if it holds no two words in a row, or no document is left to attack.
    """
    cutter, lookup, random = Cutter(embedding), Lookup(embedding), np.random.default_rng([seed, 11])
    held, shadow = _Sample[str](places, random), _Sample[Ids](_SHADOW_DOCUMENTS, random)

    def documents() -> Iterator[Ids]:
        for number, line in enumerate(line for line in read_lines(path) if line.strip()):
            if hold_back and number % _HELD_BACK == 0:
                held.offer(line)
                continue
            ids = np.array(lookup.ids(cutter.words(line)), dtype=np.int64)
            shadow.offer(ids)
            yield ids

    bigrams = count_bigrams(documents(), len(embedding) + 1)
    if bigrams is None:
        raise UnusableAuditData(path, "holds no two words in a row in its documents, one a line, so attackers learn nothing from it")
    public = PublicText(source=str(path), bigrams=bigrams, documents=shadow.kept)
    return public, _choose(embedding, held.kept, path, places, random) if hold_back else None


def read_attacked_text(embedding: Embedding, path: Path, *, places: int, seed: int) -> AttackedText:
    """Return documents of a text file, one a line, drawn at random until they have enough words together.

    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if it holds no words.
    """
    random = np.random.default_rng([seed, 13])
    sample = _Sample[str](places, random)
    for line in read_lines(path):
        if line.strip():
            sample.offer(line)
    return _choose(embedding, sample.kept, path, places, random)


def make_attacked_text(embedding: Embedding, documents: list[str], *, source: str = "text") -> AttackedText:
    """Return documents as they would go into a release.

    :raises UnusableAuditData: if they hold no words.
    """
    lookup, cutter, typed = Lookup(embedding), Cutter(embedding), Cutter(embedding, keep_case=True)
    found, capital, small = [], np.zeros(len(embedding) + 1), np.zeros(len(embedding) + 1)
    for document in documents:
        ids = np.array(lookup.ids(cutter.words(document)), dtype=np.int64)
        if not len(ids):
            continue
        found.append(ids)
        words, gaps = typed.words_and_gaps(document)
        if len(words) != len(ids):
            continue
        for place in range(1, len(words)):
            if words[place][0].isalpha() and not _ENDS_SENTENCE & set(gaps[place]):
                (capital if words[place][0].isupper() else small)[ids[place]] += 1.0
    if not found:
        raise UnusableAuditData(source, "holds no words to attack")
    return AttackedText(source=source, documents=found, names=np.flatnonzero(capital > small))


def _choose(embedding: Embedding, documents: list[str], path: Path, places: int, random: np.random.Generator) -> AttackedText:
    cutter, chosen, words = Cutter(embedding), [], 0
    for number in random.permutation(len(documents)).tolist():
        if words >= places:
            break
        chosen.append(documents[number])
        words += len(cutter.words(documents[number]))
    return make_attacked_text(embedding, chosen, source=str(path))


class _Sample(Generic[T]):
    """A random sample of what is offered, of bounded size (a reservoir)."""

    def __init__(self, size: int, random: np.random.Generator) -> None:
        self.kept: list[T] = []
        self._size, self._random, self._offered = size, random, 0

    def offer(self, item: T) -> None:
        self._offered += 1
        if len(self.kept) < self._size:
            self.kept.append(item)
        elif (place := int(self._random.integers(self._offered))) < self._size:
            self.kept[place] = item
