"""Nothing leaves beside the privatized texts that nobody named, by any entry of the product."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import deniable
from deniable import Embedding, Release
from deniable.cli.app import app
from deniable.errors import InvalidParameter, UndecidedColumns
from deniable.noise.key_file import write_new_key
from deniable.records import deciding, privatize_file
from deniable.records.deciding import look_at
from deniable.records.formats.layout import Roles, make_layout
from deniable.records.formats.opening import open_reader, open_source
from tests.service.running import Client, make_settings, running

NOTES = [
    "the doctor said that the train was late again and we waited",
    "she was not well but it is better now with the new pills",
]
SUSPICIOUS: dict[str, Callable[[int], Any]] = {
    "patient_name": lambda i: ["Anna Kowalska", "John Smith", "Maria Garcia"][i % 3],
    "mail": lambda i: f"u{i}@example.org",
    "telephone": lambda i: f"+49 30 12345{i:02}",
    "record": lambda i: f"qx{i * 7919 % 1000:04}z",
    "case_id": lambda i: 1000 + i * 7919 % 1000,
    "patient": lambda i: 1 + i % 3,
    "remarks": lambda i: NOTES[i % 2],
    "date of birth": lambda i: f"19{60 + i}-02-03",
}
"""A column of each refused kind."""

Releaser = Callable[[Path, list[str], list[str]], tuple[bool, bytes]]
"""Releases a file, given what to drop and to keep beside the column ``note``; says whether it did, and all
that came out."""


def rows_with(name: str) -> list[dict[str, Any]]:
    return [{"nr": i + 1, name: SUSPICIOUS[name](i), "note": NOTES[i % 2], "stars": i % 5} for i in range(12)]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".csv":
        cells = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
        path.write_text("".join(",".join(line) + "\n" for line in cells))
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for line in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.active.append(line)
        book.save(path)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def seen(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def listed(drop: list[str], keep: list[str]) -> list[str]:
    return [
        part
        for option, names in (("--drop", drop), ("--keep", keep))
        for name in names
        for part in (option, name)
    ]


def by_command(source: Path, drop: list[str], keep: list[str]) -> tuple[bool, bytes]:
    out = source.parent / "out"
    out.mkdir()
    arguments = [
        "privatize",
        str(source),
        "-c",
        "note",
        "-e",
        "6",
        "-q",
        "-o",
        str(out / f"a{source.suffix}"),
    ]
    done = CliRunner().invoke(app, [*arguments, *listed(drop, keep)])
    if isinstance(done.exception, UndecidedColumns):
        assert done.exception.exit_code == 2
        assert not any(out.iterdir())
    return done.exit_code == 0, seen(out)


def by_function(source: Path, drop: list[str], keep: list[str]) -> tuple[bool, bytes]:
    out = source.parent / "out"
    out.mkdir()
    try:
        privatize_file(
            Release(epsilon=6), source, out / f"a{source.suffix}", columns=["note"], drop=drop, keep=keep
        )
    except UndecidedColumns:
        return False, seen(out)
    return True, seen(out)


def by_stream(source: Path, drop: list[str], keep: list[str]) -> tuple[bool, bytes]:
    kind = source.suffix.removeprefix(".")
    command = [
        sys.executable,
        "-m",
        "deniable",
        "privatize",
        "-c",
        "note",
        "-e",
        "6",
        "--format",
        kind,
        *listed(drop, keep),
    ]
    with source.open("rb") as opened:
        done = subprocess.run([*command], stdin=opened, capture_output=True, check=False)
    assert done.returncode in (0, 2), done.stderr
    return done.returncode == 0, done.stdout


def by_watch(source: Path, drop: list[str], keep: list[str]) -> tuple[bool, bytes]:
    inbox, out = source.parent / "in", source.parent / "out"
    inbox.mkdir()
    out.mkdir()
    source.rename(inbox / source.name)
    arguments = [
        "watch",
        str(inbox),
        "--out",
        str(out),
        "--once",
        "--settle",
        "0",
        "-c",
        "note",
        "-e",
        "6",
        *listed(drop, keep),
    ]
    done = CliRunner().invoke(app, arguments)
    return done.exit_code == 0, seen(out)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with running(make_settings(tmp_path_factory.mktemp("service"))) as opened:
        yield opened


@pytest.fixture(params=["command", "function", "stream", "watch", "service"])
def release(request: pytest.FixtureRequest) -> Releaser:
    if request.param != "service":
        found: Releaser = globals()[f"by_{request.param}"]
        return found
    client: Client = request.getfixturevalue("client")

    def by_service(source: Path, drop: list[str], keep: list[str]) -> tuple[bool, bytes]:
        reply = client.upload(
            source.read_bytes(), name=source.name, column="note", drop=drop, keep=keep, wait=600
        )
        return reply.status == 200, reply.body if reply.status == 200 else b""

    return by_service


@pytest.mark.parametrize("name", SUSPICIOUS)
def test_what_looks_like_people_or_texts_leaves_only_by_name(
    release: Releaser, tmp_path: Path, name: str
) -> None:
    rows, values = rows_with(name), [str(SUSPICIOUS[name](i)).encode() for i in range(12)]
    for number, (drop, keep, leaves) in enumerate((([], [], None), ([name], [], False), ([], [name], True))):
        folder = tmp_path / str(number)
        folder.mkdir()
        others = ["nr", "stars"] if leaves is not None else []
        done, out = release(write(folder / "in.csv", rows), drop, [*keep, *others])
        assert done == (leaves is not None)
        if name in ("case_id", "patient"):  # numbers may be anywhere
            assert (b",%s," % name.encode() in out) == (leaves is True)
        else:
            assert any(value in out for value in values) == (leaves is True)


@pytest.mark.parametrize("name", SUSPICIOUS)
def test_a_decision_is_not_made_over_columns_that_nobody_named(tmp_path: Path, name: str) -> None:
    """Nothing is drawn or written by ``deniable release``, not even its page."""
    source = write(tmp_path / "in.csv", rows_with(name))
    with pytest.raises(InvalidParameter, match=name):
        deniable.release_file(source, tmp_path / "out", text=["note"], risk="low", accept_changes=True)
    assert [path.name for path in tmp_path.iterdir()] == ["in.csv"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "xlsx"])
def test_every_format_refuses_what_is_not_named(tmp_path: Path, kind: str) -> None:
    source = write(tmp_path / f"in.{kind}", rows_with("mail"))
    with pytest.raises(UndecidedColumns) as raised:
        privatize_file(Release(epsilon=6), source, tmp_path / f"out.{kind}", columns=["note"])
    assert raised.value.columns == {"mail": "e-mail addresses"}
    assert [path.name for path in tmp_path.iterdir()] == [source.name]
    privatize_file(Release(epsilon=6), source, tmp_path / f"out.{kind}", columns=["note"], keep=["mail"])


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "xlsx"])
def test_a_dropped_column_may_name_the_records(tmp_path: Path, kind: str) -> None:
    write_new_key(tmp_path / "key")
    source = write(tmp_path / f"in.{kind}", rows_with("case_id"))
    release, texts = Release(epsilon=6, key_file=tmp_path / "key"), []
    for role in ("drop", "keep"):
        target = tmp_path / f"{role}.{kind}"
        drop, keep = (["case_id"], []) if role == "drop" else ([], ["case_id"])
        made = privatize_file(
            release, source, target, columns=["note"], record_id="case_id", drop=drop, keep=keep
        )
        assert made is not None
        assert any("left out: the column case_id" in line for line in made.public) == (role == "drop")
        if kind == "parquet":
            table = pq.read_table(target)
            assert ("case_id" in table.schema.names) == (role == "keep")
            texts.append(table.column("note").to_pylist())
        elif kind == "xlsx":
            first, *rows_of_sheet = openpyxl.load_workbook(target).active.iter_rows(values_only=True)
            assert ("case_id" in first) == (role == "keep")
            assert len(first) == (3 if role == "drop" else 4)
            texts.append([row[first.index("note")] for row in rows_of_sheet])
        elif kind == "jsonl":
            rows = [json.loads(line) for line in target.read_text().splitlines()]
            assert all(("case_id" in row) == (role == "keep") for row in rows)
            texts.append([row["note"] for row in rows])
        else:
            header, *lines = (line.split(",") for line in target.read_text().splitlines())
            assert ("case_id" in header) == (role == "keep")
            texts.append([line[header.index("note")] for line in lines])
    assert texts[0] == texts[1]


def test_parts_of_objects_are_dropped_and_kept_by_their_paths(tmp_path: Path) -> None:
    visit = {"note": NOTES[0], "by": "Anna Kowalska", "day": "2026-01-02"}
    record = {"visits": [visit], "patient": {"name": "John Smith", "mail": "j@x.org"}}
    source = write(tmp_path / "in.jsonl", [record] * 3)
    with pytest.raises(UndecidedColumns) as raised:
        privatize_file(Release(epsilon=6), source, tmp_path / "out.jsonl", columns=["visits[].note"])
    assert raised.value.columns.keys() == {"visits[].by", "patient.name", "patient.mail"}
    privatize_file(
        Release(epsilon=6),
        source,
        tmp_path / "out.jsonl",
        columns=["visits[].note"],
        drop=["visits[].by", "patient.name"],
        keep=["patient"],
    )
    for line in (tmp_path / "out.jsonl").read_text().splitlines():
        made = json.loads(line)
        assert made["patient"] == {"mail": "j@x.org"}
        assert made["visits"][0].keys() == {"note", "day"}
        assert made["visits"][0]["note"] != NOTES[0]


def test_a_key_that_stands_twice_hides_nothing_inside_an_object(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"note": "a word", "p": {"x": "j@x.org", "x": 1}}\n' * 3)
    with pytest.raises(UndecidedColumns) as raised:
        privatize_file(Release(epsilon=6), source, tmp_path / "out.jsonl", columns=["note"])
    assert raised.value.columns.keys() == {"p.x"}


@pytest.mark.parametrize(
    "late",
    [
        {"contact": "j@x.org"},
        {"visit": {"by": "j@x.org"}},
        {"empty": "j@x.org"},
        {"visits": [{"by": "j@x.org"}]},
    ],
    ids=["key", "part", "filled", "element"],
)
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_what_the_first_records_do_not_hold_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: dict[str, Any], kind: str
) -> None:
    monkeypatch.setattr(deciding, "JUDGED", 10)
    first: dict[str, Any] = {
        "note": NOTES[0],
        **({"empty": None} if "empty" in late else {"visits": []} if "visits" in late else {}),
    }
    source = write(tmp_path / f"in.{kind}", [first] * 15 + [{"note": NOTES[1], **late}])
    if kind == "parquet":
        pq.write_table(
            pa.Table.from_pylist([*[first] * 15, {"note": NOTES[1], **late}], schema=schema_of(late)), source
        )
    with pytest.raises(UndecidedColumns) as raised:
        privatize_file(Release(epsilon=6), source, tmp_path / f"out.{kind}", columns=["note"])
    assert not (tmp_path / f"out.{kind}").exists()
    (name,) = late
    (why,) = raised.value.columns.values()
    assert why == (
        "no role"
        if "visits" in late or (kind == "jsonl" and "empty" not in late)
        else "empty in the first 10 records"
    )
    privatize_file(
        Release(epsilon=6), source, tmp_path / f"out.{kind}", columns=["note"], keep=[name], force=True
    )


@pytest.mark.parametrize("release", ["stream", "watch"], indirect=True)
def test_what_is_not_judged_needs_a_role_whatever_it_looks_like(release: Releaser, tmp_path: Path) -> None:
    for number, keep in enumerate((["nr", "mail"], ["nr", "mail", "stars"])):
        folder = tmp_path / str(number)
        folder.mkdir()
        done, out = release(write(folder / "in.csv", rows_with("mail")), [], keep)
        assert done == ("stars" in keep)
        assert (b"stars" in out) == done


def test_a_sheet_that_fills_a_column_late_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciding, "JUDGED", 10)
    rows = [{"note": NOTES[i % 2], "contact": "j@x.org" if i == 15 else None} for i in range(16)]
    source = write(tmp_path / "in.xlsx", rows)
    with pytest.raises(UndecidedColumns) as raised:
        privatize_file(Release(epsilon=6), source, tmp_path / "out.xlsx", columns=["note"])
    assert raised.value.columns == {"contact": "no role"}
    assert not (tmp_path / "out.xlsx").exists()


@pytest.mark.parametrize(
    ("hide", "why"),
    [("column", {"stars": "hidden"}), ("row", {"nr": "has hidden rows", "stars": "has hidden rows"})],
)
def test_what_is_hidden_in_a_sheet_leaves_only_by_name(
    tmp_path: Path, hide: str, why: dict[str, str]
) -> None:
    source = write(
        tmp_path / "in.xlsx", [{"nr": i + 1, "stars": i % 5, "note": NOTES[i % 2]} for i in range(12)]
    )
    book = openpyxl.load_workbook(source)
    place = book.active.column_dimensions["B"] if hide == "column" else book.active.row_dimensions[3]
    place.hidden = True
    book.save(source)
    with pytest.raises(UndecidedColumns) as raised:
        privatize_file(Release(epsilon=6), source, tmp_path / "out.xlsx", columns=["note"])
    assert raised.value.columns == why
    assert not (tmp_path / "out.xlsx").exists()
    privatize_file(Release(epsilon=6), source, tmp_path / "out.xlsx", columns=["note"], keep=list(why))


def test_what_pandas_notes_of_a_dropped_column_is_dropped_too(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pandas.DataFrame({"referred_by": ["Anna Kowalska"] * 2, "note": NOTES}).set_index(
        "referred_by"
    ).to_parquet(tmp_path / "in.parquet")
    privatize_file(
        Release(epsilon=6),
        tmp_path / "in.parquet",
        tmp_path / "out.parquet",
        columns=["note"],
        drop=["referred_by"],
    )
    assert b"referred_by" not in (tmp_path / "out.parquet").read_bytes()


def schema_of(late: dict[str, Any]) -> pa.Schema:
    return pa.Table.from_pylist([{"note": "", **late}]).schema


def test_another_sheet_and_cells_without_a_name_are_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [["note"], *[[note] for note in NOTES]]:
        book.active.append(row)
    book.create_sheet("People").append(["Anna Kowalska"])
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(UndecidedColumns) as raised:
        privatize_file(Release(epsilon=6), tmp_path / "a.xlsx", tmp_path / "out.xlsx", columns=["note"])
    assert raised.value.columns.keys() == {"the sheet People"}
    privatize_file(
        Release(epsilon=6),
        tmp_path / "a.xlsx",
        tmp_path / "out.xlsx",
        columns=["note"],
        keep_sheets=["People"],
    )
    del book["People"]
    book.active["C3"] = "Anna Kowalska"
    book.save(tmp_path / "b.xlsx")
    with pytest.raises(UndecidedColumns) as raised:
        privatize_file(Release(epsilon=6), tmp_path / "b.xlsx", tmp_path / "outb.xlsx", columns=["note"])
    assert raised.value.columns.keys() == {"(cell 3)"}


@pytest.mark.parametrize(
    ("roles", "name"),
    [
        ({"columns": ["note"], "drop": ["note"]}, "drop"),
        ({"columns": ["note"], "keep": ["mail"], "drop": ["mail"]}, "keep"),
        ({"columns": ["note"], "keep": ["mail", "starz"]}, "keep"),
        ({"columns": ["note"], "keep": ["mail"], "drop": ["star"]}, "drop"),
        ({"columns": ["note"], "keep": "mail"}, "keep"),
        ({"columns": ["note"], "keep": ["mail"], "keep_sheets": ["Other"]}, "keep_sheets"),
    ],
)
def test_roles_that_do_not_fit_are_refused(tmp_path: Path, roles: dict[str, Any], name: str) -> None:
    for kind in ("csv", "jsonl"):
        source = write(tmp_path / f"in.{kind}", rows_with("mail"))
        with pytest.raises(InvalidParameter) as raised:
            privatize_file(Release(epsilon=6), source, tmp_path / f"out.{kind}", **roles)
        assert raised.value.name == name


def test_what_is_private_in_few_records_or_written_in_digits_is_refused(tmp_path: Path) -> None:
    rows = [
        {
            "note": NOTES[0],
            "remarks": f"patient {i} told me of the quarrel" if i % 8 == 0 else "none",
            "score": f"{i} times nobody came to help" if i % 8 == 1 else i % 5,
            "contact": f"p{i}@x.org" if i % 8 == 2 else "none",
            "mobile": 4_915_000_000 + i * i,
            "address": f"10.0.{i}.{i % 7}",
            "lastName": "Xqzv",
            "Nachname": "Xqzv",
            "statement": "I agree with this statement" if i % 8 == 3 else "no answer",
            "visits": i % 9,
        }
        for i in range(80)
    ]
    source = write(tmp_path / "in.jsonl", rows)
    with pytest.raises(UndecidedColumns) as raised:
        privatize_file(Release(epsilon=6), source, tmp_path / "out.jsonl", columns=["note"])
    assert raised.value.columns == {
        "remarks": "free text",
        "score": "free text",
        "contact": "e-mail addresses",
        "mobile": "phone numbers",
        "address": "identifiers",
        "lastName": "names or ids of people",
        "Nachname": "names or ids of people",
    }


def test_short_texts_pass_with_a_warning(tmp_path: Path) -> None:
    rows = [{"note": NOTES[i % 2], "town": f"old {['north', 'south', 'west'][i % 3]} {i}"} for i in range(9)]
    source = write(tmp_path / "in.csv", rows)
    with pytest.warns(UserWarning, match=r"town \(short texts\)"):
        privatize_file(Release(epsilon=6), source, tmp_path / "out.csv", columns=["note"])
    done = CliRunner().invoke(
        app, ["privatize", str(source), "-c", "note", "-e", "6", "-q", "-o", str(tmp_path / "b.csv")]
    )
    assert "town (short texts)" in done.stderr


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_columns_behind_those_that_are_looked_into_are_refused(
    tmp_path: Path, ending: str, nested: bool
) -> None:
    many = {f"k{i}": 1 for i in range(1_000)} | {"patient_name": "Anna Kowalska"}
    record = json.dumps({"text": "the fox"} | ({"x": many} if nested else many))
    source = tmp_path / f"in.{ending}"
    source.write_text(f"[{record}]" if ending == "json" else f"{record}\n")
    with pytest.raises(UndecidedColumns):
        privatize_file(Release(epsilon=6).make(), source, tmp_path / f"out.{ending}", columns=["text"])
    assert not (tmp_path / f"out.{ending}").exists()


def test_empty_lines_are_not_held(tmp_path: Path) -> None:
    """A held line takes memory, however short it is."""
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "the fox"}\n' + "\n" * 200_000)
    layout = make_layout(
        source,
        roles=Roles(text=("text",)),
        sheet=None,
    )
    with open_source(source) as opened:
        look = look_at(open_reader(opened, layout), Embedding.open(), most=10_000)
    assert look.rows is None
