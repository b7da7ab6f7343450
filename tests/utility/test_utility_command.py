"""``deniable utility``: one page with utility and privacy on it, and one clear line when it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deniable import Embedding, Release
from deniable.errors import InvalidParameter, TaskDataError
from tests.report.html_check import outline
from tests.support.commands import invoke
from tests.support.made_texts import csv_of, made_rows

COMMON = "--text t --label y --embedding two-kinds --runs 2 -q"


def test_the_page_the_figures_and_the_table(installed: Embedding) -> None:
    csv_of(made_rows(200), Path("reviews.csv"))
    result = invoke("utility reviews.csv", COMMON, "-e 0.01 -e 60 --figures figures")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(
        "From ε = 60 on, a classifier that is given released text only, to learn from and to judge, stays "
        "within"
    )
    assert "| at both times | 60 |" in result.stdout
    assert "Always the most frequent class: accuracy 0.500" in result.stdout
    assert "reviews-utility.html" in result.stdout
    page = outline(Path("reviews-utility.html").read_text(encoding="utf-8"))
    assert page.problems == []
    assert page.outside == []
    assert "From ε = 60 on" in page.lead
    assert "average word stays itself" in page.lead
    assert [page.tags.count(tag) for tag in ("h1", "figure", "table")] == [1, 1, 1]
    assert any(label.startswith("perturbed at both times: from") for label in page.labels)
    assert "carry no guarantee" in page.text
    assert "good1" not in page.text, "the page shows texts"
    assert {file.name for file in Path("figures").iterdir()} == {"utility.svg", "utility.png", "utility.md"}
    assert Path("figures/utility.md").read_text(encoding="utf-8") in result.stdout


def test_json_holds_every_point_and_writes_nothing(installed: Embedding) -> None:
    file = csv_of(made_rows(200), Path("reviews.csv"))
    result = invoke("utility", file, COMMON, "--json")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert [path.name for path in Path().iterdir()] == ["reviews.csv"]
    assert answer["classes"] == 2
    assert {point["at"] for point in answer["points"]} == {"nowhere", "train", "test", "both"}
    rising = [point["average_unchanged"] for point in answer["points"] if point["at"] == "train"]
    assert rising == pytest.approx([0.05, 0.25, 0.5, 0.75, 0.95, 0.99], abs=0.01), (
        "the default range is one of N_w"
    )
    assert all(len(point["scores"]["accuracy"]["runs"]) == 2 for point in answer["points"])


def test_released_text_is_read_decoded_too_unless_that_is_switched_off(installed: Embedding) -> None:
    csv_of(made_rows(60), Path("a.csv"))
    options = f"{COMMON} --runs 1 -e 5 --words 30 --effort 40"
    answer = json.loads(invoke("utility a.csv", options, "--json").stdout)
    assert [(point["at"], point["reading"]) for point in answer["decoded_points"]] == [
        (at, "decoded") for at in ("train", "test", "both")
    ]
    assert {answer["decoding"][name] for name in ("support", "directions", "method")} == {30, 40, "rays"}
    assert {choice["reading"] for choice in answer["decoding"]["choices"]} <= {"as released", "decoded"}
    assert answer["not_decoded"] == ""

    result = invoke("utility a.csv", options, "--no-decode --report page.html")
    assert result.exit_code == 0, result.output
    assert "Words as released only: decoding was switched off." in result.stdout
    page = outline(Path("page.html").read_text(encoding="utf-8"))
    assert "decoding was switched off" in page.text
    assert ("Only ε = 5 was tried, and one point is no curve" in page.text, page.tags.count("figure")) == (
        True,
        0,
    )
    plain = json.loads(invoke("utility a.csv", options, "--no-decode --json").stdout)
    assert (plain["decoding"], plain["decoded_points"]) == (None, [])


def test_how_to_read_the_file_can_be_said(installed: Embedding) -> None:
    Path("a.data").write_bytes(
        "".join(f"{label};{text} café\n" for label, text in made_rows(40)).encode("latin-1")
    )
    reading = "--format csv --delimiter ';' --no-header --encoding latin-1 --column 2 --label 1"
    result = invoke("utility a.data", reading, "--embedding two-kinds --runs 1 -e 5 --json -q")
    assert result.exit_code == 0, result.output
    assert (json.loads(result.stdout)["texts"], json.loads(result.stdout)["classes"]) == (40, 2)


def test_random_labels_are_the_headline_everywhere(installed: Embedding) -> None:
    csv_of(made_rows(200, shuffled=True), Path("random.csv"))
    result = invoke("utility random.csv", COMMON, "-e 60 --report page.html")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("The labels cannot be learnt from the original text")
    page = outline(Path("page.html").read_text(encoding="utf-8"))
    assert page.lead.startswith("The labels cannot be learnt from the original text")
    printed = json.loads(invoke("utility random.csv", COMMON, "-e 60 --json").stdout)
    assert printed["headline"].startswith("The labels cannot be learnt from the original text")
    assert printed["smallest_acceptable_epsilon"] is None
    assert "stays within" not in result.stdout + page.text + printed["headline"]


def test_a_text_that_teaches_nothing_gets_a_warning(installed: Embedding) -> None:
    rows = [(label, "good1") for label, _ in made_rows(60)]
    csv_of(rows, Path("same.csv"))
    result = invoke("utility same.csv", COMMON, "-e 5 --report page.html")
    assert result.exit_code == 0, result.output
    assert "which class is the most frequent" in outline(Path("page.html").read_text(encoding="utf-8")).text


def test_whole_numbers_in_json_lines_are_labels_and_another_mechanism_may_be_named(
    installed: Embedding,
) -> None:
    lines = [json.dumps({"y": 1 if label == "yes" else 0, "t": text}) for label, text in made_rows(100)]
    Path("a.jsonl").write_text("\n".join(lines) + "\n")
    result = invoke("utility a.jsonl", COMMON, "-m santext -e 5 --json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["mechanism"] == "santext"


def test_every_mechanism_has_a_range_of_its_own_and_its_options_are_said(installed: Embedding) -> None:
    csv_of(made_rows(40), Path("a.csv"))
    for mechanism, source in (("santext", "exact"), ("vickrey -O t=0.5", "draws"), ("gaussian", "rays")):
        result = invoke("utility a.csv", COMMON, f"--runs 1 --json -m {mechanism}")
        assert result.exit_code == 0, result.output
        answer = json.loads(result.stdout)
        assert source in answer["average_unchanged_from"]
        assert answer["mechanism_options"].get("t") == (0.5 if "t=" in mechanism else None)
        rising = [point["average_unchanged"] for point in answer["points"] if point["at"] == "train"]
        assert rising[0] < 0.15
        assert rising[-1] > 0.9


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ("--text t --label class", InvalidParameter, "class"),
        ("--text t --label y -e 0", InvalidParameter, "epsilon"),
        ("--text t --label y --runs 0", InvalidParameter, "runs"),
        ("--text t --label y --held-out 1", InvalidParameter, "held_out"),
        ("--text t --label y --words 0", InvalidParameter, "--words = 0"),
        ("--text t --label y --effort 0", InvalidParameter, "directions"),
        ("--text t --label y --texts 5", TaskDataError, "has 5 texts"),
        ("--text t --label y --report no/where.html", Exception, "no"),
    ],
)
def test_what_cannot_be_is_refused_before_any_work(
    installed: Embedding, arguments: str, error: type[Exception], says: str
) -> None:
    csv_of(made_rows(60), Path("a.csv"))
    result = invoke("utility a.csv", arguments)
    assert isinstance(result.exception, error)
    assert says in str(result.exception)
    assert [path.name for path in Path().iterdir()] == ["a.csv"]


def test_a_card_says_which_release_is_measured(installed: Embedding) -> None:
    csv_of(made_rows(60), Path("a.csv"))
    private = Release(epsilon=5, embedding="two-kinds", mechanism="santext").make()
    private.card.for_columns(["t"]).write(Path("a.card.json"))
    result = invoke("utility a.csv --label y --card a.card.json --runs 1 --no-decode --json -q")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["mechanism"] == "santext"
    assert {point["epsilon"] for point in found["points"]} == {None, 5}
    assert invoke("utility a.csv --label y --card a.card.json --epsilon 3").exit_code == 2
    Release(epsilon=5, embedding="two-kinds", unknown="redact").make().card.write(Path("b.card.json"))
    other = invoke("utility a.csv --text t --label y --card b.card.json")
    assert isinstance(other.exception, InvalidParameter)
