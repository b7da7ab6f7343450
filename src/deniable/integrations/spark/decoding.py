"""The receiving side: a column of released text decoded where it lies.

What was learnt on the driver travels to the executors as plain values; the channel does not. Every Python
process opens it once, from a disk that it sees, or makes it. Nothing is drawn, so it does no harm if Spark
computes a column twice.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from deniable.decoding.channel_decoder import LEAST_COUNT
from deniable.decoding.decoder import Decoder
from deniable.errors import InvalidParameter
from deniable.integrations.spark.frames import check_text_columns, expression
from deniable.integrations.spark.tasks import embedding_here, quoted, take_only_own_threads
from deniable.parameters import validated_count, validated_share
from deniable.release.card import GivenCard

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

RECORDS = 20_000
"""From how many records a decoder is learnt, by default."""

_MORE = 1.2


def learn_decoder(
    frame: DataFrame, column: str, card: GivenCard, *, records: int = RECORDS, seed: int = 0, **settings: Any
) -> Decoder:
    """Return what a column of released text tells about the words behind it, learnt on the driver from a
    sample of its records.

    ``settings`` are those of ``Decoder.learn``. An embedding or a public text that they name must lie
    where executors see it too, or be sent to them (``ship_embedding``).

    :raises InvalidParameter: if there is no such column of text, the frame is a stream, or a setting is not
        allowed.
    :raises MalformedCard: if the card cannot be used.
    :raises NotThisRelease: if the text was not released as the card says.
    """
    check_text_columns(frame.schema, [column])
    if frame.isStreaming:
        problem = "never ends; learn from what is there already, and decode the stream with it"
        raise InvalidParameter("frame", "a stream", problem)
    wanted = validated_count(records, "records")
    texts = frame.select(quoted(column)).where(f"{quoted(column)} is not null")
    there = texts.count()
    if there > wanted:  # a sample of about that many: the first ones may be of one kind
        texts = texts.sample(fraction=min(1.0, _MORE * wanted / there), seed=seed).limit(wanted)
    released = [row[0] for row in texts.collect()]
    return Decoder.learn(card, released, every_word=True, **settings).pin()


def decoded(column: str, decoder: Decoder) -> Column:
    """Return the likeliest words behind a column of released text, as an expression; nulls stay. It is an
    estimate.

    >>> learnt = learn_decoder(frame, "text", "released.card.json")  # doctest: +SKIP
    >>> frame.select("id", decoded("text", learnt).alias("decoded"))  # doctest: +SKIP
    """
    return _expression(column, "string", decoder, lambda opened, texts: opened.decode(texts))


def expected_counts(column: str, decoder: Decoder, *, least: float = LEAST_COUNT) -> Column:
    """Return how often words are expected behind a column of released text, as maps from words to counts;
    nulls stay.

    :raises InvalidParameter: if ``least``, below which counts are left out, is no number from 0 to 1.
    """
    least = validated_share(least, "least")
    return _expression(
        column,
        "map<string,double>",
        decoder,
        lambda opened, texts: list(opened.expected_words(texts, least=least)),
    )


def expected_vectors(column: str, decoder: Decoder) -> Column:
    """Return the mean vectors that are expected of the words behind a column of released text; nulls stay."""

    def vectors(opened: Decoder, texts: list[str | None]) -> list[Any]:
        found = opened.expected_vectors(texts)
        return [None if text is None else vector for text, vector in zip(texts, found, strict=True)]

    return _expression(column, "array<float>", decoder, vectors)


def _expression(
    column: str, kind: str, decoder: Decoder, compute: Callable[[Decoder, list[str | None]], list[Any]]
) -> Column:
    content = decoder.pin().to_bytes()

    def computed(texts: list[str | None]) -> list[Any]:
        opened = _decoder_here(content)
        opened.check(texts)
        return compute(opened, texts)

    return expression(kind, computed, column)


@lru_cache(maxsize=4)
def _decoder_here(content: bytes) -> Decoder:
    """Return this process's decoder, with the embedding that was sent here or lies on a disk that all
    executors see.
    """
    take_only_own_threads()
    decoder = Decoder.from_bytes(content)
    return decoder.at(embedding=embedding_here(decoder.embedding_name, decoder.card.whole_fingerprint))
