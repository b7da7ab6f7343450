"""What costs a newcomer the first hour gets a message that says what to write instead."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deniable import Embedding, InvalidParameter, Multivariate, Privatizer
from deniable.cli.app import app
from deniable.records.formats.columns import find_header_columns


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.mark.parametrize("asked", ["comment", "COMMENT", " Comment", "com_ment"])
def test_a_column_that_differs_in_capitals_or_blanks_is_named(asked: str) -> None:
    with pytest.raises(InvalidParameter, match=r"did you mean 'Comment'\?|did you mean Comment\?"):
        find_header_columns([asked], ["id", "Comment"], "in.csv")


@pytest.mark.parametrize("asked", ["Coment", "Commment", "Commemt", "Ocmment", "commnet", "comments"])
def test_a_column_with_one_slip_is_named(asked: str) -> None:
    with pytest.raises(InvalidParameter, match=r"did you mean Comment\?"):
        find_header_columns([asked], ["id", "Comment"], "in.csv")


@pytest.mark.parametrize(
    ("asked", "name"),
    [("comet", "Comment"), ("tag", "tab"), ("comment", "concern"), ("diagnosis", "prognosis")],
)
def test_a_column_with_two_slips_or_a_short_name_is_not_guessed_at(asked: str, name: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        find_header_columns([asked], ["id", name], "in.csv")
    assert name not in str(caught.value)
    assert "`deniable check FILE` shows the names" in str(caught.value)


def test_a_key_with_one_slip_is_named_and_text_inside_an_object_is_named_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"comment": "fox", "visit": {"note": "fox"}}\n')
    done = run("privatize", tmp_path / "in.jsonl", "-c", "coment", "-e", "6", "-o", tmp_path / "out.jsonl")
    assert "did you mean comment?" in str(done.exception)
    done = run(
        "privatize",
        tmp_path / "in.jsonl",
        "-c",
        "visit",
        "--keep",
        "comment",
        "-e",
        "6",
        "-o",
        tmp_path / "out.jsonl",
    )
    assert "it is an object: name a text in it by its path, such as visit.text" in str(done.exception)
    assert "fox" not in str(done.exception)


def test_no_other_name_is_shown_since_the_first_row_may_be_a_private_record() -> None:
    with pytest.raises(InvalidParameter) as caught:
        find_header_columns(["comment"], ["17", "my doctor said no"], "in.csv")
    assert "doctor" not in str(caught.value)


def test_two_columns_alike_are_not_guessed_at() -> None:
    with pytest.raises(InvalidParameter) as caught:
        find_header_columns(["comment"], ["Comment", "COMMENT"], "in.csv")
    assert "did you mean" not in str(caught.value)


def test_columns_with_commas_between_them_are_told_apart() -> None:
    with pytest.raises(InvalidParameter, match="--column id --column Comment"):
        find_header_columns(["id, Comment"], ["id", "Comment"], "in.csv")
    assert find_header_columns(["id, Comment"], ["id, Comment", "id"], "in.csv") == [0]


@pytest.mark.parametrize(("written", "advice"), [("6,5", "write 6.5"), ("six", "such as 6")])
def test_a_decimal_comma_is_named(tmp_path: Path, written: str, advice: str) -> None:
    done = run("privatize", tmp_path / "in.csv", "-c", "text", "-e", written, "-o", tmp_path / "out.csv")
    assert done.exit_code == 2
    assert advice in " ".join(done.output.replace("│", " ").split())


def test_a_number_in_place_of_a_mechanism_gets_the_right_call() -> None:
    with pytest.raises(
        InvalidParameter, match=r"Privatizer\(Multivariate\(Embedding\.open\(\), epsilon=6\)\)"
    ):
        Privatizer(6)  # type: ignore[arg-type]


def test_nan_is_a_missing_text() -> None:
    private = Privatizer(Multivariate(Embedding(["red", "green"], [[0.0, 1.0], [1.0, 0.0]]), epsilon=1.0))
    first, second, third = private.many(["red", math.nan, None])  # type: ignore[list-item]
    assert isinstance(first, str)
    assert second is None
    assert third is None
    with pytest.raises(InvalidParameter, match="record 2 is not text"):
        private.many(["red", 1.5])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("stopped", "said"),
    [
        ("deniable.records.job.run_job", "Nothing was released yet, and nothing is kept."),
        ("deniable.records.journal.Journal.finish", "the same command with --resume goes on"),
    ],
)
def test_ctrl_c_says_how_to_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    stopped: str,
    said: str,
) -> None:
    from deniable.cli.app import main

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stopped, interrupted)
    monkeypatch.setattr(
        "deniable.cli.privatize.drop_output", lambda: None
    )  # standard output is a file of pytest's here
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("text\nmy doctor said\n")
    monkeypatch.setattr(
        sys, "argv", ["deniable", "privatize", "in.csv", "-c", "text", "-e", "6", "-o", "out.csv"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert said in capfd.readouterr().err
    assert not Path("out.csv").exists()
