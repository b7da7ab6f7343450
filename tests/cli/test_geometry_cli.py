from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deniable import DeniableError, Embedding
from deniable.embeddings import store
from tests.support.commands import invoke


@pytest.fixture(autouse=True)
def _three_embeddings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    for name, dimension, shift in (("flat", 2, 0), ("deep", 5, 20), ("apart", 3, 500)):
        vectors = np.random.default_rng(dimension).standard_normal((60, dimension))
        store.save(Embedding([f"w{i + shift}" for i in range(60)], vectors), name)


def test_two_embeddings_are_measured_on_their_common_words() -> None:
    found = json.loads(invoke("embeddings geometry flat deep --json --figures drawn").stdout)
    assert [each["words"] for each in found] == [40, 40]
    assert [row["neighbour"] for row in found[0]["neighbours"]] == [1, 5, 10, 20]
    assert sorted(path.name for path in Path("drawn").iterdir()) == ["geometry.png", "geometry.svg"]
    assert "60 words" in invoke("embeddings geometry flat").stdout


def test_averages_of_several_embeddings_are_of_the_same_words() -> None:
    compare = "embeddings compare flat deep -q --effort 40 --sample 30"
    rows = json.loads(invoke(compare, "--json --figures drawn").stdout)
    assert len(rows) == 2 * 12
    for name in ("flat", "deep"):
        shares = [row["unchanged"] for row in rows if row["embedding"] == name]
        assert shares == sorted(shares)
    assert Path("drawn", "averages.svg").exists()
    assert "S_w mean" in invoke(compare).stdout


def test_embeddings_without_common_words_and_single_ones_are_refused() -> None:
    for arguments in ("compare flat apart -q", "geometry absent"):
        assert isinstance(invoke("embeddings", arguments).exception, DeniableError)
    assert invoke("embeddings compare flat").exit_code == 2
