"""From a private file to a decision: what is written, what is not, and that what leaves is a release."""

from __future__ import annotations

import csv
import json
import re
import stat
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from typer.testing import CliRunner

from deniable import InvalidParameter, RecordError
from deniable.cli.app import app
from deniable.decision import release_file
from deniable.errors import UndecidedColumns

TEXTS = (
    "the nurse was kind and explained the {} to me",
    "i waited three hours with my {} and nobody came",
    "the food was cold but the staff in {} were friendly",
)
NAMES = ("Maria Garcia", "Jürgen Müller", "John Smith")


def write(path: Path, *, unknown: str = "qwxyz", records: int = 60) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "patient_name", "ward", "comment"])
        for i in range(records):
            text = TEXTS[i % 3].format(("asthma", unknown, "ward")[i % 3])
            rows.writerow([i, NAMES[i % 3], "AB"[i % 2], f"{text} number {i % 7}"])
    return path


def run(source: Path, output: Path, **given: Any) -> Any:
    settings: dict[str, Any] = {"text": ["comment"], "drop": ["patient_name"], "epsilon": 2.0}
    settings |= {"accept_changes": True} | given
    return release_file(source, output, **settings)


@pytest.fixture(scope="module")
def decision(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One release to look at."""
    folder = tmp_path_factory.mktemp("release")
    return run(write(folder / "in.csv"), folder / "out")


def test_what_may_leave_and_what_stays_lie_apart(decision: Any) -> None:
    assert decision.verdict.may_release
    assert {path.name for path in decision.hand_over.iterdir()} == {"released.csv", "released.csv.card.json"}
    keep = decision.output / "keep"
    assert {path.name for path in keep.iterdir()} == {
        "decision.html",
        "decision.json",
        "deployment.yaml",
        "released.csv.receipt.json",
    }
    assert stat.S_IMODE(keep.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in keep.iterdir())
    released = list(csv.DictReader((decision.hand_over / "released.csv").read_text().splitlines()))
    assert list(released[0]) == ["id", "ward", "comment"]
    assert len(released) == 60
    together = " ".join(row["comment"] for row in released)
    assert not {"qwxyz", "garcia", "müller", "smith"} & set(together.split())
    found = json.loads((keep / "decision.json").read_text())
    assert found["verdict"]["answer"] == decision.verdict.answer
    assert found["columns"]["drop"] == ["patient_name"]
    page = (keep / "decision.html").read_text()
    assert "Before and after" in page
    assert "<script" not in page
    assert decision._repr_html_()


GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "release.md"


def test_every_question_of_a_privacy_officer_leads_to_its_answer(decision: Any) -> None:
    table = GUIDE.read_text(encoding="utf-8").split("## What a privacy officer asks")[1].split("\n## ")[0]
    rows = [line.split(" | ", 1) for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) == 20
    sections = set(re.findall("<h2>(.*?)</h2>", decision.html)) | {"Why", "What would change the verdict"}
    for question, answer in rows:
        named = re.findall(r"\*([^*]+)\*", answer)
        assert set(named) <= sections, question
        links = re.findall(r"\]\(([^)]+)\)", answer)
        assert named or links, question
        for link in links:
            page, _, place = link.partition("#")
            target = (GUIDE.parent / page).read_text(encoding="utf-8") if page else GUIDE.read_text("utf-8")
            titles = re.findall("^#+ (.*)$", target, re.MULTILINE)
            known = {re.sub(r"[^\w -]", "", title).strip().lower().replace(" ", "-") for title in titles}
            assert not place or place in known, link


def test_the_rehearsal_is_not_the_draw_that_is_handed_over(decision: Any) -> None:
    released = (decision.hand_over / "released.csv").read_text()
    assert decision.rehearsal.samples
    assert not any(after in released for _, after in decision.rehearsal.samples)


def test_changes_must_be_accepted_before_anything_is_drawn(tmp_path: Path) -> None:
    asked: list[str] = []

    def refuse(verdict: Any) -> bool:
        asked.append(verdict.answer)
        return False

    decision = run(
        write(tmp_path / "in.csv"), tmp_path / "out", epsilon=None, risk="low", accept_changes=refuse
    )
    assert asked == ["release with changes"]
    assert not decision.released
    assert not decision.hand_over.exists()
    assert "--accept-changes" in decision.page.read_text()


@pytest.mark.parametrize("again", [{"force": True}, {"resume": True}, {}])
def test_an_earlier_release_is_never_passed_off_as_this_one(tmp_path: Path, again: dict[str, bool]) -> None:
    (tmp_path / "out" / "hand-over").mkdir(parents=True)
    with pytest.raises(RecordError):
        run(write(tmp_path / "in.csv"), tmp_path / "out", **again)


def test_a_file_that_changes_meanwhile_is_not_handed_over(tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv")

    def touch(verdict: Any) -> bool:
        write(source, records=61)
        return True

    with pytest.raises(RecordError):
        run(source, tmp_path / "out", epsilon=None, risk="low", accept_changes=touch)
    assert not (tmp_path / "out" / "hand-over").exists()
    assert not (tmp_path / "out" / "keep" / "drawing").exists()  # which --resume would hand over


def test_nothing_is_written_before_every_column_has_a_role(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter) as caught:
        run(write(tmp_path / "in.csv"), tmp_path / "out", drop=[])
    assert caught.value.value == ["patient_name"]
    assert not (tmp_path / "out").exists()


def test_somebody_who_is_asked_decides(tmp_path: Path) -> None:
    asked = []

    def ask(column: Any) -> Any:
        asked.append(column.name)
        return "drop"

    with pytest.raises(InvalidParameter) as caught:
        run(write(tmp_path / "in.csv"), tmp_path / "out", text=[], drop=[], ask=ask)
    assert asked == ["patient_name", "comment"]
    assert caught.value.name == "text"  # nothing is left to release


def test_an_output_that_is_there_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    with pytest.raises(RecordError):
        run(write(tmp_path / "in.csv"), tmp_path / "out")


def test_the_command_exits_with_2_and_lists_the_missing_roles(tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv")
    result = CliRunner().invoke(app, ["release", str(source), "--no-input"])
    assert isinstance(result.exception, InvalidParameter)
    assert result.exception.exit_code == 2
    assert {"patient_name", "comment"} == set(result.exception.value)  # type: ignore[call-overload]
    assert not Path(f"{source}-release").exists()


def test_a_dry_run_says_what_would_become_of_each_column(tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv")
    result = CliRunner().invoke(app, ["release", str(source), "--text", "comment", "--dry-run"])
    assert result.exit_code == 0
    lines = dict(line.split(": ", 1) for line in result.stdout.splitlines())
    assert lines["use measured"] == "word frequencies"  # 60 records are too few for a label
    assert "ε = " in lines["mechanism"]
    assert lines["page to sign"].endswith("decision.html")
    assert lines["comment"] == "words replaced"
    assert lines["patient_name"].startswith("needs a role")
    assert lines["ward"].startswith("released as it is")
    assert sorted(tmp_path.iterdir()) == [source]


def write_workbook(path: Path) -> Path:
    book = openpyxl.Workbook()
    book.active.append(["ward", "comment"])
    for i in range(30):
        book.active.append(["AB"[i % 2], f"{TEXTS[i % 3].format('ward')} number {i % 7}"])
    book.create_sheet("Patients").append(["Maria Garcia"])
    book.save(path)
    return path


def test_a_second_sheet_is_decided_by_name_and_left_out(tmp_path: Path) -> None:
    source = write_workbook(tmp_path / "in.xlsx")
    with pytest.raises(UndecidedColumns) as caught:
        run(source, tmp_path / "out", drop=[])
    assert caught.value.columns == {"Patients": "another sheet"}
    decision = run(source, tmp_path / "out", drop=[], drop_sheets=["Patients"])
    assert openpyxl.load_workbook(decision.hand_over / "released.xlsx").sheetnames == ["Sheet"]
    with pytest.raises(InvalidParameter) as wrong:
        run(source, tmp_path / "other", drop=[], drop_sheets=["Patients", "Patient"])
    assert wrong.value.name == "drop_sheets"


def test_what_a_release_refuses_is_refused_before_the_rehearsal(tmp_path: Path) -> None:
    source = write_workbook(tmp_path / "in.xlsx")
    book = openpyxl.load_workbook(source)
    book["Sheet"].column_dimensions["A"].hidden = True
    book.save(source)
    with pytest.raises(UndecidedColumns) as caught:
        run(source, tmp_path / "out", drop=[], drop_sheets=["Patients"])
    assert caught.value.columns == {"ward": "hidden"}
    with pytest.raises(InvalidParameter) as typo:
        run(write(tmp_path / "in.csv"), tmp_path / "out", drop=["patient_name", "patientname"])
    assert typo.value.value == "patientname"
    assert not (tmp_path / "out").exists()


def test_a_label_that_is_not_there_is_refused_before_the_rehearsal(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter) as caught:
        run(write(tmp_path / "in.csv"), tmp_path / "out", labels=["wards"])
    assert caught.value.value == "wards"


def test_the_header_says_what_stands_between_the_cells(tmp_path: Path) -> None:
    source = write(tmp_path / "in.csv")
    source.write_text(source.read_text().replace(",", ";").replace(" to me", ", to me"), encoding="cp1252")
    result = CliRunner().invoke(app, ["release", str(source), "--encoding", "cp1252", "--no-input"])
    assert isinstance(result.exception, UndecidedColumns)
    assert list(result.exception.columns) == ["patient_name", "comment"]


def test_a_forbidding_verdict_draws_nothing_and_exits_with_3(tmp_path: Path) -> None:
    # At this ε nearly every word comes out as itself.
    source = write(tmp_path / "in.csv")
    given = ["--text", "comment", "--drop", "patient_name", "--epsilon", "40", "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(app, ["release", str(source), *given, "--quiet"])
    assert result.exit_code == 3
    assert result.stdout.startswith("DO NOT RELEASE")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["keep"]
    kept = {path.name for path in (tmp_path / "out" / "keep").iterdir()}
    assert kept == {"decision.html", "decision.json", "deployment.yaml"}
    assert "asthma" not in result.stdout  # no word of the text is printed
    assert "Nothing was released" in (tmp_path / "out" / "keep" / "decision.html").read_text()
