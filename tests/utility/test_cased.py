"""With a cased embedding, learners read of the original what a release starts from: nothing is folded, and no
ε is blamed for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deniable import Multivariate
from deniable.cli.app import app
from deniable.embeddings import store
from deniable.measures.texts import cut_texts
from deniable.utility.accuracy import release_texts
from tests.support.made_cased import cased_rows, made_cased
from tests.support.made_texts import csv_of

HUGE = 1e6
"""An ε at which nothing changes."""


def test_nothing_has_changed_where_nothing_changes() -> None:
    embedding = made_cased()
    assert embedding.cased
    original = cut_texts(["The Bank of Paris", "the bank May be new", "New York, new york!"], embedding)
    known = [[word for word in words if word in embedding.index] for words in original.words]
    assert known == [["The", "Bank", "Paris"], ["the", "bank", "May", "new"], ["New", "York", "new", "york"]]

    texts = [text for _, text in cased_rows(40)]
    original = cut_texts(texts, embedding)
    released = release_texts(original, Multivariate(embedding, epsilon=HUGE)).texts
    assert original.words == [text.split() for text in texts]
    assert released.words == original.words
    assert released.ids.tolist() == original.ids.tolist()


def test_the_command_finds_no_loss_at_an_epsilon_where_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    store.save(made_cased(), "cased")
    csv_of(cased_rows(200), Path("a.csv"))
    options = [*"--text t --label y --embedding cased --runs 1 -e".split(), str(HUGE), "--json", "-q"]
    result = CliRunner().invoke(app, ["utility", "a.csv", *options])
    assert result.exit_code == 0, result.output
    points = json.loads(result.stdout)["points"]
    assert [point["at"] for point in points] == ["nowhere", "train", "test", "both"]
    assert all(point["scores"]["accuracy"]["mean"] == 1.0 for point in points)
    assert all(point["words_changed"] == 0.0 for point in points)
