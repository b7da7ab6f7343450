"""What Spark writes and reports is a function of what is released: not of the sizes of private files, nor of
a word in them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import InvalidParameter
from deniable.embeddings import store
from deniable.errors import ClusterError
from deniable.integrations import spark
from deniable.integrations.spark import reading
from deniable.integrations.spark.tasks import quoted
from tests.support.keeping import keeping
from tests.support.private_pairs import (
    POLICIES,
    Pair,
    all_that_is_seen,
    check_shape,
    embedding,
    spread_out,
    write_input,
)
from tests.support.spark_cluster import privatize_by_spark, write_defaults
from tests.support.spark_place import Place

privatize_files = keeping(spark.privatize_files)
SECRET = "Rumpelstilzchen"
FILES = 4
_UNIQUE = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

UNREADABLE = {
    "too many cells": ("csv", {"a.csv": "id,text\n1,word1\n", "b.csv": f"id,text\n2,{SECRET},{SECRET}\n"}),
    "too few cells": ("csv", {"a.csv": f"id,text\n1,word1\n{SECRET}\n"}),
    "no header": ("csv", {"a.csv": "id,text\n1,word1\n", "b.csv": f"2,{SECRET} word1\n"}),
    "columns in another order": ("csv", {"a.csv": "id,text\n1,word1\n", "b.csv": f"text,id\n{SECRET},2\n"}),
    "not JSON": (
        "jsonl",
        {"a.jsonl": '{"id": 1, "text": "word1"}\n', "b.jsonl": f'{{"id": 2, "text": "{SECRET}\n'},
    ),
    "not an object": ("jsonl", {"a.jsonl": '{"id": 1, "text": "word1"}\n', "b.jsonl": f'"{SECRET}"\n'}),
}


@pytest.fixture
def small_parts(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Files are cut into many tasks, by their size, and outputs into many parts."""
    cut = {"spark.sql.files.maxPartitionBytes": "30000", "spark.sql.files.openCostInBytes": "0"}
    monkeypatch.setattr(reading, "RECORDS_PER_PART", 17)
    if not (store.store_folder() / "pairs").exists():
        store.save(embedding(), "pairs")
    before = {key: place.spark.conf.get(key) for key in cut}
    for key, value in cut.items():
        place.spark.conf.set(key, value)
    yield place
    for key, value in before.items():
        place.spark.conf.set(key, value)


def release(
    place: Place, folder: Path, texts: list[str | None], notes: list[str], kind: str, policy: dict[str, Any]
) -> dict[str, Any]:
    source, target = folder / "in", folder / "out"
    source.mkdir(parents=True)
    per_file = len(texts) // FILES
    for number in range(FILES):
        part = slice(number * per_file, (number + 1) * per_file)
        ids = range(part.start, part.stop)
        write_input(source / f"file{number}.{kind}", texts[part], notes[part], ids=ids)
    settings: dict[str, Any] = {
        "epsilon": 2.0,
        **policy,
        "embedding": "pairs",
        "key_file": place.key,
        "record_id": "id",
    }
    privatize_files(str(source), str(target), columns=["text"], **settings)
    seen = {name: seen for name, seen in all_that_is_seen(folder).items() if not name.startswith("in")}
    if (
        kind == "parquet"
    ):  # which lists the encodings of a column in an order that every Java machine has of its own
        seen = {
            name: (mode, without_order(content))
            for name, (mode, content) in seen.items()
            if not name.endswith(".parquet.crc")
        }
    return {_UNIQUE.sub("", name): content for name, content in seen.items()}


def without_order(content: Any) -> Any:
    """Return the rows and all that is said of their layout if this is Parquet; something else as it is."""
    if not isinstance(content, bytes) or not content.startswith(b"PAR1"):
        return content
    file = pq.ParquetFile(pa.BufferReader(content))
    metadata = file.metadata.to_dict()
    for group in metadata["row_groups"]:
        for column in group["columns"]:
            column["encodings"] = sorted(column["encodings"])
    return len(content), metadata, file.read().to_pylist()


def check(place: Place, folder: Path, pair: Pair, kind: str, policy: str) -> dict[str, Any]:
    check_shape(pair, POLICIES[policy])
    left, right = (
        release(place, folder / side, texts, pair.notes, kind, POLICIES[policy])
        for side, texts in (("left", pair.left), ("right", pair.right))
    )
    assert left.keys() == right.keys(), "the names of parts tell two texts apart"
    assert "out.card.json" in left
    for name in left:
        same = left[name] == right[name]
        assert same, f"{name} tells two texts apart"
    return left


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_sizes_of_private_files_do_not_show_in_parts_and_their_order(
    small_parts: Place, tmp_path: Path, kind: str
) -> None:
    seen = check(small_parts, tmp_path, spread_out(80, long_words=3, length=60_000), kind, "perturb")
    parts = sorted(name for name in seen if Path(name).name.startswith("part-"))
    assert len(parts) == 5
    if kind != "parquet":
        notes = [int(number) for part in parts for number in re.findall(rb"note (\d+)", seen[part][1])]
        assert notes == list(range(80)), (
            "records come in the order of the files' names, and of their places in them"
        )


@pytest.mark.slow
@pytest.mark.parametrize("policy", [name for name in POLICIES if name != "perturb"])
@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_sizes_of_private_files_do_not_show_whatever_is_chosen(
    small_parts: Place, tmp_path: Path, kind: str, policy: str
) -> None:
    small_parts.spark.conf.set("spark.sql.files.maxPartitionBytes", "300000")
    check(small_parts, tmp_path, spread_out(80, long_words=2, length=500_000), kind, policy)


def test_the_order_by_size_that_spark_has_would_be_noticed(
    small_parts: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def as_it_comes(records: reading.Records, task: Any, *_: Any) -> Any:
        header, columns = records.header, records.columns

        def release(batches: Any) -> Any:
            cleaned = reading.clean_records(header, batches)
            return task.privatize(batch.select(list(columns)) for batch in cleaned)

        with_places = records.frame.select(*columns, *map(quoted, (reading.FILE, reading.BLOCK)))
        return with_places.mapInArrow(release, records.schema(*columns))

    monkeypatch.setattr(reading.Records, "release", as_it_comes)
    with pytest.raises(AssertionError, match="two texts apart"):
        check(small_parts, tmp_path, spread_out(80, long_words=3, length=60_000), "csv", "perturb")


def logs_with(word: str, folder: Path) -> list[str]:
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".key" and word.encode() in path.read_bytes()
    ]


@pytest.mark.parametrize("name", UNREADABLE)
def test_no_log_of_the_cluster_quotes_what_cannot_be_read(
    place: Place, tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    kind, files = UNREADABLE[name]
    for file, content in files.items():
        (tmp_path / "in").mkdir(exist_ok=True)
        (tmp_path / "in" / file).write_text(content)
    with pytest.raises((ClusterError, InvalidParameter)) as raised:
        privatize_files(
            str(tmp_path / "in"),
            str(tmp_path / "out"),
            columns=["text"],
            epsilon=1,
            embedding="tiny",
            format=kind,
        )
    assert SECRET not in str(raised.value)
    assert str(tmp_path) in str(raised.value), "the file is named"
    assert "\n" not in str(raised.value)
    assert not list((tmp_path / "out").glob("part-*"))
    assert SECRET not in "".join(capfd.readouterr())
    assert logs_with("deniable", place.folder), "executors keep their logs here"
    assert logs_with(SECRET, place.folder) == []


def test_what_should_be_a_header_is_not_shown(place: Place, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(f"1,{SECRET}\n2,word2\n")
    (tmp_path / "in.jsonl").write_text(f'{{"{SECRET}": "word1"}}\n')
    for name in ("in.csv", "in.jsonl"):
        with pytest.raises(InvalidParameter, match="no such column") as raised:
            privatize_files(
                str(tmp_path / name), str(tmp_path / "out"), columns=["text"], epsilon=1, embedding="tiny"
            )
        assert SECRET not in str(raised.value)
    (tmp_path / "in.csv").write_text(f"text,{SECRET}\n2,word2\n")
    with pytest.raises(InvalidParameter, match="no such column") as raised:
        privatize_files(
            str(tmp_path / "in.csv"),
            str(tmp_path / "out"),
            columns=["text"],
            epsilon=1,
            embedding="tiny",
            key_file=place.key,
            record_id="id",
        )
    assert SECRET not in str(raised.value)


def test_neither_the_command_nor_the_event_log_quotes_what_cannot_be_read(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    for file, content in UNREADABLE["too many cells"][1].items():
        (tmp_path / "in" / file).write_text(content)
    (tmp_path / "events").mkdir()
    defaults = write_defaults(tmp_path / "conf") / "spark-defaults.conf"
    defaults.write_text(
        defaults.read_text()
        + "spark.eventLog.enabled true\nspark.eventLog.compress false\nspark.eventLog.dir "
        f"file://{tmp_path / 'events'}\n"
    )
    arguments = "in -o out --master local[1] --column text --keep id --epsilon 1 --embedding tiny"
    command, environment = privatize_by_spark(tmp_path / "conf", arguments)
    ended = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 1, ended.stderr
    assert "b.csv: a record of it cannot be read" in ended.stderr.splitlines()[-1]
    assert "Traceback" not in ended.stderr
    assert SECRET not in ended.stdout + ended.stderr
    assert logs_with("deniable", tmp_path / "events")
    assert logs_with(SECRET, tmp_path / "events") == []
