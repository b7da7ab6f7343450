"""Polars: importing this module gives every text column the namespace ``.deniable``.

>>> import polars
>>> import deniable.integrations.polars
>>> from deniable import Embedding, Multivariate, Privatizer
>>> private = Privatizer(Multivariate(Embedding.open(), epsilon=6))
>>> reviews = polars.Series("review", ["the soup was cold", None])
>>> released = reviews.deniable.privatize(private)

There is no form for lazy frames: a lazy query runs again each time it is collected, and each run would be another release.
"""

from __future__ import annotations

from collections.abc import Iterable

from deniable.errors import MissingExtra
from deniable.integrations.names import names_in_column
from deniable.keyed.encoding import RecordId
from deniable.text.privatizer import Privatizer

try:
    import polars
except ImportError as error:
    raise MissingExtra("the Polars namespace", "polars") from error


@polars.api.register_series_namespace("deniable")
class DeniableNamespace:
    """What ``series.deniable`` offers."""

    def __init__(self, series: polars.Series) -> None:
        self._series = series

    def privatize(self, private: Privatizer, *, record_ids: Iterable[RecordId] | None = None) -> polars.Series:
        """Return a new column with every word replaced; name and nulls stay, the column itself is not changed.

        A keyed privatizer needs ``record_ids``, one for each text, such as another column.

        :raises InvalidParameter: if the column does not hold text, or ids are wanted or not; nothing is released then.
        """
        released = private.column(self._series.to_arrow(), record_ids=names_in_column(private, record_ids, self._series.name))
        return polars.Series(self._series.name, released, dtype=polars.String)
