"""The decoder of a release: learnt from the released text and its card, saved to a file, opened elsewhere.

Anybody who holds a release and its card can make it, so whatever it shows was released. Nothing here sees
original text.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.atomic import open_plain_file, whole_file
from deniable.channel.channel import Channel
from deniable.channel.making import DIRECTIONS, make_channel
from deniable.channel.rows import shares_points
from deniable.decoding.channel_decoder import ChannelDecoder
from deniable.decoding.context import ContextDecoder
from deniable.decoding.decoder_file import (
    MOST_DIRECTIONS,
    DecoderFile,
    pack_decoder,
    read_decoder_file,
    unpack_decoder,
)
from deniable.decoding.likeness import MOST_EVIDENCE, evidence_against
from deniable.decoding.ngrams import Bigrams, read_bigrams
from deniable.decoding.priors import BY_RANK, SUPPORT, known_before, most_frequent
from deniable.embeddings.embedding import Embedding
from deniable.errors import DamagedDecoder, InvalidParameter, MalformedCard, NotThisRelease, RecordError
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.release.card import Card, GivenCard, card_from, parse_card
from deniable.release.writing import marks_of
from deniable.words.released import ReleasedCounts, ReleasedWords, texts_in

_MOST_STRANGE = 0.02
"""The share of words that are not in the embedding from which on a text cannot be a release; some files hold
a few marks of their own."""

_FEWEST_DRAWS = 12
"""The points drawn around each word for a text of fewer than 1,000 words. It is 100 for one of fewer than
10,000, else 1,000 or more. With few steps, releases of similar sizes find the same channel on the disk."""


class Decoder(ChannelDecoder):
    """Decodes a release, known by its card: each word by itself, or with a language model in its context.

    >>> decoder = Decoder.learn("released.csv.card.json", released)       # doctest: +SKIP
    >>> decoder("released words")                        # the likeliest words    # doctest: +SKIP
    >>> decoder.candidates("surgeon")                    # candidates with probabilities    # doctest: +SKIP

    A decoder that was learnt with ``every_word`` can be saved, pickled and sent to other processes. It then
    travels as plain values: the card, the words that may have gone in and their shares, and where the
    embedding and a public text are. Its channel, which may take gigabytes, is opened there when it is first
    needed, from the disk, or made.
    """

    card: Card
    directions: int
    embedding_name: str | None = None
    public: str | None = None
    public_digest: str | None = None

    @classmethod
    def learn(
        cls,
        card: GivenCard,
        released: Iterable[str | None],
        *,
        embedding: Embedding | str | Path | None = None,
        public: str | Path | None = None,
        prior: str | Path = BY_RANK,
        support: int = SUPPORT,
        effort: int = DIRECTIONS,
        context: bool = True,
        every_word: bool = False,
        check: bool = True,
        report: Report | None = None,
    ) -> Self:
        """Return a decoder for a release, which has learnt from its text how frequent words are behind it.

        The texts are read once and not kept. ``embedding`` is needed where the card's is not found here by
        its fingerprint. ``public`` is a text file, one document a line: learning begins with its words, and
        with ``context`` its word pairs let the decoder read words in their context. ``prior`` is where
        learning begins instead: "uniform", or a file with a word and its count on each line; by default,
        words are as frequent as their "rank" in the embedding says. The ``support`` most frequent words may
        have gone in. ``effort`` is the most points drawn around each of them, directions followed or draws
        made; ``decoder.directions`` is how many it became. The decoder knows the words of these texts; with
        ``every_word`` it knows all that can be released, which takes minutes more the first time, and it can
        be saved. Without ``check`` text is decoded even if it does not look released. ``report`` receives
        the number of finished rows of the channel, and of all.

        :raises InvalidParameter: if a value is not allowed, something is not text, the card is of a release
            that cannot be decoded, or the prior is none.
        :raises MalformedCard: if the card cannot be used, the embedding here is another one than the card's,
            or its words ask for other rules to cut text.
        :raises NotThisRelease: if the text was not released as the card says.
        :raises RecordError: if the file of counts is none.
        """
        card = card_from(card)
        space = (
            card.without_words(embedding)
            if isinstance(embedding, Embedding)
            else card.open_embedding(embedding)
        )
        if space.fingerprint != card.fingerprint:
            raise MalformedCard(
                card.source, f"the embedding {space.name!r} is another one than the text was released with"
            )
        card.warn_of_other_tables()
        space, marks = card.cut_as_released(space), marks_of(card.unknown)
        path = Path(public) if public is not None else None
        digest = _digest_of(path) if path is not None and context and every_word else None
        counts = ReleasedWords(space, marks).count(texts_in(released))
        _check_words(space, counts)
        bigrams = None if path is None else read_bigrams(space, path)
        known = known_before(space, prior, bigrams)
        channel = open_channel(
            card,
            space,
            considered_words(card, space, support, bigrams),
            outputs=None if every_word else np.flatnonzero(counts.learn + counts.hold),
            directions=effort,
            words=counts.words if every_word else None,
            report=report,
        )
        if check:
            _check_likeness(card, channel, counts)
        start = known[channel.inputs]
        decoder = cls.learn_from(
            channel,
            counts,
            start=start / start.sum(),
            context=bigrams if context else None,
            marks=marks,
        )
        decoder.card, decoder.directions = card, channel.directions or effort
        if embedding is not None and not isinstance(embedding, Embedding):
            decoder.embedding_name = str(embedding)
        decoder.public, decoder.public_digest = None if digest is None else str(path), digest
        return decoder

    @property
    def _release(self) -> str:
        return f"{self.card.kind} at ε = {self.card.epsilon:g}"

    def check(self, texts: Sequence[str | None]) -> None:
        """Check that the words of these texts can have been released; texts without a word can.

        :raises NotThisRelease: if many of them are not in the embedding.
        """
        counts = self.reader.count(texts)
        if counts.words:
            _check_words(self.embedding, counts)

    def open(self, *, report: Report | None = None) -> Self:
        """Open the embedding and the channel now rather than at the first use; return the decoder itself.

        :raises EmbeddingNotFound: if the embedding is not here.
        :raises MalformedCard: if the embedding here is another one.
        :raises InvalidParameter: if the public text here is another one.
        :raises DamagedDecoder: if the words are not those of the embedding.
        """
        if "channel" not in self.__dict__:
            self.channel = self._make_channel(report)
        return self

    def at(self, *, embedding: str | Path | None = None, public: str | Path | None = None) -> Self:
        """Return the decoder for a machine where the embedding or the public text is elsewhere."""
        moved = copy.copy(self)
        moved.embedding_name = self.embedding_name if embedding is None else str(embedding)
        moved.public = self.public if public is None or self.public is None else str(public)
        return moved

    def pin(self) -> Self:
        """Return the decoder with absolute paths, for other processes.

        :raises EmbeddingNotFound: if the embedding is not here.
        """
        space = self.card.open_embedding(self.embedding_name)
        folder = space.folder if space.left_out is None else space.left_out.source.folder
        return self.at(embedding=folder, public=None if self.public is None else Path(self.public).absolute())

    def to_bytes(self) -> bytes:
        """Return the decoder as a NumPy .npz file of plain numbers, without pickle; equal decoders give equal
        bytes.

        :raises InvalidParameter: if it does not know every word that can be released, or its channel is too
            fine to be opened elsewhere.
        """
        if "channel" in self.__dict__ and self.channel.asked is not None:
            problem = "knows only the words of its texts, and cannot be saved; learn it with every_word=True"
            raise InvalidParameter("decoder", repr(self), problem)
        if not 1 <= self.directions <= MOST_DIRECTIONS:
            problem = f"must be at most {MOST_DIRECTIONS:,}: a decoder is opened again elsewhere"
            raise InvalidParameter("directions", self.directions, problem)
        about = DecoderFile(
            card=self.card.to_json(),
            directions=self.directions,
            embedding=self.embedding_name,
            public=self.public,
            public_digest=self.public_digest,
        )
        return pack_decoder(about, self.inputs, self.shares)

    def save(self, path: str | Path) -> None:
        """Write the decoder to one file, whole or not at all.

        :raises InvalidParameter: as ``to_bytes`` does.
        :raises OSError: if it cannot be written.
        """
        content = self.to_bytes()
        with whole_file(Path(path)) as file:
            file.write(content)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the decoder that was saved to a file, checked.

        :raises DamagedDecoder: if it cannot be read, or is not what ``save`` writes.
        :raises MalformedCard: if the card in it cannot be used here.
        """
        return cls.from_bytes(read_decoder_file(Path(path)), str(path))

    @classmethod
    def from_bytes(cls, content: bytes, source: str = "given as bytes") -> Self:
        """Return the decoder that ``to_bytes`` wrote, checked; messages name its ``source``.

        :raises DamagedDecoder: if it is not what ``to_bytes`` writes.
        :raises MalformedCard: if the card in it cannot be used here.
        """
        about, inputs, shares = unpack_decoder(content, source)
        decoder = cls.__new__(cls)
        decoder.card, decoder.inputs, decoder.shares = parse_card(about.card.encode(), source), inputs, shares
        decoder.directions, decoder.marks = about.directions, marks_of(decoder.card.unknown)
        decoder.card.warn_of_other_tables()
        decoder.embedding_name = about.embedding
        decoder.public, decoder.public_digest = about.public, about.public_digest
        return decoder

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle plain values: a channel is never pickled or copied."""
        return type(self).from_bytes, (self.to_bytes(),)

    @cached_property
    def embedding(self) -> Embedding:  # type: ignore[override]
        """The embedding of the release."""
        space = self.card.open_embedding(self.embedding_name)
        if self.inputs[-1] > space.unknown_id:
            problem = f"it names a word {self.inputs[-1]:,}, and {space.name!r} has {len(space):,}"
            raise DamagedDecoder(self.card.source, problem)
        return space

    @cached_property
    def channel(self) -> Channel:  # type: ignore[override]
        """What each input word becomes in the release."""
        return self._make_channel(None)

    @cached_property
    def prior(self) -> Floats:  # type: ignore[override]
        """The shares of the channel's inputs, in its order."""
        shares: Floats = self.shares / self.shares.sum()
        return shares[np.searchsorted(self.inputs, self.channel.inputs)]

    @cached_property
    def context(self) -> ContextDecoder | None:  # type: ignore[override]
        """What reads words in their context; None without a public text."""
        if self._bigrams is None:
            return None
        return ContextDecoder(self.channel, self._bigrams, self.prior)

    @cached_property
    def _bigrams(self) -> Bigrams | None:
        if self.public is None:
            return None
        if _digest_of(Path(self.public)) != self.public_digest:
            problem = "is another text here than the decoder was learnt with"
            raise InvalidParameter("public", self.public, problem)
        return read_bigrams(self.embedding, Path(self.public))

    def _make_channel(self, report: Report | None) -> Channel:
        card, embedding = self.card, self.embedding
        self._bigrams  # noqa: B018 - another public text is refused before long work
        return open_channel(card, embedding, self.inputs, directions=self.directions, report=report)


def considered_words(card: Card, embedding: Embedding, support: int, context: Bigrams | None = None) -> Ids:
    """Return the words that may have gone in: the ``support`` most frequent ones, the kept ones and ⊥.

    Frequent are the words of the public text that ``context`` was read from, and then the first ones of the
    embedding.
    """
    frequent = most_frequent(embedding, context, validated_count(support, "support"))
    unknown = [embedding.unknown_id] if card.unknown in ("perturb", "subwords") else []
    return np.unique(np.concatenate([frequent, card.kept_ids(embedding), np.array(unknown, dtype=np.int64)]))


def open_channel(
    card: Card,
    embedding: Embedding,
    inputs: Ids,
    *,
    outputs: Ids | None = None,
    directions: int = DIRECTIONS,
    words: int | None = None,
    report: Report | None = None,
) -> Channel:
    """Return the channel that text with this card went through, from these words, sorted ids, to all words or
    to these ``outputs``.

    A text of few ``words`` says little of any, and needs no more than a coarse channel. All draws come from
    public seeds: another machine gets the same numbers, as far as float32 goes.

    :raises InvalidParameter: if a release with this card has no one channel, or an id is not one of the
        embedding.
    """
    if card.record_epsilon is not None:
        raise InvalidParameter(
            "card",
            f"ε = {card.record_epsilon:g} per record",
            "gives the words of every record another ε; only releases with one ε decode",
        )
    chosen = None if card.mechanism is None else card.mechanism.chosen
    if chosen is None:
        card.make_mechanism(embedding)  # raises: a card cannot name a mechanism of the data holder's own
    elif words is not None and shares_points(chosen(embedding, epsilon=card.epsilon), inputs):
        directions = min(directions, max(_FEWEST_DRAWS, 10 ** (len(str(words)) - 2)))
    channel = make_channel(
        embedding,
        chosen,
        epsilon=card.epsilon,
        inputs=None if len(inputs) == len(embedding) + 1 else inputs,
        outputs=outputs,
        directions=directions,
        report=report,
    )
    kept = card.kept_ids(embedding)
    return channel.keeping(kept) if len(kept) else channel


def _check_words(embedding: Embedding, counts: ReleasedCounts) -> None:
    """Check that a release with this embedding can hold these words.

    :raises NotThisRelease: if there are none, or many that the embedding does not have.
    """
    if not counts.words:
        raise NotThisRelease(f"its {counts.records:,} records hold no words")
    if counts.strange > _MOST_STRANGE * counts.words:
        raise NotThisRelease(
            f"{counts.strange:,} of its {counts.words:,} words are not in the embedding {embedding.name!r}, "
            "and no release holds such words: check that this is the released file, not the original, and "
            "that the card belongs to it"
        )


def _check_likeness(card: Card, channel: Channel, counts: ReleasedCounts) -> None:
    """Check that there is a text that the mechanism of the card may turn into words like these.

    Where a user's words were drawn once and released wherever they stood, words are the same as often as in
    the original, and say nothing.

    :raises NotThisRelease: if there is none.
    """
    if card.consistent or evidence_against(channel, counts.learn + counts.hold) <= MOST_EVIDENCE:
        return
    raise NotThisRelease(
        f"its words are not as {card.kind} at ε = {card.epsilon:g} releases them: whatever text went in, the "
        "same words come out so often less than once in a million releases. Check that this is the released "
        "file, not the original, that no record stands in it twice, and that the mechanism and ε are those "
        "of the release; consider more words; --no-check decodes it all the same"
    )


def _digest_of(path: Path) -> str:
    try:
        with open_plain_file(path) as file:
            return hashlib.file_digest(cast(Any, file), lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError as error:
        raise RecordError(path, error.strerror or "cannot be read") from error
