from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from deniable import Embedding, Privatizer, Release
from deniable.cli.app import app
from deniable.embeddings import store
from deniable.errors import DamagedCalibration
from deniable.records import privatize_stream
from deniable.records.formats.layout import Layout
from deniable.records.formats.opening import open_source
from deniable.release import note
from deniable.release.receipt import Receipt


@pytest.mark.parametrize(
    ("spending", "warning", "epsilon"),
    [
        (["--epsilon", "40"], "at ε = 40 about", 40),
        (["--record-epsilon", "40"], "a budget of 40 per record is too large for records of up to about", 40),
        (["--record-epsilon", "40", "--epsilon", "5"], "", 5),
        (["--max-unchanged", "0.5", "--quantile", "0.95"], "", 5.5),
    ],
)
def test_spark_is_given_what_may_be_spent_and_the_user_the_same_warning(
    spending: list[str], warning: str, epsilon: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def release_files(*ends: str, release: Release, receipt_path: object, **_: object) -> Receipt:
        given.extend([release, *ends, receipt_path])
        return release.make().receipt()

    monkeypatch.setattr("deniable.integrations.spark.privatize_files", release_files)
    done = CliRunner().invoke(
        app, ["privatize", "--engine", "spark", "in.csv", "-o", "out", "--quiet", *spending]
    )
    assert done.exit_code == 0, done.output
    release, *ends, receipt = given
    assert release.make().mechanism.epsilon == epsilon
    assert (ends, receipt) == (["in.csv", "out"], None)
    assert (warning in done.stderr) if warning else (done.stderr == "")


def test_the_epsilon_of_a_calibration_is_said_unless_it_is_to_be_quiet(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("the soup was cold\n")
    call = [
        "privatize",
        str(tmp_path / "in.txt"),
        "-o",
        str(tmp_path / "out.txt"),
        "--max-unchanged",
        "0.5",
        "--quantile",
        "0.95",
    ]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    assert (
        "deniable: ε = 5.5: by the calibration of all 50,000 words, N_w, how often a word stays itself, is "
        "at most 0.5 for 95 %" in done.stderr
    )
    (tmp_path / "in.txt").write_text(
        "the bread was warm\n"
    )  # released again, the same text would be warned of
    assert CliRunner().invoke(app, [*call, "--quiet", "--force"]).stderr == ""


@pytest.mark.parametrize("again", [[], ["--force"], ["--resume"]])
def test_the_calibration_is_read_once_for_a_file(
    again: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.csv").write_text("id,text\n1,the soup was cold\n2,the bread was warm\n")
    call = [
        "privatize",
        str(tmp_path / "in.csv"),
        "-o",
        str(tmp_path / "out.csv"),
        "--column",
        "text",
        "--epsilon",
        "6",
    ]
    if again:
        assert CliRunner().invoke(app, call).exit_code == 0
    reads: list[Path] = []
    open_file = os.open

    def count(path: Any, *arguments: Any, **options: Any) -> int:
        reads.extend([Path(path)] if Path(path).name == note.FILE_NAME else [])
        return open_file(path, *arguments, **options)

    monkeypatch.setattr(os, "open", count)
    done = CliRunner().invoke(app, [*call, *again])
    assert done.exit_code == 0, done.output
    assert len(reads) == 1


def test_a_damaged_calibration_is_said_before_anything_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(Embedding(["the", "soup"], np.eye(2), name="small"), "small")
    (Path(str(Embedding.open("small").folder)) / note.FILE_NAME).write_text("{}")
    (tmp_path / "in.txt").write_text("the soup\n")
    monkeypatch.setattr(Privatizer, "many", None)
    done = CliRunner().invoke(
        app,
        [
            "privatize",
            str(tmp_path / "in.txt"),
            "-o",
            str(tmp_path / "out.txt"),
            "--embedding",
            "small",
            "--epsilon",
            "1",
        ],
    )
    assert isinstance(done.exception, DamagedCalibration)
    with pytest.raises(DamagedCalibration), open_source(tmp_path / "in.txt") as source:
        privatize_stream(
            Release(epsilon=1, embedding="small").make(), source, io.BytesIO(), Layout(format="text")
        )
    assert {path.name for path in tmp_path.iterdir()} == {"home", "in.txt"}
