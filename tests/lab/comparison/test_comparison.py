from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.lab.comparison.compared import ring, task
from typer.testing import CliRunner

from deniable.audit.named import Way
from deniable.audit.results import EmbeddingSummary
from deniable.cli.app import app
from deniable.embeddings import store
from deniable.embeddings.embedding import Embedding
from deniable.errors import DeniableError, InvalidParameter, RecordError, UnusableAuditData
from deniable.interfaces import Mechanism
from deniable.lab.commands.compare import parse_target
from deniable.lab.comparison import (
    ComparisonResult,
    ComparisonSettings,
    Target,
    compare_mechanisms,
    read_comparison,
)
from deniable.lab.comparison.experiment import comparable_mechanisms
from deniable.lab.comparison.measurements import SavedMeasurements
from deniable.lab.comparison.probe import SampleCounts
from deniable.lab.comparison.readings import PrivacyReadings, ReadingEffort
from deniable.lab.comparison.report.comparison_page import comparison_page
from deniable.lab.comparison.report.words import columns_of, finding, legend_of, table
from deniable.lab.comparison.results import MeanAndSpread, Row, Worth
from deniable.lab.comparison.settings import TARGETS
from deniable.lab.comparison.space import Comparison, name_of
from deniable.lab.comparison.texts import TextCounts
from deniable.mechanisms.catalogue import ChosenMechanism, parse_mechanism
from deniable.records.reading import LabelledTexts

run = CliRunner()
SETTINGS = ComparisonSettings(
    targets=(Target(reading="average", value=0.5),),
    words=200,
    quick=ReadingEffort(draws=40, judged=1000),
    thorough=ReadingEffort(draws=200, judged=4000),
)
MADE: list[float] = []


@dataclass(frozen=True, kw_only=True)
class Counted(ChosenMechanism):
    """Counts how often it is made."""

    def __call__(self, embedding: Embedding, *, epsilon: float) -> Mechanism:
        MADE.append(epsilon)
        return super().__call__(embedding, epsilon=epsilon)


def worth_of(row: Row) -> Worth:
    assert row.worth is not None
    return row.worth


def test_saved_numbers_are_measured_once_and_damaged_or_older_ones_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rows() -> list[Row]:
        MADE.clear()
        comparison = Comparison(
            ring(), task(ring()), task(ring(), seed=1), SETTINGS, saved=SavedMeasurements(tmp_path)
        )
        return list(comparison.rows(Counted()))

    first = rows()
    assert len(MADE) > 1
    assert rows() == first
    assert MADE == [1.0], "made once, to know what it is called"
    for file in tmp_path.iterdir():
        file.write_text("{")
    assert worth_of(rows()[0]).epsilon == worth_of(first[0]).epsilon
    assert len(MADE) > 1
    monkeypatch.setattr("deniable.lab.comparison.measurements._FORMAT", 3)
    assert worth_of(rows()[0]).epsilon == worth_of(first[0]).epsilon
    assert len(MADE) > 1, "what another version measured may be wrong"


def test_a_matched_row_holds_what_was_reached_and_what_it_is_worth() -> None:
    comparison = Comparison(ring(), task(ring()), task(ring(), seed=1), SETTINGS)
    worth = worth_of(next(comparison.rows(ChosenMechanism())))
    assert abs(worth.reached.average - 0.5) <= 0.01
    assert abs(worth.unchanged.mean - 0.5) < 0.15
    assert comparison.original() == 1.0
    assert worth.accuracy.mean > 0.7
    assert 0.0 < worth.distance.mean < 1.0


def test_a_mechanism_that_cannot_be_brought_there_says_why(tmp_path: Path) -> None:
    listed = tmp_path / "sensitive.txt"
    listed.write_text("w39\n")
    comparison = Comparison(ring(), task(ring()), task(ring(), seed=1), SETTINGS)
    row = next(comparison.rows(parse_mechanism(f"santext-plus:sensitive={listed}")))
    assert row.problem.startswith("never below 0.8")
    assert row.worth is None
    assert row.mechanism == "santext-plus:sensitive"
    assert list(row.to_dict()) == ["mechanism", "reading", "target", "problem"]


def test_all_mechanisms_take_part_but_those_that_need_an_option() -> None:
    taking_part, left_out = comparable_mechanisms()
    assert len(taking_part) == 10
    assert list(left_out) == ["santext-plus"]


@pytest.mark.parametrize(
    "typed", ["multivariate", "rank-smoothing:c=0.1", "vickrey:t=0.50,noise=mahalanobis"]
)
def test_a_mechanism_is_named_as_it_was_typed(typed: str) -> None:
    assert name_of(parse_mechanism(typed)) == typed


@pytest.mark.parametrize(
    "typed", ["no-such", "multivariate:t", "multivariate:t=1", "rank-smoothing:c=x", "vickrey:t=2"]
)
def test_a_mechanism_typed_wrongly_is_refused(typed: str) -> None:
    with pytest.raises(InvalidParameter):
        compare_mechanisms(
            LabelledTexts(source="none", people=[], texts=[]), ring(), [parse_mechanism(typed)]
        )


@pytest.mark.parametrize(
    "typed", ["average", "average=", "average=2", "average=0", "largest=0.3", "worst=x", "adversary=nan"]
)
def test_a_target_typed_wrongly_is_refused(typed: str) -> None:
    with pytest.raises(InvalidParameter):
        parse_target(typed)


def test_a_target_is_read_as_it_is_typed() -> None:
    typed = ["average=0.1", "average=0.3", "worst=0.5", "adversary=0.2", "adversary=0.4"]
    assert tuple(parse_target(each) for each in typed) == TARGETS


def test_a_comparison_without_targets_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="targets"):
        ComparisonSettings(targets=())


def made_row(mechanism: str, adversary: float, accuracy: float, spread: float | None = 0.01) -> Row:
    worth = Worth(
        epsilon=2.0,
        reached=PrivacyReadings(epsilon=2.0, average=0.301, worst=0.6, adversary=adversary, errors={}),
        accuracy=MeanAndSpread(mean=accuracy, spread=spread),
        unchanged=MeanAndSpread(mean=0.3, spread=0.0),
        distance=MeanAndSpread(mean=0.5, spread=0.0),
        words_per_second=1234.5,
    )
    return Row(mechanism=mechanism, reading="average", target=0.3, problem="", worth=worth)


def made_result(*rows: Row) -> ComparisonResult:
    return ComparisonResult(
        version="0",
        embedding=EmbeddingSummary(name="<tiny>", fingerprint="f" * 32, protected=0),
        seed=0,
        runs=2,
        tolerance={"average": 0.01},
        targets=(Target(reading="average", value=0.3),),
        mechanisms=("a", "b", "<c>"),
        texts=TextCounts(learn=10, test=5, words=100),
        sample=SampleCounts(words=20, distinct=9, guess=0.2),
        original=0.9,
        guess=0.5,
        left_out={"d": "which needs an option"},
        rows=rows,
    )


MISSED = Row(mechanism="<c>", reading="average", target=0.3, problem="never below 0.60, however small ε is")
RESULT = made_result(made_row("a", 0.4, 0.7), MISSED, made_row("b", 0.5, 0.6))


def test_the_words_say_who_is_ahead_and_whether_clearly() -> None:
    assert (
        "a is the most accurate (70.0 %), clearly ahead of the others (clear: more than 3.0 points)."
        in finding(RESULT)
    )
    assert "not clearly ahead of b (clear: more than 3.0 points)." in finding(
        made_result(made_row("a", 0.4, 0.7), made_row("b", 0.5, 0.69))
    )
    assert "no other mechanism is there" in finding(made_result(made_row("a", 0.4, 0.7)))
    assert "one run does not tell" in finding(made_result(made_row("a", 0.4, 0.7, None)))


def test_the_headline_is_judged_on_released_text_and_says_so() -> None:
    def judged(name: str, original: float, released: float) -> Row:
        row = made_row(name, 0.4, original)
        assert row.worth is not None
        return replace(row, worth=replace(row.worth, on_released=MeanAndSpread(mean=released, spread=0.01)))

    result = made_result(judged("a", 0.906, 0.545), judged("b", 0.8, 0.7))
    assert "judged on released text, b is the most accurate (70.0 %)" in finding(result)
    assert [cells[1] for cells in table(result)] == ["b", "a"]
    place = columns_of(result).index("received")
    assert [cells[place - 1 : place + 1] for cells in table(result)] == [
        ["80.0 % ± 1.0", "70.0 % ± 1.0"],
        ["90.6 % ± 1.0", "54.5 % ± 1.0"],
    ]
    assert "judged on original text, a is" in finding(RESULT), "older results were judged on nothing else"


def test_the_table_has_the_front_marked_and_misses_said() -> None:
    shown = table(RESULT)
    assert [cells[1] for cells in shown] == ["a", "b", "<c>"]
    assert [cells[-1] for cells in shown] == ["◆", "", ""]
    assert "never below 0.60" in shown[2][3]
    assert [row.mechanism for row, _ in RESULT.front()] == ["a"]


def test_rows_are_marked_within_their_table_by_the_attacker_that_was_matched() -> None:
    def at(reading: Way, mechanism: str, reached: float, adversary: float, accuracy: float) -> Row:
        row = made_row(mechanism, adversary, accuracy)
        worth = worth_of(row)
        readings = replace(
            worth.reached,
            named=reached if reading == "named" else None,
            context=reached if reading == "context" else None,
        )
        return replace(row, reading=reading, target=0.2, worth=replace(worth, reached=readings))

    rows = (
        at("named", "a", 0.2, 0.5, 0.7),
        at(
            "named", "b", 0.21, 0.1, 0.6
        ),  # a beats it by what was reached, though the adversary of a sample names less
        at("context", "a", 0.2, 0.5, 0.65),  # beaten by a row of the other table only
        at("context", "b", 0.1999, 0.1, 0.6),  # shown as 0.200, so not better
    )
    targets = (Target(reading="named", value=0.2), Target(reading="context", value=0.2))
    result = replace(made_result(*rows), targets=targets)
    assert result.attacker == "adversary"
    assert [(cells[1], cells[-1]) for cells in table(result)] == [
        ("a", "◆"),
        ("b", ""),
        ("a", "◆"),
        ("b", ""),
    ]
    assert "what was reached counts there" in legend_of(result)
    assert "what was reached counts there" not in legend_of(RESULT)


def test_rows_matched_by_words_unchanged_are_marked_by_the_adversary_beside_them() -> None:
    """At equal N_w what was reached differs by chance only."""
    result = made_result(made_row("a", 0.5, 0.7), made_row("b", 0.4, 0.6), made_row("c", 0.5, 0.6))
    assert [(cells[1], cells[-1]) for cells in table(result)] == [("a", "◆"), ("b", "◆"), ("c", "")]


def test_the_page_is_whole_and_escaped() -> None:
    html = comparison_page(RESULT).html()
    assert "&lt;tiny&gt;" in html
    assert "<tiny>" not in html
    assert "<c>" not in html
    for words in (
        "Mechanisms at equal privacy",
        "<svg",
        "never below 0.60",
        "Left out: d",
        "lower bound",
        "◆",
    ):
        assert words in html
    assert "<svg" not in comparison_page(replace(RESULT, rows=())).html()


def test_a_result_is_read_again(tmp_path: Path) -> None:
    saved = tmp_path / "found.json"
    saved.write_text(json.dumps(RESULT.to_dict()))
    assert read_comparison(saved) == RESULT


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"rows": [3]}', '{"rows": []}'])
def test_files_that_are_no_results_are_refused(content: str, tmp_path: Path) -> None:
    saved = tmp_path / "found.json"
    saved.write_text(content)
    with pytest.raises(RecordError, match="not the result of a comparison"):
        read_comparison(saved)


def test_a_result_of_an_earlier_version_is_read() -> None:
    saved = Path(__file__).parents[3] / "docs" / "research" / "comparison-sst2-default.json"
    assert read_comparison(saved).to_dict() == json.loads(saved.read_text(encoding="utf-8"))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(ring(), "ring", source="a test")
    texts = task(ring(), texts=80)
    lines = [
        json.dumps({"label": int(label), "text": " ".join(words)})
        for label, words in zip(texts.labels, texts.words, strict=True)
    ]
    (tmp_path / "data.jsonl").write_text("\n".join(lines) + "\n")
    return tmp_path


def compare(place: Path, *more: str) -> Any:
    fixed = [
        "lab",
        "compare",
        str(place / "data.jsonl"),
        *"--embedding ring --words 50 --runs 1 -q -t average=0.5".split(),
    ]
    return run.invoke(app, [*fixed, *more])


def test_the_command_prints_saves_and_draws(place: Path) -> None:
    page, saved = place / "page.html", place / "found.json"
    result = compare(
        place,
        "-m",
        "multivariate",
        "-m",
        "randomized-response",
        "--report",
        str(page),
        "--save",
        str(saved),
        "--figures",
        str(place / "f"),
    )
    assert result.exit_code == 0, result.output
    assert "At average N_w = 0.5" in " ".join(result.output.split())
    found = json.loads(saved.read_text())
    assert [each["mechanism"] for each in found["rows"]] == ["multivariate", "randomized-response"]
    assert page.read_text().startswith("<!doctype html>")
    assert (place / "f" / "comparison.png").exists()


def test_how_to_read_the_file_can_be_said(place: Path) -> None:
    rows = [json.loads(line) for line in (place / "data.jsonl").read_text().splitlines()]
    (place / "data.jsonl").write_bytes(
        "".join(f"{row['text']} é;{row['label']}\n" for row in rows).encode("latin-1")
    )
    reading = [
        *"--format csv --delimiter".split(),
        ";",
        *"--no-header --encoding latin-1 --column 1 --label 2".split(),
    ]
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
def test_bad_requests_are_refused_before_any_work(
    place: Path, more: list[str], error: type[Exception]
) -> None:
    result = compare(place, *more)
    assert isinstance(result.exception, error)


def test_texts_with_one_label_are_no_task(place: Path) -> None:
    (place / "data.jsonl").write_text('{"label": "a", "text": "w1 w2"}\n' * 8)
    assert isinstance(compare(place).exception, UnusableAuditData)


def test_numbers_are_no_classes_to_compare_by(place: Path) -> None:
    (place / "data.jsonl").write_text(
        "".join(f'{{"label": "{number / 4}", "text": "w1 w2"}}\n' for number in range(8))
    )
    with pytest.raises(UnusableAuditData, match="8 different numbers, and classes are compared"):
        raise compare(place).exception
