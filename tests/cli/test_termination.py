"""A command that is told to end leaves nothing behind but what the next one goes on with."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

_SLOW = """
import time
from deniable.channel import making
fill = making._fill
making._fill = lambda *given, **options: (open("begun", "w").close(), time.sleep(60))
from deniable.cli.app import main
main()
"""


_OFTEN = """
from deniable.records.jobs import releasing
releasing.SECONDS_BETWEEN_CHECKPOINTS = 0.0
from deniable.cli.app import main
main()
"""


def _ended(work: subprocess.Popen[bytes]) -> int:
    """Return how it ended; Python drops an exception that happens to be raised in a callback, so it is told again."""
    for _ in range(20):
        work.send_signal(signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            return work.wait(2)  # meant to run out
    work.kill()
    return work.wait()


def _wait_for(path: Path, work: subprocess.Popen[bytes], lines: int = 0) -> None:
    deadline = time.monotonic() + 600
    while not (path.exists() and path.read_bytes().count(b"\n") >= lines):
        assert work.poll() is None, "it ended by itself"
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_measurement_leaves_no_words_of_a_private_text_in_temporary_folders(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("text,label\n" + "good film,a\nbad story,b\n" * 100)
    (tmp_path / "tmp").mkdir()
    options = ["lab", "compare", "data.csv", "--text", "text", "--label", "label", "--mechanism", "multivariate", "--target", "named=0.5"]
    command = [sys.executable, "-c", _SLOW, *options, "--train", "100", "--test", "100", "--no-decode", "--quiet"]
    env = {**os.environ, "TMPDIR": str(tmp_path / "tmp"), "DENIABLE_HOME": str(tmp_path / "home")}
    with subprocess.Popen(command, cwd=tmp_path, env=env) as work:
        _wait_for(tmp_path / "begun", work)
        assert not list((tmp_path / "tmp").iterdir()), "channels of a measurement are held in memory"
        assert _ended(work) == 128 + signal.SIGTERM
    assert not list((tmp_path / "tmp").iterdir())


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_release_goes_on_where_it_was(tmp_path: Path, workers: str) -> None:
    lines = 40_000
    (tmp_path / "in.txt").write_text("my doctor said the keys were stolen from the old house by the river\n" * lines)
    command = [sys.executable, "-c", _OFTEN, "privatize", "in.txt", "-e", "6", "-o", "out.txt", "--quiet", "--workers", workers]
    env = {**os.environ, "DENIABLE_THREADS": "1"}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stderr=subprocess.PIPE) as work:
        _wait_for(tmp_path / "out.txt.journal", work, lines=2)
        assert _ended(work) == 128 + signal.SIGTERM
        assert work.stderr is not None
        assert b"Traceback" not in work.stderr.read()
    assert not (tmp_path / "out.txt").exists()
    subprocess.run([*command, "--resume"], cwd=tmp_path, env=env, check=True)
    assert (tmp_path / "out.txt").read_bytes().count(b"\n") == lines


_LIMIT = 600


def _workers_of(work: subprocess.Popen[bytes]) -> list[int]:
    return [int(process) for process in Path(f"/proc/{work.pid}/task/{work.pid}/children").read_text().split()]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to find the workers")
@pytest.mark.parametrize("command", ["privatize", "watch"])
def test_a_command_that_loses_a_worker_ends_with_an_error(tmp_path: Path, command: str) -> None:
    for folder in ("in", "out"):
        (tmp_path / folder).mkdir()
    (tmp_path / "in" / "texts.txt").write_text(("the film was good and the story was bad " * 30 + "\n") * 5_000)
    options = {
        "privatize": ["in/texts.txt", "--output", "out/texts.txt"],
        "watch": ["in", "--out", "out", "--once", "--settle", "0"],
    }[command]
    arguments = [sys.executable, "-c", _OFTEN, command, *options, "--epsilon", "6", "--workers", "2", "--quiet"]
    env = {**os.environ, "DENIABLE_HOME": str(tmp_path / "home")}
    with subprocess.Popen(arguments, cwd=tmp_path, env=env, stderr=subprocess.PIPE) as work:
        deadline = time.monotonic() + _LIMIT
        while not (len(workers := _workers_of(work)) == 2 and any(b"records" in path.read_bytes() for path in _journals(tmp_path))):
            assert work.poll() is None, "it ended by itself"
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.kill(workers[0], signal.SIGKILL)
        try:
            _, said = work.communicate(timeout=_LIMIT)
        finally:
            work.kill()
            for worker in workers:
                with suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGKILL)
    assert work.returncode == 1
    assert b"a worker process died" in said


def _journals(folder: Path) -> list[Path]:
    return [path for path in (folder / "out").rglob("*journal*") if path.is_file()]
