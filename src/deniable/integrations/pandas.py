"""pandas: importing this module gives every text column the accessor ``.deniable``.

>>> import pandas
>>> import deniable.integrations.pandas
>>> reviews = pandas.Series(["the soup was cold", None], name="review")
>>> released = reviews.deniable.privatize(epsilon=6)

or, where a receipt is wanted,

>>> from deniable import Recipe
>>> private = Recipe(epsilon=6).make()
>>> released, receipt = reviews.deniable.privatize(private), private.receipt()
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from deniable.errors import MissingExtra
from deniable.keyed.encoding import RecordId
from deniable.records.formats.naming import name_column
from deniable.text.privatizer import Privatizer
from deniable.text.recipe import Recipe, privatizer_from

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
        texts = series.tolist()
        missing = series.isna().tolist()
        given = [None if gone else text for text, gone in zip(texts, missing, strict=True)]
        released = private.many(given, record_ids=name_column(private.keyed, record_ids, series.name))
        kept = [text if gone else new for text, new, gone in zip(texts, released, missing, strict=True)]
        # A categorical column would not admit words that are none of its categories.
        dtype = object if isinstance(series.dtype, pandas.CategoricalDtype) else series.dtype
        return pandas.Series(kept, index=series.index, name=series.name, dtype=dtype)
