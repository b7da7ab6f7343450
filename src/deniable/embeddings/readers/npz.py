"""NumPy .npz files: an array of words and a table of vectors. Python objects (pickle) are never read."""

from __future__ import annotations

import math
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from deniable.embeddings.npy import LONGEST_HEADER, read_header
from deniable.embeddings.readers.packing import DAMAGE, has_grown_too_far
from deniable.embeddings.readers.raw import Block, RawEmbedding, as_float32, blocks_of_table
from deniable.errors import MalformedEmbedding

WORD_NAMES = (
    "words",
    "vocab",
    "vocabulary",
    "tokens",
    "keys",
    "index_to_key",
    "index2word",
    "itos",
    "labels",
)
VECTOR_NAMES = ("vectors", "embeddings", "embedding", "matrix", "weights", "weight", "vecs", "emb", "W")

_RESAVE = "save it again: np.savez(FILE, words=np.array(words), vectors=vectors)"


@contextmanager
def read_npz(path: Path, *, source: Path) -> Iterator[RawEmbedding]:
    """Give the embedding of an .npz file, read block by block as it is consumed.

    :raises MalformedEmbedding: if the arrays cannot be determined, do not match, hold Python objects or
        unpack too far.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            unpacked = sum(info.file_size for info in members.values())
            if has_grown_too_far(unpacked, path.stat().st_size):
                raise MalformedEmbedding(
                    source, f"its arrays claim {unpacked:,} bytes, past the limit for packed files"
                )
            words_member = _find_member(members, WORD_NAMES, "words", source)
            vectors_member = _find_member(members, VECTOR_NAMES, "vectors", source)
            words = _read_words(archive, words_member, source)
            with archive.open(vectors_member) as file:
                yield RawEmbedding(
                    format="npz", blocks=_blocks(file, vectors_member, words, source), announced=len(words)
                )
    except MalformedEmbedding:
        raise
    except DAMAGE as error:
        raise MalformedEmbedding(source, f"the .npz file is damaged ({error}); get it again") from error


def _find_member(
    members: dict[str, zipfile.ZipInfo], names: tuple[str, ...], what: str, source: Path
) -> zipfile.ZipInfo:
    found = [name for name in names if name in members]
    if len(found) == 1:
        return members[found[0]]
    have = ", ".join(sorted(members)) or "nothing"
    count = "no array" if not found else "more than one array"
    raise MalformedEmbedding(
        source, f"{count} for the {what} (it holds {have}; names looked for: {', '.join(names)}); {_RESAVE}"
    )


def _header(
    file: IO[bytes], info: zipfile.ZipInfo, source: Path
) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return what an array says of itself, which its size confirms: nothing is read or reserved on the word
    of a header alone."""
    shape, fortran_order, dtype = read_header(file)
    if dtype.hasobject:
        raise MalformedEmbedding(
            source,
            f"an array holds Python objects (pickle), which can run code and are never read; {_RESAVE}",
        )
    left = info.file_size - math.prod(shape) * dtype.itemsize
    if not 0 <= left <= LONGEST_HEADER + 12:
        problem = (
            f"the array {info.filename} claims the shape {str(shape)[:60]}, but has "
            f"{info.file_size:,} bytes: damaged; get the file again"
        )
        raise MalformedEmbedding(source, problem)
    return shape, fortran_order, dtype


def _read_words(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: Path) -> list[str]:
    with archive.open(info) as file:
        shape, _, dtype = _header(file, info, source)
        if len(shape) != 1 or dtype.kind not in "US":
            raise MalformedEmbedding(
                source, f"the words must be one row of strings, not {dtype} of shape {shape}; {_RESAVE}"
            )
        if not dtype.itemsize and shape[0]:
            raise MalformedEmbedding(
                source, f"the array of words is of type {dtype}, which is empty words only; {_RESAVE}"
            )
        data = file.read()
    if len(data) != shape[0] * dtype.itemsize:
        raise MalformedEmbedding(source, "the array of words is cut off; get the file again")
    if (
        dtype.kind == "U"
        and dtype.itemsize
        and int(np.frombuffer(data, dtype=f"{dtype.str[0]}u4").max(initial=0)) > sys.maxunicode
    ):
        raise MalformedEmbedding(source, f"a word holds a number that stands for no character; {_RESAVE}")
    words: list[Any] = np.frombuffer(data, dtype=dtype).tolist() if data else []
    if dtype.kind == "U":
        return words
    try:
        return [word.decode("utf-8") for word in words]
    except UnicodeDecodeError as error:
        raise MalformedEmbedding(source, f"a word is not UTF-8: {error.object[:50]!r}") from error


def _blocks(file: IO[bytes], info: zipfile.ZipInfo, words: list[str], source: Path) -> Iterator[Block]:
    shape, fortran_order, dtype = _header(file, info, source)
    if len(shape) != 2 or dtype.kind not in "fiu":
        raise MalformedEmbedding(
            source, f"the vectors must be a table of numbers, not {dtype} of shape {shape}"
        )
    if shape[0] != len(words):
        raise MalformedEmbedding(source, f"{len(words):,} words but {shape[0]:,} vectors")
    if fortran_order:
        # Column by column on disk: rows exist only once everything is read.
        data = file.read()
        if len(data) != shape[0] * shape[1] * dtype.itemsize:
            raise MalformedEmbedding(source, "the array of vectors is cut off; get the file again")
        yield words, as_float32(np.frombuffer(data, dtype=dtype).reshape(shape, order="F"))
        return
    yield from blocks_of_table(file, words, dtype, shape[1], source)
