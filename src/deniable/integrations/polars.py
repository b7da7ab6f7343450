"""Polars: importing this module gives every text column the namespace ``.deniable``.

>>> import polars
>>> import deniable.integrations.polars
>>> reviews = polars.Series("review", ["the soup was cold", None])
>>> released = reviews.deniable.privatize(epsilon=6)

or, where a receipt is wanted,

>>> from deniable import Recipe
>>> private = Recipe(epsilon=6).make()
>>> released, receipt = reviews.deniable.privatize(private), private.receipt()

Who receives a release decodes it with its card:

>>> decoded = released.deniable.decode("released.csv.card.json")  # doctest: +SKIP

There is no form for lazy frames: a lazy query runs again each time it is collected, and each run would be another release.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from deniable.decoding.decoder import LEAST_COUNT, Decoder
from deniable.errors import MissingExtra
from deniable.keyed.encoding import RecordId
from deniable.records.formats.naming import name_column
from deniable.text.card import GivenCard
from deniable.text.columns import as_text_column
from deniable.text.privatizer import Privatizer
from deniable.text.recipe import Recipe, privatizer_from

if TYPE_CHECKING:
    from deniable.analysis.decoder_state import DecoderState

try:
    import polars
except ImportError as error:
    raise MissingExtra("the Polars namespace", "polars") from error


@polars.api.register_series_namespace("deniable")
class DeniableNamespace:
    """What ``series.deniable`` offers."""

    def __init__(self, series: polars.Series) -> None:
        self._series = series

    def privatize(
        self, private: Privatizer | Recipe | None = None, *, record_ids: Iterable[RecordId] | None = None, **settings: Any
    ) -> polars.Series:
        """Return a new column with every word replaced; name and nulls stay, the column itself is not changed.

        Takes a privatizer, a ``Recipe``, or the settings of a recipe as keywords, such as ``epsilon=6``. With a key it needs
        ``record_ids``, one for each text, such as another column.

        :raises InvalidParameter: if a setting is not allowed, the column does not hold text, or ids are wanted or not; nothing is
            released then.
        """
        series, private = self._series, privatizer_from(private, settings)
        released = private.column(series.to_arrow(), record_ids=name_column(private.keyed, record_ids, series.name))
        return polars.Series(series.name, released, dtype=polars.String)

    def decode(self, decoder: Decoder | DecoderState | GivenCard, **settings: Any) -> polars.Series:
        """Return a new column with the likeliest word behind each word of a released column; name and nulls stay.

        It is an estimate. Takes a decoder, or the card of the release (its path, a ``Card``, or the data of its JSON) with the settings of
        ``DecoderState.learn`` as keywords: how frequent words are is then learnt from this column.

        :raises InvalidParameter: if a setting is not allowed, or the column does not hold text.
        :raises NotThisRelease: if the column was not released as the card says.
        """
        from deniable.analysis.decoder_state import decoder_from

        texts = self._texts()
        return polars.Series(self._series.name, decoder_from(decoder, texts, settings).many(texts), dtype=polars.String)

    def expected_counts(self, decoder: Decoder | DecoderState | GivenCard, *, least: float = LEAST_COUNT, **settings: Any) -> polars.Series:
        """Return the words that are expected behind each text and how often: lists of ``word`` and ``count``, the most frequent first.

        Takes what ``decode`` takes. Counts below ``least`` are left out; nulls stay. ``[unknown]`` stands for words that the embedding
        does not know.

        :raises InvalidParameter: if a setting is not allowed, or the column does not hold text.
        :raises NotThisRelease: if the column was not released as the card says.
        """
        from deniable.analysis.decoder_state import decoder_from
        from deniable.analysis.features import list_words

        texts = self._texts()
        found = list_words(decoder_from(decoder, texts, settings), texts, least=least)
        rows = [None if each is None else [{"word": word, "count": count} for word, count in each.items()] for each in found]
        return polars.Series(self._series.name, rows, dtype=polars.List(polars.Struct({"word": polars.String, "count": polars.Float64})))

    def _texts(self) -> list[str | None]:
        texts: list[str | None] = as_text_column(self._series.to_arrow()).to_pylist()
        return texts
