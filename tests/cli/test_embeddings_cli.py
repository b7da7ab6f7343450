from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from deniable.cli.embeddings import app
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.store import store_folder
from deniable.errors import EmbeddingExists, EmbeddingNotFound, InvalidParameter, MalformedEmbedding


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "v.txt"
    path.write_bytes(b"the 1 2\nof 3 4\nand 5 6\n")
    return str(path)


def run(*arguments: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(app, arguments, input=answer)


def facts(*arguments: str) -> Any:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_add_show_list_remove(file: str) -> None:
    added = facts("add", file, "--name", "small", "--licence", "CC0")
    assert (added["name"], added["words"], added["dimension"], added["licence"]) == ("small", 3, 2, "CC0")
    assert facts("show", "small") == added
    assert facts("show", "small", "--verify") == added | {"verified": True}
    assert [entry["name"] for entry in facts("list")] == ["default", "small"]
    assert facts("remove", "small", "--yes") == {"removed": "small"}
    assert [entry["name"] for entry in facts("list")] == ["default"]


def test_plain_output_names_what_counts(file: str) -> None:
    shown = run("add", file, "--name", "small").stdout
    assert "words:               3" in shown
    listed = run("list").stdout
    assert "default" in listed
    assert "built in" in listed
    assert "small" in listed
    assert "50,000" in run("show", "default").stdout


def test_first_and_duplicates_are_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(b"a 1 2\na 3 4\nb 5 6\nc 7 8\n")
    refused = run("add", str(path), "--name", "x")
    assert isinstance(refused.exception, MalformedEmbedding)
    added = facts(
        "add", str(path), "--name", "x", "--duplicates", "first", "--first", "2", "--format", "glove"
    )
    assert (added["words"], added["repeated"]) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["add", "FILE", "--name", "../x"], InvalidParameter),
        (["add", "FILE", "--name", "x", "--format", "what"], InvalidParameter),
        (["add", "FILE", "--name", "x", "--duplicates", "last"], InvalidParameter),
        (["add", "nowhere.txt", "--name", "x"], InvalidParameter),
        (["add", "FILE", "--name", "taken"], EmbeddingExists),
        (["restrict", "taken", "--as", "taken", "--first", "1"], EmbeddingExists),
        (["restrict", "taken", "--as", "new"], InvalidParameter),
        (["show", "none"], EmbeddingNotFound),
        (["remove", "none", "--yes"], EmbeddingNotFound),
        (["remove", "default", "--yes"], InvalidParameter),
    ],
)
def test_errors_reach_the_main_wrapper(file: str, arguments: list[str], error: type[Exception]) -> None:
    facts("add", file, "--name", "taken")
    result = run(*(file if argument == "FILE" else argument for argument in arguments))
    assert isinstance(result.exception, error)
    assert [entry.name for entry in store_folder().iterdir() if entry.name != ".lock"] == ["taken"]


def test_remove_asks_first(file: str) -> None:
    facts("add", file, "--name", "small")
    assert run("remove", "small", answer="n\n").exit_code == 1
    assert facts("show", "small")["words"] == 3
    assert run("remove", "small", answer="y\n").exit_code == 0
    assert len(facts("list")) == 1


def test_restrict_counts_absent_words(file: str, tmp_path: Path) -> None:
    facts("add", file, "--name", "small")
    keep, exclude = tmp_path / "keep.txt", tmp_path / "exclude.txt"
    keep.write_text("of\nand\nzzz\n")
    exclude.write_text("and\n")
    made = facts(
        "restrict",
        "small",
        "--as",
        "less",
        "--keep",
        str(keep),
        "--exclude",
        str(exclude),
        "--common",
        "default",
        "--first",
        "5",
    )
    assert (made["words"], made["absent_from_keep"], made["absent_from_exclude"]) == (1, 1, 0)
    assert made["source"].startswith("restricted from small (")
    assert list(Embedding.open("less").words) == ["of"]


def test_damaged_embeddings_are_listed_as_such(file: str) -> None:
    facts("add", file, "--name", "broken")
    (store_folder() / "broken" / "meta.json").write_text("{")
    assert "problem" in facts("list")[1]
    assert "damaged" in run("list").stdout
    assert "problem" in facts("show", "broken")
