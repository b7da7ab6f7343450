"""What costs a newcomer the first hour gets a message that says what to write instead."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

from deniable import DeniableError, Embedding, InvalidParameter, Multivariate, Privatizer
from deniable.cli.app import main
from deniable.records.formats.columns import find_header_columns
from tests.support.commands import invoke


def problem_of(asked: str, *names: str) -> str:
    """Return why a column is not found."""
    with pytest.raises(InvalidParameter) as caught:
        find_header_columns([asked], list(names), "in.csv")
    return caught.value.problem


@pytest.mark.parametrize(
    "asked",
    "comment|COMMENT| Comment|com_ment|Coment|Commment|Commemt|Ocmment|commnet|comments".split("|"),
)
def test_a_column_that_differs_in_capitals_blanks_or_one_slip_is_named(asked: str) -> None:
    assert "Comment" in problem_of(asked, "id", "Comment").partition("did you mean")[2]


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("comet", ["id", "Comment"]),
        ("tag", ["tab"]),
        ("comment", ["concern"]),
        ("diagnosis", ["prognosis"]),
        ("comment", ["Comment", "COMMENT"]),
        ("comment", ["17", "my doctor said no"]),
    ],
    ids=["two slips", "short", "another word", "another long word", "two alike", "the first row is private"],
)
def test_no_other_name_is_guessed_at_or_shown(asked: str, names: list[str]) -> None:
    said = problem_of(asked, *names)
    assert "did you mean" not in said
    assert not any(name in said for name in names if name != "id" and len(names) > 1)


def test_a_key_with_one_slip_is_named_and_text_inside_an_object_is_named_by_its_path(tmp_path: Path) -> None:
    source, target = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text('{"comment": "fox", "visit": {"note": "fox"}}\n')
    for columns, named in (("-c coment", "comment?"), ("-c visit --keep comment", "visit.text")):
        error = invoke("privatize", source, columns, "-e 6 -o", target).exception
        assert isinstance(error, DeniableError)
        assert named in str(error)
        assert "fox" not in str(error)


def test_columns_with_commas_between_them_are_told_apart() -> None:
    assert "--column id --column Comment" in problem_of("id, Comment", "id", "Comment")
    assert find_header_columns(["id, Comment"], ["id, Comment", "id"], "in.csv") == [0]


@pytest.mark.parametrize(("written", "advice"), [("6,5", "6.5"), ("six", "such as 6")])
def test_a_decimal_comma_is_named(tmp_path: Path, written: str, advice: str) -> None:
    done = invoke("privatize", tmp_path / "in.csv", "-c text -e", written, "-o", tmp_path / "out.csv")
    assert done.exit_code == 2
    assert advice in " ".join(done.output.replace("│", " ").split())


def test_a_number_in_place_of_a_mechanism_gets_the_right_call() -> None:
    with pytest.raises(InvalidParameter) as caught:
        Privatizer(6)  # type: ignore[arg-type]
    assert "Privatizer(Multivariate(Embedding.open(), epsilon=6))" in caught.value.problem


def test_nan_is_a_missing_text() -> None:
    private = Privatizer(Multivariate(Embedding(["red", "green"], [[0.0, 1.0], [1.0, 0.0]]), epsilon=1.0))
    first, *others = private.many(["red", math.nan, None])  # type: ignore[list-item]
    assert isinstance(first, str)
    assert others == [None, None]


@pytest.mark.parametrize(
    ("stopped", "kept"),
    [
        ("deniable.records.job.Job.run", False),
        ("deniable.records.formats.source.FileSource.check_unchanged", True),
    ],
)
def test_ctrl_c_says_how_to_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    stopped: str,
    kept: bool,
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stopped, interrupted)
    # Standard output is a file of pytest's here.
    monkeypatch.setattr("deniable.cli.privatize.drop_output", lambda: None)
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("text\nmy doctor said\n")
    monkeypatch.setattr(sys, "argv", "deniable privatize in.csv -c text -e 6 -o out.csv".split())
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert ("--resume" in capfd.readouterr().err) == kept
    assert not Path("out.csv").exists()
