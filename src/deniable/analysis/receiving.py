"""What a receiver does first: from the card of a release to its channel, from the released text to the shares of words behind it.

Nothing here sees original text: it is computed from the release, its card, the public embedding and perhaps a public text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import DIRECTIONS, make_channel
from deniable.decoding.decoder import Decoder
from deniable.decoding.ngrams import Bigrams, read_bigrams
from deniable.decoding.priors import by_rank
from deniable.decoding.released import ReleasedCounts, ReleasedWords
from deniable.decoding.shares import LearntShares, mean_log_likelihood
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, MalformedCard, NotThisRelease
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.text.card import Card
from deniable.text.policies import REDACTED
from deniable.words.cutter import Lookup

SUPPORT = 20_000
"""How many words of the embedding may have gone in, unless told otherwise: the most frequent ones, which public files list first."""

_UNKNOWN_SHARE = 0.02
_FROM_RANKS = 0.05
_MOST_STRANGE = 0.02
_SIMULATED = 20_000
_MOST_APART = 0.35


@dataclass(frozen=True, kw_only=True)
class Received:
    """A release as its receiver has it: a decoder whose prior is learnt from the release itself, and how that went.

    ``apart`` is how far the likelihood of the released words lies from that of words that this mechanism releases, in nats a word.
    """

    card: Card
    decoder: Decoder
    learnt: LearntShares
    counts: ReleasedCounts
    apart: float


def receive(
    card: Card,
    released: Iterable[str | None],
    *,
    embedding: Embedding | str | Path | None = None,
    public: Path | None = None,
    support: int = SUPPORT,
    directions: int = DIRECTIONS,
    report: Report | None = None,
) -> Received:
    """Prepare to decode a release: make or open its channel, and learn from the text how frequent words are behind it.

    The texts are gone through once and not kept. ``embedding`` is needed where the card's is not found here by its fingerprint.
    ``public`` is a text file, one document a line: its words say where the learning begins, and its word pairs let the decoder read
    words in their context. ``support`` words may have gone in. ``report`` is told how many rows of the channel are made, of how many.

    :raises InvalidParameter: if the card is of a release that cannot be decoded.
    :raises MalformedCard: if the embedding here is another one than the card's.
    :raises NotThisRelease: if the text was not released as the card says.
    """
    space = embedding if isinstance(embedding, Embedding) else card.open_embedding(embedding)
    if space.fingerprint != card.fingerprint:
        raise MalformedCard(card.source, f"the embedding {space.name!r} is another one than the text was released with")
    marks = (REDACTED,) if card.unknown == "redact" else ()
    counts = ReleasedWords(space, marks).count(released)
    check_words(space, counts)
    context = None if public is None else read_bigrams(space, public)
    channel = open_channel(card, space, support=support, directions=directions, context=context, report=report)
    decoder, learnt = Decoder.learn(channel, counts, start=first_shares(channel, context), context=context, marks=marks)
    apart = distance_from_release(card, channel, learnt, counts.learn + counts.hold)
    if apart > _MOST_APART:
        raise NotThisRelease(
            f"its words are not as {card.kind} at ε = {card.epsilon:g} releases them ({apart:.2f} nats a word apart; up to {_MOST_APART:g} "
            "is chance and estimation): check that this is the released file and that the card belongs to it, or consider more words"
        )
    return Received(card=card, decoder=decoder, learnt=learnt, counts=counts, apart=apart)


def open_channel(
    card: Card,
    embedding: Embedding,
    *,
    support: int = SUPPORT,
    directions: int = DIRECTIONS,
    context: Bigrams | None = None,
    report: Report | None = None,
) -> Channel:
    """Return the channel that text with this card went through: from the most frequent words, the kept ones and ⊥ to all words.

    Frequent are the words of the public text that ``context`` was read from, and then the first ones of the embedding.

    :raises InvalidParameter: if a release with this card has no one channel.
    """
    support = validated_count(support, "support")
    if card.record_epsilon is not None:
        raise InvalidParameter(
            "card", f"ε = {card.record_epsilon:g} per record", "gives the words of every record another ε; only releases with one ε decode"
        )
    kept = np.array([i for i in Lookup(embedding).ids(list(card.keep_words)) if i != embedding.unknown_id], dtype=np.int64)
    unknown = [embedding.unknown_id] if card.unknown in ("perturb", "subwords") else []
    inputs = np.unique(np.concatenate([_frequent(embedding, context, support), kept, np.array(unknown, dtype=np.int64)]))
    if card.mechanism is None:
        card.make_mechanism(embedding)  # says what is wrong
    channel = make_channel(
        embedding,
        card.mechanism,
        epsilon=card.epsilon,
        inputs=None if len(inputs) == len(embedding) + 1 else inputs,
        directions=directions,
        report=report,
    )
    return channel.keeping(kept) if len(kept) else channel


def first_shares(channel: Channel, context: Bigrams | None = None) -> Floats:
    """Return the shares of input words to begin with: by rank, or as a public text has them, with a little of the ranks."""
    embedding = channel.embedding
    ranks = np.append((1.0 - _UNKNOWN_SHARE) * by_rank(embedding), _UNKNOWN_SHARE)
    if context is not None:
        ranks = (1.0 - _FROM_RANKS) * context.counts / context.counts.sum() + _FROM_RANKS * ranks
    shares = ranks[channel.inputs]
    begin: Floats = shares / shares.sum()
    return begin


def check_words(embedding: Embedding, counts: ReleasedCounts) -> None:
    """Check that these are words that a release with this embedding can have given.

    :raises NotThisRelease: if there are none, or many that the embedding does not have.
    """
    if not counts.words:
        raise NotThisRelease(f"its {counts.records:,} records hold no words")
    if counts.strange > _MOST_STRANGE * counts.words:
        raise NotThisRelease(
            f"{counts.strange:,} of its {counts.words:,} words are not in the embedding {embedding.name!r}, and no release holds such "
            "words: check that this is the released file, not the original, and that the card belongs to it"
        )


def distance_from_release(card: Card, channel: Channel, learnt: LearntShares, observed: Floats, *, seed: int = 0) -> float:
    """Return how far the likelihood of the observed words lies from that of words which the mechanism releases, in nats a word.

    Words are drawn by the shares that were learnt, and the mechanism releases them anew. What the estimated channel gets wrong, it gets
    wrong for both.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    count = int(min(max(observed.sum(), 1_000), _SIMULATED))
    rows = rng.choice(len(channel), count, p=learnt.shares)
    words: Ids = channel.inputs[rows]
    kept = np.isin(words, [i for i in Lookup(channel.embedding).ids(list(card.keep_words)) if i != channel.embedding.unknown_id])
    again = Draws(card.make_mechanism(channel.embedding), seed=seed).of_each(words)
    outputs = np.where(kept, words, again)
    simulated = np.bincount(outputs, minlength=len(channel.embedding)).astype(np.float64)
    return abs(learnt.log_likelihood - mean_log_likelihood(channel, simulated, learnt.shares))


def _frequent(embedding: Embedding, context: Bigrams | None, support: int) -> Ids:
    """Return the words that the public text has most often, and then the first ones of the embedding."""
    counts = np.zeros(len(embedding)) if context is None else context.counts[:-1]
    order: Ids = np.argsort(-counts, kind="stable")
    return order[:support]
