from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deniable.cli.app import app
from deniable.errors import InvalidParameter
from deniable.mechanisms.catalogue import CATALOGUE
from tests.cli.privatize_command import Command, make_command


@pytest.fixture
def command(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Command:
    return make_command(tmp_path_factory.getbasetemp() / "home", tmp_path)


def test_the_mechanisms_are_listed_with_their_options() -> None:
    shown = CliRunner().invoke(app, ["mechanisms"]).stdout
    listed = json.loads(CliRunner().invoke(app, ["mechanisms", "--json"]).stdout)
    assert [entry["name"] for entry in listed] == list(CATALOGUE)
    assert all(entry["name"] in shown for entry in listed)
    assert "t=…" in shown


def test_a_file_is_released_by_the_mechanism_asked_for_and_the_receipt_says_so(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("the quick brown fox\n" * 5, encoding="utf-8")
    status, _, err = command.run("in.txt", "-o", "out.txt", "--mechanism", "custext", "-O", "k=5")
    assert status == 0, err
    assert "exposed: the cell of every word" in err
    receipt = json.loads((tmp_path / "out.txt.receipt.json").read_text(encoding="utf-8"))
    assert receipt["mechanism"] == "CusText"
    assert receipt["guarantee"]["parameters"] == {"k": 5}
    assert "cell" in receipt["guarantee"]["exposed"]
    assert "one cell" in receipt["caveats"][0]
    status, _, err = command.run("in.txt", "-o", "out.txt", "--mechanism", "custext", "-O", "k=6", "--resume")
    assert status == 2
    assert "other settings" in err


def test_a_stream_is_released_by_the_mechanism_asked_for(command: Command) -> None:
    assert command.run("-m", "tem", data=b"the fox\n") == (0, b"the fox\n", "")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-m", "nosuch"], "must be one of: multivariate"),
        (["-m", "vickrey", "-O", "t"], "must be NAME=VALUE"),
        (["-m", "vickrey", "-O", "t=2"], "t = 2.0"),
        (["-m", "vickrey", "-O", "t=0.5", "-O", "t=0.6"], "a second time"),
        (["-O", "t=0.5"], "it has none"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: list[str], says: str, command: Command) -> None:
    status, out, err = command.run(*arguments, data=b"the fox\n")
    assert (status, out) == (2, b"")
    assert says in err
    assert len(err.splitlines()) == 1


def test_a_calibration_is_not_used_for_another_mechanism(command: Command) -> None:
    failed = CliRunner().invoke(app, ["privatize", "--max-unchanged", "0.5", "-m", "santext"])
    assert isinstance(failed.exception, InvalidParameter)
    assert "is not calibrated for SanText" in str(failed.exception)
