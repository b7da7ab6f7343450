"""Record ids and settings as bytes, so that two different ones never have the same bytes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from deniable.errors import InvalidParameter

RecordId = str | int | tuple[str | int, ...]
"""What names a record: text or a whole number, or several of them. A number counts as the text of its digits,
and one in a tuple of its own as itself."""

_TEXT = frozenset({str, np.str_})
_WHOLE = frozenset({int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])})
_NO_ID = (
    "is neither text nor a whole number, nor a tuple of those; of an enumeration, or of another type of your "
    "own, give the text or the "
    "number that names the record"
)


def encode_parts(parts: Iterable[str | bytes]) -> bytes:
    """Return the parts as bytes: their number, then each with its length before it. Different parts,
    different bytes."""
    raw = [part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join(
        [len(raw).to_bytes(8, "little"), *(len(part).to_bytes(8, "little") + part for part in raw)]
    )


def encode_id(record_id: object, record: int) -> bytes:
    """Return a record id as bytes; ``record`` (from 1) is for the message.

    7 and "7" are one id: a column of whole numbers is text in one format and numbers in the next, and the
    record is the same. Types made from these (members of an enumeration, named tuples) are refused: two of
    them may differ to their makers and be equal here.

    :raises InvalidParameter: if it is not text, a whole number, or a tuple of those.
    """
    parts = record_id if type(record_id) is tuple else (record_id,)
    texts = []
    for part in parts:
        if type(part).__module__ == "pyarrow.lib" and hasattr(part, "as_py"):  # a value of an Arrow column
            part = part.as_py()
        if type(part) in _TEXT:
            texts.append(str(part))
        elif type(part) in _WHOLE:
            texts.append(_digits(int(part), record))
        else:
            # The value could be private text that stands in the wrong column.
            raise InvalidParameter("record_ids", type(part).__name__, f"the id of record {record:,} {_NO_ID}")
    if not texts:
        raise InvalidParameter("record_ids", (), f"the id of record {record:,} is empty")
    return encode_parts(texts)


def _digits(number: int, record: int) -> str:
    try:
        return str(number)
    except ValueError:  # Python does not write out numbers of thousands of digits
        raise InvalidParameter(
            "record_ids", "int", f"the id of record {record:,} has too many digits; give it as text"
        ) from None
