"""The names of records in a keyed release: what the noise of a record depends on beside the key and its words.

A name must belong to one text and no other. So the column is part of it, and where no column of ids is given, the number of the
record in the file and a digest of the whole file are: the same file gives the same words under any path, and two
different files never share noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from deniable.errors import InvalidParameter, RecordError
from deniable.keyed.encoding import RecordId
from deniable.keyed.unique import UniqueIds
from deniable.records.formats.layout import Layout
from deniable.records.formats.source import Source
from deniable.text.privatizer import Privatizer


class Naming:
    """Names the texts of records, by a column of ids, by users, or by the file and the record's number."""

    def __init__(self, source: str, *, column: str | None, digest: str = "", consistent: bool = False) -> None:
        self.column = column
        self._source, self._digest, self._consistent = source, digest, consistent
        self._ids = UniqueIds()

    def names(self, record: int, given: object, columns: Sequence[str]) -> tuple[RecordId, ...]:
        """Return a name for the text in each of these columns of a record; ``record`` counts from 1, ``given`` is its id.

        :raises RecordError: if the record has no id, or the id of a record not long before (``check_unique`` finds the others).
        """
        if self.column is None:
            return tuple(("", self._digest, record, column) for column in columns)
        if not isinstance(given, str | int) or given == "":
            raise RecordError(self._source, f"has no id in {self.column!r}; every record needs one", record=record)
        if self._consistent:
            return (given,) * len(columns)
        if not self._ids.add(str(given).encode("utf-8", "surrogatepass"), record):
            self._refuse(None, record)
        return tuple((given, column) for column in columns)

    def check_unique(self) -> None:
        """Do nothing if no two of all records named so far have one id.

        :raises RecordError: if two have.
        """
        if (repeated := self._ids.repeated()) is not None:
            self._refuse(*repeated)

    def _refuse(self, earlier: int | None, record: int) -> NoReturn:
        problem = (
            f"has the id of {'an earlier record' if earlier is None else f'record {earlier:,}'} in {self.column!r}: "
            "equal words of both would be released as equal. Name a column of unique ids; if it names users, use --consistent-by"
        )
        raise RecordError(self._source, problem, record=record)


def naming_for(private: Privatizer, source: Source, layout: Layout) -> Naming | None:
    """Return how the records of a source are named; None if the release is not keyed.

    :raises InvalidParameter: if ids are given without a key, or needed and not given.
    """
    keyed = private.keyed
    if keyed is None:
        if layout.record_id is not None:
            raise InvalidParameter("record_id", layout.record_id, "means something only with a key (--key-file)")
        return None
    if layout.record_id is not None:
        return Naming(source.name, column=layout.record_id, consistent=keyed.consistent)
    if keyed.consistent:
        raise InvalidParameter("record_id", None, "consistent replacement needs the column that names the users (--consistent-by)")
    digest = source.digest()
    if digest is None:
        problem = f"{source.name} is a stream, whose records have no names of their own; name a column of ids (--record-id) or give a file"
        raise InvalidParameter("record_id", None, problem)
    return Naming(source.name, column=None, digest=digest)
