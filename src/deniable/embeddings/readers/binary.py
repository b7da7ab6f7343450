"""Binary files of word2vec (GoogleNews and its kin), and of fastText, which gensim reads."""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from deniable.embeddings.readers.raw import HEADER, Block, RawEmbedding, sizes_of
from deniable.embeddings.subwords import LONGEST_RUN, Subwords
from deniable.errors import MalformedEmbedding, MissingExtra
from deniable.parameters import LONGEST_VECTOR, first_unusable

LONGEST_WORD = 1 << 16
"""Bytes that a word of a binary file may have: these files say nowhere how long their words are."""

BLOCK_BYTES = 1 << 22

FASTTEXT_MAGIC = (793712314).to_bytes(4, "little")

_HEADER = re.compile(HEADER.pattern + rb"\r?\n")
_ROWS_AT_ONCE = 8192
# The dimension first; of the others, the buckets eighth and the longest run tenth.
_FASTTEXT_TRAINING = struct.Struct("<12id")
_FASTTEXT_DICTIONARY = struct.Struct("<3iq")  # entries, words, labels, tokens
_FASTTEXT_PRUNED = struct.Struct("<q")  # how many entries a pruned index has, and the size of each
_FASTTEXT_LEAST_ENTRY = 1 + 8 + 1  # the byte that ends a word, its count, its kind
_FASTTEXT_SHAPE = struct.Struct("<qq")


def read_word2vec_binary(path: Path, *, source: Path) -> RawEmbedding:
    """Return the embedding of a word2vec binary file, read as it is consumed.

    :raises MalformedEmbedding: if the file is cut off, now or while its blocks are consumed; then also if it
        is longer than its header says, or a word is not UTF-8 or absurdly long.
    """
    with path.open("rb") as file:
        header = _HEADER.match(file.read(64))
    if header is None:
        problem = "does not begin with the numbers of words and dimensions, as word2vec binary files do"
        raise MalformedEmbedding(source, problem)
    announced, dimension = sizes_of(header, source)
    size = path.stat().st_size
    least = header.end() + announced * (2 + 4 * dimension)  # one byte of a word, a space, the floats
    if size < least:
        claims = f"the header says {announced:,} words x {dimension:,}, at least {least:,} bytes"
        problem = f"{claims}, but there are {size:,}: it was cut off; get it again"
        raise MalformedEmbedding(source, problem)
    blocks = _word2vec_blocks(path, header.end(), announced, dimension, source)
    return RawEmbedding(format="word2vec-binary", blocks=blocks, announced=announced)


def _word2vec_blocks(
    path: Path, header: int, announced: int, dimension: int, source: Path
) -> Iterator[Block]:
    row_bytes = 4 * dimension
    at_once = max(1, min(_ROWS_AT_ONCE, BLOCK_BYTES // row_bytes))
    words: list[str] = []
    rows: list[bytes] = []
    with path.open("rb") as file:
        file.seek(header)
        data, at = b"", 0
        for row in range(1, announced + 1):
            while (space := data.find(b" ", at, at + LONGEST_WORD + 2)) < 0 or len(data) <= space + row_bytes:
                if space < 0 and len(data) - at > LONGEST_WORD:
                    problem = f"word {row:,} is longer than {LONGEST_WORD:,} bytes"
                    advice = "not a word2vec file, or damaged; get it again"
                    raise MalformedEmbedding(source, f"{problem}: {advice}")
                more = file.read(BLOCK_BYTES + row_bytes)
                if not more:
                    problem = f"the file ends before the {announced:,} words of its header"
                    raise MalformedEmbedding(source, f"{problem}: cut off; get it again")
                data, at = data[at:] + more, 0
            word = data[at:space].lstrip(b"\n")  # a line break is allowed after each row
            try:
                words.append(word.decode("utf-8"))
            except UnicodeDecodeError as error:
                raise MalformedEmbedding(source, f"word {row:,} is not UTF-8: {word[:50]!r}") from error
            at = space + 1 + row_bytes
            rows.append(data[space + 1 : at])
            if len(words) == at_once or row == announced:
                yield words, np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(words), dimension)
                words, rows = [], []
        left = path.stat().st_size - file.tell() + len(data) - at
        if left > (data[at : at + 1] == b"\n"):
            problem = f"the header says {announced:,} words, but {left:,} bytes follow them; get it again"
            raise MalformedEmbedding(source, problem)


def read_fasttext_binary(path: Path, *, source: Path) -> RawEmbedding:
    """Return the embedding of a fastText .bin model, subword vectors included; gensim holds all of it in
    memory.

    :raises MalformedEmbedding: if gensim cannot read the file (damaged, cut off, or a quantised .ftz model),
        or a subword vector cannot be used.
    :raises MissingExtra: if gensim is not installed.
    """
    try:
        from gensim.models.fasttext import load_facebook_vectors
    except ImportError as error:
        raise MissingExtra("reading fastText binary files", "train") from error
    try:
        _check_fasttext(path)
        loaded = load_facebook_vectors(str(path))
    # gensim states no errors: a damaged file shows as assertion, struct, value or memory errors.
    except Exception as error:
        why = f"({type(error).__name__}: {error}): damaged, cut off, or quantised (.ftz)"
        problem = f"gensim cannot read this fastText model {why}; get it again, or add the .vec file"
        raise MalformedEmbedding(source, problem) from error
    words, vectors = list(loaded.index_to_key), np.asarray(loaded.vectors, dtype=np.float32)
    subwords = subwords_of(loaded)
    if subwords is not None and first_unusable(subwords.table) is not None:
        problem = f"a subword vector is not finite or longer than {LONGEST_VECTOR:g}; get it again"
        raise MalformedEmbedding(source, problem)
    blocks = iter([(words, vectors)])
    return RawEmbedding(format="fasttext-binary", blocks=blocks, announced=len(words), subwords=subwords)


def _check_fasttext(path: Path) -> None:
    """Check that all that a fastText model claims to hold is there: gensim believes the counts, and reads
    on behind the end.

    :raises ValueError: or struct.error, if it is not.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        # Files from before 2017 have neither it nor what is only asked for where it is.
        new = content[:4] == FASTTEXT_MAGIC
        at = 8 if new else 0
        dimension, *training = _FASTTEXT_TRAINING.unpack_from(content, at)
        bucket, maxn = training[7], training[9]
        at += _FASTTEXT_TRAINING.size
        count, words, labels, _tokens = _FASTTEXT_DICTIONARY.unpack_from(content, at)
        at += _FASTTEXT_DICTIONARY.size
        (pruned,) = _FASTTEXT_PRUNED.unpack_from(content, at) if new else (0,)
        at += _FASTTEXT_PRUNED.size if new else 0
        if labels > 0:
            raise ValueError("supervised models are not read")
        if dimension < 1 or bucket < 0 or maxn > LONGEST_RUN or count < 1 or words != count:
            raise ValueError("a number in its head cannot be")
        left = len(content) - at
        if count > left // _FASTTEXT_LEAST_ENTRY or pruned > left // _FASTTEXT_PRUNED.size:
            raise ValueError(f"it claims {count:,} words, more than it has room for")
        for row in range(count):
            end = content.find(b"\0", at, at + LONGEST_WORD + 1)
            if end < 0:
                raise ValueError(f"word {row + 1:,} does not end within {LONGEST_WORD:,} bytes")
            at = end + _FASTTEXT_LEAST_ENTRY
        at += max(pruned, 0) * _FASTTEXT_PRUNED.size
        if new and content[at : at + 1] != b"\0":
            raise ValueError("it is cut off or quantised")
        rows, columns = _FASTTEXT_SHAPE.unpack_from(content, at + new)
        room = len(content) - at - new - _FASTTEXT_SHAPE.size
        if columns != dimension or rows != count + bucket or rows * columns * 4 > room:
            raise ValueError(f"it claims {rows:,} vectors of {columns:,} dimensions, which it has not")


def subwords_of(loaded: Any) -> Subwords | None:
    """Return the subword vectors of gensim's ``FastTextKeyedVectors``; None if it was trained without
    (``maxn`` 0)."""
    table = np.asarray(loaded.vectors_ngrams, dtype=np.float32)
    if loaded.bucket == 0 or loaded.max_n == 0 or not table.size:
        return None
    return Subwords(table, minn=max(1, int(loaded.min_n)), maxn=int(loaded.max_n))
