"""Two processes at one calibration: one computes, the other is told so, and nothing is damaged."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.storage import WorkLock
from deniable.calibration.table import measure_table
from deniable.embeddings import store
from deniable.errors import CalibrationInProgress
from deniable.mechanisms.chosen import ChosenMechanism
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
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Embedding:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    monkeypatch.setattr("deniable.calibration.by_rays._PAIRS_AT_ONCE", 1000)
    store.save(random_embedding(60, 4), "small")
    return Embedding.open("small")


def test_a_second_run_is_refused_while_the_first_computes_which_is_not_disturbed(small: Embedding) -> None:
    command = [sys.executable, "-m", "deniable", "calibrate", "--embedding", "small", "--rays", "50", "--max-unchanged", "0.6", "--json"]
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
    reading = WorkLock(folder / "lock", embedding="small")
    released = threading.Timer(0.3, reading.release)
    released.start()
    began = time.monotonic()
    measure_by_rays(small, rays=50)
    assert time.monotonic() - began > 0.1
    released.join()
    assert (folder / "lock").read_bytes() == b""
