"""``--never-release`` on the command line: from the file of words to the decoded text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from deniable import Embedding
from deniable.cli.app import app
from deniable.embeddings import store
from tests.cli.privatize_command import WORDS, make_command

NAMES = [f"word{letter}x" for letter in "abcdefghijklmnopqrstuvwxyz"]
LISTED = NAMES[:4]


def run(*arguments: str | Path, given: str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=given)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with private texts and a list of words, and an embedding ``small``."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    store.save(
        Embedding([*NAMES, "maria"], rng.standard_normal((len(NAMES) + 1, 3)).astype(np.float32)), "small"
    )
    rows = [f"{i},{' '.join(NAMES[j] for j in rng.integers(0, 10, 8))}" for i in range(150)]
    (tmp_path / "in.csv").write_text("id,text\n" + "".join(f"{row}\n" for row in rows))
    (tmp_path / "drugs.txt").write_text(
        f"{LISTED[0]} {LISTED[1].upper()}\n{LISTED[2]}'s\n{LISTED[3]}\nnobody-knows\n"
    )
    return tmp_path


RELEASE = ["-c", "text", "-e", "4", "--embedding", "small"]


def test_a_release_its_receipt_its_card_and_what_is_decoded_by_it(place: Path) -> None:
    done = run(
        "privatize",
        "in.csv",
        "-o",
        "out.csv",
        *RELEASE,
        "--never-release",
        "drugs.txt",
        "--never-release",
        "names",
    )
    assert done.exit_code == 0, done.output
    assert "never released: 5 words of the vocabulary, by a public list of" in done.output
    released = (place / "out.csv").read_text()
    assert not {*LISTED, "maria"} & set(released.replace(",", " ").split())
    card, receipt = (json.loads((place / f"out.csv.{kind}.json").read_text()) for kind in ("card", "receipt"))
    assert card["embedding"]["never_release"]["words"] == LISTED
    assert [each["name"] for each in card["embedding"]["never_release"]["lists"]] == ["names-2"]
    assert receipt["embedding"]["never_release"]["words_left_out"] == 5
    done = run("decode", "out.csv", "-c", "text", "-o", "decoded.csv", "--effort", "100", "--quiet")
    assert done.exit_code == 0, done.output
    assert not {*LISTED, "maria"} & set((place / "decoded.csv").read_text().replace(",", " ").split())
    done = run("frequencies", "out.csv", "-c", "text", "--effort", "100", "--quiet")
    assert done.exit_code == 0, done.output


def test_another_list_is_another_job(place: Path) -> None:
    options = ["--key-file", "key", "--record-id", "id", "--quiet"]
    assert run("key", "new", "key").exit_code == 0
    for number, listed in enumerate((["--never-release", "drugs.txt"], [])):
        assert run("privatize", "in.csv", "-o", f"{number}.csv", *RELEASE, *options, *listed).exit_code == 0
    assert (place / "0.csv").read_text() != (place / "1.csv").read_text()
    again = run(
        "privatize", "in.csv", "-o", "0.csv", *RELEASE, *options, "--never-release", "drugs.txt", "--resume"
    )
    assert again.exit_code == 0, again.output
    assert all(
        line.startswith("deniable: warning: 39 % of the words") for line in again.output.splitlines()
    ), "what is finished is not drawn again"


@pytest.mark.parametrize(
    ("listed", "problem"),
    [
        ("nowhere.txt", "No such file"),
        (".", "Is a directory"),
        ("binary", "control characters"),
        ("empty", "holds no word"),
        ("all", "every one of the 104 words"),
    ],
)
def test_a_list_that_cannot_be_used_is_one_clear_error(listed: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"PK\x03\x04\x00\x00words")
    (tmp_path / "empty").write_text("\n \n")
    (tmp_path / "all").write_text(" ".join(WORDS))
    (tmp_path / "in.txt").write_text("the quick fox\n")
    status, out, said = make_command(tmp_path / "home", tmp_path).run(
        "in.txt", "-o", "out.txt", "--never-release", listed
    )
    assert (status, out) == (2, b"")
    assert problem in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out.txt").exists()


def test_commands_that_look_at_words_look_at_those_that_are_left(place: Path) -> None:
    listed = ["--embedding", "small", "--never-release", "drugs.txt"]
    told = run("explain", NAMES[5], "-e", "3", *listed, "--json")
    assert told.exit_code == 0, told.output
    assert not set(LISTED) & set(told.stdout.replace('"', " ").split())
    found = run("calibrate", *listed, "--max-unchanged", "0.5", "--effort", "50", "--quiet", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["words"] == 23
    by_it = run("privatize", "in.csv", "-c", "text", *listed, "--max-unchanged", "0.5", "-o", "out.csv")
    assert by_it.exit_code == 0, by_it.output
    assert "by the calibration of all 23 words" in by_it.output
    refused = run(
        "privatize", "in.csv", "-c", "text", "--embedding", "small", "--max-unchanged", "0.5", "-o", "2.csv"
    )
    assert "is not calibrated" in str(refused.exception), "the whole embedding was not"
