"""``deniable calibrate --mechanism``: every mechanism by name, and ``privatize --max-unchanged`` that uses
what was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from deniable import InvalidParameter
from deniable.cli.app import app
from tests.calibration.small import calibrated, save_small

run = CliRunner()
TARGET = ["--max-unchanged", "0.6", "--quantile", "0.9"]


@pytest.fixture(autouse=True)
def small(home: Path) -> None:
    save_small(60)


def released(*arguments: str) -> dict[str, Any]:
    """Return the receipt of a release whose ε comes from a calibration."""
    Path("in.txt").write_text("w1 w2\n")
    command = "privatize in.txt -o out.txt --force --embedding small --json".split()
    made = run.invoke(app, [*command, *arguments], catch_exceptions=False)
    assert made.exit_code == 0, made.output
    receipt: dict[str, Any] = json.loads(made.stdout)
    return receipt


@pytest.mark.parametrize(
    ("name", "method"),
    [("santext", "exact"), ("line", "exact"), ("randomized-response", "exact"), ("gaussian", "rays")],
)
def test_another_mechanism_is_calibrated_and_then_used_to_release(name: str, method: str) -> None:
    with pytest.raises(InvalidParameter, match="is not calibrated for"):
        released("--mechanism", name, *TARGET)
    answer = calibrated("--mechanism", name, *TARGET)
    assert (answer["mechanism"], answer["method"], answer["meets_the_targets"]) == (name, method, True)
    receipt = released("--mechanism", name, *TARGET)
    assert 0.7 * answer["epsilon"] < receipt["epsilon_per_word"] <= answer["epsilon"]
    assert receipt["calibration"]["words"] == 60
    assert receipt["calibration"]["unchanged"]["median"] <= 0.6


def test_a_calibration_with_other_options_or_of_another_mechanism_is_not_used() -> None:
    calibrated("--mechanism", "tem", "--epsilon", "1", "--epsilon", "3")
    assert released("--mechanism", "tem", *TARGET)["epsilon_per_word"] in (1.0, 3.0)
    for other in (["--mechanism", "tem", "--mechanism-option", "beta=0.01"], ["--mechanism", "santext"], []):
        with pytest.raises(InvalidParameter, match="is not calibrated"):
            released(*other, *TARGET)


def test_the_page_says_how_it_was_measured_and_what_is_promised() -> None:
    values = ["-e", "1", "-e", "6", "-e", "30"]
    answer = calibrated(
        "--mechanism", "vickrey", "-O", "t=0.5", "--sample", "10", *values, "--report", "page.html"
    )
    assert answer["parameters"] == {"t": 0.5, "noise": "multivariate"}
    assert (answer["method"], len(answer["table"])) == ("simulation", 3)
    text = Path("page.html").read_text(encoding="utf-8")
    assert "vickrey (t = 0.5, noise = multivariate)" in text
    assert "the mechanism itself drew 100 times" in text
    calibrated("--mechanism", "custext", "-O", "k=5", "--report", "page.html")
    text = Path("page.html").read_text(encoding="utf-8")
    assert "nothing is estimated" in text
    assert "Exposed: the cell of every word" in text


@pytest.mark.parametrize("wrong", ["--mechanism none", "--mechanism vickrey -O t=2", "-O t=0.5"])
def test_a_mechanism_that_cannot_be_is_refused_before_anything_is_measured(wrong: str, home: Path) -> None:
    made = run.invoke(app, ["calibrate", "--embedding", "small", *wrong.split()])
    assert isinstance(made.exception, InvalidParameter)
    assert not list(home.rglob("journal.txt"))
