"""How a page or a figure gets to its place: whole or not at all."""

from __future__ import annotations

from pathlib import Path

from deniable.atomic import check_place, whole_file

__all__ = ["check_place", "put"]


def put(path: Path, content: bytes) -> None:
    """Write a file so that its name holds all of the content or what was there before.

    :raises RecordError: if it is a folder or a device, or its folder is not there.
    """
    check_place(path)
    with whole_file(path.resolve()) as file:
        file.write(content)
