"""Record ids: as bytes, so that two different ones never have the same bytes, and ids that must not repeat.

Of two records under one id, equal words at the same place come out as equal words. So every id is remembered
by 128 bits of BLAKE2b: two different ids share them with a probability below 10^-18 among ten billion
records, so a valid file is not refused. They are made under a key that is drawn for this once and forgotten:
what is left of a temporary file on a disk confirms no guess. The last 65,536 ids at least are held in a set,
and a repetition among them is noticed at once, before its record is released. All others are noticed at the
end: marks are sorted in runs of 262,144, runs lie in an unnamed temporary file (24 bytes a record; no file
for fewer records than one run), and a last pass brings equal marks of all runs together, a part of their
range at a time.
"""

from __future__ import annotations

import hashlib
import secrets
import weakref
from collections.abc import Iterable, Iterator
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from deniable.errors import InvalidParameter

RecordId = str | int | tuple[str | int, ...]
"""What names a record: text or a whole number, or several of them. A number counts as the text of its digits,
and one in a tuple of its own as itself."""

_TEXT = frozenset({str, np.str_})
_WHOLE = frozenset({int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])})
_NO_ID = (
    "is neither text nor a whole number, nor a tuple of those; of an enumeration, or of another type of your "
    "own, give the text or the number that names the record"
)


HELD = 1 << 16
RUN = 1 << 18
_BUCKETS = 1 << 10  # by the first bits of a mark, so that the last pass can take a part of every run
_MARK = np.dtype([("first", "<u8"), ("rest", "<u8"), ("record", "<u8")])

Marks = NDArray[Any]


def encode_parts(parts: Iterable[str | bytes]) -> bytes:
    """Return the parts as bytes, each with its length before it: different parts, different bytes."""
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


class UniqueIds:
    """Remembers ids and finds those that repeat."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(16)
        self._recent: set[bytes] = set()
        self._before: set[bytes] = set()
        self._run = bytearray()
        self._runs: list[NDArray[np.int64]] = []  # where each bucket of each run begins in the file
        self._file: IO[bytes] | None = None

    def add(self, name: bytes, record: int) -> bool:
        """Remember an id and its record's number; return whether it is new, as far as can be told at once."""
        mark = hashlib.blake2b(name, digest_size=16, key=self._key).digest()
        if mark in self._recent or mark in self._before:
            return False
        self._recent.add(mark)
        if len(self._recent) >= HELD:
            self._before, self._recent = self._recent, set()
        self._run += mark
        self._run += record.to_bytes(8, "little")
        if len(self._run) >= RUN * _MARK.itemsize:
            self._put_away()
        return True

    def repeated(self) -> tuple[int, int] | None:
        """Return two records that have one id; None if all ids are different."""
        for marks in self._parts():
            same = np.flatnonzero(
                (marks["first"][1:] == marks["first"][:-1]) & (marks["rest"][1:] == marks["rest"][:-1])
            )
            if len(same):
                one, other = sorted(int(marks["record"][same[0] + i]) for i in (0, 1))
                return one, other
        return None

    def _put_away(self) -> None:
        if self._file is None:
            import tempfile

            self._file = tempfile.TemporaryFile(prefix="deniable-ids-")  # noqa: SIM115 - lives as long as this object
            weakref.finalize(self, self._file.close)
        marks = _sort(np.frombuffer(bytes(self._run), dtype=_MARK))
        edges = np.arange(1, _BUCKETS, dtype=np.uint64) << np.uint64(64 - _BUCKETS.bit_length() + 1)
        begin = self._file.seek(0, 2) // _MARK.itemsize
        self._runs.append(begin + np.concatenate([[0], np.searchsorted(marks["first"], edges), [len(marks)]]))
        self._file.write(marks.tobytes())
        self._run.clear()

    def _parts(self) -> Iterator[Marks]:
        """Yield all marks sorted, a part of their range at a time: equal ones are never in two parts."""
        if self._file is None:
            yield _sort(np.frombuffer(bytes(self._run), dtype=_MARK))
            return
        if self._run:
            self._put_away()
        at_once = max(1, _BUCKETS // len(self._runs))
        for bucket in range(0, _BUCKETS, at_once):
            yield _sort(
                np.concatenate(
                    [
                        _read(self._file, run[bucket], run[min(bucket + at_once, _BUCKETS)])
                        for run in self._runs
                    ]
                )
            )


def _read(file: IO[bytes], start: np.int64, end: np.int64) -> Marks:
    file.seek(int(start) * _MARK.itemsize)
    return np.frombuffer(file.read(int(end - start) * _MARK.itemsize), dtype=_MARK)


def _sort(marks: Marks) -> Marks:
    chosen: Marks = marks[np.lexsort((marks["rest"], marks["first"]))]
    return chosen
