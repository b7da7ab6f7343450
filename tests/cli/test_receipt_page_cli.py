"""``--receipt-page`` and ``deniable receipt``: the page beside a release, or later from its receipt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.commands import Command

RELEASE = "in.csv -c note -o out.csv"
PAGE = f"{RELEASE} --receipt-page page.html"


@pytest.fixture(autouse=True)
def _source(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,note\n1,the quick fox\n2,the fox\n")


def test_the_page_of_a_release_is_the_one_made_later_from_its_receipt(
    command: Command, tmp_path: Path
) -> None:
    assert command.run(PAGE)[0] == 0
    assert "5 words in 2 texts" in (tmp_path / "page.html").read_text()
    assert command.deniable("receipt out.csv.receipt.json -o later.html --no-numbers")[0] == 0
    assert (tmp_path / "later.html").read_bytes() == (tmp_path / "page.html").read_bytes()


def test_a_page_that_is_in_the_way_stops_before_anything_is_drawn(command: Command, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("mine")
    beside = ("", ".receipt.json", ".journal", ".partial", ".finishing")
    for page in ("page.html", "in.csv", *(f"out.csv{ending}" for ending in beside), "nowhere/page.html"):
        status, _, said = command.run(RELEASE, "--receipt-page", page)
        assert (status, said.count("\n")) == (1, 1), said
        assert page.split("/")[0] in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "page.html"]
    assert (tmp_path / "page.html").read_text() == "mine"
    assert command.run(PAGE, "--force")[0] == 0


def test_a_finished_release_and_standard_output_have_a_page_too(command: Command, tmp_path: Path) -> None:
    command.run(RELEASE)
    before = (tmp_path / "out.csv").read_bytes()
    assert command.run(PAGE, "--resume")[0] == 0
    assert "5 words in 2 texts" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "out.csv").read_bytes() == before
    assert command.run("--receipt-page one.html", data=b"the fox\n") == (0, b"the fox\n", "")
    assert "2 words in 1 text" in (tmp_path / "one.html").read_text()


def test_the_later_page_and_the_json_say_what_is_proved(command: Command, tmp_path: Path) -> None:
    command.run(RELEASE)
    assert command.deniable("receipt out.csv.receipt.json -o later.html")[0] == 0
    page = (tmp_path / "later.html").read_text()
    assert "What is proved in numbers" in page
    assert "1 time in 1,000" in page
    status, out, _ = command.deniable("receipt out.csv.receipt.json --json --delta 1e-4")
    shown = json.loads(out)
    assert status == 0
    assert {row["delta"] for row in shown.pop("proved")["accounting"]} == {1e-4}
    assert shown == json.loads((tmp_path / "out.csv.receipt.json").read_text())
    status, out, _ = command.deniable("receipt out.csv.receipt.json")
    assert (status, b"1 time in 1,000" in out) == (0, True)


def test_a_page_needs_a_receipt_and_numbers_the_card_of_the_same_release(
    command: Command, tmp_path: Path
) -> None:
    command.run(RELEASE)
    (tmp_path / "out.csv.card.json").rename(tmp_path / "moved.json")
    receipt = json.loads((tmp_path / "out.csv.receipt.json").read_text())
    receipt["epsilon_per_word"] *= 2
    (tmp_path / "other.receipt.json").write_text(json.dumps(receipt))
    for given, status, named in (
        ("in.csv -o page.html", 1, b"in.csv"),
        ("absent.json -o page.html", 1, b"absent.json"),
        ("out.csv.receipt.json", 0, b"--card"),
        ("out.csv.receipt.json --card moved.json", 0, b""),
        ("other.receipt.json --card moved.json", 1, b"moved.json"),
        ("out.csv.receipt.json --no-numbers", 2, b""),
    ):
        ended, _, said = command.deniable(f"receipt {given}")
        assert (ended, named in said) == (status, True), said
    assert not (tmp_path / "page.html").exists()
