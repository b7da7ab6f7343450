from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from deniable.cli.embeddings import app
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.places import BUILT_IN
from deniable.embeddings.store import store_folder
from deniable.errors import EmbeddingExists, EmbeddingNotFound, InvalidParameter, MalformedEmbedding
from tests.support.commands import typed


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of vectors, and an empty store."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.txt").write_bytes(b"the 1 2\nof 3 4\nand 5 6\n")
    return tmp_path / "v.txt"


def run(arguments: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(app, typed(arguments), input=answer)


def facts(arguments: str) -> Any:
    result = run(f"{arguments} --json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_add_show_list_remove() -> None:
    added = facts("add v.txt --name small --licence CC0")
    assert (added["name"], added["words"], added["dimension"], added["licence"]) == ("small", 3, 2, "CC0")
    assert facts("show small") == added
    assert facts("show small --verify") == added | {"verified": True}
    assert [entry["name"] for entry in facts("list")] == [*BUILT_IN, "small"]
    assert run("remove small", answer="n\n").exit_code == 1
    assert facts("show small")["words"] == 3
    assert run("remove small", answer="y\n").exit_code == 0
    facts("add v.txt --name small")
    assert facts("remove small --yes") == {"removed": "small"}
    assert [entry["name"] for entry in facts("list")] == list(BUILT_IN)


def test_plain_output_names_what_counts() -> None:
    assert "words:               3" in run("add v.txt --name small").stdout
    listed = run("list").stdout
    assert all(word in listed for word in ("default", "built in", "small"))
    assert "50,000" in run("show default").stdout


def test_first_and_duplicates_are_passed_on(file: Path) -> None:
    file.write_bytes(b"a 1 2\na 3 4\nb 5 6\nc 7 8\n")
    assert isinstance(run("add v.txt --name x").exception, MalformedEmbedding)
    added = facts("add v.txt --name x --duplicates first --first 2 --format glove")
    assert (added["words"], added["repeated"]) == (2, 1)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("add v.txt --name ../x", InvalidParameter),
        ("add v.txt --name x --format what", InvalidParameter),
        ("add v.txt --name x --duplicates last", InvalidParameter),
        ("add nowhere.txt --name x", InvalidParameter),
        ("add v.txt --name taken", EmbeddingExists),
        ("restrict taken --as taken --first 1", EmbeddingExists),
        ("restrict taken --as new", InvalidParameter),
        ("show none", EmbeddingNotFound),
        ("remove none --yes", EmbeddingNotFound),
        ("remove default --yes", InvalidParameter),
    ],
)
def test_errors_reach_the_main_wrapper(arguments: str, error: type[Exception]) -> None:
    facts("add v.txt --name taken")
    assert isinstance(run(arguments).exception, error)
    assert [entry.name for entry in store_folder().iterdir() if entry.name != ".lock"] == ["taken"]


def test_restrict_counts_absent_words() -> None:
    facts("add v.txt --name small")
    Path("keep.txt").write_text("of\nand\nzzz\n")
    Path("exclude.txt").write_text("and\n")
    lists = "--keep keep.txt --exclude exclude.txt --common default"
    made = facts(f"restrict small --as less {lists} --first 5")
    assert (made["words"], made["absent_from_keep"], made["absent_from_exclude"]) == (1, 1, 0)
    assert made["source"].startswith("restricted from small (")
    assert list(Embedding.open("less").words) == ["of"]


def test_damaged_embeddings_are_listed_as_such() -> None:
    facts("add v.txt --name broken")
    (store_folder() / "broken" / "meta.json").write_text("{")
    assert "problem" in facts("list")[-1]
    assert "damaged" in run("list").stdout
    assert "problem" in facts("show broken")
