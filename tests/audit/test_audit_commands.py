from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deniable.embeddings import store
from deniable.errors import DeniableError, InvalidParameter, MissingExtra, RecordError, UnusableAuditData
from tests.support.commands import invoke
from tests.support.strategies import random_embedding


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small embedding under the name tiny, and an empty folder."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(random_embedding(60, 3), "tiny", source="a test")
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def texts_file(folder: Path, *, users: int = 8, each: int = 5, column: str = "user") -> Path:
    rng = np.random.default_rng(0)
    rows = [
        f"u{user}," + " ".join(f"w{word}" for word in rng.integers(7 * user, 7 * user + 5, 6))
        for user in range(users)
        for _ in range(each)
    ]
    file = folder / "texts.csv"
    file.write_text(f"{column},text\n" + "\n".join(rows) + "\n")
    return file


def failure(*arguments: str | Path) -> BaseException:
    of_lab = str(arguments[0]).startswith(("membership", "authorship"))
    result = invoke("lab" if of_lab else "audit", *arguments)
    assert result.exit_code != 0
    assert result.exception is not None
    return result.exception


def test_bound_prints_and_saves_what_it_found(tiny: Path) -> None:
    saved = tiny / "bound.json"
    result = invoke("audit bound -e 2 --embedding tiny --draws 400 --own-draws 100 --save", saved)
    assert result.exit_code == 0, result.output
    assert "Not refuted" in result.output
    assert "A pass is not a proof" in result.output
    assert json.loads(saved.read_text())["refuted"] is False


def test_inversion_gives_json_and_a_report_of_several_results(tiny: Path) -> None:
    saved, page = tiny / "inversion.json", tiny / "page.html"
    options = "-e 0.5 -e 1e6 --embedding tiny --words-per-band 20 --effort 13 --json -q --save"
    result = invoke("audit inversion", options, saved)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["results"][1]["bayes"]["value"] == 1.0
    assert answer["largest_acceptable_epsilon"] in (0.5, None)
    assert invoke("audit report", saved, "-o", page).exit_code == 0
    assert "Can the words be guessed?" in page.read_text(encoding="utf-8")


def test_authorship_reads_a_file_of_the_user(tiny: Path) -> None:
    file = texts_file(tiny, column="author")
    result = invoke("lab authorship", file, "-e 1e6 --embedding tiny --json -q")
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["original"]["value"] == answer["released"][0]["learnt_from_original"]["value"] == 1.0


@pytest.mark.parametrize("audit", ["authorship --author-column 2", "membership --user-column 2"])
def test_how_to_read_the_file_can_be_said(tiny: Path, audit: str) -> None:
    pytest.importorskip("torch")
    file = tiny / "a.data"
    file.write_bytes("the é;one\n".encode("latin-1"))
    reading = ["--format csv", "--delimiter ';'", "--no-header", "--encoding latin-1"]
    common = "-e 1 --embedding tiny -q --column 1"
    result = invoke(f"lab {audit}", file, common, *reading)
    assert isinstance(result.exception, UnusableAuditData), "read, and found to be too little"
    for left_out in reading:
        less = [each for each in reading if each != left_out]
        result = invoke(f"lab {audit}", file, common, *less)
        assert isinstance(result.exception, InvalidParameter | RecordError)


def test_membership_reads_a_file_of_the_user(tiny: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    file = texts_file(tiny, each=3)
    options = "-e 1 --embedding tiny --min-texts 2 --shadows 1 --epochs 1 --json -q"
    result = invoke("lab membership", file, options)
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["plan"] == {"in_each": 2, "targets": 1, "shadows": 1}
    assert set(answer["protocol"]["ε = 1"]) == {"original text", "released text", "as in the paper"}


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ("membership FILE -e 1 --user-column nobody", InvalidParameter, "nobody"),
        ("membership FILE -e 1 --min-texts 50", UnusableAuditData, "0 users"),
        ("membership FILE -e 0", InvalidParameter, "epsilon"),
        ("authorship FILE -e 1 --author-column user --min-texts 50", UnusableAuditData, "0 authors"),
        ("authorship FILE -e 1", InvalidParameter, "author"),
        ("inversion -e 1 --mechanism magic", InvalidParameter, "magic"),
        ("inversion -e 1 --acceptable 7", InvalidParameter, "acceptable"),
        ("bound -e 1 --save /nowhere/at/all.json", RecordError, "not there"),
        ("report FILE -o OUT", RecordError, "not the result of an audit"),
    ],
)
def test_bad_data_and_bad_options_get_one_clear_message(
    arguments: str, error: type[DeniableError], says: str, tiny: Path
) -> None:
    given = arguments.replace("FILE", str(texts_file(tiny))).replace("OUT", str(tiny / "out.html"))
    caught = failure(given, "" if given.startswith("report") else "--embedding tiny")
    assert isinstance(caught, error), caught
    assert says in str(caught)
    assert "\n" not in str(caught)


def test_a_missing_library_is_named(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sklearn.svm", None)
    caught = failure("authorship", texts_file(tiny, column="author"), "-e 1 --embedding tiny")
    assert isinstance(caught, MissingExtra)
    assert "[utility]" in str(caught)  # scikit-learn is all it needs
    caught = failure("membership", texts_file(tiny, column="user"), "-e 1 --embedding tiny")
    assert isinstance(caught, MissingExtra)
    assert "[lab]" in str(caught)
