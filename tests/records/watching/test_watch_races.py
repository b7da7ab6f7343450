"""Somebody who swaps a file in a watched folder all the time, as fast as they can, gets nothing else released
and keeps nobody waiting."""

from __future__ import annotations

import io
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable.records.formats import source
from tests.records.watched_folders import Folders

Swap = Callable[[Path], None]
OUTSIDE = "o-u-t-s-i-d-e"
LOOKS, MOST_LOOKS = 60, 1_500
SECONDS = 1_200  # nothing is judged by how long it takes; a hang must end


def content(kind: str, note: str) -> bytes:
    if kind == "csv":
        return f"note,text\n{note},the fox\n".encode()
    out = io.BytesIO()
    pq.write_table(
        pa.table({"note": [note], "text": ["the fox"]}), out, compression="none", use_dictionary=False
    )
    return out.getvalue()


@contextmanager
def swapped_all_the_time(path: Path, swaps: list[Swap]) -> Iterator[Callable[[], int]]:
    """Let something else stand under a name at every moment while the block runs; gives how many times it was
    swapped."""
    stop, before, swapped = threading.Event(), sys.getswitchinterval(), [0]

    def race() -> None:
        spare = path.parent / ".spare"
        for swap in cycle(swaps):
            if stop.is_set():
                return
            swap(spare)
            os.replace(spare, path)  # noqa: PTH105
            swapped[0] += 1

    thread = threading.Thread(target=race)
    sys.setswitchinterval(1e-5)
    thread.start()
    try:
        yield lambda: swapped[0]
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(before)


def look_often(folders: Folders, looks: int) -> Iterator[bytes]:
    """Look again and again with nothing released before; yield all that lies in the output folder after each
    look."""
    for _ in range(looks):
        folders.look()
        yield b"".join(path.read_bytes() for path in folders.out.iterdir() if path.is_file())
        shutil.rmtree(folders.out)
        folders.out.mkdir()


@pytest.fixture(autouse=True)
def _nothing_waits() -> Iterator[None]:
    """A pipe that is opened without care would be waited for without end."""

    def too_late(*_: object) -> None:
        pytest.fail(
            "waited for the other end of a pipe"
        )  # which is no Exception: a watch takes an OSError for one file's failure

    before = signal.signal(signal.SIGALRM, too_late)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def links(tmp_path: Path) -> dict[str, Path]:
    found = {}
    for kind in ("csv", "parquet"):
        found[kind] = tmp_path / f"outside.{kind}"
        found[kind].write_bytes(content(kind, OUTSIDE))
    return found


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_only_what_was_listed_is_ever_released(
    folders: Folders, links: dict[str, Path], kind: str, tmp_path: Path
) -> None:
    inside, outside = content(kind, "inside"), links[kind]
    swaps: list[Swap] = [
        lambda spare: as_file(spare, inside),
        lambda spare: spare.symlink_to(outside),
        lambda spare: as_file(spare, inside),
        lambda spare: os.mkfifo(spare),
        lambda spare: as_file(spare, inside),
        lambda spare: spare.symlink_to(tmp_path / "not there"),
        lambda spare: as_file(spare, inside),
        lambda spare: spare.symlink_to("/dev/zero"),
    ]
    with swapped_all_the_time(folders.inbox / f"a.{kind}", swaps) as swapped:
        looks = LOOKS if kind == "csv" else LOOKS // 3  # each starts processes
        for seen in look_often(folders, looks):
            assert OUTSIDE.encode() not in seen
        assert swapped() > looks, "there was no race"
    as_file(folders.inbox / f"b.{kind}", inside)
    (folders.inbox / f"a.{kind}").unlink()
    assert folders.look() == 1
    assert outside.read_bytes() == content(kind, OUTSIDE)
    assert not (tmp_path / "not there").exists()


def test_what_was_opened_is_known_by_its_own_name_though_a_link_stands_there_by_now(
    tmp_path: Path, links: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = tmp_path / "a.csv"
    as_file(listed, content("csv", "inside"))
    open_listed = source._open_listed

    def swapped_once_open(path: Path, about: os.stat_result) -> io.BufferedReader:
        file = open_listed(path, about)
        path.unlink()
        path.symlink_to(links["csv"])
        return file

    monkeypatch.setattr(source, "_open_listed", swapped_once_open)
    with closing(source.FileSource(listed, listed=listed.lstat())) as opened:
        assert opened.identity == {
            "input": str(listed),
            "input size": 25,
            "input time": os.fstat(opened.file.fileno()).st_mtime_ns,
        }


def test_a_watch_that_opens_files_by_name_is_caught(
    folders: Folders, links: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def by_name(path: Path, _listed: Any) -> Any:
        return path.open("rb")

    monkeypatch.setattr("deniable.records.formats.source._open_listed", by_name)
    inside = content("csv", "inside")
    swaps: list[Swap] = [lambda spare: as_file(spare, inside), lambda spare: spare.symlink_to(links["csv"])]
    with swapped_all_the_time(folders.inbox / "a.csv", swaps):
        assert any(OUTSIDE.encode() in seen for seen in look_often(folders, MOST_LOOKS))


def as_file(spare: Path, content: bytes) -> None:
    spare.write_bytes(content)
