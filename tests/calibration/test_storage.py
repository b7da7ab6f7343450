"""Calibrations on disk: of two processes one computes and the other is told so, and what somebody else has
written is not believed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import zlib
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.atomic import lock
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.table import measure_table
from deniable.channel.store import Columns, ColumnStore
from deniable.embeddings import store
from deniable.errors import CalibrationInProgress, DamagedCalibration
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.support.strategies import random_embedding

STUCK = """
import time
from deniable import Embedding
from deniable.calibration import by_rays

def report(done, total):
    if done:
        print(done, flush=True)
        time.sleep(600)

by_rays._PAIRS_AT_ONCE = 1000
by_rays.measure_by_rays(Embedding.open("small"), rays=50, report=report)
"""


@pytest.fixture(autouse=True)
def small(home: Path, monkeypatch: pytest.MonkeyPatch) -> Embedding:
    monkeypatch.setattr("deniable.calibration.by_rays._PAIRS_AT_ONCE", 1000)
    store.save(random_embedding(60, 4), "small")
    return Embedding.open("small")


def test_a_second_run_is_refused_while_the_first_computes_which_is_not_disturbed(small: Embedding) -> None:
    options = "calibrate --embedding small --effort 50 --max-unchanged 0.6 --json"
    command = [sys.executable, "-m", "deniable", *options.split()]
    ended: list[subprocess.CompletedProcess[str]] = []

    def meanwhile(done: int, total: int) -> None:
        if done == 20:
            ended.append(subprocess.run(command, capture_output=True, text=True, check=False))

    found = measure_by_rays(small, rays=50, report=meanwhile)
    assert ended[0].returncode == 1
    assert f"calibration of 'small' is being computed by process {os.getpid()}; wait" in ended[0].stderr
    assert "Traceback" not in ended[0].stderr
    assert ended[0].stdout == ""
    assert np.array_equal(found.radii, measure_by_rays(small, rays=50, keep=False).radii)
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr


def test_tables_are_kept_from_two_processes_as_well(small: Embedding) -> None:
    def meanwhile(done: int, total: int) -> None:
        if done == 0:
            with pytest.raises(CalibrationInProgress):
                measure_table(small, ChosenMechanism(name="santext"), epsilons=np.array([1.0]))

    measure_table(small, ChosenMechanism(name="santext"), epsilons=np.array([1.0]), report=meanwhile)


def test_a_run_that_was_killed_leaves_no_lock_behind(small: Embedding) -> None:
    with subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, text=True) as stuck:
        assert stuck.stdout is not None
        try:
            assert stuck.stdout.readline() == "20\n"
            with pytest.raises(CalibrationInProgress) as refused:
                measure_by_rays(small, rays=50)
        finally:
            stuck.kill()
    assert refused.value.process == stuck.pid
    seen: list[int] = []
    found = measure_by_rays(small, rays=50, report=lambda done, total: seen.append(done))
    assert seen == [20, 40, 60]
    assert np.array_equal(found.radii, measure_by_rays(small, rays=50, keep=False).radii)


def test_whoever_only_reads_is_waited_for(small: Embedding) -> None:
    folder = measure_by_rays(small, rays=50).folder
    assert folder is not None
    with (folder / "lock").open("ab") as reading:
        assert lock(reading, wait=False)
        released = threading.Timer(0.3, reading.close)
        released.start()
        began = time.monotonic()
        measure_by_rays(small, rays=50)
        assert time.monotonic() - began > 0.1
        released.join()
    assert (folder / "lock").read_bytes() == b""


COLUMNS: Columns = {"ids": ("<i8", ()), "radii": ("<f4", (3,))}


def plain_store(folder: Path) -> AbstractContextManager[ColumnStore]:
    return ColumnStore(folder, {"rays": 3}, COLUMNS, 6, embedding="small", last_id=20).opened()


@pytest.fixture
def finished(tmp_path: Path) -> Path:
    folder = tmp_path / "finished"
    with plain_store(folder) as store:
        store.append(ids=np.arange(6), radii=np.ones((6, 3)))
    return folder


@pytest.mark.parametrize("wrong", [-1, 21, 2**62])
def test_ids_that_no_word_has_are_refused_though_the_checksum_fits(finished: Path, wrong: int) -> None:
    with plain_store(finished) as store:
        store.arrays["ids"][2] = wrong
        digest = zlib.crc32(store.arrays["radii"].tobytes(), zlib.crc32(store.arrays["ids"].tobytes()))
    (finished / "journal.txt").write_text(f"0 6 {digest:08x}\n")
    with pytest.raises(DamagedCalibration, match="no word has"), plain_store(finished):
        pass


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("settings.json", b"\xff\xfe"),
        ("journal.txt", b"0 " + b"9" * 5000 + b" 00000000\n"),
        ("ids.npy", b"\x93NUMPY\x01\x00\x10\x00" + b"'" + b" " * 15),
        (
            "ids.npy",
            b"\x93NUMPY\x01\x00v\x00{'descr': '<i8', 'fortran_order': False, 'shape': (6,), }".ljust(128),
        ),
        ("radii.npy", b""),
    ],
)
def test_files_that_are_no_calibration_are_one_error(finished: Path, name: str, content: bytes) -> None:
    (finished / name).write_bytes(content)
    with pytest.raises(DamagedCalibration), plain_store(finished):
        pass
