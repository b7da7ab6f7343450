"""pandas: importing this module gives every text column the accessor ``.deniable``.

>>> import pandas
>>> import deniable.integrations.pandas
>>> from deniable import Embedding, Multivariate, Privatizer
>>> private = Privatizer(Multivariate(Embedding.open(), epsilon=6))
>>> reviews = pandas.Series(["the soup was cold", None], name="review")
>>> released = reviews.deniable.privatize(private)
"""

from __future__ import annotations

from collections.abc import Iterable

from deniable.errors import MissingExtra
from deniable.integrations.names import names_in_column
from deniable.keyed.encoding import RecordId
from deniable.text.privatizer import Privatizer

try:
    import pandas
except ImportError as error:
    raise MissingExtra("the pandas accessor", "pandas") from error


@pandas.api.extensions.register_series_accessor("deniable")
class DeniableAccessor:
    """What ``series.deniable`` offers."""

    def __init__(self, series: pandas.Series) -> None:
        self._series = series

    def privatize(self, private: Privatizer, *, record_ids: Iterable[RecordId] | None = None) -> pandas.Series:
        """Return a new column with every word replaced; index, name and missing values stay, the column itself is not changed.

        A keyed privatizer needs ``record_ids``, one for each text: another column, or the index.

        :raises InvalidParameter: if a value is neither text nor missing, or ids are wanted or not; nothing is released then.
        """
        series = self._series
        texts = series.tolist()
        missing = series.isna().tolist()
        given = [None if gone else text for text, gone in zip(texts, missing, strict=True)]
        released = private.many(given, record_ids=names_in_column(private, record_ids, series.name))
        kept = [text if gone else new for text, new, gone in zip(texts, released, missing, strict=True)]
        # A categorical column would not admit words that are none of its categories.
        dtype = object if isinstance(series.dtype, pandas.CategoricalDtype) else series.dtype
        return pandas.Series(kept, index=series.index, name=series.name, dtype=dtype)
