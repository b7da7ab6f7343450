"""The names of records in a keyed release: what the noise of a record depends on beside the key and its
words.

A name must belong to one text and no other. So the column is part of it, and where no column of ids is given,
the number of the record in the file and a digest of the whole file are: the same file gives the same words
under any path, and two different files never share noise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NoReturn, cast

from deniable.errors import InvalidParameter, RecordError
from deniable.noise.encoding import RecordId, UniqueIds, encode_id

Place = str | tuple[str | int, ...]
"""Where a text stands in a record: its column; of a nested one its path, a dot, and its number in each list
on the way."""


def name_text(record_id: RecordId, place: Place, *, consistent: bool) -> RecordId:
    """Return what names the text at a place of a record to a key, wherever it is released.

    Equal words of two columns must not get equal noise, so the column is part of the name; unless the ids
    name users (``consistent``), of whom a word becomes the same word everywhere.
    """
    if consistent:
        return record_id
    parts = place if type(place) is tuple else (place,)
    return (*record_id, *parts) if type(record_id) is tuple else (record_id, *parts)  # type: ignore[arg-type]


def name_column(ids: Iterable[RecordId], column: object, *, consistent: bool) -> list[RecordId]:
    """Return what names the texts of a column to a key, as ``deniable privatize --record-id`` names them."""
    if not consistent and (column is None or column == ""):
        problem = "must have a name: with a key, it is part of what the noise depends on"
        raise InvalidParameter("column", column, problem)
    names = list(ids)
    if any(each is None or each == "" for each in names if isinstance(each, str | None)):
        raise InvalidParameter("record_id", None, "a record has no id; every record needs one")
    return [name_text(record_id, str(column), consistent=consistent) for record_id in names]


class Naming:
    """Names the texts of records, by a column of ids, by users (``consistent``), or by the file and the
    record's number."""

    kinds: tuple[type, ...] = (str, int)
    """What the column may hold. Ids are no numbers that are not whole: two that are written differently may
    be equal."""

    kinds_in_words = "text or whole numbers"

    called = "id"
    """What a value of the column is called in messages."""

    def __init__(
        self, source: str, *, column: str | None, digest: str = "", consistent: bool = False
    ) -> None:
        self.column = column
        self._source, self._digest, self._consistent = source, digest, consistent
        self._ids = UniqueIds()

    def names(self, record: int, given: object, places: Sequence[Place]) -> tuple[RecordId, ...]:
        """Return a name for the text at each of these places of a record; ``record`` counts from 1, ``given``
        is its id."""
        if self.column is None:
            return tuple(name_text(("", self._digest, record), place, consistent=False) for place in places)
        if given is None or given == "":
            raise RecordError(
                self._source, f"has no id in {self.column!r}; every record needs one", record=record
            )
        try:
            name = encode_id(given, record)
        except InvalidParameter:
            problem = f"has an id in {self.column!r} that is neither text nor a whole number"
            raise RecordError(self._source, problem, record=record) from None
        named = cast("RecordId", given)
        if self._consistent:
            return (named,) * len(places)
        if not self._ids.add(name, record):
            self._refuse(None, record)
        return tuple(name_text(named, place, consistent=False) for place in places)

    def check_unique(self) -> None:
        """Check that no two of all records named so far have one id."""
        if (repeated := self._ids.repeated()) is not None:
            self._refuse(*repeated)

    def _refuse(self, earlier: int | None, record: int) -> NoReturn:
        problem = (
            f"has the id of {'an earlier record' if earlier is None else f'record {earlier:,}'} in "
            f"{self.column!r}: "
            "equal words of both would be released as equal. Name a column of unique ids; if it names users, "
            "use --consistent-by"
        )
        raise RecordError(self._source, problem, record=record)
