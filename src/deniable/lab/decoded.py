"""Released text as an informed attacker reads it: decoded first, by the public channel and frequencies learnt
from the release itself.

An attack that takes released words as they stand is weaker than it need be. Decoding costs no privacy, since
it only looks at what was released, so every attacker can do it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deniable.audit.draws import Users
from deniable.channel.making import make_channels
from deniable.decoding.channel_decoder import UNKNOWN, ChannelDecoder
from deniable.decoding.ngrams import read_bigrams
from deniable.decoding.priors import first_shares, most_frequent
from deniable.embeddings.embedding import Embedding
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.utility.accuracy import DecodingEffort


@dataclass(frozen=True, kw_only=True)
class Decoding(DecodingEffort):
    """How an attacker decodes: how many words it thinks of, how well it knows the channel, and the public
    text it has read, if any."""

    directions: int = 300
    public: Path | None = None


USUAL = Decoding()
"""How audits decode by default."""


def learn_decoders(
    embedding: Embedding, mechanism: ChosenMechanism, epsilons: Sequence[float], decoding: Decoding
) -> Callable[[float, Sequence[str]], ChannelDecoder]:
    """Return a function from one of the ε and a release to a decoder, which learns from the release how
    frequent words are behind it.

    :raises RecordError: if the public text cannot be read.
    :raises UnusableAuditData: if it holds no two words in a row.
    """
    context = None if decoding.public is None else read_bigrams(embedding, decoding.public)
    inputs = np.append(most_frequent(embedding, context, decoding.support), embedding.unknown_id)
    channels = make_channels(
        embedding, mechanism, epsilons=list(epsilons), inputs=inputs, directions=decoding.directions
    )
    by_epsilon = dict(zip(epsilons, channels, strict=True))

    def learn(epsilon: float, released: Sequence[str]) -> ChannelDecoder:
        channel = by_epsilon[epsilon]
        start = first_shares(channel, context)
        return ChannelDecoder.learn_from(channel, released, start=start, context=context)

    return learn


def decode_users(decoder: ChannelDecoder, users: Users) -> Users:
    """Return users' released words decoded, each by the likeliest word behind it."""
    words = [*decoder.channel.embedding.words, UNKNOWN]
    decoded = decoder.likeliest([" ".join(text) for texts in users for text in texts])
    return [[[words[i] for i in next(decoded).tolist()] for _ in texts] for texts in users]
