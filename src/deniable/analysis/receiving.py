"""What a receiver does first: from the card of a release to its channel, from the released text to the shares
of words behind it.

Nothing here sees original text: it is computed from the release, its card, the public embedding and perhaps a
public text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict, cast

import numpy as np

from deniable.analysis.likeness import MOST_EVIDENCE, evidence_against
from deniable.arrays import Ids
from deniable.channel.channel import Channel
from deniable.channel.making import DIRECTIONS, make_channel
from deniable.channel.rows import shares_points
from deniable.decoding.decoder import Decoder
from deniable.decoding.ngrams import Bigrams, read_bigrams
from deniable.decoding.priors import BY_RANK, SUPPORT, known_before, most_frequent
from deniable.decoding.shares import LearntShares
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, MalformedCard, NotThisRelease
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.records.labelled import ReadingOptions
from deniable.release.card import Card
from deniable.release.writing import marks_of
from deniable.words.cutter import Lookup
from deniable.words.released import ReleasedCounts, ReleasedWords

_MOST_STRANGE = 0.02
"""The share of words that are not in the embedding from which on a text cannot be a release; some files hold
a few marks of their own."""


_FEWEST_DRAWS = 12
"""So many points are drawn around each word for a text of fewer than 1,000 words, 100 for one of fewer than
10,000, else 1,000 or more.

These steps are few, so that releases of similar sizes find the same channel on the disk."""


class DecodingOptions(TypedDict, total=False):
    """By what a release is decoded, for those who hand it on to ``receive``."""

    embedding: Embedding | str | Path | None
    public: Path | None
    prior: str | Path
    support: int
    directions: int
    check: bool


class ReleasedFileOptions(DecodingOptions, ReadingOptions, total=False):
    """By what a released file is decoded, and how it is read where its name does not say."""


@dataclass(frozen=True, kw_only=True)
class Received:
    """A release as its receiver has it: a decoder whose prior is learnt from the release itself, and how that
    went.

    ``unchanged`` is the share of the words, as they were learnt, that come out as they went in: where nearly
    all do, there is nothing to decode.
    """

    card: Card
    decoder: Decoder
    learnt: LearntShares
    counts: ReleasedCounts
    unchanged: float


def split_options(options: ReleasedFileOptions) -> tuple[DecodingOptions, ReadingOptions]:
    """Return the options of ``receive``, and those of the functions that read files."""
    decoding = {name: value for name, value in options.items() if name in DecodingOptions.__annotations__}
    reading = {name: value for name, value in options.items() if name not in decoding}
    return cast("DecodingOptions", decoding), cast("ReadingOptions", reading)


def receive(
    card: Card,
    released: Iterable[str | None],
    *,
    embedding: Embedding | str | Path | None = None,
    public: Path | None = None,
    prior: str | Path = BY_RANK,
    support: int = SUPPORT,
    directions: int = DIRECTIONS,
    every_word: bool = False,
    check: bool = True,
    report: Report | None = None,
) -> Received:
    """Prepare to decode a release: make or open its channel, and learn from the text how frequent words are
    behind it.

    The texts are gone through once and not kept. ``embedding`` is needed where the card's is not found here
    by its fingerprint. ``public`` is a text file, one document a line: its words say where the learning
    begins, and its word pairs let the decoder read words in their context. ``prior`` is where the learning
    begins instead: "uniform", or a file with a word and its count on each line; without either, words are as
    frequent as their "rank" in the embedding says. ``support`` words may have gone in. The decoder knows the
    words of these texts; with ``every_word`` it knows all that can be released, which takes minutes more the
    first time. Without ``check`` text is decoded even if it does not look released. ``report`` is told how
    many rows of the channel are made, of how many.

    :raises InvalidParameter: if the card is of a release that cannot be decoded, or the prior is none.
    :raises MalformedCard: if the embedding here is another one than the card's, or its words ask for other
        rules to cut text.
    :raises NotThisRelease: if the text was not released as the card says.
    :raises RecordError: if the file of counts is none.
    """
    space = (
        card.without_words(embedding) if isinstance(embedding, Embedding) else card.open_embedding(embedding)
    )
    if space.fingerprint != card.fingerprint:
        raise MalformedCard(
            card.source, f"the embedding {space.name!r} is another one than the text was released with"
        )
    space = card.cut_as_released(space)
    marks = marks_of(card.unknown)
    counts = ReleasedWords(space, marks).count(released)
    check_words(space, counts)
    context = None if public is None else read_bigrams(space, public)
    known = known_before(space, prior, context)
    outputs = None if every_word else np.flatnonzero(counts.learn + counts.hold)
    channel = open_channel(
        card,
        space,
        support=support,
        outputs=outputs,
        directions=directions,
        words=counts.words,
        context=context,
        report=report,
    )
    start = known[channel.inputs] / known[channel.inputs].sum()
    if check:
        check_likeness(card, channel, counts)
    decoder, learnt = Decoder.learn(channel, counts, start=start, context=context, marks=marks)
    return Received(
        card=card, decoder=decoder, learnt=learnt, counts=counts, unchanged=_unchanged(decoder, counts)
    )


def open_channel(
    card: Card,
    embedding: Embedding,
    *,
    support: int = SUPPORT,
    outputs: Ids | None = None,
    directions: int = DIRECTIONS,
    words: int | None = None,
    context: Bigrams | None = None,
    report: Report | None = None,
) -> Channel:
    """Return the channel that text with this card went through: from the most frequent words, the kept ones
    and ⊥ to all words or some.

    Frequent are the words of the public text that ``context`` was read from, and then the first ones of the
    embedding. A text of few ``words`` tells little of any, and needs no more than a coarse channel. The
    device that was asked for takes part, if there is one (``make_channels``).

    :raises InvalidParameter: if a release with this card has no one channel.
    """
    support = validated_count(support, "support")
    unknown = [embedding.unknown_id] if card.unknown in ("perturb", "subwords") else []
    inputs = [
        most_frequent(embedding, context, support),
        kept_words(card, embedding),
        np.array(unknown, dtype=np.int64),
    ]
    entering = np.unique(np.concatenate(inputs))
    if words is not None and outputs is None and _shares_points(card, embedding, entering):
        directions = min(directions, max(_FEWEST_DRAWS, 10 ** (len(str(words)) - 2)))
    return open_channel_of_inputs(
        card, embedding, entering, outputs=outputs, directions=directions, on_card=True, report=report
    )


def _shares_points(card: Card, embedding: Embedding, inputs: Ids) -> bool:
    return card.mechanism is not None and shares_points(
        card.mechanism(embedding, epsilon=card.epsilon), inputs
    )


def open_channel_of_inputs(
    card: Card,
    embedding: Embedding,
    inputs: Ids,
    *,
    outputs: Ids | None = None,
    directions: int = DIRECTIONS,
    on_card: bool = False,
    report: Report | None = None,
) -> Channel:
    """Return the channel that text with this card went through, from these words, sorted ids, to all words or
    to these ``outputs``.

    Without ``on_card`` nothing is drawn but from public seeds: another machine gets the same numbers, as far
    as float32 goes.

    :raises InvalidParameter: if a release with this card has no one channel, or an id is not one of the
        embedding.
    """
    if card.record_epsilon is not None:
        raise InvalidParameter(
            "card",
            f"ε = {card.record_epsilon:g} per record",
            "gives the words of every record another ε; only releases with one ε decode",
        )
    if card.mechanism is None:
        card.make_mechanism(embedding)  # says what is wrong
    channel = make_channel(
        embedding,
        card.mechanism,
        epsilon=card.epsilon,
        inputs=None if len(inputs) == len(embedding) + 1 else inputs,
        outputs=outputs,
        directions=directions,
        on_card=on_card,
        report=report,
    )
    kept = kept_words(card, embedding)
    return channel.keeping(kept) if len(kept) else channel


def check_words(embedding: Embedding, counts: ReleasedCounts) -> None:
    """Check that these are words that a release with this embedding can have given.

    :raises NotThisRelease: if there are none, or many that the embedding does not have.
    """
    if not counts.words:
        raise NotThisRelease(f"its {counts.records:,} records hold no words")
    if counts.strange > _MOST_STRANGE * counts.words:
        raise NotThisRelease(
            f"{counts.strange:,} of its {counts.words:,} words are not in the embedding {embedding.name!r}, "
            "and no release holds such "
            "words: check that this is the released file, not the original, and that the card belongs to it"
        )


def check_likeness(card: Card, channel: Channel, counts: ReleasedCounts) -> None:
    """Check that there is a text that the mechanism of the card may turn into words like these.

    Where a user's words were drawn once and released wherever they stood, words are the same as often as in
    the original, and say nothing.

    :raises NotThisRelease: if there is none.
    """
    if card.consistent or evidence_against(channel, counts.learn + counts.hold) <= MOST_EVIDENCE:
        return
    raise NotThisRelease(
        f"its words are not as {card.kind} at ε = {card.epsilon:g} releases them: whatever text went in, the "
        "same words come out so often "
        "less than once in a million releases. Check that this is the released file, not the original, that "
        "no record stands in it twice, "
        "and that the mechanism and ε are those of the release; consider more words; --no-check decodes it "
        "all the same"
    )


def _unchanged(decoder: Decoder, counts: ReleasedCounts) -> float:
    """Return the share of the released words that are those that went in, by what is known of each; ⊥ aside,
    which is no word."""
    channel, released = decoder.channel, counts.learn + counts.hold
    seen = np.flatnonzero(released)
    own, unknown = channel.places(seen), int(channel.places(np.array([channel.embedding.unknown_id]))[0])
    matrix = decoder.bayes.matrix
    same = np.where(own >= 0, np.asarray(matrix[seen, np.maximum(own, 0)]).ravel(), 0.0)
    words = (
        1.0 - np.asarray(matrix[seen, np.full(len(seen), unknown)]).ravel()
        if unknown >= 0
        else np.ones(len(seen))
    )
    known = float(released[seen] @ words)
    return min(float(released[seen] @ same) / known, 1.0) if known > 0.0 else 0.0


def kept_words(card: Card, embedding: Embedding) -> Ids:
    """Return the ids of the words that were released as they are."""
    return np.array(
        [i for i in Lookup(embedding).ids(list(card.keep_words)) if i != embedding.unknown_id], dtype=np.int64
    )
