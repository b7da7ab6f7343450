from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deniable.cli.app import app
from deniable.comparison.contenders import all_contenders, contender, target
from deniable.comparison.experiment import Comparison, Contender, Plan
from deniable.comparison.keeping import Kept
from deniable.comparison.matching import Target
from deniable.comparison.readings import Effort
from deniable.comparison.report.page import comparison_page
from deniable.comparison.report.words import front, said_first, table
from deniable.embeddings import store
from deniable.errors import DeniableError, InvalidParameter, UnusableAuditData
from deniable.mechanisms.multivariate import Multivariate
from tests.comparison.compared import ring, task

run = CliRunner()
PLAN = Plan(
    targets=(Target(reading="average", value=0.5),),
    words=200,
    quick=Effort(draws=40, judged=1000),
    thorough=Effort(draws=200, judged=4000),
)


def test_kept_numbers_are_measured_once_and_damaged_ones_again(tmp_path: Path) -> None:
    made: list[float] = []

    def make(epsilon: float) -> Multivariate:
        made.append(epsilon)
        return Multivariate(ring(), epsilon=epsilon)

    def rows() -> list[dict[str, Any]]:
        return Comparison(ring(), task(ring()), task(ring(), seed=1), PLAN, kept=Kept(tmp_path)).rows(Contender(name="m", make=make))

    first, count = rows(), len(made)
    assert count > 0
    assert rows() == first
    assert len(made) == count
    for file in tmp_path.iterdir():
        file.write_text("{")
    assert rows()[0]["epsilon"] == first[0]["epsilon"]
    assert len(made) > count


def test_a_matched_row_holds_what_was_reached_and_what_it_is_worth() -> None:
    comparison = Comparison(ring(), task(ring()), task(ring(), seed=1), PLAN)
    row = comparison.rows(contender("multivariate", ring()))[0]
    assert abs(row["reached"]["average"] - 0.5) <= 0.01
    assert abs(row["unchanged"]["mean"] - 0.5) < 0.15
    assert comparison.original() == 1.0
    assert row["accuracy"]["mean"] > 0.7
    assert 0.0 < row["distance"]["mean"] < 1.0


def test_a_mechanism_that_cannot_be_brought_there_says_why(tmp_path: Path) -> None:
    listed = tmp_path / "sensitive.txt"
    listed.write_text("w39\n")
    found = Comparison(ring(), task(ring()), task(ring(), seed=1), PLAN).rows(contender(f"santext-plus:sensitive={listed}", ring()))
    assert found[0]["problem"].startswith("never below 0.8")
    assert found[0]["mechanism"] == "santext-plus:sensitive"


def test_all_mechanisms_take_part_but_those_that_need_an_option() -> None:
    taking_part, left_out = all_contenders(ring())
    assert len(taking_part) == 9
    assert list(left_out) == ["santext-plus"]


@pytest.mark.parametrize("typed", ["no-such", "multivariate:t", "multivariate:t=1", "rank-smoothing:c=x", "vickrey:t=2"])
def test_a_mechanism_typed_wrongly_is_refused(typed: str) -> None:
    with pytest.raises(InvalidParameter):
        contender(typed, ring())


@pytest.mark.parametrize("typed", ["average", "average=", "average=2", "average=0", "largest=0.3", "worst=x", "adversary=nan"])
def test_a_target_typed_wrongly_is_refused(typed: str) -> None:
    with pytest.raises(InvalidParameter):
        target(typed)


def row(mechanism: str, adversary: float, accuracy: float, spread: float | None = 0.01) -> dict[str, Any]:
    return {
        "mechanism": mechanism, "reading": "average", "target": 0.3, "problem": "", "epsilon": 2.0,
        "reached": {"average": 0.301, "worst": 0.6, "adversary": adversary, "epsilon": 2.0, "errors": {}},
        "accuracy": {"mean": accuracy, "spread": spread}, "unchanged": {"mean": 0.3, "spread": 0.0},
        "distance": {"mean": 0.5, "spread": 0.0}, "words_per_second": 1234.5,
    }  # fmt: skip


def answer(**changes: Any) -> dict[str, Any]:
    missing = {"mechanism": "<c>", "reading": "average", "target": 0.3, "problem": "never below 0.60, however small ε is"}
    return {
        "version": "0", "embedding": {"name": "<tiny>", "fingerprint": "f" * 32, "protected": 0}, "seed": 0, "runs": 2,
        "tolerance": {"average": 0.01}, "targets": [{"reading": "average", "value": 0.3}], "mechanisms": ["a", "b", "<c>"],
        "texts": {"learn": 10, "test": 5, "words": 100}, "sample": {"words": 20, "distinct": 9, "guess": 0.2},
        "original": 0.9, "guess": 0.5, "left_out": {"d": "which needs an option"},
        "rows": [row("a", 0.4, 0.7), missing, row("b", 0.5, 0.6)],
    } | changes  # fmt: skip


def test_the_words_say_who_is_ahead_and_whether_clearly() -> None:
    assert "a is the most accurate (70.0 %), clearly ahead of the others." in said_first(answer())
    close = answer(rows=[row("a", 0.4, 0.7), row("b", 0.5, 0.69)])
    assert "not clearly ahead of b." in said_first(close)
    assert "no other mechanism is there" in said_first(answer(rows=[row("a", 0.4, 0.7)]))
    assert "one run does not tell" in said_first(answer(rows=[row("a", 0.4, 0.7, None)]))


def test_the_table_has_the_front_marked_and_misses_said() -> None:
    shown = table(answer())
    assert [cells[1] for cells in shown] == ["a", "b", "<c>"]
    assert [cells[-1] for cells in shown] == ["◆", "", ""]
    assert "never below 0.60" in shown[2][3]
    assert [found["mechanism"] for found in front(answer())] == ["a"]


def test_the_page_is_whole_and_escaped() -> None:
    html = comparison_page(answer()).html()
    assert "&lt;tiny&gt;" in html
    assert "<tiny>" not in html
    assert "<c>" not in html
    for words in ("Mechanisms at equal privacy", "<svg", "never below 0.60", "Left out: d", "lower bound", "◆"):
        assert words in html
    assert "<svg" not in comparison_page(answer(rows=[])).html()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(ring(), "ring", source="a test")
    texts = task(ring(), texts=80)
    lines = [json.dumps({"label": int(label), "text": " ".join(words)}) for label, words in zip(texts.labels, texts.words, strict=True)]
    (tmp_path / "data.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def compare(place: Path, *more: str) -> Any:
    fixed = ["compare", str(place / "data.jsonl"), "--embedding", "ring", "--words", "50", "--runs", "1", "-q", "-t", "average=0.5"]
    return run.invoke(app, [*fixed, *more])


def test_the_command_prints_saves_and_draws(place: Path) -> None:
    page, saved = place / "page.html", place / "found.json"
    result = compare(
        place, "-m", "multivariate", "-m", "randomized-response", "--report", str(page), "--save", str(saved), "--figures", str(place / "f")
    )
    assert result.exit_code == 0, result.output
    assert "At average N_w = 0.5" in " ".join(result.output.split())
    found = json.loads(saved.read_text())
    assert [each["mechanism"] for each in found["rows"]] == ["multivariate", "randomized-response"]
    assert page.read_text().startswith("<!doctype html>") or "<html" in page.read_text()
    assert (place / "f" / "comparison.png").exists()


def test_how_to_read_the_file_can_be_said(place: Path) -> None:
    rows = [json.loads(line) for line in (place / "data.jsonl").read_text().splitlines()]
    (place / "data.jsonl").write_bytes("".join(f"{row['text']} é;{row['label']}\n" for row in rows).encode("latin-1"))
    reading = ["--format", "csv", "--delimiter", ";", "--no-header", "--encoding", "latin-1", "--column", "1", "--label", "2"]
    result = compare(place, "-m", "randomized-response", "--json", *reading)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["texts"]["learn"] == 40


def test_json_is_all_that_is_printed(place: Path) -> None:
    result = compare(place, "-m", "randomized-response", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["texts"]["learn"] == 40


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (["--train", "100"], UnusableAuditData),
        (["--train", "0"], InvalidParameter),
        (["-m", "no-such"], InvalidParameter),
        (["-t", "average=7"], InvalidParameter),
        (["--label", "nothing"], DeniableError),
        (["--save", "no/such/folder/file.json"], DeniableError),
    ],
)
def test_bad_requests_are_refused_before_any_work(place: Path, more: list[str], error: type[Exception]) -> None:
    result = compare(place, *more)
    assert isinstance(result.exception, error)


def test_texts_with_one_label_are_no_task(place: Path) -> None:
    (place / "data.jsonl").write_text('{"label": "a", "text": "w1 w2"}\n' * 8)
    assert isinstance(compare(place).exception, UnusableAuditData)
