"""What the receiver of a release makes of its texts before learning from them: how often each word is
expected behind them.

It knows the released texts, all of them and no label, the embedding, the mechanism and ε. How frequent words
are behind the release is learnt from the release itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Ids
from deniable.channel.channel import Channel
from deniable.channel.making import DIRECTIONS, make_channel, make_channels
from deniable.decoding.channel_decoder import ChannelDecoder
from deniable.decoding.priors import SUPPORT, first_shares
from deniable.embeddings.embedding import Embedding
from deniable.learning.version import Version
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.words.released import ReleasedWords

_STEPS = 60
"""How often the shares of words are improved at most. Many releases are decoded here; later steps do not
change what models learn."""


@dataclass(frozen=True, kw_only=True)
class DecodingEffort:
    """How finely a receiver knows the channel: which words may have gone in, and how many directions, points
    or draws there are of each."""

    support: int = SUPPORT
    directions: int = DIRECTIONS

    def __post_init__(self) -> None:
        validated_count(self.support, "support")
        validated_count(self.directions, "directions")


def input_words(embedding: Embedding, effort: DecodingEffort) -> Ids:
    """Return the words that may have gone in: the first ``effort.support`` of the embedding, and ⊥."""
    return np.append(np.arange(min(effort.support, len(embedding)), dtype=np.int64), embedding.unknown_id)


def open_channels(
    embedding: Embedding,
    mechanism: ChosenMechanism,
    epsilons: Sequence[float],
    effort: DecodingEffort,
    *,
    keep: bool = True,
    report: Report | None = None,
) -> dict[float, Channel]:
    """Return the channels at several ε: from the first ``effort.support`` words of the embedding and ⊥ to all
    words.

    ``keep`` leaves them on the disk for the next run; ``report`` hears how many rows are made, of how many.
    """
    inputs = None if effort.support >= len(embedding) else input_words(embedding, effort)
    made = make_channels(
        embedding,
        mechanism,
        epsilons=list(epsilons),
        inputs=inputs,
        directions=effort.directions,
        keep=keep,
        report=report,
    )
    return dict(zip(epsilons, made, strict=True))


def open_channel_of(
    embedding: Embedding,
    mechanism: ChosenMechanism,
    epsilon: float,
    effort: DecodingEffort,
    released: Sequence[Version],
    *,
    report: Report | None = None,
) -> Channel:
    """Return the channel at one ε from the words that may have gone in to those of some releases."""
    counts = ReleasedWords(embedding).count(
        " ".join(words) for release in released for words in release.words
    )
    outputs = np.flatnonzero(counts.learn + counts.hold)
    return make_channel(
        embedding,
        mechanism,
        epsilon=epsilon,
        inputs=input_words(embedding, effort),
        outputs=outputs,
        directions=effort.directions,
        keep=False,
        report=report,
    )


def whole_counts(ids: Ids | NDArray[np.int32], offsets: Ids, embedding: Embedding) -> Any:
    """Return how often each word stands in each text: one row a text, a column for each word and the last one
    for ⊥."""
    from scipy.sparse import csr_array

    # Copies: sums are made in place.
    counts = csr_array(
        (np.ones(len(ids)), ids.astype(np.int64), offsets.copy()),
        shape=(len(offsets) - 1, len(embedding) + 1),
    )
    counts.sum_duplicates()
    return counts


def expected_counts(released: Sequence[list[str]], channel: Channel) -> Any:
    """Return how often each word is expected behind the words of each released text, in the columns of
    ``whole_counts``."""
    from scipy.sparse import csr_array

    texts = [" ".join(words) for words in released]
    decoder = ChannelDecoder.learn_from(channel, texts, start=first_shares(channel), most_steps=_STEPS)
    expected = decoder.expected_counts(texts)
    columns = decoder.inputs[expected.indices]
    counts = csr_array(
        (expected.data, columns, expected.indptr), shape=(len(texts), len(channel.embedding) + 1)
    )
    counts.sort_indices()
    return counts


def counted_version(original: Version, embedding: Embedding) -> Version:
    """Return original texts with the counts of their words."""
    return replace(original, counts=whole_counts(original.passages.ids, original.passages.offsets, embedding))


def decoded_version(released: Version, channel: Channel) -> Version:
    """Return released texts with the counts that are expected behind them."""
    return replace(released, counts=expected_counts(released.words, channel))
