"""Readers of the public embedding formats: one file each, all giving blocks of words and vectors."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from deniable.embeddings.readers.detection import FORMATS, detect_format
from deniable.embeddings.readers.packing import UnpackLimit, open_unpacked, unpacked_copy
from deniable.embeddings.readers.raw import Block, RawEmbedding
from deniable.errors import InvalidParameter
from deniable.progress import Report

__all__ = ["FORMATS", "Block", "RawEmbedding", "UnpackLimit", "open_embedding_file"]

_MISLEADING = (".gz", ".bz2", ".xz", ".zst", ".zip")
"""gensim unpacks by the name of a file; one that is called packed but is not must get another name first."""


@contextmanager
def open_embedding_file(
    path: Path,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    limit: UnpackLimit | None = None,
    report: Report | None = None,
    work: Path | None = None,
) -> Iterator[RawEmbedding]:
    """Open an embedding file and give what is in it, block by block; the file is closed when the context
    ends.

    ``format`` is one of ``FORMATS``, or None to tell it from the content. Formats that cannot be read front
    to back are unpacked into a temporary folder within ``work`` first.

    :raises InvalidParameter: if there is no such file or format.
    :raises MalformedEmbedding: if the file is not an embedding, now or while its blocks are consumed.
    :raises MissingExtra: if the format needs a library that is not installed.
    """
    if not path.is_file():
        raise InvalidParameter("file", str(path), "is not a file" if path.exists() else "does not exist")
    if format is not None and format not in FORMATS:
        raise InvalidParameter("format", format, f"must be one of {', '.join(FORMATS)}")
    limit = limit or UnpackLimit()
    chosen = format or detect_format(path, limit=limit)
    with ExitStack() as stack:
        if chosen in ("glove", "word2vec-text", "fasttext-text"):
            from deniable.embeddings.readers.text import read_text

            stream = stack.enter_context(open_unpacked(path, limit=limit, report=report))
            yield read_text(stream, source=path, header=chosen != "glove")
            return
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=work)))
        content = unpacked_copy(path, folder, limit=limit, report=report)
        if content == path and chosen == "fasttext-binary" and path.suffix.lower() in _MISLEADING:
            content = Path(shutil.copyfile(path, folder / "content"))
        if chosen == "npz":
            from deniable.embeddings.readers.npz import read_npz

            yield stack.enter_context(read_npz(content, source=path, limit=limit))
        elif chosen == "safetensors":
            from deniable.embeddings.readers.safetensors_file import read_safetensors

            yield read_safetensors(content, source=path)
        elif chosen == "word2vec-binary":
            from deniable.embeddings.readers.binary import read_word2vec_binary

            yield read_word2vec_binary(content, source=path)
        else:
            from deniable.embeddings.readers.binary import read_fasttext_binary

            yield read_fasttext_binary(content, source=path)
