"""What the records of a column are called, so that two columns of one record never share their noise."""

from __future__ import annotations

from collections.abc import Iterable

from deniable.errors import InvalidParameter
from deniable.keyed.encoding import RecordId
from deniable.text.privatizer import Privatizer


def names_in_column(private: Privatizer, record_ids: Iterable[RecordId] | None, column: object) -> list[RecordId] | None:
    """Return the ids with the column's name, as ``deniable privatize --record-id`` names them; users' ids stay as they are.

    :raises InvalidParameter: if the column has no name.
    """
    if record_ids is None:
        return None
    ids = list(record_ids)
    if private.keyed is None or private.keyed.consistent:
        return ids
    if column is None or column == "":
        raise InvalidParameter("column", column, "must have a name: with a key, it is part of what the noise depends on")
    return [(*(one if isinstance(one, tuple) else (one,)), str(column)) for one in ids]
