"""Record ids and settings as bytes, so that two different ones never have the same bytes."""

from __future__ import annotations

from collections.abc import Iterable

from deniable.errors import InvalidParameter

RecordId = str | int | tuple[str | int, ...]
"""What names a record: text or a whole number, or several of them. A number counts as the text of its digits."""


def encode_parts(parts: Iterable[str | bytes]) -> bytes:
    """Return the parts as bytes: their number, then each with its length before it. Different parts, different bytes."""
    raw = [part if isinstance(part, bytes) else part.encode("utf-8", "surrogatepass") for part in parts]
    return b"".join([len(raw).to_bytes(8, "little"), *(len(part).to_bytes(8, "little") + part for part in raw)])


def encode_id(record_id: object, record: int) -> bytes:
    """Return a record id as bytes; ``record`` (from 1) is for the message.

    7 and "7" are one id: a column of whole numbers is text in one format and numbers in the next, and the record is the same.

    :raises InvalidParameter: if it is not text, a whole number, or a tuple of those.
    """
    parts = record_id if isinstance(record_id, tuple) else (record_id,)
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif hasattr(part, "__index__") and not isinstance(part, bool):
            texts.append(str(int(part)))
        else:
            # The value could be private text that stands in the wrong column.
            problem = f"the id of record {record:,} is neither text nor a whole number, nor a tuple of those"
            raise InvalidParameter("record_ids", type(part).__name__, problem)
    if not texts:
        raise InvalidParameter("record_ids", (), f"the id of record {record:,} is empty")
    return encode_parts(texts)
