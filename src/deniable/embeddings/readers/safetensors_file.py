"""Safetensors files: one two-dimensional tensor, and its words in the metadata or in a text file beside
it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
from safetensors import SafetensorError, safe_open

from deniable.atomic import read_plain_file
from deniable.embeddings.readers.raw import Block, RawEmbedding, blocks_of_table, check_count
from deniable.errors import MalformedEmbedding

_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
_LONGEST_WORDS = 1 << 28


def read_safetensors(path: Path, *, source: Path) -> RawEmbedding:
    """Return the embedding of a .safetensors file, read block by block as it is consumed.

    Words come from the metadata key "words" (a JSON list), else from ``NAME.words.txt`` or ``vocab.txt``
    beside ``source``.

    :raises MalformedEmbedding: if there is not exactly one table of floats, or no words for it.
    """
    try:
        with safe_open(path, framework="np") as file:  # checks the header against the size of the file
            tables = [name for name in file.keys() if len(file.get_slice(name).get_shape()) == 2]  # noqa: SIM118 - not a dict
            metadata = file.metadata() or {}
    except (SafetensorError, OSError, ValueError, MemoryError, OverflowError) as error:
        raise _damaged(source, error) from error
    if len(tables) != 1:
        problem = f"must hold one table of vectors, not {len(tables)} ({', '.join(tables) or 'none'})"
        raise MalformedEmbedding(source, problem)
    words = _words(metadata, source)
    blocks = _blocks(path, tables[0], words, source)
    return RawEmbedding(format="safetensors", blocks=blocks, announced=len(words))


def _damaged(source: Path, why: object) -> MalformedEmbedding:
    return MalformedEmbedding(source, f"the .safetensors file is damaged ({why}); get it again")


def _words(metadata: dict[str, str], source: Path) -> list[str]:
    if "words" in metadata:
        try:
            words = json.loads(metadata["words"])
        except (ValueError, RecursionError) as error:
            raise MalformedEmbedding(source, f"its metadata key 'words' is not JSON ({error})") from error
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise MalformedEmbedding(source, "its metadata key 'words' is not a JSON list of strings")
        return words
    stem = source.name.partition(".safetensors")[0]
    for beside in (source.with_name(f"{stem}.words.txt"), source.with_name("vocab.txt")):
        if beside.is_file():
            content = read_plain_file(
                beside, longest=_LONGEST_WORDS, what="list of words", error=MalformedEmbedding
            )
            try:
                text = content.decode("utf-8")
            except UnicodeDecodeError as error:
                raise MalformedEmbedding(beside, "is not UTF-8") from error
            return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    problem = f"no words: neither the metadata key 'words', nor {stem}.words.txt or vocab.txt beside it"
    raise MalformedEmbedding(source, problem)


def _blocks(path: Path, name: str, words: list[str], source: Path) -> Iterator[Block]:
    with path.open("rb") as file:
        kind, count, dimension, begin = _entry(file, name, source)
        if kind not in _DTYPES:
            problem = f"vectors of type {kind} are not floats ({', '.join(_DTYPES)} are read)"
            raise MalformedEmbedding(source, problem)
        check_count(words, count, source)
        file.seek(begin)
        for part, table in blocks_of_table(file, words, np.dtype(_DTYPES[kind]), dimension, source):
            if kind == "BF16":  # read as whole numbers: each is the upper half of a float32
                table = (table.astype(np.uint32) << np.uint32(16)).view(np.float32)
            yield part, table


def _entry(file: BinaryIO, name: str, source: Path) -> tuple[str, int, int, int]:
    """Return the type, the shape and the place of a table, which the library has checked: but two readers of
    one header may differ."""
    length = int.from_bytes(file.read(8), "little")
    size = os.fstat(file.fileno()).st_size
    try:
        entry = json.loads(file.read(min(length, size)))[name]
        kind, (count, dimension) = str(entry["dtype"]), map(int, entry["shape"])
        begin, end = map(int, entry["data_offsets"])
        if count < 0 or dimension < 0 or not 0 <= begin <= end <= size - 8 - length:
            raise ValueError("it lies outside of the file")
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise _damaged(source, f"the entry of {name}: {error}") from error
    return kind, count, dimension, 8 + length + begin
