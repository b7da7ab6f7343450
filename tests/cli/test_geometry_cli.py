from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from deniable import DeniableError, Embedding
from deniable.cli.app import app
from deniable.embeddings import store


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for name, dimension, shift in (("flat", 2, 0), ("deep", 5, 20), ("apart", 3, 500)):
        vectors = np.random.default_rng(dimension).standard_normal((60, dimension))
        store.save(Embedding([f"w{i + shift}" for i in range(60)], vectors), name)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["embeddings", *arguments])


def test_two_embeddings_are_measured_on_their_common_words() -> None:
    made = run("geometry", "flat", "deep", "--json", "--figures", "drawn")
    assert made.exit_code == 0, made.output
    found = json.loads(made.stdout)
    assert [each["words"] for each in found] == [40, 40]
    assert [row["neighbour"] for row in found[0]["neighbours"]] == [1, 5, 10, 20]
    assert sorted(path.name for path in Path("drawn").iterdir()) == ["geometry.png", "geometry.svg"]
    assert "percentiles over 60 words" in run("geometry", "flat").stdout


def test_averages_of_several_embeddings_are_of_the_same_words(tmp_path: Path) -> None:
    made = run(
        "compare", "flat", "deep", "--json", "-q", "--effort", "40", "--sample", "30", "--figures", "drawn"
    )
    assert made.exit_code == 0, made.output
    rows = json.loads(made.stdout)
    assert len(rows) == 2 * 12
    for name in ("flat", "deep"):
        shares = [row["unchanged"] for row in rows if row["embedding"] == name]
        assert shares == sorted(shares)
    assert (tmp_path / "drawn" / "averages.svg").exists()
    assert "S_w mean" in run("compare", "flat", "deep", "-q", "--effort", "40", "--sample", "30").stdout


def test_embeddings_without_common_words_and_single_ones_are_refused() -> None:
    nothing = run("compare", "flat", "apart", "-q")
    assert isinstance(nothing.exception, DeniableError)
    assert "no word in common" in str(nothing.exception)
    assert run("compare", "flat").exit_code == 2
    assert isinstance(run("geometry", "absent").exception, DeniableError)
