"""Keyed releases of files: the same bytes whenever and however they are made."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable.noise.encoding
import deniable.records.formats.reader
from deniable import Embedding, InvalidParameter, Keyed, Multivariate, Privatizer, RecordError, ResumeError
from deniable.records.journal import Partial
from deniable.records.releasing import release_batch
from tests.support.keeping import keep_all as privatize_file

KEY = bytes(range(32))
TEXTS = [f"word{i % 200} the quick nobody" for i in range(700)]
Make = Callable[..., Privatizer]

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork.*:DeprecationWarning")


@pytest.fixture
def keyed(embedding: Embedding) -> Make:
    def make(key: bytes = KEY, *, consistent: bool = False, epsilon: float = 0.5) -> Privatizer:
        return Privatizer(
            Multivariate(embedding, epsilon=epsilon), randomness=Keyed(key, consistent=consistent)
        )

    return make


def write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(rows)), path, row_group_size=300)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif path.suffix == ".txt":
        path.write_text("".join(row["text"] + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)
    return path


def rows_of(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        return [{key: str(value) for key, value in row.items()} for row in pq.read_table(path).to_pylist()]
    if path.suffix == ".jsonl":
        return [
            {key: str(value) for key, value in json.loads(line).items()}
            for line in path.read_text().splitlines()
        ]
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


ROWS = [{"id": i, "text": text, "more": text} for i, text in enumerate(TEXTS)]


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet", "txt", "csv.gz"])
def test_a_job_run_twice_gives_the_same_bytes_with_any_number_of_workers_and_under_any_name(
    keyed: Make, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / f"in.{name.split('.')[0]}", ROWS)
    columns = [] if name == "txt" else ["text"]
    privatize_file(keyed(), source, tmp_path / f"one.{name}", columns=columns)
    moved = source.rename(tmp_path / f"moved.{source.suffix[1:]}")
    monkeypatch.setattr("deniable.records.job.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    privatize_file(keyed(), moved, tmp_path / f"two.{name}", columns=columns, workers=3)
    one, two = (tmp_path / f"{which}.{name}" for which in ("one", "two"))
    if name.endswith("gz"):
        assert gzip.decompress(one.read_bytes()) == gzip.decompress(two.read_bytes())
    assert one.read_bytes() == two.read_bytes()
    privatize_file(keyed(bytes(32)), moved, tmp_path / f"other.{name}", columns=columns)
    assert (tmp_path / f"other.{name}").read_bytes() != one.read_bytes()


def test_words_do_not_depend_on_the_size_of_batches(
    keyed: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "in.csv", ROWS)
    privatize_file(keyed(), source, tmp_path / "one.csv", columns=["text"])
    monkeypatch.setattr(deniable.records.formats.reader, "_RECORDS_AT_ONCE", 7)
    privatize_file(keyed(), source, tmp_path / "two.csv", columns=["text"])
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_with_a_column_of_ids_the_words_follow_the_record_through_formats_orders_and_files(
    keyed: Make, tmp_path: Path
) -> None:
    released = {}
    for ending, rows in (("csv", ROWS), ("jsonl", ROWS[::-1]), ("parquet", ROWS[100:] + ROWS[:100])):
        write(tmp_path / f"in.{ending}", rows)
        privatize_file(
            keyed(),
            tmp_path / f"in.{ending}",
            tmp_path / f"out.{ending}",
            columns=["text", "more"],
            record_id="id",
        )
        released[ending] = {
            row["id"]: (row["text"], row["more"]) for row in rows_of(tmp_path / f"out.{ending}")
        }
    assert released["csv"] == released["jsonl"] == released["parquet"]
    assert sum(text == more for text, more in released["csv"].values()) < 20, (
        "two columns of a record must not share noise"
    )
    direct = keyed().many(TEXTS[:3], record_ids=[(i, "text") for i in range(3)])
    assert [released["csv"][str(i)][0] for i in range(3)] == direct


def test_two_files_never_share_noise_where_records_are_named_by_number(keyed: Make, tmp_path: Path) -> None:
    released = []
    for name, last in (("a", "one"), ("b", "two")):
        write(tmp_path / f"{name}.csv", [*ROWS, {"id": "", "text": last, "more": ""}])
        privatize_file(keyed(), tmp_path / f"{name}.csv", tmp_path / f"out_{name}.csv", columns=["text"])
        released.append([row["text"] for row in rows_of(tmp_path / f"out_{name}.csv")])
    assert sum(a == b for a, b in zip(*released, strict=True)) < 20


def test_users_words_are_replaced_consistently_and_the_receipt_says_so(keyed: Make, tmp_path: Path) -> None:
    rows = [{"user": f"u{i % 5}", "text": "the fox", "more": "fox"} for i in range(50)]
    write(tmp_path / "in.csv", rows)
    receipt = privatize_file(
        keyed(consistent=True),
        tmp_path / "in.csv",
        tmp_path / "out.csv",
        columns=["text", "more"],
        record_id="user",
        workers=2,
    )
    released = rows_of(tmp_path / "out.csv")
    for user in range(5):
        assert len({(row["text"], row["more"]) for row in released[user::5]}) == 1
    assert all(row["text"].split()[1] == row["more"] for row in released)
    assert receipt is not None
    assert any(relaxation.startswith("consistent") for relaxation in receipt.relaxations)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_records_without_an_id_or_with_one_twice_are_refused(
    keyed: Make, tmp_path: Path, ending: str
) -> None:
    for which, problem in (
        (None if ending != "csv" else "", "record 3: has no id"),
        ("0", "record 3: has the id of an earlier record"),
    ):
        rows = [{"id": str(i), "text": "fox"} for i in range(5)]
        rows[2]["id"] = which  # type: ignore[assignment]
        source = write(tmp_path / f"{problem[-6:]}.{ending}", rows)
        with pytest.raises(RecordError, match=problem):
            privatize_file(keyed(), source, tmp_path / f"out.{ending}", columns=["text"], record_id="id")
        assert not (tmp_path / f"out.{ending}").exists()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_an_id_that_comes_again_much_later_publishes_nothing_however_often_it_is_tried(
    keyed: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    monkeypatch.setattr(deniable.noise.encoding, "HELD", 16)
    monkeypatch.setattr(deniable.noise.encoding, "RUN", 100)
    monkeypatch.setattr(deniable.records.formats.reader, "_RECORDS_AT_ONCE", 50)
    monkeypatch.setattr("deniable.records.job.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    rows = [{"id": str(i), "text": "fox"} for i in range(700)]
    rows[650]["id"] = "7"
    source, target = write(tmp_path / f"in.{ending}", rows), tmp_path / f"out.{ending}"
    for resume in (False, True, True):
        with pytest.raises(RecordError, match="record 651: has the id of record 8 in 'id'"):
            privatize_file(keyed(), source, target, columns=["text"], record_id="id", resume=resume)
        assert not target.exists()
    assert (
        privatize_file(keyed(consistent=True), source, target, columns=["text"], record_id="id", force=True)
        is not None
    )


def test_what_cannot_be_an_id_is_refused(keyed: Make, private: Privatizer, tmp_path: Path) -> None:
    rows = [{"id": 1.5, "text": "fox"}]
    with pytest.raises(InvalidParameter, match="holds double; ids are text or whole numbers"):
        privatize_file(
            keyed(),
            write(tmp_path / "a.parquet", rows),
            tmp_path / "o.parquet",
            columns=["text"],
            record_id="id",
        )
    with pytest.raises(RecordError, match="line 1: the value of id is no id: ids are text or whole numbers"):
        privatize_file(
            keyed(), write(tmp_path / "a.jsonl", rows), tmp_path / "o.jsonl", columns=["text"], record_id="id"
        )
    source = write(tmp_path / "a.csv", rows)
    for column, problem in (("ident", "no such column"), ("text", "column of private text")):
        with pytest.raises(InvalidParameter, match=problem):
            privatize_file(keyed(), source, tmp_path / "o.csv", columns=["text"], record_id=column)
    with pytest.raises(InvalidParameter, match="only with a key"):
        privatize_file(private, source, tmp_path / "o.csv", columns=["text"], record_id="id")
    with pytest.raises(InvalidParameter, match="names the users"):
        privatize_file(keyed(consistent=True), source, tmp_path / "o.csv", columns=["text"])


def stop_midway(
    private: Privatizer, source: Path, target: Path, monkeypatch: pytest.MonkeyPatch, **options: Any
) -> None:
    """Begin a job and stop it after some batches, so that there is something to continue."""
    done = 0

    def release_some(*arguments: Any) -> Any:
        nonlocal done
        done += 1
        if done > 5:
            raise OSError(28, "No space left on device")
        return release_batch(*arguments)

    monkeypatch.setattr(deniable.records.formats.reader, "_RECORDS_AT_ONCE", 50)
    monkeypatch.setattr("deniable.records.job.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    with monkeypatch.context() as patched:
        patched.setattr("deniable.records.releasing.release_batch", release_some)
        with pytest.raises(RecordError, match="No space left"):
            privatize_file(private, source, target, columns=["text"], **options)


def test_a_partial_output_is_continued_with_the_same_key_only(
    keyed: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = write(tmp_path / "in.csv", ROWS)
    privatize_file(keyed(), source, tmp_path / "whole.csv", columns=["text"])
    stop_midway(keyed(), source, tmp_path / "out.csv", monkeypatch)
    with pytest.raises(ResumeError, match="key was"):
        privatize_file(keyed(bytes(32)), source, tmp_path / "out.csv", columns=["text"], resume=True)
    privatize_file(keyed(), source, tmp_path / "out.csv", columns=["text"], resume=True, workers=2)
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    with pytest.raises(ResumeError, match=r"other settings.*key"):
        privatize_file(keyed(bytes(32)), source, tmp_path / "out.csv", columns=["text"], resume=True)


def say_it_was_begun_with(journal: Path, **said: object) -> None:
    """Let a journal say that its job was begun with these settings; None leaves one out, as journals did
    before they had it."""
    first, rest = journal.read_bytes().split(b"\n", 1)
    entry = json.loads(first.partition(b" ")[2])
    entry["job"] = {key: value for key, value in {**entry["job"], **said}.items() if value is not None}
    text = json.dumps(entry).encode()
    journal.write_bytes(b"%08x %s\n" % (zlib.crc32(text), text) + rest)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ({"keyed_noise": None}, r"\(keyed noise 1, now 2\)"),
        ({"keyed_noise": 1}, r"\(keyed noise 1, now 2\)"),
        ({"keyed_noise": 1, "rules_for_words": 1}, r"\(rules for words 1, now 2; keyed noise 1, now 2\)"),
        ({"rules_for_words": 1}, r"\(rules for words 1, now 2\)"),
    ],
)
def test_what_was_begun_under_another_version_of_the_noise_is_refused_and_stays_as_it_is(
    keyed: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: dict[str, object], shown: str
) -> None:
    source, target = write(tmp_path / "in.csv", ROWS), tmp_path / "out.csv"
    stop_midway(keyed(), source, target, monkeypatch)
    say_it_was_begun_with(tmp_path / "out.csv.journal", **said)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(
        ResumeError, match=rf"begun by another version of deniable.*{shown}.*start over with force=True"
    ):
        privatize_file(keyed(), source, target, columns=["text"], resume=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert privatize_file(keyed(), source, target, columns=["text"], force=True) is not None


def test_consistent_work_of_before_is_continued(
    keyed: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = write(tmp_path / "in.csv", ROWS), tmp_path / "out.csv"
    stop_midway(keyed(consistent=True), source, target, monkeypatch, record_id="id")
    say_it_was_begun_with(tmp_path / "out.csv.journal", keyed_noise=None)
    assert (
        privatize_file(keyed(consistent=True), source, target, columns=["text"], record_id="id", resume=True)
        is not None
    )


def test_a_finished_output_of_another_version_of_the_noise_is_told_from_this_one(
    keyed: Make, tmp_path: Path
) -> None:
    source, target = write(tmp_path / "in.csv", ROWS), tmp_path / "out.csv"
    privatize_file(keyed(), source, target, columns=["text"])
    assert privatize_file(keyed(), source, target, columns=["text"], resume=True) is None
    receipt = tmp_path / "out.csv.receipt.json"
    made = json.loads(receipt.read_text())
    del made["randomness"]["version"]
    receipt.write_text(json.dumps(made))
    with pytest.raises(ResumeError, match=r"finished, with other settings \(version of keyed noise\)"):
        privatize_file(keyed(), source, target, columns=["text"], resume=True)


def test_no_file_of_a_release_holds_the_key(
    keyed: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.records.job.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    key, seen = bytes.fromhex("a7c3915de6280bf4" * 4), set[str]()
    source = write(tmp_path / "in.csv", [{"id": i, "text": text} for i, text in enumerate(TEXTS)])

    def looked_at(append: Any = Partial.append) -> Any:
        def look(partial: Partial, data: bytes) -> None:
            append(partial, data)
            for path in tmp_path.iterdir():
                seen.add(path.name)
                assert not any(
                    part in path.read_bytes()
                    for part in (key[:8], key[:8].hex().encode(), key[:8].hex().upper().encode())
                )

        return look

    monkeypatch.setattr(Partial, "append", looked_at())
    privatize_file(keyed(key), source, tmp_path / "out.csv", columns=["text"], record_id="id")
    assert {"out.csv.partial", "out.csv.journal"} <= seen
    for path in tmp_path.iterdir():
        assert key[:8].hex().encode() not in path.read_bytes().lower()
        assert key[:8] not in path.read_bytes()
