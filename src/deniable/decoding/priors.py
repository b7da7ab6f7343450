"""How frequent words are: what the adversary knows before anything is released."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from deniable.arrays import Floats
from deniable.embeddings.corpus import Corpus
from deniable.embeddings.embedding import Embedding
from deniable.errors import RecordError, UnusableAuditData
from deniable.words.cutter import Cutter

_MANDELBROT = 2.7


def by_rank(embedding: Embedding) -> Floats:
    """Return 1/(rank + 2.7), scaled to sum 1 (Zipf's law as Mandelbrot wrote it); public embeddings list frequent words first."""
    return _scaled(1.0 / (np.arange(1, len(embedding) + 1, dtype=np.float64) + _MANDELBROT))


def from_corpus(embedding: Embedding, path: Path) -> Floats:
    """Return the words' shares in a text file, one document a line; unknown words are left out.

    :raises UnusableAuditData: if the file holds no known word.
    """
    counts: Counter[str] = Counter()
    for words in Corpus(path, cut=Cutter(embedding).words):
        counts.update(words)
    return _known(embedding, counts, path)


def from_table(embedding: Embedding, path: Path) -> Floats:
    """Return the shares of a file with a word and its count on each line, a tab or spaces between them.

    :raises RecordError: if a line is not that, or the file is not UTF-8.
    :raises UnusableAuditData: if the file holds no known word.
    """
    counts: Counter[str] = Counter()
    try:
        lines = path.read_bytes().decode("utf-8-sig").split("\n")  # other separators may stand in a word
    except UnicodeDecodeError as error:
        raise RecordError(path, f"is not UTF-8 ({error.reason} at byte {error.start:,})") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        word, _, count = line.strip().rpartition("\t" if "\t" in line.strip() else " ")
        try:
            value = float(count)
        except ValueError:
            value = -1.0
        if not word.strip() or not 0.0 <= value < float("inf"):
            raise RecordError(path, "must hold a word and how often it occurs", line=number)
        counts[word.strip()] += value  # type: ignore[assignment]
    return _known(embedding, counts, path)


def _known(embedding: Embedding, counts: Counter[str], path: Path) -> Floats:
    values = np.array([counts.get(word, 0) for word in embedding.words], dtype=np.float64)
    if not np.isfinite(values.sum()):
        raise UnusableAuditData(path, "its counts are too large to be added up")
    if not values.sum() > 0.0:
        raise UnusableAuditData(path, f"none of its words is in the embedding {embedding.name!r}")
    return _scaled(values)


def _scaled(values: Floats) -> Floats:
    shares: Floats = values / values.sum()
    return shares
