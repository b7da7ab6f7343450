"""pandas: importing this module gives every text column the accessor ``.deniable``.

>>> import pandas
>>> import deniable.integrations.pandas
>>> reviews = pandas.Series(["the soup was cold", None], name="review")
>>> released = reviews.deniable.privatize(epsilon=6)

or, where a receipt is wanted,

>>> from deniable import Release
>>> private = Release(epsilon=6).make()
>>> released, receipt = reviews.deniable.privatize(private), private.receipt()

Who receives a release decodes it with its card:

>>> decoded = released.deniable.decode("released.csv.card.json")  # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

from deniable.decoding.channel_decoder import LEAST_COUNT
from deniable.errors import MissingExtra
from deniable.integrations.frames import GivenDecoder, TextColumn

try:
    import pandas
except ImportError as error:
    raise MissingExtra("the pandas accessor", "pandas") from error


@pandas.api.extensions.register_series_accessor("deniable")
class DeniableAccessor(TextColumn["pandas.Series"]):
    """What ``series.deniable`` offers. New columns have the index and the name of the old one."""

    def expected_counts(
        self, decoder: GivenDecoder, *, least: float = LEAST_COUNT, **settings: Any
    ) -> pandas.DataFrame:
        """Return how often each word is expected behind each text: one sparse column for each word,
        ``[unknown]`` last; the index stays.

        Takes what ``decode`` takes. Counts below ``least`` are left out; missing texts have none.

        :raises InvalidParameter: if a setting is not allowed, or a value is neither text nor missing.
        :raises NotThisRelease: if the column was not released as the card says.
        """
        opened, texts = self._open(decoder, settings)
        counts = opened.expected_counts(texts, least=least)
        return pandas.DataFrame.sparse.from_spmatrix(
            counts, index=self._series.index, columns=opened.input_words
        )
