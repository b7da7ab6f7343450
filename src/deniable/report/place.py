"""Where a page or a figure may go, and how it gets there: whole or not at all."""

from __future__ import annotations

from pathlib import Path

from deniable.atomic import whole_file
from deniable.errors import RecordError


def check_place(path: Path) -> None:
    """Do nothing if a file can be written there. Long work asks before it starts.

    :raises RecordError: if it is a folder or a device, or its folder is not there.
    """
    if path.is_dir():
        raise RecordError(path, "is a folder; name a file")
    if not path.parent.is_dir():
        raise RecordError(path, f"the folder {path.parent} is not there; make it first")
    if path.exists() and not path.is_file():
        raise RecordError(path, "is not a regular file")


def put(path: Path, content: bytes) -> None:
    """Write a file so that its name holds all of the content or what was there before.

    :raises RecordError: if it is a folder or a device, or its folder is not there.
    """
    check_place(path)
    with whole_file(path.resolve()) as file:
        file.write(content)
