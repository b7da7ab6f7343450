"""Which format a file has, told by its content."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from deniable.embeddings.readers.packing import UnpackLimit, open_unpacked, packing_of_bytes
from deniable.embeddings.readers.text import are_numbers, is_number
from deniable.errors import MalformedEmbedding

FORMATS = (
    "glove",
    "word2vec-text",
    "fasttext-text",
    "word2vec-binary",
    "fasttext-binary",
    "npz",
    "safetensors",
)

_HEAD_BYTES = 1 << 20
_FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")
_HEADER_LINE = re.compile(rb"(?:\xef\xbb\xbf)?([0-9]{1,18}) ([0-9]{1,9}) *\r?\n")
_KNOWN = "known are GloVe text, word2vec and fastText text and binary, .npz and .safetensors"


def detect_format(path: Path, *, limit: UnpackLimit) -> str:
    """Return the name of the format, one of ``FORMATS``.

    :raises MalformedEmbedding: if the file is empty, packed twice, or in no known format.
    """
    with open_unpacked(path, limit=limit) as stream:
        head = stream.read(_HEAD_BYTES)
    if not head:
        raise MalformedEmbedding(path, "the file is empty")
    packing = packing_of_bytes(head)
    if packing == "zip":  # only an .npz file shows itself as a zip archive here
        return "npz"
    if packing is not None:
        raise MalformedEmbedding(
            path, f"the file is packed twice ({packing} inside); unpack it once and add the result"
        )
    if head.startswith(_FASTTEXT_MAGIC):
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
        raise MalformedEmbedding(
            path,
            "this looks like a Python pickle, which can run code and is never read; save it as .npz or text",
        )
    if b"\x00" in head:
        raise MalformedEmbedding(path, f"binary data in no known format; {_KNOWN}")
    return "glove"


def _is_binary(body: bytes, *, dimension: int) -> bool:
    """Return whether the words are followed by raw floats rather than by decimal numbers."""
    line, ended, _ = body.partition(b"\n")
    fields = line.rstrip(b" \r").split(b" ")
    if ended and len(fields) > dimension > 0 and are_numbers(b" ".join(fields[-dimension:])):
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
