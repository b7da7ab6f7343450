"""pandas: importing this module gives every text column the accessor ``.deniable``.

>>> import pandas
>>> import deniable.integrations.pandas
>>> reviews = pandas.Series(["the soup was cold", None], name="review")
>>> released = reviews.deniable.privatize(epsilon=6)

or, where a receipt is wanted,

>>> from deniable import Recipe
>>> private = Recipe(epsilon=6).make()
>>> released, receipt = reviews.deniable.privatize(private), private.receipt()

Who receives a release decodes it with its card:

>>> decoded = released.deniable.decode("released.csv.card.json")  # doctest: +SKIP
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from deniable.decoding.decoder import LEAST_COUNT, Decoder
from deniable.errors import MissingExtra
from deniable.keyed.encoding import RecordId
from deniable.records.formats.naming import name_column
from deniable.text.card import GivenCard
from deniable.text.privatizer import Privatizer
from deniable.text.recipe import Recipe, privatizer_from

if TYPE_CHECKING:
    from deniable.analysis.decoder_state import DecoderState

try:
    import pandas
except ImportError as error:
    raise MissingExtra("the pandas accessor", "pandas") from error


@pandas.api.extensions.register_series_accessor("deniable")
class DeniableAccessor:
    """What ``series.deniable`` offers."""

    def __init__(self, series: pandas.Series) -> None:
        self._series = series

    def privatize(
        self, private: Privatizer | Recipe | None = None, *, record_ids: Iterable[RecordId] | None = None, **settings: Any
    ) -> pandas.Series:
        """Return a new column with every word replaced; index, name and missing values stay, the column itself is not changed.

        Takes a privatizer, a ``Recipe``, or the settings of a recipe as keywords, such as ``epsilon=6``. With a key it needs
        ``record_ids``, one for each text: another column, or the index.

        :raises InvalidParameter: if a setting is not allowed, a value is neither text nor missing, or ids are wanted or not; nothing is
            released then.
        """
        series, private = self._series, privatizer_from(private, settings)
        return self._mapped(lambda texts: private.many(texts, record_ids=name_column(private.keyed, record_ids, series.name)))

    def decode(self, decoder: Decoder | DecoderState | GivenCard, **settings: Any) -> pandas.Series:
        """Return a new column with the likeliest word behind each word of a released column; index, name and missing values stay.

        It is an estimate. Takes a decoder, or the card of the release (its path, a ``Card``, or the data of its JSON) with the settings of
        ``DecoderState.learn`` as keywords: how frequent words are is then learnt from this column.

        :raises InvalidParameter: if a setting is not allowed, or a value is neither text nor missing.
        :raises NotThisRelease: if the column was not released as the card says.
        """
        from deniable.analysis.decoder_state import check_texts, decoder_from

        return self._mapped(lambda texts: decoder_from(decoder, check_texts(texts), settings).many(texts))

    def expected_counts(
        self, decoder: Decoder | DecoderState | GivenCard, *, least: float = LEAST_COUNT, **settings: Any
    ) -> pandas.DataFrame:
        """Return how often each word is expected behind each text: one sparse column for each word, ``[unknown]`` last; the index stays.

        Takes what ``decode`` takes. Counts below ``least`` are left out; missing texts have none.

        :raises InvalidParameter: if a setting is not allowed, or a value is neither text nor missing.
        :raises NotThisRelease: if the column was not released as the card says.
        """
        from deniable.analysis.decoder_state import check_texts, decoder_from
        from deniable.analysis.features import count_words, counted_words

        texts = check_texts(self._texts())
        opened = decoder_from(decoder, texts, settings)
        counts = count_words(opened, texts, least=least)
        return pandas.DataFrame.sparse.from_spmatrix(counts, index=self._series.index, columns=counted_words(opened))

    def _texts(self) -> list[Any]:
        """Return the values of the column, None where one is missing."""
        series = self._series
        return [None if gone else text for text, gone in zip(series.tolist(), series.isna().tolist(), strict=True)]

    def _mapped(self, change: Callable[[list[Any]], list[str | None]]) -> pandas.Series:
        """Return a column like this one with other texts; what is missing stays as it is."""
        series = self._series
        changed = zip(series.tolist(), change(self._texts()), series.isna().tolist(), strict=True)
        kept = [text if gone else new for text, new, gone in changed]
        # A categorical column would not admit words that are none of its categories.
        dtype = object if isinstance(series.dtype, pandas.CategoricalDtype) else series.dtype
        return pandas.Series(kept, index=series.index, name=series.name, dtype=dtype)
