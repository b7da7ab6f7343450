"""POST /files: every format, wrong files, private folders, a full disk."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import socket
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable.errors import InvalidParameter
from deniable.noise.key_file import write_new_key
from deniable.records.journal import Partial
from deniable.service import files, jobs
from deniable.service.settings import Jobs, Limits
from tests.service.running import (
    OCTETS,
    ROWS,
    Client,
    allowed,
    as_csv,
    head_of,
    make_settings,
    running,
    wait_until,
)


def as_parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), out)
    return out.getvalue()


def as_jsonl() -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in ROWS)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    settings = make_settings(tmp_path_factory.mktemp("service"), limits=Limits(file_bytes=1 << 20, jobs=6))
    with running(settings) as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.csv", as_csv()),
        ("rows.csv.gz", gzip.compress(as_csv())),
        ("rows.jsonl", as_jsonl()),
        ("rows.parquet", as_parquet()),
        ("my.rows (1).csv", as_csv()),
    ],
)
def test_a_file_is_released_with_its_card_and_receipt(
    client: Client, name: str, content: bytes, vocabulary: set[str]
) -> None:
    begun = client.upload(content, name=name, column="text", epsilon=5)
    assert begun.status == 202
    job = begun.json()["id"]
    assert begun.headers["location"] == f"/jobs/{job}"
    told = client.wait_for(job)
    assert (told["state"], told["name"], told["error"]) == ("done", name, None)
    assert time.time() < told["deleted_at"] < time.time() + 3601
    output = client.get(f"/jobs/{job}/output")
    assert "zorblatt" not in output.body.decode("latin-1")
    assert f"released-{name}" in output.headers["content-disposition"].replace("%20", " ").replace(
        "%28", "("
    ).replace("%29", ")")
    assert len(read(name, output.body)) == 50
    assert {
        word for row in read(name, output.body) for word in row["text"].split() if "'" not in word
    } <= vocabulary
    assert [(row["id"], row["note"]) for row in read(name, output.body)] == [
        (row["id"], row["note"]) for row in ROWS
    ]
    assert client.get(f"/jobs/{job}/card").json()["epsilon_per_word"] == 5
    assert client.get(f"/jobs/{job}/receipt").json()["counts"]["records"] == 50
    assert client.ask("DELETE", f"/jobs/{job}").status == 204
    assert client.get(f"/jobs/{job}").status == 404


def read(name: str, content: bytes) -> list[dict[str, Any]]:
    content = gzip.decompress(content) if name.endswith(".gz") else content
    if ".csv" in name:
        return list(csv.DictReader(io.StringIO(content.decode())))
    if name.endswith(".parquet"):
        return list(pq.read_table(io.BytesIO(content)).to_pylist())
    return [json.loads(line) for line in content.splitlines()]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"name": "rows.csv"}, "column"),
        ({"name": "rows.doc", "column": "text"}, "ending"),
        ({"name": "rows", "column": "text"}, "ending"),
        ({"name": "../rows.csv", "column": "text"}, "name"),
        ({"name": "/etc/passwd.csv", "column": "text"}, "name"),
        ({"name": "a\x00.csv", "column": "text"}, "name"),
        ({"name": ".csv", "column": "text"}, "name"),
        ({"column": "text"}, "name"),
        ({"name": "rows.csv", "column": "text", "epsilon": 11}, "at most 10"),
        ({"name": "rows.csv", "column": "text", "seed": 1}, "known are"),
        ({"name": "rows.csv", "column": "text", "header": "maybe"}, "header"),
        ({"name": "rows.csv", "column": "text", "wait": "1000"}, "wait"),
        ({"name": "rows.csv", "column": "text", "wait": "nan"}, "wait"),
        ({"name": "rows.csv", "column": "text", "delimiter": "ab"}, "delimiter"),
        ({"name": "rows.csv", "column": "text", "encoding": "base64"}, "encoding"),
        ({"name": "rows.csv", "column": ["text", "text"]}, "twice"),
        ({"name": "rows.txt", "column": "text"}, "columns"),
        ({"name": "rows.csv", "column": "text", "record_id": "id"}, "key"),
    ],
)
def test_a_wrong_request_makes_no_job(
    client: Client, query: dict[str, Any], said: str, tmp_path: Path
) -> None:
    reply = client.upload(as_csv(), **query)
    assert reply.status == 422
    assert said in reply.error


@pytest.mark.parametrize(
    ("name", "content", "column", "said"),
    [
        ("rows.csv", as_csv(), "absent", "no such column"),
        ("rows.csv", b"id,text\n1,a\n2\n", "text", "line 3"),
        ("rows.csv", b"id,text\n1,\xff\n", "text", "UTF-8"),
        ("rows.jsonl", b'{"text": "a"}\n{"text": zorblattsecret\n', "text", "line 2"),
        ("rows.parquet", b"zorblattsecret", "text", "rows.parquet"),
        ("rows.csv.gz", b"zorblattsecret", "text", "rows.csv.gz"),
        ("rows.csv", b"id;text\n1;a\n", "text", "delimiter="),
        ("rows.csv", b"1,a\n2,b\n", "text", "header=false"),
        ("rows.json", b'{"text": "a"}\n{"text": "b"}\n', "text", "ends in .jsonl"),
    ],
)
def test_a_wrong_file_fails_with_its_place_and_without_its_text(
    client: Client, name: str, content: bytes, column: str, said: str
) -> None:
    reply = client.upload(content, name=name, column=column, wait=600)
    assert reply.status == 422, reply.body
    assert said in reply.error
    assert "zorblatt" not in reply.error
    assert "input." not in reply.error
    assert not re.search(r"--[a-z]|head -1", reply.error), "these are for a terminal"
    job = reply.headers["location"]
    assert client.get(f"{job}/output").status == 422
    assert client.ask("DELETE", job).status == 204


def test_too_large_a_file_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with running(make_settings(tmp_path, limits=Limits(file_bytes=1000))) as opened:
        assert opened.upload(b"x" * 2000, name="a.txt").status == 413
        assert list((tmp_path / "jobs").iterdir()) == []


def test_a_file_that_is_cut_off_leaves_nothing(tmp_path: Path) -> None:
    with running(make_settings(tmp_path)) as opened:
        with socket.create_connection(("127.0.0.1", opened.port)) as half:
            half.sendall(head_of("/files?name=a.txt", OCTETS, 9_000) + b"zorb")
            wait_until(lambda: len(list((tmp_path / "jobs").iterdir())) == 1)
        wait_until(lambda: list((tmp_path / "jobs").iterdir()) == [])


@pytest.mark.parametrize("column", ["text", "absent"], ids=["done", "failed"])
def test_the_input_is_deleted_at_once_when_the_work_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, column: str
) -> None:
    """Not only when the job is looked at again."""
    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_LOOKS", 3_600.0)
    monkeypatch.setattr(jobs.JobStore, "delete_if_over", lambda *_: None)
    with running(make_settings(tmp_path)) as opened:
        job = opened.upload(as_csv(), name="rows.csv", column=column).json()["id"]
        opened.wait_for(job)
        folder = tmp_path / "jobs" / job
        wait_until(lambda: not (folder / "input.csv").exists())
        assert [stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder)] == [0o700] * 2
        assert not [path for path in folder.iterdir() if b"zorblatt" in path.read_bytes()]


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o710, 0o720, 0o705, 0o701])
def test_a_folder_that_others_can_open_is_refused(tmp_path: Path, mode: int) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs").chmod(mode)
    with pytest.raises(InvalidParameter, match="chmod 700"):
        jobs.prepare_folder(tmp_path / "jobs")


def test_a_full_disk_is_said_and_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> Any:
        raise OSError(28, "No space left on device")

    with running(make_settings(tmp_path)) as opened:
        with monkeypatch.context() as patched:
            patched.setattr(files.Files, "receive", full)
            assert opened.send().status == 503
            assert list((tmp_path / "jobs").iterdir()) == []
        with monkeypatch.context() as patched:
            patched.setattr(Partial, "append", full)
            reply = opened.send(wait=600)
            assert reply.status == 422
            assert "no room left" in reply.error
            assert "resume" not in reply.error
            assert str(tmp_path) not in reply.error
            folder = tmp_path / "jobs" / reply.headers["location"].removeprefix("/jobs/")
            wait_until(lambda: sorted(path.name for path in folder.iterdir()) == ["job.json", "state.json"])
        assert opened.send(wait=600).status == 200


def test_too_many_jobs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs.JobStore, "attempt", lambda *_: None)
    with running(make_settings(tmp_path, limits=Limits(jobs=2))) as opened:
        assert [opened.send().status for _ in range(3)] == [
            202,
            202,
            429,
        ]


@pytest.mark.parametrize("name", ["absent", "A" * 22, "..", "%2e%2e", "A" * 21 + "%2f", "a" * 5000])
def test_a_job_that_is_not_there_is_not_found(client: Client, name: str) -> None:
    for path in ("", "/output", "/card", "/receipt"):
        assert client.get(f"/jobs/{name}{path}").status == 404


def test_a_job_is_deleted_at_its_time(tmp_path: Path, minutes_pass: Callable[[float], None]) -> None:
    settings = msgspec.structs.replace(
        make_settings(tmp_path), jobs=Jobs(folder=str(tmp_path / "jobs"), keep_minutes=5)
    )
    with running(settings) as opened:
        reply = opened.send(wait=600)
        assert reply.status == 200
        minutes_pass(4)
        time.sleep(0.3)  # it is looked at several times meanwhile
        assert opened.get(reply.headers["location"]).status == 200
        minutes_pass(5.1)
        wait_until(lambda: list((tmp_path / "jobs").iterdir()) == [])
        assert opened.get(reply.headers["location"]).status == 404


def test_a_keyed_file_gives_the_same_words_again(tmp_path: Path) -> None:
    write_new_key(tmp_path / "key")
    with running(make_settings(tmp_path, release=allowed(key_file=str(tmp_path / "key")))) as opened:
        made = [opened.send(record_id="id", wait=600).body for _ in range(2)]
        assert made[0] == made[1]
        assert len(read("rows.csv", made[0])) == 50


def checked(client: Client, name: str, content: bytes, **query: str) -> Any:
    return client.ask("POST", "/check?" + urlencode({"name": name, **query}), content, OCTETS)


PEOPLE = "patient;comment;e-mail\n" + "Jürgen Müller;he was very ill and went home;a@example.org\n" * 9


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_a_check_finds_the_encoding_the_mark_and_what_needs_a_role(
    client: Client, encoding: str, mark: str
) -> None:
    reply = checked(client, "people.csv", PEOPLE.replace(";", mark).encode(encoding))
    assert reply.status == 200, reply.body
    told = reply.json()
    assert (told["encoding"], told["delimiter"], told["records"], told["complete"]) == (
        encoding,
        mark,
        9,
        True,
    )
    assert [(one["name"], one["text"], one["why"] is None) for one in told["columns"]] == [
        ("patient", False, False),
        ("comment", True, False),
        ("e-mail", False, False),
    ]
    assert told["columns"][0]["values"] == ["Jürgen Müller"] * 9


@pytest.mark.parametrize(
    ("name", "content"),
    [("rows.jsonl", as_jsonl()), ("rows.parquet", as_parquet()), ("rows.csv.gz", gzip.compress(as_csv()))],
)
def test_every_format_is_checked(client: Client, name: str, content: bytes) -> None:
    told = checked(client, name, content).json()
    assert [one["name"] for one in told["columns"]] == ["id", "text", "note"]
    assert all(len(one["values"]) == 10 for one in told["columns"])


def test_a_check_says_which_other_sheets_there_are(client: Client) -> None:
    book, out = openpyxl.Workbook(), io.BytesIO()
    book.active.append(["text"])
    book.active.append(["my doctor said that I am ill"])
    book.create_sheet("staff").append(["Anna Smith"])
    book.save(out)
    assert checked(client, "book.xlsx", out.getvalue()).json()["sheets"] == ["staff"]


def test_a_check_leaves_nothing_and_is_refused_in_words(tmp_path: Path) -> None:
    with running(make_settings(tmp_path, limits=Limits(file_bytes=1_000))) as opened:
        for name, content, status in (
            ("a.csv", PEOPLE.encode(), 200),
            ("a.csv", b"x" * 2_000, 413),
            ("a.csv", b"a\n\x00\xff\xfe\x81", 422),
            ("a.xlsx", b"zorblattsecret", 422),
            ("a.json", b"[" * 900, 422),
            ("a.doc", b"", 422),
            ("../a.csv", b"", 422),
        ):
            reply = checked(opened, name, content)
            assert reply.status == status, (name, reply.body)
            assert "zorblatt" not in reply.body.decode()
            assert str(tmp_path) not in reply.body.decode()
        assert checked(opened, "a.csv", b"a,b\n", encoding="base64").status == 422
        assert checked(opened, "a.csv", b"a,b\n", column="a").status == 422, "it takes no roles"
        assert list((tmp_path / "jobs").iterdir()) == []


def test_what_a_check_finds_suspicious_is_not_released_without_a_role(client: Client) -> None:
    query: dict[str, Any] = {"name": "people.csv", "column": "comment", "delimiter": ";", "wait": 600}
    refused = client.upload(PEOPLE.encode(), **query)
    assert (refused.status, "patient" in refused.error, "e-mail" in refused.error) == (422, True, True)
    released = client.upload(PEOPLE.encode(), **query, drop="patient", keep="e-mail")
    assert (released.status, b"M\xc3\xbcller" in released.body) == (200, False)
