from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable import Embedding, Privatizer, Release
from deniable.embeddings import store
from deniable.errors import DamagedCalibration
from deniable.records import privatize_stream
from deniable.records.formats.layout import Layout
from deniable.records.formats.opening import open_source
from deniable.release import note
from deniable.release.receipt import Receipt
from tests.support.commands import invoke


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("spending", "warning", "epsilon"),
    [
        ("--epsilon 40", "at ε = 40 about", 40),
        ("--record-epsilon 40", "a budget of 40 per record", 40),
        ("--record-epsilon 40 --epsilon 5", "", 5),
        ("--max-unchanged 0.5 --quantile 0.95", "", 5.5),
    ],
)
def test_spark_is_given_what_may_be_spent_and_the_user_the_same_warning(
    spending: str, warning: str, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def release_files(*ends: str, release: Release, receipt_path: object, **_: object) -> Receipt:
        given.extend([release, ends, receipt_path])
        return release.make().receipt()

    monkeypatch.setattr("deniable.integrations.spark.privatize_files", release_files)
    done = invoke("privatize --engine spark in.csv -o out --quiet", spending)
    assert done.exit_code == 0, done.output
    release, ends, receipt = given
    assert release.make().mechanism.epsilon == epsilon
    assert (ends, receipt) == (("in.csv", "out"), None)
    assert (warning in done.stderr) if warning else (done.stderr == "")


def test_the_epsilon_of_a_calibration_is_said_unless_it_is_to_be_quiet() -> None:
    call = "privatize in.txt -o out.txt --max-unchanged 0.5 --quantile 0.95"
    Path("in.txt").write_text("the soup was cold\n")
    said = invoke(call).stderr
    assert "ε = 5.5: " in said
    assert "50,000 words" in said
    Path("in.txt").write_text("the bread was warm\n")  # released again, the same text would be warned of
    assert invoke(call, "--quiet --force").stderr == ""


@pytest.mark.parametrize("again", ["", "--force", "--resume"])
def test_the_calibration_is_read_once_for_a_file(again: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("in.csv").write_text("id,text\n1,the soup was cold\n2,the bread was warm\n")
    call = "privatize in.csv -o out.csv --column text --epsilon 6"
    if again:
        assert invoke(call).exit_code == 0
    reads: list[Path] = []
    open_file = os.open

    def count(path: Any, *arguments: Any, **options: Any) -> int:
        reads.extend([Path(path)] if Path(path).name == note.FILE_NAME else [])
        return open_file(path, *arguments, **options)

    monkeypatch.setattr(os, "open", count)
    done = invoke(call, again)
    assert (done.exit_code, len(reads)) == (0, 1), done.output


def test_a_damaged_calibration_is_said_before_anything_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(Embedding(["the", "soup"], np.eye(2), name="small"), "small")
    (Path(str(Embedding.open("small").folder)) / note.FILE_NAME).write_text("{}")
    Path("in.txt").write_text("the soup\n")
    monkeypatch.setattr(Privatizer, "many", None)
    done = invoke("privatize in.txt -o out.txt --embedding small --epsilon 1")
    assert isinstance(done.exception, DamagedCalibration)
    private = Release(epsilon=1, embedding="small").make()
    with pytest.raises(DamagedCalibration), open_source(Path("in.txt")) as source:
        privatize_stream(private, source, io.BytesIO(), Layout(format="text"))
    assert {path.name for path in tmp_path.iterdir()} == {"home", "in.txt"}
