"""Where the bytes of records come from, and their lines: split at line feeds and nowhere else."""

from __future__ import annotations

import codecs
import copy
import errno
import hashlib
import io
import os
import re
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, Self, cast

from deniable.atomic import open_regular
from deniable.compression import BYTES_TO_TELL, DAMAGE, compression_of, decompress, has_grown_too_far
from deniable.errors import RecordError

LONGEST_RECORD = 16 * 2**20
"""Characters that one record may have: a record is held in memory as a whole, several times over."""

_BYTE_ORDER_MARK = "\ufeff"
_MARKED_ENCODINGS = {  # the longer marks first: that of UTF-32 begins like that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

_DOCUMENTS = {
    b"%PDF-": "a PDF document",
    b"PK\x03\x04": "a ZIP archive, as .docx, .xlsx and .ods are (the last two need their ending, or --format)",  # noqa: E501
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "an old Office document, as .doc and .xls are",
    b"{\\rtf": "an RTF document",
    b"SQLite format 3\x00": "an SQLite database",
    b"\x89PNG": "a picture",
    b"\xff\xd8\xff": "a picture",
}
_WIDE = ("utf16", "utf32")  # their characters hold zero bytes
_LIKELY_ENCODINGS = "such as cp1252 (Windows) or latin-1"
_NO_TEXT = "is {}; save it as text, CSV, JSON Lines, .xlsx or Parquet first"
# Backspace and escape stand in logs of terminals; start of heading and the separators of ASCII stand between
# cells.
_NEVER_TYPED = re.compile(r"[\0\x02-\x07\x0e-\x1a]")
_MOST_NEVER_TYPED, _FEW_NEVER_TYPED = 0.02, 10

BYTES_AT_ONCE = 1 << 18
_CHANGED = "changed while it was read; release it again when it has stopped changing"
_SWAPPED = "is not the file any more that the folder was seen to hold; links and pipes are not followed"


Identity = dict[str, str | int | None]
"""What an input is recognised by when a job is resumed: its path and size, and its time of change or a digest
of its files."""


class Source(Protocol):
    """Bytes in chunks, decompressed."""

    name: str
    size: int | None

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes, decompressed."""

    def waiting(self) -> bool:
        """Return whether asking for the next chunk would wait for a slow producer."""

    def position(self) -> int:
        """Return how many bytes of the input, as it is stored, were read so far."""

    def identity(self) -> Identity | None:
        """Return what this input is recognised by when a job is resumed; None if it cannot be read a second
        time."""

    def digest(self) -> str | None:
        """Return a digest of all the bytes, as they are stored; None if they cannot be read a second time."""

    def check_unchanged(self) -> None:
        """Do nothing if what is read is still what ``digest`` was made of, if it was made.

        :raises RecordError: if the input changed since.
        """

    def close(self) -> None:
        """Let go of the input."""


class FileSource:
    """A regular file. All that is read of it is read from the one that was opened, whatever its name stands
    for later.

    It is read as far as it went when it was opened: what is written to it meanwhile is not part of what its
    digest names.
    """

    def __init__(self, path: Path, *, listed: os.stat_result | None = None) -> None:
        """Open the file; if it was ``listed`` in its folder, then only that very file, as it was, and never
        through a link.

        :raises OSError: if it cannot be opened.
        :raises RecordError: if it is not the file that was listed.
        """
        self.path = path
        self.name = str(path)
        # Before the file is open, and without a look at what was listed: it is no link, but its name may
        # stand for one a moment later.
        where = os.path.realpath(path) if listed is None else path.parent.resolve() / path.name
        self.file = path.open("rb") if listed is None else _open_listed(path, listed)
        about = os.fstat(self.file.fileno())
        if not about.st_size and os.pread(
            self.file.fileno(), 1, 0
        ):  # as in /proc; it would be taken for empty
            self.file.close()
            raise RecordError(path, "does not say how long it is; copy it to a file first")
        self.size: int | None = about.st_size
        self._end, self._seen, self._digest = about.st_size, _state(about), ""
        self._bytes = self.reopen()
        self._identity: Identity = {
            "input": str(where),
            "input size": about.st_size,
            "input time": about.st_mtime_ns,
        }

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes, decompressed.

        :raises RecordError: if compressed data is damaged or cut short.
        """
        kind = compression_of(self._bytes.peek(BYTES_TO_TELL))
        return read_chunks(decompress(self._bytes, kind), kind, self.name, compressed=lambda: self.size or 0)

    def waiting(self) -> bool:
        """Return False: a file never keeps one waiting."""
        return False

    def position(self) -> int:
        """Return how many bytes of the file were read so far."""
        return self._bytes.tell()

    def identity(self) -> Identity | None:
        """Return the file's path, size and time of last change, as they were when it was opened."""
        return self._identity

    def digest(self) -> str | None:
        """Return a digest of the file's bytes; reading goes on where it was."""
        self._digest = self._digest_of_bytes()
        return self._digest

    def check_unchanged(self) -> None:
        """Do nothing if the bytes that a digest was made of are still there; what was added behind them was
        not read.

        :raises RecordError: if they are not. Under one digest two records would have the same noise.
        """
        now = _state(os.fstat(self.file.fileno()))
        if not self._digest or now == self._seen:
            return
        if self._digest_of_bytes() != self._digest:
            raise RecordError(self.name, _CHANGED)
        self._seen = now  # as it was before the bytes were looked at again

    def check_not_written(self) -> None:
        """Do nothing if the file was not written to since it was opened.

        :raises RecordError: if it was.
        """
        if _state(os.fstat(self.file.fileno())) != self._seen:
            raise RecordError(self.name, _CHANGED)

    def _digest_of_bytes(self) -> str:
        digest, position = hashlib.blake2b(digest_size=16), 0
        while chunk := os.pread(self.file.fileno(), min(BYTES_AT_ONCE, self._end - position), position):
            digest.update(chunk)
            position += len(chunk)
        return digest.hexdigest()

    def reopen(self) -> io.BufferedReader:
        """Return the file that was opened, once more and with a position of its own: its name may stand for
        another one by now."""
        return io.BufferedReader(_SameFile(self.file.fileno(), self._end))

    def again(self) -> FileSource:
        """Return the same open file to be read from its start, for as long as this one is open."""
        other = copy.copy(self)
        other._bytes = self.reopen()
        return other

    def close(self) -> None:
        """Close the file."""
        self.file.close()


def _state(about: os.stat_result) -> tuple[int, int, int]:
    """Return what is another if a file was written to; its last time cannot be set back."""
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns


class _SameFile(io.RawIOBase):
    """An open file, read at a position of its own and up to an end; it stays open when this is closed."""

    def __init__(self, descriptor: int, end: int) -> None:
        self._descriptor, self._end, self._at = descriptor, end, 0

    def fileno(self) -> int:
        return self._descriptor

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end}[whence]
        if start + offset < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._at = start + offset
        return self._at

    def readinto(self, buffer: Any) -> int:
        data = os.pread(self._descriptor, max(min(len(buffer), self._end - self._at), 0), self._at)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def _open_listed(path: Path, listed: os.stat_result) -> io.BufferedReader:
    try:
        descriptor = open_regular(path)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EINVAL, errno.ENXIO):
            raise RecordError(path, _SWAPPED) from None
        raise
    try:
        now = os.fstat(descriptor)
        if not os.path.samestat(now, listed):
            raise RecordError(path, _SWAPPED)
        if (now.st_size, now.st_mtime_ns) != (listed.st_size, listed.st_mtime_ns):
            raise RecordError(path, "changed while it was taken up; it is read when it has stopped changing")
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_chunks(
    stream: BinaryIO, kind: str | None, name: str, *, compressed: Callable[[], int]
) -> Iterator[bytes]:
    """Yield what a stream of decompressed bytes holds, as it comes; ``kind`` is how they were compressed.

    ``compressed`` says how many bytes there are before decompression, or how many have arrived.

    :raises RecordError: if compressed data is damaged or cut short, or grows out of all proportion.
    """
    read = cast(io.BufferedReader, stream).read1
    grown = 0
    while True:
        try:
            chunk = read(BYTES_AT_ONCE)
        except DAMAGE as error:
            if kind is None:
                raise
            raise RecordError(name, f"the {kind} data is damaged or cut short") from error
        grown += len(chunk)
        if kind is not None and has_grown_too_far(grown, compressed()):
            grew = f"{compressed():,} bytes of {kind} decompress to more than {grown - len(chunk):,}"
            raise RecordError(name, f"{grew}; if you trust the file, decompress it first")
        if not chunk:
            return
        yield chunk


class Lines:
    """The lines of a source, without their line feeds; a last line need not have one.

    A byte order mark at the start is taken off, and ``marked`` says that there was one (known after the first
    line).
    """

    def __init__(self, source: Source, encoding: str = "utf-8") -> None:
        self.name = source.name
        self.marked = False
        self._waiting = source.waiting
        self._encoding = encoding
        self._texts = self._decode_chunks(source.chunks())
        self._ready: deque[str] = deque()
        self._unfinished: list[str] = []
        self._unfinished_characters = 0
        self._ended = False
        self._line_feeds = 0

    def __iter__(self) -> Self:
        """Return itself."""
        return self

    def __next__(self) -> str:
        """Return the next line.

        :raises RecordError: if the bytes are not text in the encoding or the line is too long, with the line.
        """
        while not self._ready:
            if self._ended:
                raise StopIteration
            self._fill()
        return self._ready.popleft()

    def idle(self) -> bool:
        """Return whether the next line is still to come from a slow producer."""
        return not self._ready and not self._ended and self._waiting()

    def _fill(self) -> None:
        text = next(self._texts, None)
        if text is None:
            self._ended = True
            if rest := "".join(self._unfinished):
                self._ready.append(rest)
            return
        first, *others = text.split("\n")
        self._unfinished_characters += len(first)
        if self._unfinished_characters > LONGEST_RECORD:
            problem = f"longer than {LONGEST_RECORD:,} characters; split it into more lines"
            raise RecordError(self.name, problem, line=self._line_feeds - len(others) + 1)
        self._unfinished.append(
            first
        )  # joined only once its end is there: a huge line costs no more than its length
        if others:
            self._ready.append("".join(self._unfinished))
            self._unfinished = [others.pop()]
            self._unfinished_characters = len(self._unfinished[0])
            self._ready.extend(others)

    def _decode_chunks(self, chunks: Iterator[bytes]) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder(self._encoding)(errors="strict")
        start = True
        for chunk in chunks:
            if start:
                self._refuse_binary(chunk)
            text, problem = self._decode(decoder, chunk, first=start)
            if start and text:
                start = False
                self._refuse_unprintable(text)
                if text.startswith(_BYTE_ORDER_MARK):
                    self.marked = True
                    text = text[1:]
            self._line_feeds += text.count("\n")
            if text:
                yield text
            if problem is not None:  # after the lines before it, however many of them came in this chunk
                raise RecordError(self.name, problem, line=self._line_feeds + 1)
        text, problem = self._decode(decoder, b"", final=True)
        if text:
            yield text
        if problem is not None:
            raise RecordError(self.name, problem, line=self._line_feeds + text.count("\n") + 1)

    def _refuse_binary(self, start: bytes) -> None:
        """Refuse what begins like a document that is no text: encodings of one byte a character would read it
        as letters."""
        kind = next((kind for begins, kind in _DOCUMENTS.items() if start.startswith(begins)), None)
        encoding = codecs.lookup(self._encoding).name.replace("-", "").replace("_", "")
        if kind is None and encoding != "utf8" and not encoding.startswith(_WIDE) and b"\x00" in start:
            kind = "no text, or text in another encoding: it holds zero bytes"
        if kind is not None:
            raise RecordError(self.name, _NO_TEXT.format(kind), line=1)

    def _refuse_unprintable(self, start: str) -> None:
        """Refuse what some encoding reads, but nobody typed: compressed or encrypted bytes are control
        characters one time in twelve."""
        if len(_NEVER_TYPED.findall(start)) > _MOST_NEVER_TYPED * len(start) + _FEW_NEVER_TYPED:
            raise RecordError(
                self.name,
                _NO_TEXT.format("no text, or text in another encoding: it holds control characters"),
                line=1,
            )

    def _decode(
        self, decoder: codecs.IncrementalDecoder, chunk: bytes, *, first: bool = False, final: bool = False
    ) -> tuple[str, str | None]:
        """Return the text, as far as it is any, and what is wrong with the rest; None if nothing is."""
        try:
            return decoder.decode(chunk, final), None
        except UnicodeDecodeError as error:
            good = error.object[: error.start].decode(self._encoding, "replace")
            advice = _encoding_of(error.object) if first else _LIKELY_ENCODINGS
            return (
                good,
                f"not valid {self._encoding.upper()}; say the encoding of the file with --encoding, {advice}",
            )
        except UnicodeError:  # UTF-16 and UTF-32 without the mark that tells the order of their bytes
            problem = (
                f"no byte order mark, so it is not {self._encoding}; say the order with --encoding, "
                "such as utf-16-le or utf-16-be"
            )
            raise RecordError(self.name, problem, line=1) from None


def _encoding_of(start: bytes) -> str:
    """Return what to say of the encoding, from the bytes that a file begins with."""
    for mark, encoding in _MARKED_ENCODINGS.items():
        if start.startswith(mark):
            return f"which is {encoding} by its first bytes"
    return _LIKELY_ENCODINGS
