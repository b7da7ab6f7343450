"""Polars: importing this module gives every text column the namespace ``.deniable``.

>>> import polars
>>> import deniable.integrations.polars
>>> reviews = polars.Series("review", ["the soup was cold", None])
>>> released = reviews.deniable.privatize(epsilon=6)

Receipts and decoding by a card go as with pandas: see ``deniable.integrations.pandas``.

There is no form for lazy frames: a lazy query runs again each time it is collected, and each run would be another release. So a call
inside a query is refused, except with a key, which gives the same words again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from deniable.decoding.decoder import LEAST_COUNT, Decoder
from deniable.errors import MissingExtra
from deniable.integrations.columns import TextColumn
from deniable.text.card import GivenCard
from deniable.text.columns import as_text_column
from deniable.text.privatizer import Privatizer

if TYPE_CHECKING:
    from deniable.analysis.decoder_state import DecoderState

try:
    import polars
except ImportError as error:
    raise MissingExtra("the Polars namespace", "polars") from error


@polars.api.register_series_namespace("deniable")
class DeniableNamespace(TextColumn["polars.Series"]):
    """What ``series.deniable`` offers. New columns have the name of the old one."""

    def expected_counts(self, decoder: Decoder | DecoderState | GivenCard, *, least: float = LEAST_COUNT, **settings: Any) -> polars.Series:
        """Return the words that are expected behind each text and how often: lists of ``word`` and ``count``, the most frequent first.

        Takes what ``decode`` takes. Counts below ``least`` are left out; nulls stay. ``[unknown]`` stands for words that the embedding
        does not know.

        :raises InvalidParameter: if a setting is not allowed, or the column does not hold text.
        :raises NotThisRelease: if the column was not released as the card says.
        """
        from deniable.analysis.features import list_words

        found = list_words(*self._open(decoder, settings), least=least)
        rows = [None if each is None else [{"word": word, "count": count} for word, count in each.items()] for each in found]
        return polars.Series(self._series.name, rows, dtype=polars.List(polars.Struct({"word": polars.String, "count": polars.Float64})))

    def _release(self, private: Privatizer, record_ids: Any) -> polars.Series:
        if private.keyed is None and _inside_a_query():
            name = self._series.name
            raise polars.exceptions.InvalidOperationError(  # of errors that it does not know Polars would lose the message
                "a query runs again each time it is collected, and each run would be another release: "
                f"collect() first, then frame.with_columns(frame[{name!r}].deniable.privatize(…))"
            )
        return self._with(private.column(self._series.to_arrow(), record_ids=record_ids))

    def _texts(self) -> list[Any]:
        texts: list[Any] = as_text_column(self._series.to_arrow()).to_pylist()
        return texts

    def _with(self, texts: Sequence[str | None]) -> polars.Series:
        return polars.Series(self._series.name, texts, dtype=polars.String)


def _inside_a_query() -> bool:
    """Return whether a query of Polars is what calls, as ``map_batches`` does."""
    frame = sys._getframe()
    while (above := frame.f_back) is not None:
        if above.f_globals.get("__name__", "").startswith("polars."):
            return True
        frame = above
    return False
