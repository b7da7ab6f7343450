"""Released text as its receiver has it: a file and a card. Reads both, and says so if they do not belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.making import DIRECTIONS, make_channel
from deniable.decoding.shares import LearntShares, learn_shares
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, UnusableAuditData
from deniable.progress import Report
from deniable.records.labelled import ReadingOptions, labelled_records, text_records
from deniable.text.card import Card
from deniable.words.cutter import Cutter, Lookup

if TYPE_CHECKING:
    from scipy.sparse import csr_array

INPUT_WORDS = 20_000
"""How many words, the most frequent of the embedding, may stand behind a released one, unless told otherwise. ⊥ always may."""

MOST_STRANGE = 0.02
"""More words than this that no release can hold mean that the text was not released with this embedding."""

FURTHEST_APART = 0.25
"""A release is at most this far, in nats a word, from what the channel can give, beyond what chance makes."""

_HELD_OUT = 5
_SEED = 8


@dataclass(frozen=True, kw_only=True)
class Released:
    """Records of released text: ids of their words, one array each, and the group of each record if one was asked for."""

    source: str
    records: list[Ids] = field(repr=False)
    groups: list[str] | None = field(default=None, repr=False)
    missing: int = 0

    @property
    def words(self) -> int:
        """How many words were released."""
        return sum(map(len, self.records))

    def counts(self, words: int) -> csr_array:
        """Return how often each record holds each word, one row a record."""
        from scipy.sparse import csr_array

        starts = np.cumsum([0, *map(len, self.records)])
        flat = np.concatenate([*self.records, np.zeros(0, dtype=np.int64)])
        counts = csr_array((np.ones(len(flat)), flat, starts), shape=(len(self.records), words))
        counts.sum_duplicates()
        return counts


def read_released(
    path: Path, embedding: Embedding, *, column: str | None = None, by: str | None = None, **reading: Unpack[ReadingOptions]
) -> Released:
    """Return the released texts of a file as ids; ``by`` is the column that says the group of a record.

    :raises InvalidParameter: if a column is not there.
    :raises RecordError: if the file cannot be read.
    :raises UnusableAuditData: if it holds no text, or text that was not released with this embedding.
    """
    if by is None:
        pairs = [("", text) for text in text_records(path, text_column=column, **reading)]
    elif column is None:
        raise InvalidParameter("column", None, "name the column of the released text")
    else:
        pairs = list(labelled_records(path, label_column=by, text_column=column, **reading))
    return released_from(
        [text for _, text in pairs], embedding, groups=None if by is None else [group for group, _ in pairs], source=str(path)
    )


def released_from(
    texts: Sequence[str | None], embedding: Embedding, *, groups: list[str] | None = None, source: str = "the text"
) -> Released:
    """Return released texts as ids.

    :raises UnusableAuditData: if they hold no word, or many that no release with this embedding can hold.
    """
    cutter, lookup = Cutter(embedding), Lookup(embedding)
    ids = [np.array(lookup.ids(cutter.words(text or "")), dtype=np.int64) for text in texts]
    known = [each[each != embedding.unknown_id] for each in ids]
    words, strange = sum(map(len, ids)), sum(map(len, ids)) - sum(map(len, known))
    if not words:
        raise UnusableAuditData(source, "holds no word, so there is nothing to decode")
    if strange > MOST_STRANGE * words:
        raise UnusableAuditData(
            source,
            f"{strange:,} of its {words:,} words are not words of the embedding {embedding.name!r}, and cannot have been released with it; "
            "name the right file, column or card",
        )
    return Released(source=source, records=known, groups=groups, missing=strange)


def open_channel(
    card: Card, embedding: Embedding, *, words: int = INPUT_WORDS, directions: int = DIRECTIONS, report: Report | None = None
) -> Channel:
    """Return the channel of a card: from the disk if it was made before, else it is made now.

    :raises InvalidParameter: if the card names no mechanism, or each record had an ε of its own.
    """
    if card.record_epsilon is not None:
        problem = "every record was released with an ε of its own (a budget per record), which cannot be decoded yet"
        raise InvalidParameter("card", card.record_epsilon, problem)
    if card.mechanism is None:
        raise InvalidParameter("card", card.kind, "is a mechanism of the data holder's own, which a card cannot name")
    inputs = np.append(np.arange(min(words, len(embedding))), embedding.unknown_id)
    return make_channel(embedding, card.mechanism, epsilon=card.epsilon, inputs=inputs, directions=directions, report=report)


def learn_prior(
    channel: Channel, released: Released, *, start: Floats | None = None, weight: float = 0.0, seed: int = 0, report: Report | None = None
) -> LearntShares:
    """Return the shares of the words behind the released records, learnt with one record in five held back.

    :raises UnusableAuditData: if the text cannot have come out of the channel.
    """
    counts = released.counts(len(channel.embedding))
    held = np.random.Generator(np.random.PCG64(seed)).permutation(counts.shape[0]) % _HELD_OUT == 0
    learn, hold = (np.asarray(counts[np.flatnonzero(part)].sum(axis=0)).ravel() for part in (~held, held))
    if not learn.sum():
        learn, hold = learn + hold, np.zeros_like(hold)
    found = learn_shares(channel, learn, held_out=hold if hold.any() else None, start=start, weight=weight, report=report)
    apart = distance_from_channel(channel, learn + hold, found.shares)
    if apart > FURTHEST_APART:
        raise UnusableAuditData(
            released.source,
            f"its words are {apart:.2f} nats each from anything that this mechanism makes at ε = {channel.epsilon:g}: the text was not "
            "released with this card, or not released at all",
        )
    return found


def distance_from_channel(channel: Channel, observed: Floats, shares: Floats) -> float:
    """Return how far observed words are from what the channel makes of input words with these shares, in nats a word.

    It is the relative entropy of the observed to the expected shares, less that of as many words drawn from the expected shares.
    """
    expected = channel.output_shares(shares)
    expected /= expected.sum()
    drawn = np.random.Generator(np.random.PCG64(_SEED)).multinomial(round(float(observed.sum())), expected)
    return _relative_entropy(observed, expected) - _relative_entropy(drawn.astype(np.float64), expected)


def _relative_entropy(counts: Floats, expected: Floats) -> float:
    shares = counts[counts > 0.0] / counts.sum()
    return float((shares * np.log(shares / expected[counts > 0.0])).sum())
