"""How frequent words are: what the adversary knows before anything is released."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.atomic import read_plain_file
from deniable.channel.channel import Channel
from deniable.decoding.ngrams import Bigrams
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, RecordError, UnusableAuditData
from deniable.words.cutter import Cutter
from deniable.words.frequency import FROM_RANKS, UNKNOWN_SHARE, as_shares, shares_of_all
from deniable.words.public_text import read_documents

SUPPORT = 20_000
"""How many words of the embedding may have gone in, by default: the most frequent ones."""

BY_RANK, UNIFORM = "rank", "uniform"
"""What may be known of words before a release is read, beside a file of counts."""

_LONGEST = 1 << 27


def known_before(embedding: Embedding, prior: str | Path, context: Bigrams | None = None) -> Floats:
    """Return the shares of all words and ⊥ before a release is read.

    ``prior`` is "rank", as ``shares_of_all`` has them, "uniform", or a file with a word and its count on each
    line.

    :raises InvalidParameter: if it is none of these.
    :raises RecordError: if a line of the file is something else.
    :raises UnusableAuditData: if the file holds no known word.
    """
    if prior == BY_RANK:
        return shares_of_all(embedding, None if context is None else context.counts)
    if prior == UNIFORM:
        return as_shares(np.ones(len(embedding) + 1))
    if not Path(prior).is_file():
        raise InvalidParameter(
            "prior", str(prior), 'must be "rank", "uniform" or a file with a word and its count on each line'
        )
    listed = np.append((1.0 - UNKNOWN_SHARE) * from_table(embedding, Path(prior)), UNKNOWN_SHARE)
    mixed: Floats = (1.0 - FROM_RANKS) * listed + FROM_RANKS * shares_of_all(embedding)
    return mixed


def first_shares(channel: Channel, context: Bigrams | None = None) -> Floats:
    """Return the shares of a channel's input words to begin with, as ``shares_of_all`` has them."""
    return as_shares(
        shares_of_all(channel.embedding, None if context is None else context.counts)[channel.inputs]
    )


def most_frequent(embedding: Embedding, context: Bigrams | None, support: int) -> Ids:
    """Return the words that the public text has most often, and then the first ones of the embedding."""
    counts = np.zeros(len(embedding)) if context is None else context.counts[:-1]
    order: Ids = np.argsort(-counts, kind="stable")
    return order[:support]


def from_corpus(embedding: Embedding, path: Path) -> Floats:
    """Return the words' shares in a text file, one document a line; unknown words are left out.

    :raises RecordError: as ``read_documents`` does.
    :raises UnusableAuditData: if the file holds no known word.
    """
    counts, cutter = Counter[str](), Cutter(embedding)
    for text in read_documents(path):
        counts.update(cutter.words(text))
    return _known(embedding, counts, path)


def from_table(embedding: Embedding, path: Path) -> Floats:
    """Return the shares of a file with a word and its count on each line, a tab or spaces between them.

    :raises RecordError: if a line is not that, or the file is not UTF-8.
    :raises UnusableAuditData: if the file holds no known word.
    """
    counts: Counter[str] = Counter()
    try:
        content = read_plain_file(
            path, longest=_LONGEST, what="table of counts", error=RecordError, pipe=True
        )
        lines = content.decode("utf-8-sig").split("\n")  # other separators may stand in a word
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
    return as_shares(values)
