"""Killed at any moment and resumed, a job loses, repeats and redraws nothing."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import Embedding
from deniable.embeddings import store
from deniable.keyed.key_file import write_new_key
from deniable.records.formats.layout import released_name
from deniable.records.formats.parquet_files.partial import _batches
from deniable.records.jobs.journal import Journal
from deniable.text.card import read_card
from tests.support.private_pairs import write_input

ROWS = 750
KILLS = 22


class Zygote:
    def __init__(self, home: Path) -> None:
        environment = {**os.environ, "DENIABLE_HOME": str(home), "OPENBLAS_NUM_THREADS": "1"}
        script = Path(__file__).with_name("zygote.py")
        self.process = subprocess.Popen(
            [sys.executable, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(
        self, argv: list[str | Path], target: Path, *, after: float | None = None, length: float | None = None, victim: str = "job"
    ) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        words = [str(word) for word in [*argv, "-o", target]]
        request = {"argv": words, "journal": f"{target}.journal", "after": after, "length": length, "victim": victim}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer


@pytest.fixture(scope="module")
def zygote(embedding: Embedding, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Zygote]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DENIABLE_HOME", str(home))
        store.save(embedding, "tiny")
    zygote = Zygote(home)
    yield zygote
    zygote.process.communicate()


def write_source(source: Path) -> list[str]:
    texts = [f"word{i % 200} the quick fox" if i % 10 else "" for i in range(ROWS)]
    if source.suffix == ".csv":
        with source.open("w", newline="") as file:
            csv.writer(file).writerows([["id", "text", "note"], *([i, text, f"0{i},\n"] for i, text in enumerate(texts))])
    else:
        table = pa.table({"id": range(ROWS), "text": texts, "note": [f"0{i}," for i in range(ROWS)]})
        pq.write_table(table, source, row_group_size=200)
    return texts


def unpacked(data: bytes, target: Path) -> bytes:
    return gzip.decompress(data) if target.suffix == ".gz" else data


def released_so_far(target: Path) -> list[Any]:
    """What the journal has on record after a kill: the bytes of CSV, unpacked, or the rows of Parquet."""
    if not (path := target.with_name(target.name + ".journal")).exists():
        return []
    partial = target.with_name(target.name + ".partial")
    copied = path.with_name("copied.journal")  # opening repairs a last line that was cut short; the command must do that itself
    shutil.copyfile(path, copied)
    journal = Journal(copied)
    journal.close()
    if journal.sealed or not partial.exists():
        return []  # the partial file is in its final form already
    if target.suffix != ".parquet":
        return [unpacked(partial.read_bytes()[: journal.length], target)]
    return [row for batch in _batches(partial, journal.ends) for row in batch.to_pylist()]


@pytest.mark.parametrize(("victim", "format_"), [("job", "csv"), ("worker", "csv"), ("job", "csv.gz"), ("job", "parquet")])
def test_a_job_with_workers_that_is_killed_resumes_to_the_very_output_of_one_process(
    zygote: Zygote, tmp_path: Path, victim: str, format_: str
) -> None:
    source, key = tmp_path / f"in.{format_.removesuffix('.gz')}", tmp_path / "secret.key"
    texts = write_source(source)
    write_new_key(key)
    command: list[str | Path] = ["privatize", source, "-c", "text", "-e1", "--embedding", "tiny", "--quiet", "--key-file", key]
    whole, by_two = tmp_path / f"whole.{format_}", tmp_path / f"shared.{format_}"
    assert zygote.run(command, whole)["status"] == 0
    wanted = whole.read_bytes()
    shared = [*command, "--workers", "2"]
    run = zygote.run(shared, by_two)
    assert run["status"] == 0
    assert by_two.read_bytes() == wanted
    moments = random.Random(7)
    interrupted = midway = 0
    for kill in range(8):
        target = tmp_path / f"out{kill}.{format_}"
        broken = zygote.run(shared, target, length=moments.uniform(0.05, 0.9) * run["length"], victim=victim)
        assert broken["status"] in (0, -9 if victim == "job" else 1)
        interrupted += broken["status"] != 0
        kept = released_so_far(target)
        midway += bool(kept)
        again = shared if kill % 2 else command  # what workers began, one process can finish
        assert zygote.run([*again, "--resume"], target)["status"] == 0
        assert target.read_bytes() == wanted
        check_output(target, texts, [kept])
    assert interrupted >= 4, "the kills came too late to mean anything"
    assert midway >= 2


@pytest.mark.parametrize("format_", ["json", "json.gz", "xlsx", "ods", "folder"])
def test_other_formats_that_are_killed_resume_to_the_very_output_of_a_whole_run(zygote: Zygote, tmp_path: Path, format_: str) -> None:
    ending = format_.removesuffix(".gz")
    texts = [f"word{i % 200} the quick fox" if i % 10 else "" for i in range(300)]
    source, key = tmp_path / ("in" if ending == "folder" else f"in.{ending}"), tmp_path / "secret.key"
    if ending == "folder":
        source.mkdir()
        for number, text in enumerate(texts):
            (source / f"{number:04}.txt").write_text(text)
    else:
        write_input(source, texts, ["n"] * len(texts))
    write_new_key(key)
    named = ["--format", "folder"] if ending == "folder" else ["-c", "text"]
    command: list[str | Path] = ["privatize", source, *named, "-e1", "--embedding", "tiny", "--quiet", "--key-file", key]
    run = zygote.run(command, tmp_path / released_name(f"whole.{format_}"))
    assert run["status"] == 0
    wanted = content_of(tmp_path / released_name(f"whole.{format_}"))
    moments, interrupted = random.Random(11), 0
    for kill in range(6):
        target = tmp_path / released_name(f"out{kill}.{format_}")
        broken = zygote.run(command, target, length=moments.uniform(0.05, 0.98) * run["length"])
        assert broken["status"] in (0, -9)
        assert (broken["status"] == 0) == target.exists()
        interrupted += broken["status"] != 0
        assert zygote.run([*command, "--resume"], target)["status"] == 0
        assert content_of(target) == wanted
        left = {path.name for path in tmp_path.glob(f"{target.name}*")}
        assert left == {target.name, f"{target.name}.receipt.json", f"{target.name}.card.json"}
    assert interrupted >= 3, "the kills came too late to mean anything"


def content_of(path: Path) -> Any:
    return path.read_bytes() if path.is_file() else {each.name: each.read_bytes() for each in path.iterdir()}


@pytest.mark.parametrize("format_", ["csv", "csv.gz", "parquet"])
def test_a_killed_job_resumes_without_losing_repeating_or_redrawing(zygote: Zygote, tmp_path: Path, format_: str) -> None:
    source = tmp_path / f"in.{format_.removesuffix('.gz')}"
    texts = write_source(source)
    command: list[str | Path] = ["privatize", source, "--column", "text", "--epsilon", "1", "--embedding", "tiny", "--quiet"]
    whole = [zygote.run(command, tmp_path / f"whole{i}.{format_}") for i in range(3)]
    assert all(run["status"] == 0 for run in whole)
    seconds = min(run["seconds"] for run in whole)
    length = max(run["length"] for run in whole)
    moments = random.Random(20_26)
    interrupted = midway = 0
    for kill in range(KILLS):
        target = tmp_path / f"out{kill}.{format_}"
        kept: list[list[Any]] = []
        for again in range(3 if kill % 4 < 2 else 1):
            # Half of the kills come at a moment of the whole run, half at a length of the journal: on a busy machine
            # run times vary so much that the first kind alone would often come too late.
            share = moments.uniform(0.02, 1.0)
            when = {"after": share * seconds} if kill % 2 or again else {"length": share * length}
            run = zygote.run([*command, *["--resume"][:again]], target, **when)
            assert run["status"] in (0, -9)
            interrupted += run["status"] == -9 and again == 0
            kept.append(released_so_far(target))
            assert not target.exists() or rows_in(target) == ROWS
        midway += bool(kept[0])
        assert zygote.run([*command, "--resume"], target)["status"] == 0
        check_output(target, texts, kept)
    print(f"{format_}: {seconds:.2f} s a run, {interrupted} of {KILLS} interrupted, {midway} with records on record")
    assert interrupted >= KILLS / 2, "the kills came too late to mean anything"
    assert midway >= KILLS / 4


def rows_in(target: Path) -> int:
    if target.suffix == ".parquet":
        return int(pq.ParquetFile(target).metadata.num_rows)
    return len(rows_of(target)) - 1


def rows_of(target: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(unpacked(target.read_bytes(), target).decode(), newline="")))


def check_output(target: Path, texts: list[str], kept: list[list[Any]]) -> None:
    if target.suffix != ".parquet":
        header, *rows = rows_of(target)
        assert header == ["id", "text", "note"]
        assert [(row[0], row[2]) for row in rows] == [(str(i), f"0{i},\n") for i in range(ROWS)]
        released = [row[1] for row in rows]
        assert all(unpacked(target.read_bytes(), target).startswith(part) for parts in kept for part in parts)
    else:
        table = pq.read_table(target).to_pylist()
        assert [(row["id"], row["note"]) for row in table] == [(i, f"0{i},") for i in range(ROWS)]
        released = [row["text"] for row in table]
        assert all(table[: len(part)] == part for part in kept)
    assert [len(text.split()) for text in released] == [len(text.split()) for text in texts]
    receipt = json.loads(target.with_name(target.name + ".receipt.json").read_text())
    assert receipt["counts"]["records"] == ROWS
    assert receipt["counts"]["words"] == sum(len(text.split()) for text in texts)
    beside = {path.name for path in target.parent.glob(f"*{target.name}.*")}
    assert beside == {target.name + ".receipt.json", target.name + ".card.json"}
    assert read_card(target.with_name(target.name + ".card.json")).columns == ("text",)
