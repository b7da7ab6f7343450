"""Folders that appear whole or not at all: written beside their place, brought to the disk, then renamed."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deniable.atomic import sync_folder
from deniable.errors import EmbeddingExists
from deniable.locking import lock

_ADDING = ".adding-"
_REMOVING = ".removing-"
_LOCK = ".lock"


@contextmanager
def staged(target: Path) -> Iterator[Path]:
    """Give a new folder to write into, which becomes ``target`` if the block ends without an error, else vanishes.

    Left-overs of processes that died are swept away on the way; a living process holds a lock in its folder.

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
