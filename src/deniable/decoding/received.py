"""From the card of a release to the channel it went through, and checks that text is such a release.

Nothing here sees original text: it is computed from the release, its card, the public embedding and perhaps a
public text.
"""

from __future__ import annotations

import numpy as np

from deniable.arrays import Ids
from deniable.channel.channel import Channel
from deniable.channel.making import DIRECTIONS, make_channel
from deniable.channel.rows import shares_points
from deniable.decoding.likeness import MOST_EVIDENCE, evidence_against
from deniable.decoding.ngrams import Bigrams
from deniable.decoding.priors import SUPPORT, most_frequent
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, NotThisRelease
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.release.card import Card
from deniable.words.released import ReleasedCounts

_MOST_STRANGE = 0.02
"""The share of words that are not in the embedding from which on a text cannot be a release; some files hold
a few marks of their own."""

_FEWEST_DRAWS = 12
"""The points drawn around each word for a text of fewer than 1,000 words. It is 100 for one of fewer than
10,000, else 1,000 or more.

The steps are few, so that releases of similar sizes find the same channel on the disk."""


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
    embedding. A text of few ``words`` says little of any, and needs no more than a coarse channel.

    :raises InvalidParameter: if a release with this card has no one channel.
    """
    support = validated_count(support, "support")
    unknown = [embedding.unknown_id] if card.unknown in ("perturb", "subwords") else []
    inputs = np.unique(
        np.concatenate(
            [
                most_frequent(embedding, context, support),
                card.kept_ids(embedding),
                np.array(unknown, dtype=np.int64),
            ]
        )
    )
    if words is not None and outputs is None and card.mechanism is not None:
        mechanism = card.mechanism.chosen(embedding, epsilon=card.epsilon)
        if shares_points(mechanism, inputs):
            directions = min(directions, max(_FEWEST_DRAWS, 10 ** (len(str(words)) - 2)))
    return open_channel_of_inputs(
        card, embedding, inputs, outputs=outputs, directions=directions, report=report
    )


def open_channel_of_inputs(
    card: Card,
    embedding: Embedding,
    inputs: Ids,
    *,
    outputs: Ids | None = None,
    directions: int = DIRECTIONS,
    report: Report | None = None,
) -> Channel:
    """Return the channel that text with this card went through, from these words, sorted ids, to all words or
    to these ``outputs``.

    Nothing is drawn but from public seeds: another machine gets the same numbers, as far as float32 goes.

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
        None if card.mechanism is None else card.mechanism.chosen,
        epsilon=card.epsilon,
        inputs=None if len(inputs) == len(embedding) + 1 else inputs,
        outputs=outputs,
        directions=directions,
        report=report,
    )
    kept = card.kept_ids(embedding)
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
