"""``--never-release`` on the command line: from the file of words to the decoded text."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InvalidParameter
from deniable.embeddings import store
from tests.support.commands import WORDS, Command, invoke

NAMES = [f"word{letter}x" for letter in "abcdefghijklmnopqrstuvwxyz"]
LISTED = NAMES[:4]
RELEASE = "privatize in.csv -c text -e 4 --embedding small"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with private texts and a list of words, and an embedding ``small``."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    words = [*NAMES, "maria"]
    store.save(Embedding(words, rng.standard_normal((len(words), 3)).astype(np.float32)), "small")
    rows = [f"{i},{' '.join(NAMES[j] for j in rng.integers(0, 10, 8))}" for i in range(150)]
    (tmp_path / "in.csv").write_text("id,text\n" + "".join(f"{row}\n" for row in rows))
    first, second, third, fourth = LISTED
    (tmp_path / "drugs.txt").write_text(f"{first} {second.upper()}\n{third}'s\n{fourth}\nnobody-knows\n")
    return tmp_path


def words_in(path: Path) -> set[str]:
    return set(path.read_text().replace(",", " ").replace('"', " ").split())


def test_a_release_its_receipt_its_card_and_what_is_decoded_by_it(place: Path) -> None:
    done = invoke(RELEASE, "-o out.csv --never-release drugs.txt --never-release names")
    assert done.exit_code == 0, done.output
    assert "never released: 5 words" in done.output
    assert not {*LISTED, "maria"} & words_in(place / "out.csv")
    card, receipt = (
        json.loads((place / f"out.csv.{kind}.json").read_text())["embedding"]["never_release"]
        for kind in ("card", "receipt")
    )
    assert card["words"] == LISTED
    assert [each["name"] for each in card["lists"]] == ["names-2"]
    assert receipt["words_left_out"] == 5
    done = invoke("decode out.csv -c text -o decoded.csv --effort 100 --quiet")
    assert done.exit_code == 0, done.output
    assert not {*LISTED, "maria"} & words_in(place / "decoded.csv")
    assert invoke("frequencies out.csv -c text --effort 100 --quiet").exit_code == 0


def test_another_list_is_another_job(place: Path) -> None:
    assert invoke("key new key").exit_code == 0
    keyed = f"{RELEASE} --key-file key --record-id id --quiet"
    assert invoke(keyed, "-o listed.csv --never-release drugs.txt").exit_code == 0
    assert invoke(keyed, "-o whole.csv").exit_code == 0
    released = (place / "listed.csv").read_bytes()
    assert released != (place / "whole.csv").read_bytes()
    again = invoke(keyed, "-o listed.csv --never-release drugs.txt --resume")
    assert again.exit_code == 0, again.output
    assert (place / "listed.csv").read_bytes() == released
    assert invoke(keyed, "-o listed.csv --resume").exception is not None


@pytest.mark.parametrize("listed", ["nowhere.txt", ".", "binary", "empty", "all"])
def test_a_list_that_cannot_be_used_is_one_clear_error(listed: str, command: Command) -> None:
    folder = command.folder
    (folder / "binary").write_bytes(b"PK\x03\x04\x00\x00words")
    (folder / "empty").write_text("\n \n")
    (folder / "all").write_text(" ".join(WORDS))
    (folder / "in.txt").write_text("the quick fox\n")
    status, out, said = command.run("in.txt -o out.txt --never-release", listed)
    assert (status, out, said.count("\n")) == (2, b"", 1)
    assert said.startswith("deniable: never_release = ")
    assert not (folder / "out.txt").exists()


def test_commands_that_look_at_words_look_at_those_that_are_left(place: Path) -> None:
    listed = "--embedding small --never-release drugs.txt"
    told = invoke("explain", NAMES[5], "-e 3 --json", listed)
    (place / "told").write_text(told.stdout)
    assert not set(LISTED) & words_in(place / "told")
    found = invoke("calibrate --max-unchanged 0.5 --effort 50 --quiet --json", listed)
    assert json.loads(found.stdout)["words"] == 23
    by_it = invoke("privatize in.csv -c text --max-unchanged 0.5 -o out.csv", listed)
    assert (by_it.exit_code, "23 words" in by_it.output) == (0, True)
    whole = invoke("privatize in.csv -c text --embedding small --max-unchanged 0.5 -o 2.csv")
    assert isinstance(whole.exception, InvalidParameter), "the whole embedding was not calibrated"
