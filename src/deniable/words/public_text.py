"""Public text files: documents, one a line, compressed or not, which priors and language models are counted
from; and lists of words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from deniable.atomic import read_plain_file
from deniable.compression import BYTES_TO_TELL, ENDINGS, compression_of, decompress, read_chunks
from deniable.errors import InvalidParameter, RecordError
from deniable.progress import Report

NOT_PLAIN_TEXT = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".parquet", ".pq", ".xlsx", ".ods")
"""Endings of files whose lines hold more than text, such as names of columns and ids."""

_LONGEST_LINE = 1 << 24
_LONGEST_LIST = 1 << 27


def read_documents(path: Path, *, report: Report | None = None) -> Iterator[str]:
    """Yield the documents of a plain text file, one a line, as ``read_lines`` does.

    :raises RecordError: if the file is a table by its name, cannot be opened, is damaged, or is not UTF-8.
    """
    bare = path.with_suffix("") if path.suffix.lower() in ENDINGS else path
    if bare.suffix.lower() in NOT_PLAIN_TEXT:
        problem = f"is a {bare.suffix[1:].upper()} file, whose ids and other columns would be read too"
        advice = "write its text column to a .txt file, one document a line"
        raise RecordError(path, f"{problem}. --public, --text and --corpus take plain text: {advice}")
    yield from read_lines(path, report=report)


def read_lines(path: Path, *, report: Report | None = None) -> Iterator[str]:
    """Yield the lines of a file; ``report`` receives how many bytes were read, of how many. A line without
    end is cut in parts.

    :raises RecordError: if the file cannot be opened, is damaged, or is not UTF-8.
    """
    try:
        with path.open("rb") as raw:
            kind = compression_of(raw.read(BYTES_TO_TELL))
            raw.seek(0)
            size, rest, number = path.stat().st_size, b"", 0
            for block in read_chunks(decompress(raw, kind), kind, path, compressed=lambda: size):
                *lines, rest = (rest + block).split(b"\n")
                for line in lines:
                    number += 1
                    yield _decoded(line, path, number)
                if len(rest) > _LONGEST_LINE:
                    head, _, rest = rest.rpartition(b" ") if b" " in rest else (rest, b"", b"")
                    yield _decoded(head, path, number + 1)
                if report is not None:
                    report(raw.tell(), size)
            if rest:
                yield _decoded(rest, path, number + 1)
    except OSError as error:
        raise RecordError(path, error.strerror or f"cannot be read ({error})") from error


def _decoded(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        problem = f"is not UTF-8 ({error.reason}); convert it first: iconv"
        raise RecordError(path, problem, line=number) from None


def read_word_list(path: Path | str, *, name: str = "word list") -> list[str]:
    """Return the words of a UTF-8 file that holds one a line; empty lines, and blanks around a word, are
    passed over.

    :raises InvalidParameter: of that name, if the file cannot be read or is not UTF-8.
    """

    def unusable(_: Path, problem: str) -> InvalidParameter:
        return InvalidParameter(name, str(path), f"must be a UTF-8 file of words, one a line ({problem})")

    try:
        text = read_plain_file(
            Path(path), longest=_LONGEST_LIST, what="list of words", error=unusable, pipe=True
        ).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise unusable(Path(path), f"{error.reason} at byte {error.start:,}") from error
    # Other blanks than these can be part of a word of an embedding.
    return [word for line in text.split("\n") if (word := line.strip(" \t\r"))]
