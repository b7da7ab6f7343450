"""Binary files of word2vec (GoogleNews and its kin) and fastText, read by gensim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from deniable.arrays import Vectors
from deniable.embeddings.content import LONGEST_VECTOR, first_unusable
from deniable.embeddings.readers.raw import Block, RawEmbedding
from deniable.embeddings.subwords import Subwords
from deniable.errors import MalformedEmbedding, MissingExtra

_HEADER = re.compile(rb"([0-9]{1,18}) ([0-9]{1,9}) *\r?\n")
_ROWS_AT_ONCE = 8192


def read_word2vec_binary(path: Path, *, source: Path, first: int | None = None, drop_repeats: bool = False) -> RawEmbedding:
    """Return the embedding of a word2vec binary file; gensim holds all of it in memory.

    ``first`` reads that many words only. gensim keeps the first of repeated words, so their places are not known here.

    :raises MalformedEmbedding: if the file is cut off, longer than its header says, not UTF-8, or repeats words and
        ``drop_repeats`` is not set.
    :raises MissingExtra: if gensim is not installed.
    """
    header, announced, dimension = _header(path, source)
    size = path.stat().st_size
    least = header + announced * (2 + 4 * dimension)  # one byte of a word, a space, the floats
    if size < least:
        # Asked before gensim, which believes the header and allocates whatever it says.
        problem = f"the header says {announced:,} words x {dimension:,}, at least {least:,} bytes, but there are {size:,}: it was cut off"
        raise MalformedEmbedding(source, f"{problem}; get it again")
    try:
        from gensim.models import KeyedVectors
    except ImportError as error:
        raise MissingExtra("reading word2vec binary files", "train") from error
    try:
        loaded = KeyedVectors.load_word2vec_format(str(path), binary=True, limit=first, unicode_errors="strict")
    except EOFError as error:
        raise MalformedEmbedding(source, f"the file ends before the {announced:,} words of its header: cut off; get it again") from error
    except UnicodeDecodeError as error:
        raise MalformedEmbedding(source, f"a word is not UTF-8: {error.object[:50]!r}") from error
    # Where words are repeated, gensim closes the ranks and leaves empty places at the end.
    words: list[str] = [word for word in loaded.index_to_key if word is not None]
    asked = announced if first is None else min(first, announced)
    repeated = asked - len(words)
    if repeated and not drop_repeats:
        problem = f"{repeated:,} of its {asked:,} words are repeats of an earlier word; --duplicates first leaves them out"
        raise MalformedEmbedding(source, problem)
    if first is None and not repeated:
        most = header + sum(len(word.encode()) for word in words) + announced * (2 + 4 * dimension)  # a line break is allowed after each
        if size > most:
            raise MalformedEmbedding(source, f"the header says {announced:,} words, but {size - most:,} bytes follow them; get it again")

    def blocks() -> Iterator[Block]:
        for start in range(0, len(words), _ROWS_AT_ONCE):
            end = min(start + _ROWS_AT_ONCE, len(words))
            yield words[start:end], loaded.vectors[start:end]

    return RawEmbedding(format="word2vec-binary", blocks=blocks(), announced=len(words), repeated=repeated)


def read_fasttext_binary(path: Path, *, source: Path) -> RawEmbedding:
    """Return the embedding of a fastText .bin model, subword vectors included; gensim holds all of it in memory.

    :raises MalformedEmbedding: if gensim cannot read the file, or a subword vector cannot be used.
    :raises MissingExtra: if gensim is not installed.
    """
    try:
        words, vectors, subwords = load_fasttext(path)
    except MalformedEmbedding as error:  # the user knows the packed file, not our unpacked copy of it
        raise MalformedEmbedding(source, f"{error.problem}; get it again, or add the .vec file") from error
    if subwords is not None and first_unusable(subwords.table) is not None:
        raise MalformedEmbedding(source, f"a subword vector is not finite or longer than {LONGEST_VECTOR:g}; get it again")
    blocks = iter([(words, vectors)])
    write = None if subwords is None else subwords.save
    return RawEmbedding(format="fasttext-binary", blocks=blocks, announced=len(words), write_subwords=write)


def load_fasttext(path: Path) -> tuple[list[str], Vectors, Subwords | None]:
    """Return words, their vectors, and the subword vectors if the model was trained with any. All of it is in memory.

    :raises MissingExtra: if gensim is not installed.
    :raises MalformedEmbedding: if gensim cannot read the file: damaged, cut off, or a quantised .ftz model.
    """
    try:
        from gensim.models.fasttext import load_facebook_vectors
    except ImportError as error:
        raise MissingExtra("reading fastText binary files", "train") from error
    try:
        loaded = load_facebook_vectors(str(path))
    except FileNotFoundError:
        raise
    except Exception as error:  # gensim states no errors: a damaged file shows as assertion, struct, value or memory errors
        problem = f"gensim cannot read this fastText model ({type(error).__name__}: {error}): damaged, cut off, or quantised (.ftz)"
        raise MalformedEmbedding(path, problem) from error
    return list(loaded.index_to_key), np.asarray(loaded.vectors, dtype=np.float32), subwords_of(loaded)


def subwords_of(loaded: Any) -> Subwords | None:
    """Return the subword vectors of gensim's ``FastTextKeyedVectors``; None if it was trained without (``maxn`` 0)."""
    table = np.asarray(loaded.vectors_ngrams, dtype=np.float32)
    if loaded.bucket == 0 or loaded.max_n == 0 or not table.size:
        return None
    return Subwords(table, minn=max(1, int(loaded.min_n)), maxn=int(loaded.max_n))


def _header(path: Path, source: Path) -> tuple[int, int, int]:
    with path.open("rb") as file:
        match = _HEADER.match(file.read(64))
    if match is None:
        raise MalformedEmbedding(source, "does not begin with the numbers of words and dimensions, as word2vec binary files do")
    words, dimension = int(match[1]), int(match[2])
    if words == 0 or dimension == 0:
        raise MalformedEmbedding(source, f"the header says {words} words and {dimension} dimensions: nothing to read")
    return match.end(), words, dimension
