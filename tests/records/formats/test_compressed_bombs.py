"""Compressed records that grow out of all proportion are refused, from a file and from a pipe."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from deniable import compression
from deniable.errors import RecordError
from deniable.records.formats.layout import Layout
from deniable.records.formats.opening import open_reader, open_source
from deniable.records.formats.source import StreamSource
from deniable.words.public_text import read_lines

LINE = b"the same line again and again\n"
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: bytes(pa.compress(data, codec="zstd", asbytes=True)),
}


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "_MOST_GROWN", 1 << 20)
    monkeypatch.setattr(compression, "_MOST_RATIO", 500)


@pytest.mark.parametrize("kind", PACKERS)
def test_a_file_that_grows_too_far_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "in.txt"
    path.write_bytes(PACKERS[kind](LINE * 400_000))
    with (
        open_source(path) as source,
        pytest.raises(RecordError, match=f"bytes of {kind} decompress to more than .*decompress it first"),
    ):
        list(open_reader(source, Layout(format="text")).batches())
    with pytest.raises(RecordError, match="decompress to more than"):
        list(read_lines(path))


def test_a_pipe_that_grows_too_far_is_refused() -> None:
    content = PACKERS["xz"](LINE * 400_000)
    reading, writing = os.pipe()
    feeder = threading.Thread(target=lambda: (os.write(writing, content), os.close(writing)))  # type: ignore[func-returns-value]
    feeder.start()
    with pytest.raises(RecordError, match="decompress to more than"):
        list(open_reader(StreamSource(reading, "a pipe"), Layout(format="text")).batches())
    feeder.join()
    os.close(reading)


def test_the_limits_leave_room_for_all_that_gzip_can_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    content = bytes(4 << 20)
    assert not compression.has_grown_too_far(300 * len(content), 300 * len(gzip.compress(content, mtime=0)))
    assert not compression.has_grown_too_far(1 << 28, 1)
    assert compression.has_grown_too_far((1 << 28) + 1, 1)


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(LINE * 99, mtime=0)[:-9],
        gzip.compress(LINE * 99, mtime=0)[:12] + b"\xff" * 40,
        lzma.compress(LINE)[:-3],
    ],
    ids=["gzip cut off", "gzip damaged", "xz cut off"],
)
def test_damaged_public_text_is_one_error(tmp_path: Path, packed: bytes) -> None:
    path = tmp_path / "public.txt"
    path.write_bytes(packed)
    with pytest.raises(RecordError):
        list(read_lines(path))
