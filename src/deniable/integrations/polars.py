"""Polars: importing this module gives every text column the namespace ``.deniable``.

>>> import polars
>>> import deniable.integrations.polars
>>> reviews = polars.Series("review", ["the soup was cold", None])
>>> released = reviews.deniable.privatize(epsilon=6)

Receipts and decoding by a card go as with pandas: see ``deniable.integrations.pandas``.

There is no form for lazy frames: a lazy query runs again each time it is collected, and each run would be
another release. So a call inside a query is refused, except with a key, which gives the same words again.
"""

from __future__ import annotations

from typing import Any

from deniable.decoding.channel_decoder import LEAST_COUNT
from deniable.errors import MissingExtra
from deniable.integrations.frames import GivenDecoder, TextColumn

try:
    import polars
except ImportError as error:
    raise MissingExtra("the Polars namespace", "polars") from error


@polars.api.register_series_namespace("deniable")
class DeniableNamespace(TextColumn["polars.Series"]):
    """What ``series.deniable`` offers. New columns have the name of the old one."""

    def expected_counts(
        self, decoder: GivenDecoder, *, least: float = LEAST_COUNT, **settings: Any
    ) -> polars.Series:
        """Return the words that are expected behind each text and how often: lists of ``word`` and ``count``,
        the most frequent first.

        Takes what ``decode`` takes. Counts below ``least`` are left out; nulls stay. ``[unknown]`` stands for
        words that the embedding does not know.

        :raises InvalidParameter: if a setting is not allowed, or the column does not hold text.
        :raises NotThisRelease: if the column was not released as the card says.
        """
        opened, texts = self._open(decoder, settings)
        rows = [
            None if each is None else [{"word": word, "count": count} for word, count in each.items()]
            for each in opened.expected_words(texts, least=least)
        ]
        return polars.Series(
            self._series.name,
            rows,
            dtype=polars.List(polars.Struct({"word": polars.String, "count": polars.Float64})),
        )
