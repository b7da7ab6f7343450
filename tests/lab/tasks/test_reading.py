"""Data sets are decompressed by what they hold, not by what they are called, and a cut-off file is said to be
one."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable.compression import compress
from deniable.errors import TaskDataError
from deniable.lab.tasks.data.reading import lines_of

LINES = [f"line {number}, with é" for number in range(5000)]
CONTENT = "\r\n".join(LINES).encode()


@pytest.mark.parametrize("kind", [None, "gzip", "bzip2", "xz", "zstd"])
def test_lines_are_those_of_the_content_whatever_the_name(kind: str | None, tmp_path: Path) -> None:
    for name in ("a.txt", "a.jsonl.xz"):
        (tmp_path / name).write_bytes(compress(CONTENT, kind))
        assert list(lines_of(tmp_path / name)) == LINES


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "xz", "zstd"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[:-9],
        lambda data: data[: len(data) // 2],
        lambda data: data[:30] + bytes(40) + data[70:],
    ],
)
def test_a_file_that_is_cut_off_or_damaged_is_refused(kind: str, damage: object, tmp_path: Path) -> None:
    assert callable(damage)
    (tmp_path / "a").write_bytes(damage(compress(CONTENT, kind)))
    with pytest.raises(TaskDataError, match=f"the {kind} data is cut off or damaged"):
        list(lines_of(tmp_path / "a"))


def test_no_file_and_no_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskDataError, match="no such file"):
        list(lines_of(tmp_path / "a"))
    (tmp_path / "a").write_bytes("é".encode("latin-1"))
    with pytest.raises(TaskDataError, match="not UTF-8"):
        list(lines_of(tmp_path / "a"))
    (tmp_path / "b").write_bytes(compress("é\n".encode("latin-1"), "gzip"))
    with pytest.raises(TaskDataError, match="not UTF-8"):
        list(lines_of(tmp_path / "b"))
