"""What text columns of every data frame library offer under ``.deniable``: privatizing and decoding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from deniable.decoding.decoder import Decoder
from deniable.keyed.encoding import RecordId
from deniable.records.formats.naming import name_column
from deniable.text.card import GivenCard
from deniable.text.privatizer import Privatizer
from deniable.text.recipe import Recipe, privatizer_from

if TYPE_CHECKING:
    from deniable.analysis.decoder_state import DecoderState


class Named(Protocol):
    """A column that has a name."""

    @property
    def name(self) -> Any:
        """The name of the column."""


Series = TypeVar("Series", bound=Named)


class TextColumn(ABC, Generic[Series]):
    """A column of text. Subclasses say how their library gives the texts of a column and makes one like it."""

    def __init__(self, series: Series) -> None:
        self._series = series

    def privatize(
        self, private: Privatizer | Recipe | None = None, *, record_ids: Iterable[RecordId] | None = None, **settings: Any
    ) -> Series:
        """Return a new column with every word replaced; what is missing stays so, and the column itself is not changed.

        Takes a privatizer, a ``Recipe``, or the settings of a recipe as keywords, such as ``epsilon=6``. With a key it needs
        ``record_ids``, one for each text, such as another column.

        :raises InvalidParameter: if a setting is not allowed, a value is neither text nor missing, or ids are wanted or not; nothing is
            released then.
        """
        private = privatizer_from(private, settings)
        return self._release(private, name_column(private.keyed, record_ids, self._series.name))

    def decode(self, decoder: Decoder | DecoderState | GivenCard, **settings: Any) -> Series:
        """Return a new column with the likeliest word behind each word of a released column; what is missing stays so.

        It is an estimate. Takes a decoder, or the card of the release (its path, a ``Card``, or the data of its JSON) with the settings of
        ``DecoderState.learn`` as keywords: how frequent words are is then learnt from this column.

        :raises InvalidParameter: if a setting is not allowed, or a value is neither text nor missing.
        :raises NotThisRelease: if the column was not released as the card says.
        """
        opened, texts = self._open(decoder, settings)
        return self._with(opened.many(texts))

    def _open(self, decoder: Decoder | DecoderState | GivenCard, settings: dict[str, Any]) -> tuple[Decoder, list[str | None]]:
        """Return the decoder that is meant, perhaps learnt from this column, and the texts of the column."""
        from deniable.analysis.decoder_state import check_texts, decoder_from

        texts = check_texts(self._texts())
        return decoder_from(decoder, texts, settings), texts

    @abstractmethod
    def _release(self, private: Privatizer, record_ids: Any) -> Series:
        """Return the released column."""

    @abstractmethod
    def _texts(self) -> list[Any]:
        """Return the values of the column, None where one is missing."""

    @abstractmethod
    def _with(self, texts: Sequence[str | None]) -> Series:
        """Return a column like this one with other texts; what is missing stays as it is."""
