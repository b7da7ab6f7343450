"""word2vec binary files (GoogleNews and its kin), read by gensim."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from deniable.embeddings.readers.raw import Block, RawEmbedding
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


def _header(path: Path, source: Path) -> tuple[int, int, int]:
    with path.open("rb") as file:
        match = _HEADER.match(file.read(64))
    if match is None:
        raise MalformedEmbedding(source, "does not begin with the numbers of words and dimensions, as word2vec binary files do")
    words, dimension = int(match[1]), int(match[2])
    if words == 0 or dimension == 0:
        raise MalformedEmbedding(source, f"the header says {words} words and {dimension} dimensions: nothing to read")
    return match.end(), words, dimension
