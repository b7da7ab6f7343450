"""The labelled texts of a comparison, cut into words and split into those to learn from and those to test
on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from deniable.embeddings.embedding import Embedding
from deniable.errors import UnusableAuditData
from deniable.measures.texts import Texts
from deniable.measures.texts import cut_texts as cut
from deniable.purposes.public_texts import are_numbers
from deniable.records.reading import LabelledTexts


@dataclass(frozen=True, kw_only=True)
class TextCounts:
    """Texts to learn from, texts to test on, and words to learn from."""

    learn: int
    test: int
    words: int


def cut_texts(found: LabelledTexts, embedding: Embedding, *, longest: int | None) -> Texts:
    """Return labelled texts cut into words as a release cuts them, at most ``longest`` words of each.

    :raises UnusableAuditData: if no text holds a word.
    """
    texts = cut(found.texts, embedding, labels=found.people, longest=longest)
    some = np.flatnonzero(texts.lengths)
    if not len(some):
        raise UnusableAuditData(found.source, "none of its texts holds a word")
    return texts.take(some)


def digest_of(texts: Texts) -> str:
    """Return a digest of labels and words, to know saved measurements by."""
    whole = hashlib.blake2b(digest_size=16)
    for label, words in zip(texts.labels, texts.words, strict=True):
        whole.update(f"{label}\t{' '.join(words)}\n".encode())
    return whole.hexdigest()


def split_texts(
    found: LabelledTexts, *, train: int | None, test: int | None, seed: int
) -> tuple[LabelledTexts, LabelledTexts]:
    """Return texts to learn from and texts to test on, at random: as many as asked for, or half and half.

    :raises UnusableAuditData: if there are too few, labels are numbers and no classes, or the texts to learn
        from have one label only.
    """
    if are_numbers(found.people):
        problem = (
            f"its labels are {len(set(found.people)):,} different numbers, and classes are compared: "
            "join them, such as to low and high"
        )
        raise UnusableAuditData(found.source, problem)
    count = len(found.texts)
    train = count // 2 if train is None else train
    test = count - train if test is None else test
    if train + test > count or not train or not test:
        raise UnusableAuditData(
            found.source,
            f"{train:,} texts to learn from and {test:,} to test on were asked for, and it has {count:,}",
        )
    order = np.random.Generator(np.random.PCG64(seed)).permutation(count)[: train + test].tolist()
    parts = [
        LabelledTexts(
            source=found.source, people=[found.people[i] for i in part], texts=[found.texts[i] for i in part]
        )
        for part in (order[:train], order[train:])
    ]
    if len(set(parts[0].people)) < 2:
        raise UnusableAuditData(
            found.source, "the texts to learn from have one label only; a task needs two or more"
        )
    return parts[0], parts[1]
