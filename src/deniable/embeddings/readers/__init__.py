"""Readers of the public embedding formats: one file each, all giving blocks of words and vectors.

Which format a file has is told by its content.
"""

from __future__ import annotations

import codecs
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from deniable.embeddings.readers.binary import FASTTEXT_MAGIC, read_fasttext_binary, read_word2vec_binary
from deniable.embeddings.readers.npz import read_npz
from deniable.embeddings.readers.packing import open_unpacked, packing_of_bytes, unpacked_copy
from deniable.embeddings.readers.raw import HEADER, RawEmbedding
from deniable.embeddings.readers.safetensors_file import read_safetensors
from deniable.embeddings.readers.text import is_number, parse_numbers, read_text
from deniable.errors import InvalidParameter, MalformedEmbedding
from deniable.progress import Report

_TEXT = ("glove", "word2vec-text", "fasttext-text")
_WHOLE = {
    "word2vec-binary": read_word2vec_binary,
    "fasttext-binary": read_fasttext_binary,
    "npz": read_npz,
    "safetensors": read_safetensors,
}
"""Formats that cannot be read front to back: a packed file is unpacked first."""

FORMATS = (*_TEXT, *_WHOLE)

_HEAD_BYTES = 1 << 20
_HEADER_LINE = re.compile(rb"(?:\xef\xbb\xbf)?" + HEADER.pattern + rb"\r?\n")
_KNOWN = "known are GloVe text, word2vec and fastText text and binary, .npz and .safetensors"
_MISLEADING = (".gz", ".bz2", ".xz", ".zst", ".zip")
"""gensim unpacks by the name of a file; one that is called packed but is not must get another name first."""


@contextmanager
def open_embedding_file(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    report: Report | None = None,
    work: Path | None = None,
) -> Iterator[RawEmbedding]:
    """Open an embedding file and give what is in it, block by block; the file is closed when the context
    ends.

    ``format`` is one of ``FORMATS``, or None to tell it from the content. Formats that cannot be read front
    to back are unpacked into a temporary folder within ``work`` first.

    :raises InvalidParameter: if there is no such file or format.
    :raises MalformedEmbedding: if the file is not an embedding, now or while its blocks are consumed.
    :raises MissingExtra: if the format needs a library that is not installed.
    """
    if not path.is_file():
        raise InvalidParameter("file", str(path), "is not a file" if path.exists() else "does not exist")
    if format is not None and format not in FORMATS:
        raise InvalidParameter("format", format, f"must be one of {', '.join(FORMATS)}")
    chosen = format or detect_format(path)
    with ExitStack() as stack:
        if chosen in _TEXT:
            read = stack.enter_context(open_unpacked(path, report=report))
            yield read_text(read, source=path, header=chosen != "glove")
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=work)))
        content = unpacked_copy(path, folder, report=report)
        if content == path and chosen == "fasttext-binary" and path.suffix.lower() in _MISLEADING:
            content = Path(shutil.copyfile(path, folder / "content"))
        yield _WHOLE[chosen](content, source=path)


def detect_format(path: Path) -> str:
    """Return the name of the format, one of ``FORMATS``.

    :raises MalformedEmbedding: if the file is empty, packed twice, or in no known format.
    """
    with open_unpacked(path) as read:
        head = read(_HEAD_BYTES)
    if not head:
        raise MalformedEmbedding(path, "the file is empty")
    packing = packing_of_bytes(head)
    if packing == "zip":  # only an .npz file shows itself as a zip archive here
        return "npz"
    if packing is not None:
        problem = f"the file is packed twice ({packing} inside); unpack it once and add the result"
        raise MalformedEmbedding(path, problem)
    if head.startswith(FASTTEXT_MAGIC):
        return "fasttext-binary"
    if head[8:9] == b"{" and 2 <= int.from_bytes(head[:8], "little") < 100_000_000:
        return "safetensors"
    header = _HEADER_LINE.match(head)
    if header is not None:
        body = head[header.end() :]
        if _is_binary(body, dimension=int(header[2])):
            return "word2vec-binary"
        if _looks_headed(body, dimension=int(header[2])):
            return "word2vec-text"
    if head.startswith(b"\x80") and head[1:2] in b"\x02\x03\x04\x05":
        problem = "this looks like a Python pickle, which can run code and is never read"
        raise MalformedEmbedding(path, f"{problem}; save it as .npz or text")
    if b"\x00" in head:
        raise MalformedEmbedding(path, f"binary data in no known format; {_KNOWN}")
    return "glove"


def _is_binary(body: bytes, *, dimension: int) -> bool:
    """Return whether the words are followed by raw floats rather than by decimal numbers."""
    line, ended, _ = body.partition(b"\n")
    fields = line.rstrip(b" \r").split(b" ")
    values = b" ".join(fields[-dimension:])
    if ended and len(fields) > dimension > 0 and parse_numbers(values) is not None:
        return False
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return True
    return any(character < " " and character not in "\t\r\n" for character in text)


def _looks_headed(body: bytes, *, dimension: int) -> bool:
    """Return False for a one-dimensional GloVe text whose first word and value are whole numbers."""
    fields = body.partition(b"\n")[0].strip().split(b" ")
    return dimension == 1 or len(fields) != 2 or not is_number(fields[1])
