"""Nothing leaves beside the privatized texts that nobody named, by any entry of the product."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deniable
from deniable import Embedding, Receipt, Release
from deniable.errors import InvalidParameter, UndecidedColumns
from deniable.noise.key_file import write_new_key
from deniable.records import deciding, privatize_file
from deniable.records.deciding import look_at
from deniable.records.formats.layout import Roles, make_layout
from deniable.records.formats.opening import open_reader, open_source
from tests.service.running import Client, make_settings, running
from tests.support.commands import Command, invoke

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


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return what ``write`` wrote."""
    if path.suffix == ".parquet":
        found: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return found
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    sheet = path.suffix == ".xlsx"
    lines: Any = (
        openpyxl.load_workbook(path).active.values if sheet else csv.reader(path.read_text().splitlines())
    )
    header, *others = map(list, lines)
    return [dict(zip(header, other, strict=True)) for other in others]


def seen(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def roles(drop: list[str], keep: list[str]) -> str:
    """Return the options for these columns and for the text."""
    given = [*(f"--drop {name!r}" for name in drop), *(f"--keep {name!r}" for name in keep)]
    return " ".join(["-c note -e 6", *given])


def by_command(source: Path, drop: list[str], keep: list[str]) -> tuple[bool, bytes]:
    out = source.parent / "out"
    out.mkdir()
    done = invoke("privatize", source, roles(drop, keep), "-q -o", out / f"a{source.suffix}")
    if isinstance(done.exception, UndecidedColumns):
        assert done.exception.exit_code == 2
        assert not any(out.iterdir())
    return done.exit_code == 0, seen(out)


def by_function(source: Path, drop: list[str], keep: list[str]) -> tuple[bool, bytes]:
    out = source.parent / "out"
    out.mkdir()
    try:
        release_notes(source, out / f"a{source.suffix}", drop=drop, keep=keep)
    except UndecidedColumns:
        return False, seen(out)
    return True, seen(out)


def by_stream(source: Path, drop: list[str], keep: list[str]) -> tuple[bool, bytes]:
    command = Command(source.parent, dict(os.environ))
    stream = f"privatize --format {source.suffix.removeprefix('.')}"
    status, out, said = command.deniable(stream, roles(drop, keep), data=source.read_bytes())
    assert status in (0, 2), said
    return status == 0, out


def by_watch(source: Path, drop: list[str], keep: list[str]) -> tuple[bool, bytes]:
    inbox, out = source.parent / "in", source.parent / "out"
    inbox.mkdir()
    out.mkdir()
    source.rename(inbox / source.name)
    done = invoke("watch", inbox, "--out", out, "--once --settle 0", roles(drop, keep))
    return done.exit_code == 0, seen(out)


def release_notes(source: Path, target: Path, **settings: Any) -> Receipt:
    """Release the column ``note`` of a file, or what is said of others, with fresh noise or as it is said."""
    given: dict[str, Any] = {"release": Release(epsilon=6), "columns": ["note"], **settings}
    made = privatize_file(given.pop("release"), source, target, **given)
    assert made is not None
    return made


def undecided(source: Path, **settings: Any) -> dict[str, str]:
    """Return which columns of a file need a role, which is not released without one."""
    target = source.with_name(f"undecided{source.suffix}")
    with pytest.raises(UndecidedColumns) as raised:
        release_notes(source, target, **settings)
    assert not target.exists()
    return raised.value.columns


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
    assert undecided(source) == {"mail": "e-mail addresses"}
    release_notes(source, tmp_path / f"out.{kind}", keep=["mail"])


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "xlsx"])
def test_a_dropped_column_may_name_the_records(tmp_path: Path, kind: str) -> None:
    write_new_key(tmp_path / "key")
    source = write(tmp_path / f"in.{kind}", rows_with("case_id"))
    release, texts = Release(epsilon=6, key_file=tmp_path / "key"), []
    for role in ("drop", "keep"):
        target = tmp_path / f"{role}.{kind}"
        drop, keep = (["case_id"], []) if role == "drop" else ([], ["case_id"])
        made = release_notes(source, target, release=release, record_id="case_id", drop=drop, keep=keep)
        assert any("left out: the column case_id" in line for line in made.public) == (role == "drop")
        rows = rows_of(target)
        assert all(("case_id" in row, len(row)) == (role == "keep", 3 + (role == "keep")) for row in rows)
        texts.append([row["note"] for row in rows])
    assert texts[0] == texts[1]


def test_parts_of_objects_are_dropped_and_kept_by_their_paths(tmp_path: Path) -> None:
    visit = {"note": NOTES[0], "by": "Anna Kowalska", "day": "2026-01-02"}
    record = {"visits": [visit], "patient": {"name": "John Smith", "mail": "j@x.org"}}
    source = write(tmp_path / "in.jsonl", [record] * 3)
    columns = ["visits[].note"]
    assert undecided(source, columns=columns).keys() == {"visits[].by", "patient.name", "patient.mail"}
    roles = {"drop": ["visits[].by", "patient.name"], "keep": ["patient"]}
    release_notes(source, tmp_path / "out.jsonl", columns=columns, **roles)
    for made in rows_of(tmp_path / "out.jsonl"):
        assert made["patient"] == {"mail": "j@x.org"}
        assert made["visits"][0].keys() == {"note", "day"}
        assert made["visits"][0]["note"] != NOTES[0]


def test_a_key_that_stands_twice_hides_nothing_inside_an_object(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"note": "a word", "p": {"x": "j@x.org", "x": 1}}\n' * 3)
    assert undecided(source).keys() == {"p.x"}


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
    (name,) = late
    (why,) = undecided(source).values()
    assert why == (
        "no role"
        if "visits" in late or (kind == "jsonl" and "empty" not in late)
        else "empty in the first 10 records"
    )
    release_notes(source, tmp_path / f"out.{kind}", keep=[name])


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
    assert undecided(source) == {"contact": "no role"}


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
    assert undecided(source) == why
    release_notes(source, tmp_path / "out.xlsx", keep=list(why))


def test_what_pandas_notes_of_a_dropped_column_is_dropped_too(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"referred_by": ["Anna Kowalska"] * 2, "note": NOTES}).set_index("referred_by")
    frame.to_parquet(tmp_path / "in.parquet")
    release_notes(tmp_path / "in.parquet", tmp_path / "out.parquet", drop=["referred_by"])
    assert b"referred_by" not in (tmp_path / "out.parquet").read_bytes()


def schema_of(late: dict[str, Any]) -> pa.Schema:
    return pa.Table.from_pylist([{"note": "", **late}]).schema


def test_another_sheet_and_cells_without_a_name_are_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in [["note"], *[[note] for note in NOTES]]:
        book.active.append(row)
    book.create_sheet("People").append(["Anna Kowalska"])
    book.save(tmp_path / "a.xlsx")
    assert undecided(tmp_path / "a.xlsx").keys() == {"the sheet People"}
    release_notes(tmp_path / "a.xlsx", tmp_path / "out.xlsx", keep_sheets=["People"])
    del book["People"]
    book.active["C3"] = "Anna Kowalska"
    book.save(tmp_path / "b.xlsx")
    assert undecided(tmp_path / "b.xlsx").keys() == {"(cell 3)"}


@pytest.mark.parametrize(
    ("roles", "name"),
    [
        ({"drop": ["note"]}, "drop"),
        ({"keep": ["mail"], "drop": ["mail"]}, "keep"),
        ({"keep": ["mail", "starz"]}, "keep"),
        ({"keep": ["mail"], "drop": ["star"]}, "drop"),
        ({"keep": "mail"}, "keep"),
        ({"keep": ["mail"], "keep_sheets": ["Other"]}, "keep_sheets"),
    ],
)
def test_roles_that_do_not_fit_are_refused(tmp_path: Path, roles: dict[str, Any], name: str) -> None:
    for kind in ("csv", "jsonl"):
        source = write(tmp_path / f"in.{kind}", rows_with("mail"))
        with pytest.raises(InvalidParameter) as raised:
            release_notes(source, tmp_path / f"out.{kind}", **roles)
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
    assert undecided(source) == {
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
        release_notes(source, tmp_path / "out.csv")
    done = invoke("privatize", source, "-c note -e 6 -q -o", tmp_path / "b.csv")
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
    assert undecided(source, columns=["text"])


def test_empty_lines_are_not_held(tmp_path: Path) -> None:
    """A held line takes memory, however short it is."""
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "the fox"}\n' + "\n" * 200_000)
    layout = make_layout(source, roles=Roles(text=("text",)), sheet=None)
    with open_source(source) as opened:
        look = look_at(open_reader(opened, layout), Embedding.open(), most=10_000)
    assert look.rows is None
