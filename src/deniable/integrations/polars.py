"""Polars: importing this module gives every text column the namespace ``.deniable``.

>>> import polars
>>> import deniable.integrations.polars
>>> reviews = polars.Series("review", ["the soup was cold", None])
>>> released = reviews.deniable.privatize(epsilon=6)

or, where a receipt is wanted,

>>> from deniable import Recipe
>>> private = Recipe(epsilon=6).make()
>>> released, receipt = reviews.deniable.privatize(private), private.receipt()

There is no form for lazy frames: a lazy query runs again each time it is collected, and each run would be another release.
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
