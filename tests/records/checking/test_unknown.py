"""A release warns its owner of words that the embedding does not know; nothing that leaves depends on it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deniable.cli.app import app
from tests.support.commands import deniable

KNOWN = "the doctor said that the train was late again and we waited for an hour\n"
RUSSIAN = "доктор сказал что поезд опять опоздал и мы долго ждали его вечером\n"


def released(source: Path, *options: str) -> Result:
    target = source.with_name(f"out{source.suffix}")
    done = CliRunner().invoke(
        app, ["privatize", str(source), "-e", "6", "-o", str(target), "--quiet", "--force", *options]
    )
    assert done.exit_code == 0, done.output
    return done


def test_many_unknown_words_are_said_once_with_their_script(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(RUSSIAN * 20)
    said = released(tmp_path / "in.txt").stderr
    assert said.count("warning") == 1
    assert "of the words of the text are unknown to the embedding" in said
    assert "(most of them are Cyrillic, and its words are not)" in said


def test_each_column_is_judged_by_itself(tmp_path: Path) -> None:
    rows = [{"a": KNOWN, "b": [RUSSIAN], "c": RUSSIAN}] * 20
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = released(tmp_path / "in.jsonl", "-c", "a", "-c", "b[]", "--keep", "c").stderr
    assert said.count("warning") == 1
    assert "in the column b[]" in said


@pytest.mark.parametrize("text", [KNOWN * 20, "доктор сказал\n"])
def test_known_words_or_too_few_to_judge_say_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "in.txt").write_text(text)
    assert "unknown" not in released(tmp_path / "in.txt").stderr


def test_the_card_and_the_receipt_say_nothing_of_it(tmp_path: Path) -> None:
    cards = []
    for text in (KNOWN * 20, RUSSIAN * 20):
        (tmp_path / "in.txt").write_text(text)
        released(tmp_path / "in.txt")
        cards.append((tmp_path / "out.txt.card.json").read_bytes())
        assert "Cyrillic" not in (tmp_path / "out.txt.receipt.json").read_text()
    assert cards[0] == cards[1]


@pytest.mark.parametrize("output", [[], ["-o", "out.txt"]])
def test_a_stream_is_judged_when_it_is_over(tmp_path: Path, output: list[str]) -> None:
    for text, warnings in ((RUSSIAN * 20, 1), (KNOWN * 20, 0)):
        done = deniable("privatize", "-e", "6", "--quiet", "--force", *output, data=text, folder=tmp_path)
        assert done.returncode == 0
        assert done.stderr.count("of the words of the text are unknown") == warnings
