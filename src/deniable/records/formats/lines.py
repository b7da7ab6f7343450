"""The lines of a source as text: split at line feeds and nowhere else."""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterator
from itertools import chain

from deniable.errors import RecordError
from deniable.records.formats.source import Source

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
_OTHER_ENCODING = "no text, or text in another encoding: it holds"
# Backspace and escape stand in logs of terminals; start of heading and the separators of ASCII stand between
# cells.
_NEVER_TYPED = re.compile(r"[\0\x02-\x07\x0e-\x1a]")
_MOST_NEVER_TYPED, _FEW_NEVER_TYPED = 0.02, 10


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

    def __iter__(self) -> Iterator[str]:
        while not self._ended or self._ready:
            while self._ready:
                yield self._ready.popleft()
            if not self._ended:
                self._fill()

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
        # Joined only once its end is there: a huge line costs no more than its length.
        self._unfinished.append(first)
        if others:
            self._ready.append("".join(self._unfinished))
            self._unfinished = [others.pop()]
            self._unfinished_characters = len(self._unfinished[0])
            self._ready.extend(others)

    def _decode_chunks(self, chunks: Iterator[bytes]) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder(self._encoding)(errors="strict")
        start = True
        for chunk in chain(filter(None, chunks), [b""]):
            text, problem = self._decode(decoder, chunk, first=start and chunk != b"")
            if start and chunk:
                self._check_start(chunk, text)
            if start and text:
                start = False
                if text.startswith(_BYTE_ORDER_MARK):
                    self.marked = True
                    text = text[1:]
            self._line_feeds += text.count("\n")
            if text:
                yield text
            if problem is not None:  # after the lines before it, however many of them came in this chunk
                raise RecordError(self.name, problem, line=self._line_feeds + 1)

    def _check_start(self, start: bytes, text: str) -> None:
        """Refuse what some encoding reads as letters and nobody typed: documents that are no text, and
        compressed or encrypted bytes, which are control characters one time in twelve."""
        kind = next((kind for begins, kind in _DOCUMENTS.items() if start.startswith(begins)), None)
        encoding = codecs.lookup(self._encoding).name.replace("-", "").replace("_", "")
        if kind is None and encoding != "utf8" and not encoding.startswith(_WIDE) and b"\x00" in start:
            kind = f"{_OTHER_ENCODING} zero bytes"
        if (
            kind is None
            and len(_NEVER_TYPED.findall(text)) > _MOST_NEVER_TYPED * len(text) + _FEW_NEVER_TYPED
        ):
            kind = f"{_OTHER_ENCODING} control characters"
        if kind is not None:
            problem = f"is {kind}; save it as text, CSV, JSON Lines, .xlsx or Parquet first"
            raise RecordError(self.name, problem, line=1)

    def _decode(
        self, decoder: codecs.IncrementalDecoder, chunk: bytes, *, first: bool
    ) -> tuple[str, str | None]:
        """Return the text, as far as it is any, and what is wrong with the rest; None if nothing is. The last
        chunk is empty."""
        try:
            return decoder.decode(chunk, not chunk), None
        except UnicodeDecodeError as error:
            good, advice = error.object[: error.start].decode(self._encoding, "replace"), _LIKELY_ENCODINGS
            marks = _MARKED_ENCODINGS.items() if first else ()
            if encoding := next((found for mark, found in marks if error.object.startswith(mark)), None):
                advice = f"which is {encoding} by its first bytes"
            problem = f"not valid {self._encoding.upper()}; say the encoding of the file with --encoding"
            return good, f"{problem}, {advice}"
        except UnicodeError:  # UTF-16 and UTF-32 without the mark that tells the order of their bytes
            problem = f"no byte order mark, so it is not {self._encoding}; say the order with --encoding"
            problem += ", such as utf-16-le or utf-16-be"
            return "", problem
