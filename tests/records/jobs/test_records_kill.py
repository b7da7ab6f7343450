"""Killed at any step and resumed, a job loses, repeats and redraws nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from deniable import Embedding
from deniable.embeddings import store
from deniable.noise.key_file import write_new_key
from deniable.records.formats.layout import released_name
from deniable.records.journal import Journal
from deniable.release.card import read_card
from tests.support.private_pairs import write_input

ROWS = 20


class Zygote:
    def __init__(self, home: Path) -> None:
        environment = {**os.environ, "DENIABLE_HOME": str(home), "OPENBLAS_NUM_THREADS": "1"}
        script = Path(__file__).with_name("zygote.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(
        self, argv: list[str | Path], target: Path, *, step: int | None = None, victim: str = "job"
    ) -> tuple[int, int | None]:
        """Return how the command ended and how many texts it drew, if it was not killed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        words = [str(word) for word in [*argv, "-o", target]]
        request = {"argv": words, "folder": str(target.parent), "step": step, "victim": victim}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        return answer["status"], answer["drawn"]


@pytest.fixture(scope="module")
def zygote(embedding: Embedding, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DENIABLE_HOME", str(home))
        store.save(embedding, "tiny")
    zygote = Zygote(home)
    yield zygote
    zygote.process.communicate()


def command_for(folder: Path, format_: str, rows: int = ROWS) -> list[str | Path]:
    """Write an input of this format, and return the command that releases it, all but the output."""
    texts = [f"word{i % 200} the quick fox" if i % 10 else "..." for i in range(rows)]
    ending = format_.removesuffix(".gz")
    source, key = folder / ("in" if ending == "folder" else f"in.{ending}"), folder / "secret.key"
    if ending == "folder":
        source.mkdir()
        for number, text in enumerate(texts):
            (source / f"{number:04}.txt").write_text(text)
    else:
        write_input(source, texts, [f"0{i}," for i in range(rows)])
    write_new_key(key)
    named = ["--format", "folder"] if ending == "folder" else ["-c", "text"]
    return ["privatize", source, *named, "-e1", "--embedding", "tiny", "--quiet", "--key-file", key]


def on_record(target: Path) -> int:
    """Return how many records the journal has after a kill."""
    if not (path := target.with_name(target.name + ".journal")).exists():
        return 0
    copied = path.with_name(
        "copied.journal"
    )  # opening repairs a last line that was cut short; the command must do that itself
    shutil.copyfile(path, copied)
    journal = Journal(copied)
    journal.close()
    copied.unlink()
    return journal.records


def content_of(path: Path) -> Any:
    return path.read_bytes() if path.is_file() else {each.name: each.read_bytes() for each in path.iterdir()}


def check_output(target: Path, whole: Path, rows: int = ROWS) -> None:
    """The output is complete, with its receipt and its card, and nothing else is left."""
    assert content_of(target) == content_of(whole)
    receipt = json.loads(target.with_name(target.name + ".receipt.json").read_text())
    assert receipt["counts"]["records"] == rows
    assert receipt["counts"]["words"] == 4 * rows * 9 // 10
    beside = {path.name for path in target.parent.glob(f"*{target.name}.*")}
    assert beside == {target.name + ".receipt.json", target.name + ".card.json"}
    assert read_card(target.with_name(target.name + ".card.json")) == read_card(
        whole.with_name(whole.name + ".card.json")
    )


def take_away(target: Path) -> None:
    for path in target.parent.glob(f"*{target.name}*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.parametrize(
    ("format_", "stride"), [("csv.gz", 1), ("json.gz", 5), ("folder", 4), ("parquet", 5), ("xlsx", 6)]
)
def test_a_killed_job_resumes_without_losing_repeating_or_redrawing(
    zygote: Zygote, tmp_path: Path, format_: str, stride: int
) -> None:
    """Before every step of a job whose output is sealed in the end, and before some steps of every other form
    of partial file."""
    command = command_for(tmp_path, format_)
    whole, target = tmp_path / released_name(f"whole.{format_}"), tmp_path / released_name(f"out.{format_}")
    assert zygote.run(command, whole) == (0, ROWS)
    step = midway = 0
    while (killed := zygote.run(command, target, step=step)[0]) != 0:
        assert killed == -9
        if step % 5 == 0:  # killed again while it goes on, if it has so many steps left
            assert zygote.run([*command, "--resume"], target, step=step % 11)[0] in (0, -9)
        if finished := target.exists():  # then all of it does
            assert content_of(target) == content_of(whole)
            assert target.with_name(target.name + ".card.json").exists()
        kept = on_record(target)
        midway += 0 < kept < ROWS
        if kept < ROWS and (partial := target.with_name(target.name + ".partial")).exists():
            with partial.open(
                "ab"
            ) as file:  # keyed noise would write the same again over what a kill left there
                file.write(b"written, and not on record\n" * 100)
        assert zygote.run([*command, "--resume"], target) == (0, 0 if finished else ROWS - kept)
        check_output(target, whole)
        take_away(target)
        step += stride
    assert step > 20
    assert midway >= 2


@pytest.mark.parametrize(("victim", "format_"), [("job", "parquet"), ("worker", "csv.gz")])
def test_a_job_with_workers_that_is_killed_resumes_to_the_very_output_of_one_process(
    zygote: Zygote, tmp_path: Path, victim: str, format_: str
) -> None:
    rows = 200  # such that workers have something to do when one of them is killed
    command, whole, target = (
        command_for(tmp_path, format_, rows),
        tmp_path / f"whole.{format_}",
        tmp_path / f"out.{format_}",
    )
    assert zygote.run(command, whole)[0] == 0
    shared = [*command, "--workers", "2"]
    assert zygote.run(shared, target)[0] == 0
    assert content_of(target) == content_of(whole)
    for step in (20, 60):
        take_away(target)
        assert zygote.run(shared, target, step=step, victim=victim)[0] == (-9 if victim == "job" else 1)
        assert on_record(target) < rows
        again = shared if step == 60 else command  # what workers began, one process can finish
        assert zygote.run([*again, "--resume"], target)[0] == 0
        check_output(target, whole, rows)
