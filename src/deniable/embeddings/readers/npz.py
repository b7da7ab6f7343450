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
from deniable.embeddings.readers.raw import (
    Block,
    RawEmbedding,
    as_float32,
    blocks_of_table,
    check_count,
    read_whole,
)
from deniable.errors import MalformedEmbedding

_WORDS = ("words", "vocab", "vocabulary", "tokens", "keys", "index_to_key", "index2word", "itos", "labels")
_VECTORS = ("vectors", "embeddings", "embedding", "matrix", "weights", "weight", "vecs", "emb", "W")

_RESAVE = "save it again: np.savez(FILE, words=np.array(words), vectors=vectors)"


def read_npz(path: Path, *, source: Path) -> RawEmbedding:
    """Return the embedding of an .npz file, read block by block as it is consumed.

    :raises MalformedEmbedding: if the arrays cannot be determined, do not match, hold Python objects or
        unpack too far.
    """
    with _archive(path, source) as archive:
        members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        unpacked = sum(info.file_size for info in members.values())
        if has_grown_too_far(unpacked, path.stat().st_size):
            problem = f"its arrays claim {unpacked:,} bytes, past the limit for packed files"
            raise MalformedEmbedding(source, problem)
        words_member = _find_member(members, _WORDS, "words", source)
        vectors_member = _find_member(members, _VECTORS, "vectors", source)
        words = _read_words(archive, words_member, source)
    blocks = _blocks(path, vectors_member, words, source)
    return RawEmbedding(format="npz", blocks=blocks, announced=len(words))


@contextmanager
def _archive(path: Path, source: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
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
    problem = f"{'more than one' if found else 'no'} array for the {what}"
    looked = f"it holds {have}; names looked for: {', '.join(names)}"
    raise MalformedEmbedding(source, f"{problem} ({looked}); {_RESAVE}")


def _header(
    file: IO[bytes], info: zipfile.ZipInfo, source: Path
) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return what an array says of itself, which its size confirms: nothing is read or reserved on the word
    of a header alone."""
    shape, columns_first, dtype = read_header(file)
    if dtype.hasobject:
        problem = "an array holds Python objects (pickle), which can run code and are never read"
        raise MalformedEmbedding(source, f"{problem}; {_RESAVE}")
    left = info.file_size - math.prod(shape) * dtype.itemsize
    if not 0 <= left <= LONGEST_HEADER + 12:
        problem = f"the array {info.filename} claims the shape {str(shape)[:60]}"
        size = f"has {info.file_size:,} bytes: damaged; get the file again"
        raise MalformedEmbedding(source, f"{problem}, but {size}")
    return shape, columns_first, dtype


def _read_words(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: Path) -> list[str]:
    with archive.open(info) as file:
        shape, _, dtype = _header(file, info, source)
        if len(shape) != 1 or dtype.kind not in "US":
            problem = f"the words must be one row of strings, not {dtype} of shape {shape}"
            raise MalformedEmbedding(source, f"{problem}; {_RESAVE}")
        if not dtype.itemsize and shape[0]:
            problem = f"the array of words is of type {dtype}, which is empty words only"
            raise MalformedEmbedding(source, f"{problem}; {_RESAVE}")
        data = read_whole(file, shape[0] * dtype.itemsize, source)
    if not data:
        return []
    if dtype.kind == "U" and int(np.frombuffer(data, f"{dtype.str[0]}u4").max()) > sys.maxunicode:
        raise MalformedEmbedding(source, f"a word holds a number that stands for no character; {_RESAVE}")
    words: list[Any] = np.frombuffer(data, dtype=dtype).tolist()
    try:
        return words if dtype.kind == "U" else [word.decode("utf-8") for word in words]
    except UnicodeDecodeError as error:
        raise MalformedEmbedding(source, f"a word is not UTF-8: {error.object[:50]!r}") from error


def _blocks(path: Path, info: zipfile.ZipInfo, words: list[str], source: Path) -> Iterator[Block]:
    with _archive(path, source) as archive, archive.open(info) as file:
        shape, columns_first, dtype = _header(file, info, source)
        if len(shape) != 2 or dtype.kind not in "fiu":
            problem = f"the vectors must be a table of numbers, not {dtype} of shape {shape}"
            raise MalformedEmbedding(source, problem)
        check_count(words, shape[0], source)
        if not columns_first:
            yield from blocks_of_table(file, words, dtype, shape[1], source)
            return
        # Column by column on disk: rows exist only once everything is read.
        data = read_whole(file, math.prod(shape) * dtype.itemsize, source)
        yield words, as_float32(np.frombuffer(data, dtype=dtype).reshape(shape, order="F"))
