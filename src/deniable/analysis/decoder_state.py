"""A decoder as plain values: what other processes and machines need to make the same one.

A ``Decoder`` holds a channel, which may take gigabytes. A state holds the card, the words that may have gone
in, their shares as they were learnt, and where the embedding and a public text lie. Each process opens the
channel itself, from the disk, or makes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from deniable.analysis.decoder_file import (
    MOST_DIRECTIONS,
    DecoderFile,
    pack_decoder,
    read_decoder_file,
    unpack_decoder,
)
from deniable.analysis.receiving import check_words, open_channel_of_inputs, receive
from deniable.arrays import Floats, Ids
from deniable.atomic import open_plain_file, whole_file
from deniable.channel.making import DIRECTIONS
from deniable.decoding.decoder import Decoder
from deniable.decoding.ngrams import read_bigrams
from deniable.decoding.priors import SUPPORT
from deniable.errors import DamagedDecoder, InvalidParameter, RecordError
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.release.card import Card, GivenCard, card_from, parse_card
from deniable.release.writing import marks_of

_BYTES_AT_ONCE = 1 << 20


@dataclass(frozen=True, kw_only=True, eq=False)
class DecoderState:
    """What a decoder was learnt to be. ``inputs`` are sorted ids of words, ⊥ last if it is among them, and
    ``prior`` their shares.

    ``embedding`` is a name, or the path of a folder; without it the card says which one. ``public`` is the
    file whose word pairs let the decoder read words in their context, and ``public_digest`` tells its
    content.
    """

    card: Card
    inputs: Ids = field(repr=False)
    prior: Floats = field(repr=False)
    directions: int
    embedding: str | None = None
    public: str | None = None
    public_digest: str | None = None

    @classmethod
    def learn(
        cls,
        card: GivenCard,
        released: Sequence[str | None],
        *,
        embedding: str | Path | None = None,
        public: str | Path | None = None,
        support: int = SUPPORT,
        directions: int = DIRECTIONS,
        context: bool = True,
        report: Report | None = None,
    ) -> tuple[Self, Decoder]:
        """Return what is learnt from a release, as ``receive`` learns it, and the decoder itself.

        ``public`` is a text file, one document a line. Its words say where the learning begins, and with
        ``context`` its word pairs let the decoder read words in their context.

        :raises InvalidParameter: if a value is not allowed, something is not text, or the release cannot be
            decoded.
        :raises MalformedCard: if the card cannot be used, or the embedding here is another one.
        :raises NotThisRelease: if the text was not released as the card says.
        """
        if validated_count(directions, "directions") > MOST_DIRECTIONS:
            raise InvalidParameter(
                "directions",
                directions,
                f"must be at most {MOST_DIRECTIONS:,}: a decoder is opened again elsewhere",
            )
        card, texts = card_from(card), check_texts(released)
        path = None if public is None else Path(public)
        digest = None if path is None or not context else _digest_of(path)
        received = receive(
            card,
            texts,
            embedding=embedding,
            public=path,
            support=support,
            directions=directions,
            every_word=True,
            report=report,
        )
        decoder = received.decoder
        if path is not None and not context:
            decoder = Decoder(decoder.channel, decoder.prior, marks=marks_of(card.unknown))
        order = np.argsort(decoder.channel.inputs)
        state = cls(
            card=card,
            inputs=decoder.channel.inputs[order],
            prior=decoder.prior[order],
            directions=decoder.channel.directions or directions,
            embedding=None if embedding is None else str(embedding),
            public=None if digest is None else str(path),
            public_digest=digest,
        )
        return state, decoder

    def open(self, *, report: Report | None = None) -> Decoder:
        """Return the decoder: its channel is opened from the disk, or made.

        :raises EmbeddingNotFound: if the embedding is not here.
        :raises MalformedCard: if the embedding here is another one.
        :raises InvalidParameter: if the public text here is another one.
        :raises DamagedDecoder: if the words are none of the embedding.
        """
        space = self.card.open_embedding(self.embedding)
        if self.inputs[-1] > space.unknown_id:
            raise DamagedDecoder(
                self.card.source,
                f"it names a word {self.inputs[-1]:,}, and {space.name!r} has {len(space):,}",
            )
        context = None
        if self.public is not None:
            if _digest_of(Path(self.public)) != self.public_digest:
                raise InvalidParameter(
                    "public", self.public, "is another text here than the decoder was learnt with"
                )
            context = read_bigrams(space, Path(self.public))
        channel = open_channel_of_inputs(
            self.card, space, self.inputs, directions=self.directions, report=report
        )
        prior = np.zeros(len(space) + 1)
        prior[self.inputs] = self.prior
        return Decoder(channel, prior[channel.inputs], context=context, marks=marks_of(self.card.unknown))

    def at(self, *, embedding: str | Path | None = None, public: str | Path | None = None) -> Self:
        """Return the state for a machine where the embedding or the public text lie elsewhere."""
        return replace(
            self,
            embedding=self.embedding if embedding is None else str(embedding),
            public=self.public if public is None or self.public is None else str(public),
        )

    def pin(self) -> Self:
        """Return the state with paths that are whole, for other processes.

        :raises EmbeddingNotFound: if the embedding is not here.
        """
        space = self.card.open_embedding(self.embedding)
        folder = space.folder if space.left_out is None else space.left_out.source.folder
        return self.at(embedding=folder, public=None if self.public is None else Path(self.public).absolute())

    def to_bytes(self) -> bytes:
        """Return the state as a NumPy .npz file of plain numbers, without pickle; the same bytes for the same
        state."""
        written = DecoderFile(
            card=self.card.to_json(),
            directions=self.directions,
            embedding=self.embedding,
            public=self.public,
            public_digest=self.public_digest,
        )
        return pack_decoder(written, self.inputs, self.prior)

    def save(self, path: str | Path) -> None:
        """Write the state to one file, whole or not at all.

        :raises OSError: if it cannot be written.
        """
        with whole_file(Path(path)) as file:
            file.write(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the state that was saved to a file, checked.

        :raises DamagedDecoder: if it cannot be read, or is not what ``save`` writes.
        :raises MalformedCard: if the card in it cannot be used here.
        """
        return cls.from_bytes(read_decoder_file(Path(path)), str(path))

    @classmethod
    def from_bytes(cls, content: bytes, source: str = "given as bytes") -> Self:
        """Return the state that ``to_bytes`` wrote, checked; ``source`` is where it comes from, for messages.

        :raises DamagedDecoder: if it is not what ``to_bytes`` writes.
        :raises MalformedCard: if the card in it cannot be used here.
        """
        written, inputs, prior = unpack_decoder(content, source)
        return cls(
            card=parse_card(written.card.encode(), source),
            inputs=inputs,
            prior=prior,
            directions=written.directions,
            embedding=written.embedding,
            public=written.public,
            public_digest=written.public_digest,
        )


def decoder_from(
    given: Decoder | DecoderState | GivenCard, released: Sequence[str | None], settings: Mapping[str, Any]
) -> Decoder:
    """Return the decoder that was given, or the one that the released texts give with a card and the settings
    of ``DecoderState.learn``.

    :raises InvalidParameter: if settings are given beside a decoder, or a value is not allowed.
    :raises NotThisRelease: if the texts were not released as the card says, or hold words that no release
        with this decoder holds.
    """
    if not isinstance(given, Decoder | DecoderState):
        return DecoderState.learn(given, released, **settings)[1]
    if settings:
        raise InvalidParameter(
            "decoder", "given", f"has its settings already; leave out {', '.join(sorted(settings))}"
        )
    decoder = given if isinstance(given, Decoder) else given.open()
    check_released(decoder, released)
    return decoder


def check_texts(values: Iterable[object]) -> list[str | None]:
    """Return the values as a list of texts, None where one is missing.

    :raises InvalidParameter: if a value is neither.
    """
    texts: list[str | None] = []
    for record, text in enumerate(values, 1):
        if text is not None and not isinstance(text, str):
            raise InvalidParameter(
                "texts", type(text).__name__, f"record {record:,} is not text; give str or None"
            )
        texts.append(text)
    return texts


def check_released(decoder: Decoder, texts: Sequence[str | None]) -> None:
    """Check that the words of these texts can have been released; texts without a word can.

    :raises NotThisRelease: if many of them are none of the embedding.
    """
    counts = decoder.reader.count(texts)
    if counts.words:
        check_words(decoder.channel.embedding, counts)


def _digest_of(path: Path) -> str:
    try:
        digest = hashlib.blake2b(digest_size=16)
        with open_plain_file(path) as file:
            while block := file.read(_BYTES_AT_ONCE):
                digest.update(block)
    except OSError as error:
        raise RecordError(path, error.strerror or "cannot be read") from error
    return digest.hexdigest()
