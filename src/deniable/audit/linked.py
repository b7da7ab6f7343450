"""Linking: how often does a released text lead back to its original, or to the person who wrote it?

The attacker holds the original texts of N people (or N records) and their released texts, and looks for the
right original behind each released one. It compares TF-IDF vectors of the words, of the released words as
they are or of the words expected behind them, and mean vectors of the embedding. Guessing blindly finds one
in N. The best reader is the one that counts; it is chosen after the fact, which can only overstate the risk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.results import NO_BOUND
from deniable.audit.shares import Share, share_of
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.decoding.channel_decoder import ChannelDecoder
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.measures.catalogue import Setting
from deniable.measures.estimate import Estimate
from deniable.measures.texts import Texts
from deniable.utility.accuracy import decoded_counts, whole_counts
from deniable.utility.classifiers import SoftTfidf

FIRST_FEW = 10
MOST_RECORDS = 1_000
"""How many records or persons are candidates at most."""

_TIE = 1e-12


@dataclass(frozen=True, kw_only=True)
class Linked:
    """How often the right one of ``candidates`` comes first, or among the first ten, for the best reader."""

    reader: str
    first: float
    among_first_few: float
    tries: int
    candidates: int

    @property
    def share(self) -> Share:
        """How often the right one comes first, with its 95 % interval."""
        return share_of(round(self.first * self.tries), self.tries)

    @property
    def blind(self) -> float:
        """How often a guess without the release is right."""
        return 1.0 / self.candidates

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON-ready data."""
        ends = {"low": self.share.low, "high": self.share.high}
        return {**asdict(self), **ends, "blind": self.blind, "bound": NO_BOUND}


@dataclass(frozen=True, kw_only=True)
class ShareLinked:
    """The measure: the share of released texts, or of persons ``by_label``, whose original the best reader
    finds among all. The decoding reader knows which words stand in the originals."""

    by_label: bool = False

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:
        """Return the share in one release of the texts. The noise is from the seed, for measuring in memory
        only.

        :raises InvalidParameter: if there are fewer than two texts or persons.
        """
        embedding = setting.embedding
        released = texts.released(
            Draws(setting.mechanism_at_epsilon, seed=seed).of_each(texts.ids), embedding
        )
        channel = make_channel(
            embedding,
            setting.mechanism,
            epsilon=setting.epsilon,
            inputs=np.union1d(texts.ids, [embedding.unknown_id]),
            outputs=np.unique(released.ids),
            keep=False,
        )
        decoder = ChannelDecoder.learn_from(channel, [" ".join(words) for words in released.words])
        people = texts.labels if self.by_label else None
        found = linked_texts(texts, released, decoder, embedding, people=people)
        if found is None:
            raise InvalidParameter("texts", "fewer than 2", "leave nothing to link")
        return Estimate(
            value=found.share.value,
            low=found.share.low,
            high=found.share.high,
            blind=found.blind,
            statement=f"{'persons' if self.by_label else 'texts'} linked to their originals",
        )


def linked_texts(
    original: Texts,
    released: Texts,
    decoder: ChannelDecoder,
    embedding: Embedding,
    *,
    people: Sequence[str] | None = None,
) -> Linked | None:
    """Return what the best reader links among the first texts, or the first ``people`` (whose each text is):
    words as released, decoded words, or mean vectors of both; None if there are fewer than two."""
    from scipy.sparse import csr_array

    before = csr_array(whole_counts(original.ids, original.offsets, embedding))
    after = csr_array(whole_counts(released.ids, released.offsets, embedding))
    decoded = decoded_counts(decoder, [" ".join(words) for words in released.words], embedding)
    if people is not None:
        of = np.unique(np.array(people), return_inverse=True)[1]
        gather = csr_array((np.ones(len(of)), (of, np.arange(len(of)))))
        before, after, decoded = gather @ before, gather @ after, gather @ decoded
    before, after, decoded = (rows[:MOST_RECORDS] for rows in (before, after, decoded))
    vectors = np.vstack([embedding.vectors, embedding.unknown[None, :]]).astype(np.float64)
    return linked(before, {"words as released": after, "decoded words": decoded}, vectors=vectors)


def linked(originals: Any, readings: Mapping[str, Any], *, vectors: Floats | None = None) -> Linked | None:
    """Return what the best reader links; None if there are fewer than two texts.

    ``originals`` are word counts of the original texts, a row a text, and each of ``readings`` those of the
    released texts as one reader has them, in the same order. With ``vectors``, one for each column, the mean
    vectors of each reading are compared too.

    :raises InvalidParameter: if a reading is of another number of texts.
    """
    count = originals.shape[0]
    if count < 2:
        return None
    found, weights = [], SoftTfidf().fit(originals)
    for name, counts in readings.items():
        if counts.shape != originals.shape:
            raise InvalidParameter("readings", name, f"must have {count:,} texts, as the originals have")
        found.append(_judge(name, weights.transform(originals), weights.transform(counts)))
        if vectors is not None:
            means = (_unit_rows(originals @ vectors), _unit_rows(counts @ vectors))
            found.append(_judge(f"{name}, mean vectors", *means))
    return max(found, key=lambda each: (each.first, each.among_first_few))


def _judge(name: str, originals: Any, released: Any) -> Linked:
    firsts, few = [], []
    for start in range(0, released.shape[0], 512):
        scores = released[start : start + 512] @ originals.T
        dense: Floats = scores.toarray() if hasattr(scores, "toarray") else np.asarray(scores)
        places: Ids = np.arange(start, start + len(dense))
        own = dense[np.arange(len(dense)), places][:, None]
        alike = np.abs(dense - own) <= _TIE  # ties are guessed
        above, alike = ((dense > own) & ~alike).sum(axis=1), alike.sum(axis=1)
        firsts.append((above == 0) / alike)
        few.append(np.clip((FIRST_FEW - above) / alike, 0.0, 1.0))
    return Linked(
        reader=name,
        first=float(np.concatenate(firsts).mean()),
        among_first_few=float(np.concatenate(few).mean()),
        tries=released.shape[0],
        candidates=released.shape[0],
    )


def _unit_rows(rows: Floats) -> Floats:
    scaled: Floats = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return scaled
