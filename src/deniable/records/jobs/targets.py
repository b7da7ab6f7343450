"""Where an output may go."""

from __future__ import annotations

from pathlib import Path

from deniable.compression import compression_for
from deniable.errors import InvalidParameter, RecordError
from deniable.records.formats.layout import Layout, format_of


def beside(path: Path, ending: str) -> Path:
    """Return the path with more at the end of its name."""
    return path.with_name(path.name + ending)


def check_target(target: Path, layout: Layout) -> Path:
    """Return the path to write to: the target itself, or what it links to.

    :raises InvalidParameter: if the target's name speaks of another format than the input has.
    :raises RecordError: if it is a folder or a device, or its folder is not there.
    """
    if target.is_symlink():
        target = target.resolve()
    if target.is_dir():
        raise RecordError(target, "is a folder; name a file")
    if not target.parent.is_dir():
        raise RecordError(target, f"the folder {target.parent} is not there; make it first")
    if target.exists() and not target.is_file():
        raise RecordError(target, "is not a regular file; without -o the output goes to standard output")
    meant = format_of(target)
    if meant is not None and not _fits(meant, layout.format):
        problem = f"its name says {meant} and the input is {layout.format}; formats are not converted"
        if layout.format == "text":  # what is taken for granted of standard input and of a name without an ending
            problem += f". If the input is {meant} as well, say so: --format {meant}"
        raise InvalidParameter("output", str(target), problem)
    if layout.format == "parquet" and compression_for(target):
        raise InvalidParameter("output", str(target), "Parquet is compressed inside; leave the compression ending off")
    return target


def _fits(meant: str, written: str) -> bool:
    if meant == "text":  # .txt may hold anything that is text
        return written != "parquet"
    return meant == written or {meant, written} == {"csv", "tsv"}


def check_apart(source: str, *paths: Path) -> None:
    """Do nothing if the files that are written are neither the input nor one another.

    :raises RecordError: otherwise, or if the folder of one is not there.
    """
    seen: set[Path] = set()
    for path in paths:
        if not path.parent.is_dir():
            raise RecordError(path, f"the folder {path.parent} is not there; make it first")
        if path.resolve() in seen:
            raise RecordError(path, "would be written twice; name another file")
        if path.resolve() == Path(source).resolve() or (path.exists() and Path(source).exists() and path.samefile(source)):
            raise RecordError(path, "is the input itself; name another file")
        seen.add(path.resolve())


def check_receipt(path: Path) -> Path:
    """Return where a receipt goes; what is released must not be left without one because it cannot be written in the end.

    :raises RecordError: if it is a folder or a device.
    """
    if path.exists() and not path.is_file():
        raise RecordError(path, "is not a regular file; name another file for the receipt")
    return path
