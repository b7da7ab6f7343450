"""``--receipt-page`` and ``deniable receipt``: the page beside a release, or later from its receipt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.privatize_command import Command, make_command


@pytest.fixture
def command(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Command:
    (tmp_path / "in.csv").write_text("id,note\n1,the quick fox\n2,the fox\n")
    return make_command(tmp_path_factory.getbasetemp() / "home of receipt pages", tmp_path)


def test_the_page_of_a_release_is_the_one_made_later_from_its_receipt(
    command: Command, tmp_path: Path
) -> None:
    status, _, _ = command.run("in.csv", "-c", "note", "-o", "out.csv", "--receipt-page", "page.html")
    assert status == 0
    assert "5 words in 2 texts" in (tmp_path / "page.html").read_text()
    status, out, _ = command.deniable("receipt", "out.csv.receipt.json", "-o", "later.html", "--no-numbers")
    assert (status, b"do not hand it over" in out) == (0, True)
    assert (tmp_path / "later.html").read_bytes() == (tmp_path / "page.html").read_bytes()


def test_a_page_that_is_in_the_way_stops_before_anything_is_drawn(command: Command, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("mine")
    for page in (
        "page.html",
        "in.csv",
        "out.csv",
        "out.csv.receipt.json",
        "out.csv.journal",
        "out.csv.partial",
        "out.csv.finishing",
        "nowhere/page.html",
    ):
        status, _, said = command.run("in.csv", "-c", "note", "-o", "out.csv", "--receipt-page", page)
        assert (status, said.count("\n")) == (1, 1), said
        assert page.split("/")[0] in said
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "page.html"]
    assert (tmp_path / "page.html").read_text() == "mine"
    assert (
        command.run("in.csv", "-c", "note", "-o", "out.csv", "--receipt-page", "page.html", "--force")[0] == 0
    )


def test_a_release_that_is_finished_gets_its_page(command: Command, tmp_path: Path) -> None:
    command.run("in.csv", "-c", "note", "-o", "out.csv")
    before = (tmp_path / "out.csv").read_bytes()
    status, _, said = command.run(
        "in.csv", "-c", "note", "-o", "out.csv", "--receipt-page", "page.html", "--resume"
    )
    assert (status, "finished already" in said) == (0, True)
    assert "5 words in 2 texts" in (tmp_path / "page.html").read_text()
    assert (tmp_path / "out.csv").read_bytes() == before


def test_text_that_goes_to_standard_output_has_a_page_too(command: Command, tmp_path: Path) -> None:
    assert command.run("--receipt-page", "page.html", data=b"the fox\n") == (0, b"the fox\n", "")
    assert "2 words in 1 text" in (tmp_path / "page.html").read_text()


def test_what_is_no_receipt_gets_one_line_and_no_page(command: Command, tmp_path: Path) -> None:
    for given in ("in.csv", "absent.json"):
        status, _, said = command.deniable("receipt", given, "-o", "page.html")
        assert (status, said.count(b"\n")) == (1, 1)
    assert not (tmp_path / "page.html").exists()


def test_the_later_page_and_the_json_say_what_is_proved(command: Command, tmp_path: Path) -> None:
    command.run("in.csv", "-c", "note", "-o", "out.csv")
    assert command.deniable("receipt", "out.csv.receipt.json", "-o", "later.html")[0] == 0
    page = (tmp_path / "later.html").read_text()
    assert "What is proved in numbers" in page
    assert "1 time in 1,000" in page
    status, out, _ = command.deniable("receipt", "out.csv.receipt.json", "--json", "--delta", "1e-4")
    shown = json.loads(out)
    assert status == 0
    assert {row["delta"] for row in shown.pop("proved")["accounting"]} == {1e-4}
    assert shown == json.loads((tmp_path / "out.csv.receipt.json").read_text())
    status, out, _ = command.deniable("receipt", "out.csv.receipt.json")
    assert (status, b"1 time in 1,000" in out) == (0, True)


def test_numbers_need_the_card_of_the_same_release(command: Command, tmp_path: Path) -> None:
    command.run("in.csv", "-c", "note", "-o", "out.csv")
    card = tmp_path / "out.csv.card.json"
    card.rename(tmp_path / "moved.json")
    status, out, said = command.deniable("receipt", "out.csv.receipt.json")
    assert (status, out, b"--card" in said) == (0, b"", True)
    assert command.deniable("receipt", "out.csv.receipt.json", "--card", "moved.json")[0] == 0
    receipt = json.loads((tmp_path / "out.csv.receipt.json").read_text())
    receipt["epsilon_per_word"] *= 2
    (tmp_path / "other.receipt.json").write_text(json.dumps(receipt))
    status, _, said = command.deniable("receipt", "other.receipt.json", "--card", "moved.json")
    assert (status, b"another release" in said) == (1, True)
    assert command.deniable("receipt", "out.csv.receipt.json", "--no-numbers")[0] == 2
