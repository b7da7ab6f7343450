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

from deniable.errors import MissingExtra
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

    def privatize(self, private: Privatizer) -> polars.Series:
        """Return a new column with every word replaced; name and nulls stay, the column itself is not changed.

        :raises InvalidParameter: if the column does not hold text; nothing is released then.
        """
        series = self._series
        return polars.Series(series.name, private.column(series.to_arrow()), dtype=polars.String)
