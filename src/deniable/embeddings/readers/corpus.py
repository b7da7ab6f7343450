"""A text file, one document a line, as lists of words: streamed, packed or not, read as many times as
needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from deniable.embeddings.readers.packing import open_unpacked
from deniable.progress import Report
from deniable.words.cutter import words_of

LONGEST_DOCUMENT = 10_000
"""Words after which a document is cut in two: gensim reads no further than this."""

_BYTES_AT_ONCE = 1 << 20


class Corpus:
    """Iterates over the documents of a file; each pass reads it anew and reports its bytes after those of
    earlier passes."""

    def __init__(
        self,
        path: Path,
        *,
        passes: int = 1,
        cut: Callable[[str], list[str]] = words_of,
        report: Report | None = None,
    ) -> None:
        """Hold the path; ``passes`` is how many times the file will be read, for the total that is reported.

        ``cut`` gives the words of a line: in lower case, as for an embedding that is yet to be trained,
        unless it is another.
        """
        self.path = path
        self._cut = cut
        self._total = path.stat().st_size * passes
        self._read_before = 0
        self._report = report

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the words of each document, in pieces of at most ``LONGEST_DOCUMENT``.

        :raises MalformedEmbedding: if the file is packed and damaged.
        """
        for line in self._lines():
            words = self._cut(line)
            for start in range(0, len(words), LONGEST_DOCUMENT):
                yield words[start : start + LONGEST_DOCUMENT]
        self._read_before += self.path.stat().st_size

    def _lines(self) -> Iterator[str]:
        rest = b""
        with open_unpacked(self.path, report=self._report_pass) as stream:
            while block := stream.read(_BYTES_AT_ONCE):
                *lines, rest = (rest + block).split(b"\n")
                yield from (line.decode("utf-8", "replace") for line in lines)
                if len(rest) > _BYTES_AT_ONCE:  # a line without end must not fill the memory
                    head, _, rest = rest.rpartition(b" ") if b" " in rest else (rest, b"", b"")
                    yield head.decode("utf-8", "replace")
        yield rest.decode("utf-8", "replace")

    def _report_pass(self, done: int, _size: int) -> None:
        if self._report is not None:
            self._report(self._read_before + done, self._total)
