"""Several processes share the work, and nobody can tell from the output."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from deniable import (
    Embedding,
    InsecureSeededRandomness,
    InvalidParameter,
    Multivariate,
    Privatizer,
    UnknownWord,
)
from deniable.errors import WorkerLost
from deniable.records import privatize_file
from deniable.records.formats.reader import Batch
from deniable.records.releasing import releasing

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")


def batches(count: int, started: list[int] | None = None, text: str = "the fox") -> Iterator[Batch]:
    for number in range(count):
        if started is not None:
            started.append(number)
        yield Batch(first=number, counts=[1], texts=[f"word{number % 200} {text}"], payloads=[None])


def test_records_keep_their_order_and_counts(private: Privatizer, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("".join(f"word{i % 200} the unknown\n" for i in range(20_000)))
    receipt = privatize_file(private, tmp_path / "in.txt", tmp_path / "out.txt", workers=3)
    released = (tmp_path / "out.txt").read_text().splitlines()
    assert [line.split()[:2] for line in released] == [[f"word{i % 200}", "the"] for i in range(20_000)]
    assert receipt is not None
    assert receipt.tally.words == 60_000
    assert receipt.tally.unknown_words == 20_000


def test_workers_never_repeat_one_anothers_noise(noisy: Privatizer) -> None:
    drawn = releasing(noisy, batches(60, text="the fox " * 20), workers=3)
    made = [tuple(released.texts) for _, released in drawn]
    assert len({text.split(" ", 1)[1] for (text,) in made if text is not None}) == 60


def test_reading_waits_for_the_workers(private: Privatizer) -> None:
    started: list[int] = []
    with closing(releasing(private, batches(100, started), workers=2)) as results:
        for done in range(1, 20):
            next(results)
            assert len(started) <= done + 4


def test_a_worker_that_is_killed_gives_one_clear_error(private: Privatizer) -> None:
    with closing(releasing(private, batches(1_000), workers=2)) as results:
        next(results)
        os.kill(
            int(Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()[-1]),
            signal.SIGKILL,
        )
        with pytest.raises(WorkerLost, match=r"a worker process died.*resume=True"):
            list(results)


def test_an_unknown_word_stops_the_job_with_the_number_of_its_record(
    embedding: Embedding, tmp_path: Path
) -> None:
    strict = Privatizer(Multivariate(embedding, epsilon=1), unknown="error")
    (tmp_path / "in.txt").write_text("the fox\n" * 9_000 + "the stranger\n")
    with pytest.raises(UnknownWord, match="record 9,001, word 2"):
        privatize_file(strict, tmp_path / "in.txt", tmp_path / "out.txt", workers=2)


@pytest.mark.parametrize("workers", [0, -1, 1.5, 2_000, True])
def test_a_wrong_number_of_workers_is_refused(private: Privatizer, tmp_path: Path, workers: int) -> None:
    (tmp_path / "in.txt").write_text("the\n")
    with pytest.raises(InvalidParameter, match="workers"):
        privatize_file(private, tmp_path / "in.txt", tmp_path / "out.txt", workers=workers)


def test_a_seed_and_workers_do_not_go_together(embedding: Embedding, tmp_path: Path) -> None:
    seeded = Privatizer(
        Multivariate(embedding, epsilon=1), randomness=InsecureSeededRandomness(insecure_seed=1)
    )
    (tmp_path / "in.txt").write_text("the\n")
    with pytest.raises(InvalidParameter, match="repeat one another's noise"):
        privatize_file(seeded, tmp_path / "in.txt", tmp_path / "out.txt", workers=2)


def catches_sigterm(pid: int | None) -> bool:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = int(next(line for line in lines if line.startswith("SigCgt:")).split()[1], 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="needs /proc to find the workers")
def test_workers_end_at_sigterm_whatever_the_command_does_then(private: Privatizer) -> None:
    """Else the pool waits for ever for workers that are left when one is lost."""
    others = {child.pid for child in multiprocessing.active_children()}
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    try:
        with closing(releasing(private, batches(1_000), workers=2)) as results:
            next(results)
            workers = {child.pid for child in multiprocessing.active_children()} - others
            assert workers
            for _ in range(6_000):  # a worker that has just been forked catches it until it begins
                if not any(map(catches_sigterm, workers)):
                    break
                time.sleep(0.1)
            assert not any(map(catches_sigterm, workers))
    finally:
        signal.signal(signal.SIGTERM, before)
