"""Folders of files through Spark, as ``deniable privatize --engine spark`` takes them."""

from __future__ import annotations

import csv
import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest
from pyspark.sql.readwriter import DataFrameWriter

from deniable import (
    CusText,
    Embedding,
    EmbeddingNotFound,
    InvalidParameter,
    Keyed,
    KeyFileError,
    Privatizer,
    RecordError,
)
from deniable.cli.app import main
from deniable.errors import ClusterError, UndecidedColumns
from deniable.integrations import spark
from deniable.release.card import read_card
from tests.support.keeping import keeping
from tests.support.spark_cluster import privatize_by_spark, write_defaults
from tests.support.spark_place import Place

privatize_files = keeping(spark.privatize_files)
AWKWARD = ["plain word1", 'a "quoted" word2', "two\nlines, word3", " spaces ", None]


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def read_csv_folder(folder: Path) -> list[dict[str, str]]:
    rows = []
    for part in sorted(folder.glob("part-*")):
        with part.open(encoding="utf-8", newline="") as file:
            rows += list(csv.DictReader(file))
    return rows


def test_the_command_releases_a_folder_of_csv_as_one_machine_would(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    rows = [
        {"id": i, "note": text, "text": f"word{i} {text}"}
        for i, text in enumerate(AWKWARD * 3)
        if text is not None
    ]
    write_csv(folder / "a.csv", rows[:5])
    write_csv(folder / "b.csv", rows[5:])
    arguments = f"privatize {folder} --engine spark --column text --keep id --keep note --epsilon 1"
    arguments += f" --embedding tiny --key-file {place.key} --record-id id"
    arguments += f" --mechanism custext --mechanism-option k=7 -o {tmp_path / 'out'}"
    monkeypatch.setattr(sys, "argv", ["deniable", *arguments.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (None, 0), capsys.readouterr().err
    released = {int(row["id"]): row for row in read_csv_folder(tmp_path / "out")}
    assert len(released) == len(rows)
    mechanism = CusText(Embedding.open("tiny"), epsilon=1, k=7)
    texts = place.one_machine([row["id"] for row in rows], [row["text"] for row in rows], mechanism=mechanism)
    assert {key: row["text"] for key, row in released.items()} == texts
    assert {key: row["note"] for key, row in released.items()} == {row["id"]: row["note"] for row in rows}
    assert (tmp_path / "out" / "_SUCCESS").exists()
    receipt = json.loads((tmp_path / "out.receipt.json").read_text())
    assert receipt["counts"]["records"] == len(rows)
    assert receipt["randomness"]["source"] == "keyed"
    assert receipt["mechanism"] == "CusText"
    card = read_card(tmp_path / "out.card.json")
    assert card == Privatizer(mechanism, randomness=Keyed.from_file(place.key)).card.for_columns(["text"])
    assert stat.S_IMODE((tmp_path / "out.card.json").stat().st_mode) & 0o044 == 0o044, "it is handed over"


def test_every_column_needs_a_role(place: Place, tmp_path: Path) -> None:
    folder, target = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    write_csv(
        folder / "a.csv",
        [{"nr": i, "mail": f"u{i}@example.org", "text": f"word{i}", "stars": 5} for i in range(12)],
    )
    settings: dict[str, Any] = {"columns": ["text"], "epsilon": 1, "embedding": "tiny"}
    with pytest.raises(UndecidedColumns) as raised:
        spark.privatize_files(str(folder), str(target), keep=["stars"], **settings)
    assert raised.value.columns.keys() == {"nr", "mail"}
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    made = spark.privatize_files(str(folder), str(target), drop=["mail", "nr"], keep=["stars"], **settings)
    assert len(rows := read_csv_folder(target)) == 12
    assert all(row.keys() == {"text", "stars"} for row in rows)
    assert not any(b"example.org" in path.read_bytes() for path in target.iterdir())
    assert any("left out: the columns mail, nr" in line for line in made.public)


def test_the_card_lies_beside_an_output_that_is_an_address_and_replaces_no_other(
    place: Place, tmp_path: Path
) -> None:
    write_csv(tmp_path / "in.csv", [{"id": 1, "text": "word1"}])
    settings: dict[str, Any] = {"columns": ["text"], "epsilon": 1, "embedding": "tiny"}
    privatize_files(
        str(tmp_path / "in.csv"), f"file://{tmp_path}/there/", receipt_path=tmp_path / "kept.json", **settings
    )
    assert read_card(tmp_path / "there.card.json").columns == ("text",)
    (tmp_path / "here.card.json").write_text("mine")
    with pytest.raises(RecordError, match=r"here.card.json: exists already"):
        privatize_files(str(tmp_path / "in.csv"), str(tmp_path / "here"), **settings)
    assert not (tmp_path / "here").exists()
    assert (tmp_path / "here.card.json").read_text() == "mine"


def test_a_job_that_is_killed_has_published_nothing_and_run_again_releases_the_same_words(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_csv(tmp_path / "in.csv", [{"id": i, "text": text or ""} for i, text in enumerate(place.texts)])
    target = tmp_path / "out"
    arguments = f"{tmp_path / 'in.csv'} --output {target} --force --column text --keep id --epsilon 1"
    arguments += f" --embedding tiny --key-file {place.key} --record-id id"
    conf = write_defaults(tmp_path / "conf")
    command, environment = privatize_by_spark(conf, f"{arguments} --master local[1]")
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, start_new_session=True) as job:
        while job.poll() is None and not (target / "_temporary").exists():
            time.sleep(0.02)
        os.killpg(job.pid, signal.SIGKILL)
    assert job.returncode == -signal.SIGKILL
    assert not list(target.glob("part-*"))
    assert not (target / "_SUCCESS").exists()
    # On the cluster that is there: one start of a JVM less.
    monkeypatch.setattr(sys, "argv", ["deniable", "privatize", "--engine", "spark", *arguments.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (None, 0), capsys.readouterr().err
    released = {int(row["id"]): row["text"] for row in read_csv_folder(target)}
    assert released == {
        i: text or "" for i, text in place.one_machine(texts=[text or "" for text in place.texts]).items()
    }


def test_json_lines_and_parquet_keep_their_values(place: Place, tmp_path: Path) -> None:
    rows = [{"id": i, "stars": i / 2, "text": text} for i, text in enumerate(AWKWARD)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pa.parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "in.parquet")
    for kind in ("jsonl", "parquet"):
        target = tmp_path / f"out-{kind}"
        privatize_files(
            str(tmp_path / f"in.{kind}"), str(target), columns=["text"], epsilon=1e6, embedding="tiny"
        )
        parts = list(target.glob("part-*"))
        if kind == "jsonl":
            released = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
        else:
            released = [row for part in parts for row in pa.parquet.read_table(part).to_pylist()]
        assert [(row["id"], row["stars"]) for row in released] == [(row["id"], row["stars"]) for row in rows]
        assert released[0]["text"].endswith("word1")
        assert released[-1]["text"] is None


def test_what_cannot_be_released_safely_is_refused_with_one_line(place: Place, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    write_csv(folder / "a.csv", [{"id": 1, "text": "word1"}])
    settings: dict[str, Any] = {"epsilon": 1e6, "embedding": "tiny"}
    with pytest.raises(InvalidParameter, match="no such column"):
        privatize_files(str(folder), str(tmp_path / "out"), columns=["txet"], **settings)
    # Were the columns of the second file taken by their place, its texts would be released under the name of
    # ids.
    write_csv(folder / "b.csv", [{"text": "private words", "id": 2}])
    with pytest.raises(ClusterError) as raised:
        privatize_files(str(folder), str(tmp_path / "out"), columns=["text"], **settings)
    assert "\n" not in str(raised.value)
    assert not list((tmp_path / "out").glob("part-*"))
    (tmp_path / "bad.jsonl").write_text('{"text": "word1"}\n{"text": "half a rec\n')
    with pytest.raises(ClusterError) as raised:
        privatize_files(str(tmp_path / "bad.jsonl"), str(tmp_path / "out2"), columns=["text"], **settings)
    assert "half a rec" not in str(raised.value)
    assert not list((tmp_path / "out2").glob("part-*"))


def test_repeated_ids_and_outputs_that_exist_are_refused(place: Place, tmp_path: Path) -> None:
    write_csv(tmp_path / "twice.csv", [{"id": 1, "text": "word1"}, {"id": 1, "text": "word2"}])
    settings: dict[str, Any] = {"columns": ["text"], "epsilon": 1, "embedding": "tiny"}
    with pytest.raises(InvalidParameter, match="1 of its values name more than one record"):
        privatize_files(
            str(tmp_path / "twice.csv"), str(tmp_path / "out"), **settings, key_file=place.key, record_id="id"
        )
    (tmp_path / "out").mkdir()
    with pytest.raises(RecordError, match="exists already"):
        privatize_files(str(tmp_path / "twice.csv"), str(tmp_path / "out"), **settings)
    with pytest.raises(ClusterError, match="is running on spark://"):
        privatize_files(
            str(tmp_path / "twice.csv"), str(tmp_path / "elsewhere"), **settings, master="local[1]"
        )


@pytest.mark.parametrize("before", [None, "an earlier receipt"])
def test_what_could_not_be_written_leaves_no_receipt_and_nothing_is_written_without_one(
    before: str | None, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_csv(tmp_path / "in.csv", [{"id": 1, "text": "word1"}])
    receipt = tmp_path / "out.receipt.json"
    if before is not None:
        receipt.write_text(before)

    def fail(*_: object, **__: object) -> None:
        assert receipt.exists()
        assert receipt.read_text() != before
        raise ClusterError("no room")

    monkeypatch.setattr(DataFrameWriter, "save", fail)
    with pytest.raises(ClusterError, match="no room"):
        privatize_files(
            str(tmp_path / "in.csv"),
            str(tmp_path / "out"),
            columns=["text"],
            epsilon=1,
            embedding="tiny",
            force=True,
        )
    assert (receipt.read_text() if receipt.exists() else None) == before
    assert not (tmp_path / "out.card.json").exists()


def test_settings_are_checked_before_spark_is_started(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"columns": ["text"], "epsilon": 1}
    with pytest.raises(RecordError, match="is not there"):
        privatize_files(str(tmp_path / "nothing"), str(tmp_path / "out"), **settings)
    with pytest.raises(InvalidParameter, match="say it"):
        privatize_files(str(tmp_path), str(tmp_path / "out"), **settings)
    with pytest.raises(InvalidParameter, match="records with columns"):
        privatize_files(str(tmp_path), str(tmp_path / "out"), **settings, format="text")
    write_csv(tmp_path / "in.csv", [{"id": 1, "text": "word1"}])
    for target in (tmp_path / "in.csv", tmp_path, tmp_path / "in.csv" / "out"):
        with pytest.raises(RecordError, match="lie one in the other"):
            privatize_files(str(tmp_path / "in.csv"), str(target), **settings, force=True)
    for target, receipt in (
        (tmp_path / "nowhere" / "out", None),
        (tmp_path / "out", tmp_path / "nowhere" / "r.json"),
    ):
        with pytest.raises(RecordError, match="nowhere is not there; make it first"):
            privatize_files(str(tmp_path / "in.csv"), str(target), **settings, receipt_path=receipt)
    for address in (str(tmp_path / "there"), f"file://{tmp_path}/there"):
        for receipt in (tmp_path / "there" / "r.json", tmp_path / "in.csv", tmp_path / "there.card.json"):
            (tmp_path / "there").mkdir(exist_ok=True)
            with pytest.raises(RecordError, match="name another file for the receipt"):
                privatize_files(
                    str(tmp_path / "in.csv"), address, **settings, receipt_path=receipt, force=True
                )
    with pytest.raises(RecordError, match=r"name another file for the receipt|is a folder"):
        privatize_files(
            str(tmp_path / "in.csv"),
            str(tmp_path / "none"),
            **settings,
            receipt_path=tmp_path / "none",
            force=True,
        )
    with pytest.raises(InvalidParameter, match="where the receipt goes"):
        privatize_files("s3a://bucket/in", "s3a://bucket/out", **settings, format="csv")
    places = (str(tmp_path / "in.csv"), str(tmp_path / "out"))
    with pytest.raises(InvalidParameter, match="greater than 0"):
        privatize_files(*places, columns=["text"], epsilon=0)
    with pytest.raises(EmbeddingNotFound, match="nowhere"):
        privatize_files(*places, **settings, embedding="nowhere")
    with pytest.raises(KeyFileError, match="is not there"):
        privatize_files(*places, **settings, key_file=tmp_path / "none", record_id="id")


def test_without_java_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from deniable.integrations.spark.session import check_java

    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        ClusterError, match="needs Java 17 or newer and there is none on the PATH; install one"
    ):
        check_java()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    with pytest.raises(ClusterError, match="none in JAVA_HOME"):
        check_java()


def test_with_a_java_that_is_too_old_the_line_says_which_it_is(tmp_path: Path) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\nexit 1\n")
    java.chmod(0o755)
    write_csv(tmp_path / "in.csv", [{"id": 1, "text": "word1"}])
    arguments = f"{tmp_path / 'in.csv'} -c text -e 6 -o {tmp_path / 'out'}"
    command, environment = privatize_by_spark(tmp_path / "conf", arguments)
    environment = {name: value for name, value in environment.items() if "JDK" not in name}
    environment["JAVA_HOME"] = str(tmp_path / "jdk")
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    line = done.stderr.strip().splitlines()[-1]
    assert line.startswith("deniable: Spark did not start:")
    assert "this is Java 11; Spark needs Java 17 or newer" in line
    assert "Traceback" not in done.stderr


def test_an_executor_without_deniable_is_named_and_other_reports_are_not_quoted() -> None:
    from deniable.integrations.spark.session import in_one_line

    missing = (
        "An exception was thrown from the Python worker\nModuleNotFoundError: No module named 'deniable'\n"
    )
    assert "not installed where the executors run" in in_one_line(missing, "PYTHON_EXCEPTION")
    assert "private words" not in in_one_line("cannot parse 'private words'", "MALFORMED_RECORD")
    ours = "Traceback\ndeniable.errors.KeyFileError: key file a.key: is not there\n"
    assert in_one_line(ours, None) == "key file a.key: is not there"
