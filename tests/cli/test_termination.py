"""A command that is told to end leaves nothing behind but what the next one goes on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

_SLOW = """
import time
from deniable.records import reading
reading.shutil.copyfileobj = lambda *given: (open("begun", "w").close(), time.sleep(600))
from deniable.cli.app import main
main()
"""
_OFTEN = """
from deniable.records import job
job.SECONDS_BETWEEN_CHECKPOINTS = 0.0
from deniable.cli.app import main
main()
"""


def _ended(work: subprocess.Popen[bytes]) -> int:
    """Return how it ended; Python drops an exception that happens to be raised in a callback, so it is told
    again."""
    for _ in range(5):
        work.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            return work.wait(30)  # meant to run out
    work.kill()
    return work.wait()


def _wait_for(path: Path, work: subprocess.Popen[bytes], lines: int = 0) -> None:
    deadline = time.monotonic() + 600
    while not (path.exists() and path.read_bytes().count(b"\n") >= lines):
        assert work.poll() is None, "it ended by itself"
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_decoded_text_that_is_not_finished_stays_in_no_folder(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["good film", "bad story"]}), tmp_path / "out.parquet")
    decode = "decode out.parquet -c text -o read.parquet -e 6 --words 50 --effort 20 --no-check"
    with subprocess.Popen([sys.executable, "-c", _SLOW, *decode.split()], cwd=tmp_path) as work:
        _wait_for(tmp_path / "begun", work)
        there = list(tmp_path.glob(".deniable-*/finished"))
        assert _ended(work) == 128 + signal.SIGTERM
    assert there
    assert sorted(path.name for path in tmp_path.iterdir()) == ["begun", "out.parquet"]


def test_a_release_goes_on_where_it_was(tmp_path: Path) -> None:
    lines = 6_000
    text = "my doctor said the keys were stolen from the old house by the river\n"
    (tmp_path / "in.txt").write_text(text * lines)
    command = [sys.executable, "-c", _OFTEN, *"privatize in.txt -e 6 -o out.txt -q --workers 2".split()]
    env = {**os.environ, "DENIABLE_THREADS": "1"}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE) as work:
        _wait_for(tmp_path / "out.txt.journal", work, lines=2)
        assert _ended(work) == 128 + signal.SIGTERM
        assert work.stderr is not None
        assert b"Traceback" not in work.stderr.read()
    assert not (tmp_path / "out.txt").exists()
    subprocess.run([*command, "--resume"], cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "out.txt").read_bytes().count(b"\n") == lines
