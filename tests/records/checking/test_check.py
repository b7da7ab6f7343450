"""A look at a file before its release: kinds of columns, what would stay in the clear, what is unknown, and
the command for it."""

from __future__ import annotations

import datetime
import json
import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from deniable import Embedding
from deniable.cli.app import app
from deniable.errors import RecordError
from deniable.records.check import FileCheck, check_file
from deniable.records.formats.layout import make_layout
from deniable.records.languages import language_of, script_of, scripts_of
from tests.support.made_ods import ods_parts
from tests.support.made_xlsx import leaky_parts, zipped

NOTES = [
    "the doctor said that the train was late again and we waited",
    "she was not well but it is better now with the new pills",
    "they came from the hospital to the house in the evening",
]
STATES = ["old", "new"]
RUSSIAN = [
    "доктор сказал что поезд опять опоздал и мы долго ждали",
    "она была не очень здорова но теперь ей лучше",
]
GERMAN = "der Arzt hat gesagt dass die Bahn nicht kommt und sie mit dem Auto fahren"


def checked(path: Path, **reading: Any) -> FileCheck:
    return check_file(path, make_layout(path, **reading), Embedding.open())


def kinds(found: FileCheck) -> dict[str | None, str]:
    return {column.path: column.kind for column in found.columns}


def write_csv(path: Path, rows: int = 60) -> Path:
    lines = [
        f"{number},user{number % 7},u{number % 7}@example.org,{STATES[number % 2]},2026-01-{number % 28 + 1:02},{NOTES[number % 3]}"  # noqa: E501
        for number in range(1, rows + 1)
    ]
    path.write_text("\n".join(["id,patient,mail,state,day,note", *lines]) + "\n")
    return path


def test_columns_are_told_apart_and_people_are_looked_at_first(tmp_path: Path) -> None:
    found = checked(write_csv(tmp_path / "in.csv"))
    expected = {
        "id": "identifier",
        "patient": "person",
        "mail": "e-mail",
        "state": "category",
        "day": "date",
        "note": "free text",
    }
    assert kinds(found) == expected
    assert found.private == ["note"]
    assert found.dropped == ["patient", "mail"]
    assert found.public == ["id", "state", "day"]
    note = next(column for column in found.columns if column.path == "note")
    assert (note.language, note.script, note.longest, note.values) == ("English", "Latin", 13, 60)
    assert note.unknown < 0.05
    looks = [finding.says for finding in found.findings if finding.level == "look"]
    assert any("the column mail looks like e-mail addresses" in each for each in looks)
    assert any("the column patient looks like names or ids of people" in each for each in looks)
    assert any("occurs in 9 records" in finding.says for finding in found.findings)
    assert found.look_first


def test_the_suggested_command_runs_and_releases_what_was_said(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "in put.csv")
    found = checked(source)
    command = shlex.split(found.command)
    assert command[:3] == ["deniable", "privatize", str(source)]
    assert command[command.index("--never-release") + 1] == "names"
    command[command.index("--output") + 1] = str(tmp_path / "out.csv")
    done = CliRunner().invoke(app, [*command[1:], "--quiet"])
    assert done.exit_code == 0, done.output
    before, after = source.read_text().splitlines(), (tmp_path / "out.csv").read_text().splitlines()
    assert [line.split(",")[:1] + line.split(",")[3:5] for line in before] == [
        line.split(",")[:3] for line in after
    ]
    assert not any(f"user{number}" in line or "example.org" in line for line in after for number in range(7))
    assert [line.split(",")[5] for line in before] != [line.split(",")[3] for line in after]


def test_texts_that_the_embedding_does_not_know_are_looked_at_first(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("\n".join(RUSSIAN * 5))
    found = checked(tmp_path / "in.txt")
    assert found.columns[0].language == "Russian"
    assert "--never-release" not in found.command
    assert found.columns[0].unknown > 0.8
    assert "(most of them are Cyrillic, and its words are not)" in found.findings[0].says
    assert found.look_first


def test_nested_text_is_found_in_json_and_parquet(tmp_path: Path) -> None:
    rows = [
        {
            "id": i,
            "visit": {"note": NOTES[i % 3], "day": 1},
            "visits": [{"plan": NOTES[0]}],
            "tags": [NOTES[1]],
        }
        for i in range(30)
    ]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    for name in ("a.json", "a.jsonl", "a.parquet"):
        found = checked(tmp_path / name)
        assert found.private == ["visit.note", "visits[].plan", "tags[]"]
        assert "--column 'visits[].plan'" in found.command
        assert any(
            "3 of the free texts are inside objects or lists" in finding.says for finding in found.findings
        )


def test_spreadsheets_and_their_other_sheets_are_looked_into(tmp_path: Path) -> None:
    (tmp_path / "a.xlsx").write_bytes(zipped(leaky_parts("secret")))
    found = checked(tmp_path / "a.xlsx")
    assert "the sheet Other" in found.public
    assert any("the sheet Other stops a release" in finding.says for finding in found.findings)
    rows: list[tuple[str | int | None, ...]] = [("id", "note"), *[(i, NOTES[i % 3]) for i in range(9)]]
    (tmp_path / "a.ods").write_bytes(zipped(ods_parts(rows)))
    assert kinds(checked(tmp_path / "a.ods")) == {"id": "identifier", "note": "free text"}


@pytest.mark.parametrize(("mark", "option"), [(";", "';'"), ("\t", "tab"), ("|", "'|'")])
def test_another_delimiter_is_told_and_no_command_is_made_of_wrong_columns(
    tmp_path: Path, mark: str, option: str
) -> None:
    source = tmp_path / "in.csv"
    source.write_text(
        mark.join(("id", "note", "stars"))
        + "\n"
        + "".join(f"{i}{mark}{NOTES[0]}, so{mark}4,5\n" for i in range(9))
    )
    found = checked(source)
    assert [finding.says for finding in found.findings] == [
        f"the first row looks as if the delimiter were another one: check again with --delimiter {option}"
    ]
    assert found.look_first
    assert found.command == ""
    layout = make_layout(source, delimiter=mark)
    assert "--column note" in check_file(source, layout, Embedding.open()).command


def test_rows_above_the_header_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "# exported by a program\nid,note\n" + "".join(f"{i},{NOTES[0]}\n" for i in range(9))
    )
    found = checked(tmp_path / "a.csv")
    assert "rows have up to 1 more cells than the first row: a release stops there" in found.findings[0].says
    assert (found.look_first, found.command) == (True, "")
    rows: list[tuple[str | int | None, ...]] = [
        ("Report",),
        ("id", "note"),
        *[(i, NOTES[i % 3]) for i in range(9)],
    ]
    (tmp_path / "a.ods").write_bytes(zipped(ods_parts(rows)))
    found = checked(tmp_path / "a.ods")
    assert any(
        "(cell 2) has no name in the header, which stops a release" in finding.says
        for finding in found.findings
    )
    assert any("look like free text have no name" in finding.says for finding in found.findings)
    assert found.look_first
    assert "(cell 2)" not in found.command
    assert "(cell 2)" in found.public


def test_formulas_are_not_called_empty(tmp_path: Path) -> None:
    sheet = openpyxl.Workbook()
    for row in [("id", "note", "double"), *[(i, NOTES[i % 3], f"=A{i + 1}*2") for i in range(1, 9)]]:
        sheet.active.append(row)
    sheet.save(tmp_path / "a.xlsx")
    found = checked(tmp_path / "a.xlsx")
    assert kinds(found) == {"id": "identifier", "note": "free text", "double": "formula"}
    assert "double" in found.public


def test_numbers_that_a_workbook_shows_as_dates_are_called_dates(tmp_path: Path) -> None:
    formats = {
        "born": ("mm-dd-yy", "birth date"),
        "seen": ('[$-407]d. mmmm" um "hh:mm', "date"),
        "stayed": ('0.0" days"', "number"),
        "price": ("[Red]#,##0.00_d\\y", "number"),
        "at": ("hh:mm:ss", "date"),
        "plain": ("General", "number"),
    }
    sheet = openpyxl.Workbook()
    sheet.active.append([*formats, "far", "note"])
    for i in range(9):
        sheet.active.append([45_000.25 + i * i] * len(formats) + [1e12 + i, NOTES[i % 3]])
        for cell, (shown, _) in zip(sheet.active[i + 2], [*formats.values(), ("yyyy", "")], strict=False):
            cell.number_format = shown
    sheet.save(tmp_path / "a.xlsx")
    assert kinds(checked(tmp_path / "a.xlsx")) == {name: kind for name, (_, kind) in formats.items()} | {
        "far": "number",
        "note": "free text",
    }
    sheet.active.delete_rows(2, 20)
    for i in range(9):
        sheet.active.append([datetime.date(2026, 1, 1 + i)])
    sheet.save(tmp_path / "b.xlsx")
    assert kinds(checked(tmp_path / "b.xlsx"))["born"] == "birth date"


def test_the_languages_of_a_column_are_told_if_it_has_several(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("\n".join([*NOTES * 6, *[GERMAN] * 9]), encoding="utf-8")
    (column,) = checked(tmp_path / "in.txt").columns
    assert (column.language, list(column.other_languages)) == ("English", ["German"])
    (tmp_path / "in.txt").write_text("\n".join([*NOTES * 20, GERMAN, GERMAN]), encoding="utf-8")
    assert checked(tmp_path / "in.txt").columns[0].other_languages == {}


def test_a_few_texts_in_other_languages_are_looked_at_first(tmp_path: Path) -> None:
    spanish = "la doctora dice que el tren no llega por la noche y que los pacientes se quedan en la casa"
    (tmp_path / "in.txt").write_text(
        "\n".join([*NOTES * 29, *[GERMAN] * 6, *[spanish] * 6]), encoding="utf-8"
    )
    found = checked(tmp_path / "in.txt")
    assert found.columns[0].other_languages.keys() == {"German", "Spanish"}
    assert any(
        finding.level == "look" and "German" in finding.says and "Spanish" in finding.says
        for finding in found.findings
    )
    said = " ".join(run(str(tmp_path / "in.txt"), "--quiet").output.split())
    assert "English, German, Spanish" in said.replace("English, German Spanish", "English, German, Spanish")


def test_paths_that_begin_alike_are_shown_whole(tmp_path: Path) -> None:
    rows = [
        {"visits": [{"date": "2026-01-02", "note": NOTES[i % 3]}], "identifier_of_record": i}
        for i in range(20)
    ]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shown = run(str(tmp_path / "in.jsonl"), "--quiet").output.splitlines()
    first = [line.split()[0] for line in shown if line.startswith("visits")]
    assert first[:2] == ["visits[].date", "visits[].note"]


def test_a_folder_is_looked_at_as_texts(tmp_path: Path) -> None:
    folder = tmp_path / "letters"
    folder.mkdir()
    (folder / "a.txt").write_text("\n".join(NOTES))
    found = checked(folder, format="folder")
    assert found.records == 1
    assert "--format" not in found.command  # the command line says with which options the file was read
    assert found.columns[0].words > 20


def test_only_the_first_records_are_read_when_there_are_many(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "in.csv", rows=50)
    layout = make_layout(source)
    found = check_file(source, layout, Embedding.open(), most=10)
    assert (found.records, found.complete) == (10, False)


@pytest.mark.parametrize(("content", "line"), [('{"a": 1}\n"qzx"\n', 2), ('{"note": NaN}\n', 1)])
def test_a_file_that_cannot_be_read_says_so(tmp_path: Path, content: str, line: int) -> None:
    (tmp_path / "in.jsonl").write_text(content)
    with pytest.raises(RecordError) as error:
        checked(tmp_path / "in.jsonl")
    assert error.value.line == line


@pytest.mark.parametrize(
    ("text", "language", "script"),
    [
        (" ".join(NOTES), "English", "Latin"),
        (" ".join(RUSSIAN * 3), "Russian", "Cyrillic"),
        (f"{GERMAN} und das ist auch für uns nicht gut", "German", "Latin"),
        (
            "le médecin a dit que le train est en retard et nous avons attendu dans la salle pour les autres "
            "avec des amis",
            "French",
            "Latin",
        ),
        ("昨日は病院に行きました", "Japanese", "Hiragana"),
        ("今天我去了医院", "Chinese", "Han"),
        ("αλεπού", "Greek", "Greek"),
        ("xyzzy plugh", None, "Latin"),
        ("12-34", None, None),
        ("", None, None),
    ],
)
def test_languages_are_guessed(text: str, language: str | None, script: str | None) -> None:
    words = text.split()
    assert language_of(Counter(words), scripts_of(words)) == language
    assert script_of("".join(words)) == script


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["check", *arguments])


def test_an_alphabet_is_not_called_a_language(tmp_path: Path) -> None:
    file = tmp_path / "in.txt"
    file.write_text("qwx zvrt plomk trewq nbvcx yuiop lkjhg\n" * 20)
    (column,) = checked(file).columns
    assert (column.language, column.script) == (None, "Latin")
    # A narrow terminal breaks the cell between its words.
    assert {"Latin", "script"} <= set(run(str(file), "--quiet").output.split())
    file.write_text("the cat was in the house and it was not there for us\n" * 20)
    assert "script" not in run(str(file), "--quiet").output


def test_the_command_shows_one_screen_and_ends_with_3_when_something_is_to_be_looked_at(
    tmp_path: Path,
) -> None:
    done = run(str(write_csv(tmp_path / "in.csv")), "--quiet")
    assert done.exit_code == 3
    assert "keep it to yourself" in " ".join(done.output.split())
    assert len(done.output.splitlines()) < 50
    assert "--column note" in done.output
    assert "doctor" not in done.output


def test_the_command_gives_json_and_ends_with_0_when_nothing_stands_out(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id;note\n" + "".join(f"{i};{NOTES[i % 3]}\n" for i in range(20)))
    done = run(str(tmp_path / "in.csv"), "--json", "--delimiter", ";")
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert found["look_first"] is False
    assert "--delimiter ';'" in found["command"]
    assert [column["kind"] for column in found["columns"]] == ["identifier", "free text"]


def test_what_cannot_be_read_ends_with_1_or_2(tmp_path: Path) -> None:
    from subprocess import run as run_command
    from sys import executable

    (tmp_path / "in.jsonl").write_text("qzx\n")
    for name, code, said in (
        ("in.jsonl", 1, "not a JSON object"),
        ("none.csv", 1, "No such file"),
        ("a.docx", 2, "are not read"),
    ):
        done = run_command(
            [executable, "-m", "deniable", "check", name],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
        assert "qzx" not in done.stderr


def test_a_column_without_a_name_is_not_taken_for_the_whole_text(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(",note\n" + "".join(f"anna{i} smith,{NOTES[i % 3]}\n" for i in range(9)))
    (tmp_path / "in.jsonl").write_text(
        "".join(json.dumps({"": f"anna{i} smith", "note": NOTES[i % 3]}) + "\n" for i in range(9))
    )
    for name in ("in.csv", "in.jsonl"):
        found = checked(tmp_path / name)
        assert (found.private, found.dropped, found.public) == (["note"], [], [""])
        assert any(
            finding.level == "look" and "the column without a name" in finding.says
            for finding in found.findings
        )
        shown = " ".join(run(str(tmp_path / name), "--quiet").output.split())
        assert "Released unchanged: (no name) Words replaced in: note" in shown


@pytest.mark.parametrize("name", ["in.csv", "in.jsonl"])
def test_free_text_without_a_name_is_named_in_the_command(tmp_path: Path, name: str) -> None:
    lines = [",id", *(f"{NOTES[i % 3]},{i}" for i in range(9))]
    objects = [json.dumps({"": NOTES[i % 3], "id": i}) for i in range(9)]
    (tmp_path / name).write_text("\n".join(lines if name == "in.csv" else objects) + "\n")
    found = checked(tmp_path / name)
    assert found.private == [""]
    command = shlex.split(found.command)
    assert command[command.index("--column") + 1] == ""
    command[command.index("--output") + 1] = str(tmp_path / f"out.{name}")
    done = CliRunner().invoke(app, [*command[1:], "--quiet"])
    assert done.exit_code == 0, done.output
    assert NOTES[0] not in (tmp_path / f"out.{name}").read_text()


FAR = {
    "date": pa.array([10**7] * 3, pa.int32()).cast(pa.date32()),
    "duration": pa.array([2**62] * 3, pa.duration("s")),
    "timestamp": pa.array([2**61] * 3, pa.timestamp("us")),
    "zone": pa.array([0] * 3, pa.timestamp("us", tz="Nowhere/Xx")),
    "struct": pa.StructArray.from_arrays(
        [pa.array(NOTES), pa.array([10**7] * 3, pa.int32()).cast(pa.date32())], names=["text", "far"]
    ),
    "list": pa.ListArray.from_arrays([0, 1, 2, 3], pa.array([10**7] * 3, pa.int32()).cast(pa.date32())),
}


@pytest.mark.parametrize("kind", list(FAR))
def test_dates_that_no_calendar_has_stop_neither_the_look_nor_the_release(tmp_path: Path, kind: str) -> None:
    pq.write_table(pa.table({"note": NOTES, "far": FAR[kind]}), tmp_path / "in.parquet")
    found = checked(tmp_path / "in.parquet")
    told = (
        {"far.text": "free text", "far.far": "other"}
        if kind == "struct"
        else {"far[]" if kind == "list" else "far": "other"}
    )
    assert kinds(found) == {"note": "free text", **told}
    assert found.look_first
    arguments = ["privatize", str(tmp_path / "in.parquet"), "-c", "note", "--keep", "far"]
    done = CliRunner().invoke(app, [*arguments, "-e", "6", "-q", "-o", str(tmp_path / "out.parquet")])
    assert done.exit_code == 0, done.output
    assert pq.read_table(tmp_path / "out.parquet")["far"].equals(
        pq.read_table(tmp_path / "in.parquet")["far"]
    )


def test_what_is_not_looked_into_is_said_to_be_released_as_it_is(tmp_path: Path) -> None:
    columns = {
        "note": NOTES,
        "photo": [b"a"] * 3,
        "at": [datetime.time(1, 2)] * 3,
        "took": [datetime.timedelta(1)] * 3,
    }
    pairs = pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int64()))
    table = pa.table({**columns, "pairs": pairs}).replace_schema_metadata({"comment": "by anna"})
    pq.write_table(table, tmp_path / "in.parquet")
    found = checked(tmp_path / "in.parquet")
    assert found.public == ["photo", "at", "took", "pairs[]", "the file's own metadata"]
    assert {kind for name, kind in kinds(found).items() if name != "note"} == {"other"}
    looks = " ".join(finding.says for finding in found.findings if finding.level == "look")
    assert all(f"the column {name} holds something" in looks for name in ("photo", "at", "took", "pairs[]"))
    assert "the file's own metadata would be released unchanged" in looks


def test_what_is_deep_or_after_the_thousandth_column_is_said_too(tmp_path: Path) -> None:
    deep: Any = "anna smith"
    for _ in range(25):
        deep = {"a": deep}
    (tmp_path / "deep.jsonl").write_text(
        "".join(json.dumps({"note": note, "deep": deep}) + "\n" for note in NOTES)
    )
    found = checked(tmp_path / "deep.jsonl")
    assert found.look_first
    assert [column.kind for column in found.columns] == ["free text", "other"]
    many = {"note": NOTES[0], **{f"k{i}": 1 for i in range(1_200)}}
    (tmp_path / "many.jsonl").write_text(json.dumps(many) + "\n")
    found = checked(tmp_path / "many.jsonl")
    assert found.public[-1] == "every column after the first 1,000"
    assert found.look_first


def test_identifiers_are_looked_at_unless_they_count_the_records(tmp_path: Path) -> None:
    for ids, look in (
        ([*range(1, 10)], False),
        ([*range(7, 16)], True),
        ([4711, 815, 99, 3, 5, 8, 6, 20, 1], True),
        ([1, 2, 3, 5, 6, 7, 8, 9, 10], True),
    ):
        (tmp_path / "in.csv").write_text(
            "ssn,note\n" + "".join(f"{each},{NOTES[i % 3]}\n" for i, each in enumerate(ids))
        )
        found = checked(tmp_path / "in.csv")
        assert (kinds(found)["ssn"], found.look_first) == ("identifier", look)


def test_lone_surrogates_and_names_like_options_end_in_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-x.jsonl").write_text("".join(f'{{"k": "{note}"}}\n' for note in NOTES))
    for options in ([], ["--json"]):
        done = run("--quiet", *options, "--", "-x.jsonl")
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert shlex.split(checked(Path("-x.jsonl")).command)[2] == "./-x.jsonl"
    for line in ('{"\\ud800k": "fox"}', '{"k": "fox \\udfff"}'):
        Path("y.jsonl").write_text(f"{line}\n")
        with pytest.raises(RecordError):
            checked(Path("y.jsonl"))
