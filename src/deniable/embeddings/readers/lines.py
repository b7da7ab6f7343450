"""Blocks of whole lines. Only "\\n" ends a line: words may hold U+0085, U+2028 and other characters that Python splits at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from deniable.embeddings.readers.packing import UnpackedStream
from deniable.errors import MalformedEmbedding

BLOCK_BYTES = 1 << 22
LONGEST_LINE = 1 << 26


def line_blocks(stream: UnpackedStream, *, source: Path, block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[list[bytes], bool]]:
    """Yield lists of lines without their ends, in order, and whether the last line of the list was ended by a line break.

    A "\\r" before the "\\n" is taken off, and so is a byte-order mark at the start of the file.

    :raises MalformedEmbedding: if a line is absurdly long, which means that this is no text.
    """
    rest: list[bytes] = []
    held = 0
    at_start = True
    while data := stream.read(block_bytes):
        if at_start:
            # A mark before a space is not a mark: it is the word U+FEFF.
            if data.startswith(b"\xef\xbb\xbf") and data[3:4] != b" ":
                data = data[3:]
            at_start = False
        cut = data.rfind(b"\n")
        if cut < 0:
            rest.append(data)
            held += len(data)
            if held > LONGEST_LINE:
                raise MalformedEmbedding(source, f"no line break within {held:,} bytes: this is not a text of vectors")
            continue
        whole = b"".join((*rest, data[:cut]))
        rest, held = [data[cut + 1 :]], len(data) - cut - 1
        yield _split(whole), True
    last = b"".join(rest)
    if last:
        yield _split(last), False


def _split(text: bytes) -> list[bytes]:
    lines = text.split(b"\n")
    if b"\r" in text:
        return [line[:-1] if line.endswith(b"\r") else line for line in lines]
    return lines
