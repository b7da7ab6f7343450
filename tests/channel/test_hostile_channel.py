"""A stored channel whose numbers somebody else has written, checksums included, is refused: they are
positions in arrays."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.channel.store import ChannelStore, Row
from deniable.errors import DamagedChannel

SETTINGS: dict[str, Any] = {"format": 1, "epsilon": 5.0}
WORDS, ROWS = 20, 6
Numbers = dict[str, np.ndarray[Any, Any]]


def opened(root: Path) -> AbstractContextManager[ChannelStore]:
    return ChannelStore(root, SETTINGS, ROWS, words=WORDS).opened()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with opened(tmp_path) as channel:
        for count in (4, 2):
            channel.append(
                [Row(outputs=np.array([1, 2, 19]), chances=np.array([0.5, 0.2, 0.1])) for _ in range(count)]
            )
        assert channel.folder is not None
        return channel.folder


def forge(folder: Path, change: Callable[[Numbers], None]) -> None:
    """Change the numbers, and write a journal of one block that fits them."""
    numbers: Numbers = {
        name: np.fromfile(folder / name, dtype=kind)
        for name, kind in (("lengths", "<i4"), ("outputs", "<i4"), ("chances", "<f4"))
    }
    change(numbers)
    crc = 0
    for name, content in numbers.items():
        (folder / name).write_bytes(content.tobytes())
        crc = zlib.crc32(content.tobytes(), crc)
    (folder / "journal.txt").write_text(f"{len(numbers['lengths'])} {len(numbers['outputs'])} {crc:08x}\n")


def put(name: str, at: int, value: float) -> Callable[[Numbers], None]:
    def change(numbers: Numbers) -> None:
        numbers[name][at] = value

    return change


def shift_lengths(numbers: Numbers) -> None:
    numbers["lengths"][:2] = [-3, 9]  # the sum is as before


def test_a_whole_channel_is_opened(folder: Path) -> None:
    with opened(folder.parent) as channel:
        assert channel.done == 6
        assert channel.arrays()["starts"].tolist() == [0, 3, 6, 9, 12, 15, 18]
    forge(folder, lambda _: None)
    with opened(folder.parent) as channel:
        assert channel.done == 6


@pytest.mark.parametrize(
    "change",
    [
        put("outputs", 3, WORDS),
        put("outputs", 0, -1),
        put("outputs", 17, 2**31 - 1),
        put("lengths", 2, 2**31 - 1),
        put("lengths", 0, 4),
        shift_lengths,
        put("chances", 5, float("nan")),
        put("chances", 5, -0.1),
        put("chances", 5, 1.5),
    ],
)
def test_numbers_that_cannot_be_are_refused(folder: Path, change: Callable[[Numbers], None]) -> None:
    forge(folder, change)
    with pytest.raises(DamagedChannel, match="not what was written"), opened(folder.parent):
        pass


@pytest.mark.parametrize(
    "line",
    [
        b"6 999999999999 00000000\n",
        b"6 999999999999999999999999 00000000\n",
        b"9" * 5000 + b" 1 00000000\n",
        b"7 18 00000000\n",
        b"-6 18 00000000\n",
        b"\xff 18 00000000\n",
        b"6 18\n",
    ],
)
def test_lines_of_the_journal_that_cannot_be_are_refused(folder: Path, line: bytes) -> None:
    (folder / "journal.txt").write_bytes(line)
    with pytest.raises(DamagedChannel), opened(folder.parent):
        pass


def test_settings_that_are_no_text_are_refused(folder: Path) -> None:
    (folder / "settings.json").write_bytes(b"\xff\xfe")
    with pytest.raises(DamagedChannel, match="settings"), opened(folder.parent):
        pass


def test_rows_without_outputs_are_opened(folder: Path) -> None:
    def empty(numbers: Numbers) -> None:
        numbers["lengths"][:] = 0
        numbers["outputs"], numbers["chances"] = numbers["outputs"][:0], numbers["chances"][:0]

    forge(folder, empty)
    with opened(folder.parent) as channel:
        assert len(channel.arrays()["outputs"]) == 0


@pytest.mark.parametrize("name", ["settings.json", "journal.txt", "lengths", "outputs", "chances"])
def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(folder: Path, name: str) -> None:
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises((DamagedChannel, OSError)), opened(folder.parent):
        pass
