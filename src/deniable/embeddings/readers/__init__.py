"""Readers of the public embedding formats: one file each, all giving blocks of words and vectors."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

from deniable.embeddings.embedding import MARKERS, UNKNOWN_TOKENS
from deniable.embeddings.readers.detection import FORMATS, detected_format
from deniable.embeddings.readers.packing import Progress, UnpackLimit, unpacked, unpacked_copy
from deniable.embeddings.readers.raw import Block, RawEmbedding
from deniable.errors import InvalidParameter, MalformedEmbedding

__all__ = ["FORMATS", "Block", "Progress", "RawEmbedding", "UnpackLimit", "reading"]

_MISLEADING = (".gz", ".bz2", ".xz", ".zst", ".zip")
"""gensim unpacks by the name of a file; one that is called packed but is not must get another name first."""


@contextmanager
def reading(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    first: int | None = None,
    drop_repeats: bool = False,
    limit: UnpackLimit | None = None,
    progress: Progress | None = None,
    work: Path | None = None,
) -> Iterator[RawEmbedding]:
    """Open an embedding file and give what is in it, block by block; the file is closed when the context ends.

    ``format`` is one of ``FORMATS``, or None to tell it from the content. Formats that cannot be read front to back are
    unpacked into a temporary folder within ``work`` first. ``first`` and ``drop_repeats`` are hints for readers that load
    everything at once; the caller still stops and checks by itself.

    :raises InvalidParameter: if there is no such file or format.
    :raises MalformedEmbedding: if the file is not an embedding, now or while its blocks are consumed.
    :raises MissingExtra: if the format needs a library that is not installed.
    """
    if not path.is_file():
        raise InvalidParameter("file", str(path), "is not a file" if path.exists() else "does not exist")
    if format is not None and format not in FORMATS:
        raise InvalidParameter("format", format, f"must be one of {', '.join(FORMATS)}")
    limit = limit or UnpackLimit()
    chosen = format or detected_format(path, limit=limit)
    with ExitStack() as stack:
        if chosen in ("glove", "word2vec-text", "fasttext-text"):
            from deniable.embeddings.readers.text import read_text

            stream = stack.enter_context(unpacked(path, limit=limit, progress=progress))
            yield read_text(stream, source=path, header=chosen != "glove")
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=work)))
        content = unpacked_copy(path, folder, limit=limit, progress=progress)
        if content == path and chosen.endswith("-binary") and path.suffix.lower() in _MISLEADING:
            content = Path(shutil.copyfile(path, folder / "content"))
        if chosen == "npz":
            from deniable.embeddings.readers.npz import read_npz

            yield stack.enter_context(read_npz(content, source=path, limit=limit))
        elif chosen == "safetensors":
            from deniable.embeddings.readers.safetensors_file import read_safetensors

            yield read_safetensors(content, source=path)
        elif chosen == "word2vec-binary":
            from deniable.embeddings.readers.word2vec_binary import read_word2vec_binary

            rows = None if first is None else first + len(UNKNOWN_TOKENS) + len(MARKERS)  # some of the first may be taken out
            yield read_word2vec_binary(content, source=path, first=rows, drop_repeats=drop_repeats)
        else:
            yield _read_fasttext(content, source=path)


def _read_fasttext(content: Path, *, source: Path) -> RawEmbedding:
    from deniable.embeddings.readers.fasttext_bin import read_fasttext_bin

    try:
        words, vectors, subwords = read_fasttext_bin(content)
    except MalformedEmbedding as error:  # the user knows the packed file, not our unpacked copy of it
        raise MalformedEmbedding(source, f"{error.problem}; get it again, or add the .vec file") from error
    if subwords is not None and not all(np.isfinite(row).all() for row in subwords.table):
        raise MalformedEmbedding(source, "a subword vector has a value that is not a finite number; get it again")
    blocks = iter([(words, vectors)])
    write = None if subwords is None else subwords.save
    return RawEmbedding(format="fasttext-binary", blocks=blocks, announced=len(words), write_subwords=write)
