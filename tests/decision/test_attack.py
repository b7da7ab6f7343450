"""A private file and its card are enough to attack a release; no public text is needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from deniable import InvalidParameter, Release
from deniable.decision import rehearsal
from deniable.decision.attack import attack_file
from deniable.embeddings import store
from tests.audit.test_audit_commands import texts_file
from tests.support.commands import invoke
from tests.support.strategies import random_embedding


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of 24 people with five texts each, in words of a small embedding."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(random_embedding(200, 3), "tiny", source="a test")
    return texts_file(tmp_path, users=24)


def test_a_table_and_its_card_are_attacked_as_the_plan_would_be(private: Path) -> None:
    planned = ["--column", "text", "--embedding", "tiny", "-e", "40"]
    out = private.with_name("out.csv")
    assert invoke("privatize", private, *planned, "--drop", "user", "-q", "-o", out).exit_code == 0
    card = out.with_name("out.csv.card.json")
    by_card = invoke("audit release", private, "--card", card, "--person", "user", "--json")
    by_plan = invoke("audit release", private, *planned, "--json")
    assert (by_card.exit_code, by_plan.exit_code) == (0, 0)
    people, records = json.loads(by_card.stdout)["linked"], json.loads(by_plan.stdout)["linked"]
    assert (people["candidates"], records["candidates"]) == (24, 120)
    assert people["low"] <= people["first"] <= people["high"]
    assert people["first"] > 10 * people["blind"]  # at this ε the text is nearly the original
    readers = {each["reader"] for each in json.loads(by_plan.stdout)["attacks"]}
    assert {"word by word", "in context"} <= readers


def test_work_and_page_are_bounded_inside_one_text(
    private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "ATTACKED_WORDS", 500)
    monkeypatch.setattr(rehearsal, "LONGEST_SAMPLE", 100)
    words = [line.partition(",")[2] for line in private.read_text().splitlines()[1:]]
    source = tmp_path / "long.txt"
    source.write_text("\n".join([" ".join(words * 40), *words]) + "\n")
    found = attack_file(source, Release(epsilon=5.0, embedding="tiny").make().card)
    assert found.words > 10_000
    assert 500 < found.attacked_words <= 1_000
    assert max(len(before) for before, _ in found.samples) == 100


def test_strong_noise_links_nobody(private: Path) -> None:
    found = invoke("audit release", private, "-c", "text", "--embedding", "tiny", "-e", "0.01", "--json")
    linked = json.loads(found.stdout)["linked"]
    assert linked["low"] <= 3 * linked["blind"]


def test_the_tables_are_printed_without_a_word_of_the_text(private: Path) -> None:
    found = invoke("audit release", private, "-c", "text", "--embedding", "tiny", "-e", "0.5", "-q")
    assert found.exit_code == 0
    assert "guessing" in found.stdout
    assert "u3," not in found.stdout


@pytest.mark.parametrize("given", [[], ["-e", "2", "--card", "x.json"]])
def test_a_card_or_an_epsilon_is_needed(private: Path, given: list[str]) -> None:
    assert invoke("audit release", private, "-c", "text", *given).exit_code == 2


def test_a_column_that_is_not_there_is_refused(private: Path) -> None:
    found = invoke("audit release", private, "-c", "tekst", "--embedding", "tiny", "-e", "2")
    assert isinstance(found.exception, InvalidParameter | typer.BadParameter)
