"""Files that appear under their name only when they are complete."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Write a small file, readable by its owner only, so that its name holds all of it or what was there before."""
    waiting = beside(path, ".partial")
    try:
        with os.fdopen(os.open(waiting, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        waiting.replace(path)
    except OSError:
        waiting.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def publish(finished: Path, target: Path) -> None:
    """Give a finished file its final name, and the permissions that new files have."""
    sync_file(finished)
    # Setting the mask is the only way to read it; for that moment it is the strictest one.
    mask = os.umask(0o077)
    os.umask(mask)
    finished.chmod(0o666 & ~mask)
    finished.replace(target)
    sync_folder(target.parent)


def beside(path: Path, ending: str) -> Path:
    """Return the path with more at the end of its name."""
    return path.with_name(path.name + ending)


def sync_file(path: Path) -> None:
    """Wait until the file's content is on disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Wait until the names in a folder are on disk."""
    sync_file(path)
