"""How an embedding comes to the disk: in folders that appear whole or not at all.

A folder is written beside its place, brought to the disk, then renamed. Of a file that is taken in, every
word is checked and its vector written out as the blocks come: words are held, and no table.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deniable.atomic import lock, sync_folder
from deniable.embeddings.content import Intake
from deniable.errors import EmbeddingExists, MalformedEmbedding

if TYPE_CHECKING:
    from deniable.embeddings.readers.raw import RawEmbedding  # loads Arrow, which opening does not need

_ADDING = ".adding-"
_REMOVING = ".removing-"
_LOCK = ".lock"
_HEADER_BYTES = 128


@contextmanager
def stage_folder(target: Path) -> Iterator[Path]:
    """Give a new folder to write into, which becomes ``target`` if the block ends without an error, else
    vanishes.

    What processes that died have left behind is removed first; a living process holds a lock in its folder.

    :raises EmbeddingExists: at the end, if ``target`` has come to exist meanwhile.
    """
    parent = target.parent
    parent.mkdir(parents=True, exist_ok=True)
    with _store_lock(parent):
        _sweep(parent)
        folder = parent / f"{_ADDING}{secrets.token_hex(8)}"
        folder.mkdir()
        mine = (folder / _LOCK).open("wb")
        lock(mine, wait=True)
    try:
        yield folder
        sync_folder(folder)
        with _store_lock(parent):
            if target.exists():
                raise EmbeddingExists(target.name)
            mine.close()
            (folder / _LOCK).unlink()
            folder.rename(target)
        sync_folder(parent)
    except BaseException:
        mine.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise


def remove_folder(target: Path) -> None:
    """Remove a folder so that nobody ever sees half of it."""
    with _store_lock(target.parent):
        moved = target.with_name(f"{_REMOVING}{secrets.token_hex(8)}")
        target.rename(moved)
        shutil.rmtree(moved, ignore_errors=True)


@contextmanager
def _store_lock(parent: Path) -> Iterator[None]:
    # Held for moments only: while a folder gets its lock, and while it is renamed.
    with (parent / _LOCK).open("ab") as file:
        lock(file, wait=True)
        yield


def _sweep(parent: Path) -> None:
    for folder in parent.iterdir():
        if folder.name.startswith((_ADDING, _REMOVING)) and not _is_alive(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_alive(folder: Path) -> bool:
    try:
        with (folder / _LOCK).open("r+b") as file:
            return not lock(file, wait=False)
    except OSError:
        return False


def take_in(
    raw: RawEmbedding,
    vectors_file: Path,
    *,
    source: Path,
    first: int | None = None,
    drop_repeats: bool = False,
) -> Intake:
    """Check all blocks, write the vectors to a .npy file and return the words.

    ``first`` stops after that many words. Words that hold spaces or control characters are left out: large
    public files have a few.

    :raises MalformedEmbedding: as ``Intake`` does, or if there are more or fewer words than the file says.
    """
    intake = Intake(source, raw.first_line, first, drop_repeats)
    announced, dimension = raw.announced, 0
    with vectors_file.open("wb") as file:
        # The header, whose length is fixed, is written last, when the number of rows is known. A file that
        # was never finished begins with zeros, so nothing takes it for an array.
        file.write(bytes(_HEADER_BYTES))
        for words, vectors in raw.blocks:
            kept, dimension = intake.check(words, vectors), vectors.shape[1]
            rows = vectors if len(kept) == len(words) else vectors[kept]
            file.write(np.ascontiguousarray(rows, dtype="<f4").data)
            if intake.full:
                break
            if announced is not None and intake.rows > announced:
                says = f"the header says {announced:,} words, but more follow"
                problem = f"{says}; correct the first line if the rest is right"
                raise MalformedEmbedding(source, problem, line=intake.line(announced))
        if announced is not None and intake.rows != announced and not intake.full:
            problem = f"the header says {announced:,} words, but the file has {intake.rows:,}"
            raise MalformedEmbedding(source, f"{problem}: it was cut off; get it again")
        intake.check_total()
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(intake.words)}, {dimension}), }}"
        head = b"\x93NUMPY\x01\x00" + (_HEADER_BYTES - 10).to_bytes(2, "little")
        file.seek(0)
        file.write(head + header.encode().ljust(_HEADER_BYTES - 11) + b"\n")
    return intake
