"""NumPy .npz files: an array of words and a table of vectors. Python objects (pickle) are never read."""

from __future__ import annotations

import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from deniable.arrays import Vectors
from deniable.embeddings.readers.packing import UnpackLimit
from deniable.embeddings.readers.raw import Block, RawEmbedding
from deniable.errors import MalformedEmbedding

WORD_NAMES = ("words", "vocab", "vocabulary", "tokens", "keys", "index_to_key", "index2word", "itos", "labels")
VECTOR_NAMES = ("vectors", "embeddings", "embedding", "matrix", "weights", "weight", "vecs", "emb", "W")

_ROWS_AT_ONCE = 8192
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError)
_RESAVE = "save it again: np.savez(FILE, words=np.array(words), vectors=vectors)"


@contextmanager
def read_npz(path: Path, *, source: Path, limit: UnpackLimit) -> Iterator[RawEmbedding]:
    """Give the embedding of an .npz file, read block by block as it is consumed.

    :raises MalformedEmbedding: if the arrays cannot be told, do not match, hold Python objects or unpack too far.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            unpacked = sum(info.file_size for info in members.values())
            if limit.exceeded(unpacked, path.stat().st_size):
                raise MalformedEmbedding(source, f"its arrays claim {unpacked:,} bytes, past the limit for packed files")
            words = _read_words(archive, _find_member(members, WORD_NAMES, "words", source), source)
            with archive.open(_find_member(members, VECTOR_NAMES, "vectors", source)) as file:
                yield RawEmbedding(format="npz", blocks=_blocks(file, words, source), announced=len(words))
    except MalformedEmbedding:
        raise
    except _DAMAGE as error:
        raise MalformedEmbedding(source, f"the .npz file is damaged ({error}); get it again") from error


def _find_member(members: dict[str, zipfile.ZipInfo], names: tuple[str, ...], what: str, source: Path) -> zipfile.ZipInfo:
    found = [name for name in names if name in members]
    if len(found) == 1:
        return members[found[0]]
    have = ", ".join(sorted(members)) or "nothing"
    count = "no array" if not found else "more than one array"
    raise MalformedEmbedding(source, f"{count} for the {what} (it holds {have}; names looked for: {', '.join(names)}); {_RESAVE}")


def _header(file: IO[bytes], source: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran_order, dtype = reader(file)
    if dtype.hasobject:
        raise MalformedEmbedding(source, f"an array holds Python objects (pickle), which can run code and are never read; {_RESAVE}")
    return shape, fortran_order, dtype


def _read_words(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: Path) -> list[str]:
    with archive.open(info) as file:
        shape, _, dtype = _header(file, source)
        if len(shape) != 1 or dtype.kind not in "US":
            raise MalformedEmbedding(source, f"the words must be one row of strings, not {dtype} of shape {shape}; {_RESAVE}")
        data = file.read()
    if len(data) != shape[0] * dtype.itemsize:
        raise MalformedEmbedding(source, "the array of words is cut off; get the file again")
    if dtype.kind == "U" and dtype.itemsize and int(np.frombuffer(data, dtype=f"{dtype.str[0]}u4").max(initial=0)) > sys.maxunicode:
        raise MalformedEmbedding(source, f"a word holds a number that stands for no character; {_RESAVE}")
    words: list[Any] = np.frombuffer(data, dtype=dtype).tolist() if dtype.itemsize else [""] * shape[0]
    if dtype.kind == "U":
        return words
    try:
        return [word.decode("utf-8") for word in words]
    except UnicodeDecodeError as error:
        raise MalformedEmbedding(source, f"a word is not UTF-8: {error.object[:50]!r}") from error


def _blocks(file: IO[bytes], words: list[str], source: Path) -> Iterator[Block]:
    shape, fortran_order, dtype = _header(file, source)
    if len(shape) != 2 or dtype.kind not in "fiu":
        raise MalformedEmbedding(source, f"the vectors must be a table of numbers, not {dtype} of shape {shape}")
    if shape[0] != len(words):
        raise MalformedEmbedding(source, f"{len(words):,} words but {shape[0]:,} vectors")
    if fortran_order:
        # Column by column on disk: rows exist only once everything is read.
        data = file.read()
        if len(data) != shape[0] * shape[1] * dtype.itemsize:
            raise MalformedEmbedding(source, "the array of vectors is cut off; get the file again")
        yield words, _as_float32(np.frombuffer(data, dtype=dtype).reshape(shape, order="F"))
        return
    for start in range(0, shape[0], _ROWS_AT_ONCE):
        rows = min(_ROWS_AT_ONCE, shape[0] - start)
        data = file.read(rows * shape[1] * dtype.itemsize)
        if len(data) != rows * shape[1] * dtype.itemsize:
            raise MalformedEmbedding(source, "the array of vectors is cut off; get the file again")
        yield words[start : start + rows], _as_float32(np.frombuffer(data, dtype=dtype).reshape(rows, shape[1]))


def _as_float32(table: NDArray[Any]) -> Vectors:
    with np.errstate(over="ignore"):  # what overflows becomes infinite and is refused with its word
        return table.astype(np.float32, order="C")
