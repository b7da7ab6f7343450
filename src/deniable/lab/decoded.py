"""Released text as an informed attacker reads it: decoded first, by the public channel and frequencies learnt
from the release itself.

An attack that takes released words as they stand is weaker than it need be. Decoding costs no privacy, since
it only looks at what was released, so every attacker can do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deniable.audit.draws import Users
from deniable.channel.channel import Channel
from deniable.channel.making import make_channels
from deniable.decoding.channel_decoder import UNKNOWN, ChannelDecoder
from deniable.decoding.ngrams import Bigrams, read_bigrams
from deniable.decoding.priors import SUPPORT, first_shares, most_frequent
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count
from deniable.progress import Report


@dataclass(frozen=True, kw_only=True)
class Decoding:
    """How an attacker decodes: how many words it thinks of, how well it knows the channel, and the public
    text it has read, if any."""

    support: int = SUPPORT
    directions: int = 300
    public: Path | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that are not allowed.

        :raises InvalidParameter: if one is not a whole number of at least 1.
        """
        for name in ("support", "directions"):
            validated_count(getattr(self, name), name)


USUAL = Decoding()
"""How audits decode unless told otherwise."""


class ReleaseDecoders:
    """Makes a decoder for each release of one mechanism, at several ε."""

    def __init__(
        self,
        embedding: Embedding,
        mechanism: ChosenMechanism,
        epsilons: Sequence[float],
        decoding: Decoding,
        *,
        report: Report | None = None,
    ) -> None:
        """Make the channels; ``report`` is told how many rows are done, of how many.

        :raises RecordError: if the public text cannot be read.
        :raises UnusableAuditData: if it holds no two words in a row.
        """
        self._context: Bigrams | None = (
            None if decoding.public is None else read_bigrams(embedding, decoding.public)
        )
        inputs = np.append(most_frequent(embedding, self._context, decoding.support), embedding.unknown_id)
        made = make_channels(
            embedding,
            mechanism,
            epsilons=list(epsilons),
            inputs=inputs,
            directions=decoding.directions,
            report=report,
        )
        self._channels: dict[float, Channel] = dict(zip(epsilons, made, strict=True))

    def learn(self, epsilon: float, released: Sequence[str]) -> ChannelDecoder:
        """Return a decoder that has learnt from a release at this ε how frequent words are behind it."""
        channel = self._channels[epsilon]
        return ChannelDecoder.learn_from(
            channel, released, start=first_shares(channel, self._context), context=self._context
        )


def decode_users(decoder: ChannelDecoder, users: Users) -> Users:
    """Return users' released words decoded, each by the likeliest word behind it."""
    words = [*decoder.channel.embedding.words, UNKNOWN]
    decoded = decoder.likeliest([" ".join(text) for texts in users for text in texts])
    return [[[words[i] for i in next(decoded).tolist()] for _ in texts] for texts in users]
