from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from deniable import Embedding, Multivariate
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.choice import protect
from deniable.embeddings import store
from deniable.release.note import quote_calibration
from tests.calibration.small import calibrated, save_small
from tests.support.commands import deniable


@pytest.fixture(autouse=True)
def small(home: Path) -> Embedding:
    return save_small(120)


def test_targets_give_the_largest_epsilon_the_worst_words_and_a_receipt_that_quotes_it() -> None:
    answer = calibrated("--max-unchanged", "0.6", "--quantile", "0.9")
    assert answer["meets_the_targets"] is True
    assert answer["worst_words"][0]["word"] == "w7"
    asked = ["--embedding", "small", "--max-unchanged", "0.6", "--quantile", "0.9"]
    made = deniable("privatize", *asked, "--json", data="w1 w2\n")
    assert made.returncode == 0, made.stderr
    receipt = json.loads(made.stderr[made.stderr.index("{") :])
    assert receipt["epsilon_per_word"] <= answer["epsilon"]
    assert receipt["calibration"]["unchanged"]["worst"] > 0.6
    for folder in ("in", "out"):
        Path(folder).mkdir()
    Path("in/a.txt").write_text("w1 w2\n")
    watched = deniable("watch", "in", "--out", "out", *asked, "--once", "--settle", "0")
    assert watched.returncode == 0, watched.stderr
    assert (
        json.loads(Path("out/a.txt.receipt.json").read_text())["epsilon_per_word"]
        == receipt["epsilon_per_word"]
    )


def test_whoever_may_read_a_shared_embedding_may_read_what_is_noted_of_it() -> None:
    before = os.umask(0o022)
    try:
        calibrated("--epsilon", "2")
        calibrated("--epsilon", "2", "--mechanism", "santext")
    finally:
        os.umask(before)
    notes = list(Path("embeddings/small").rglob("*calibration.json"))
    assert len(notes) == 2
    assert all(stat.S_IMODE(note.stat().st_mode) == 0o644 for note in notes)


@pytest.mark.parametrize(("mechanism", "epsilon"), [("multivariate", "2"), ("santext", "4")])
def test_exposed_words_are_protected_and_the_result_is_evaluated_again(mechanism: str, epsilon: str) -> None:
    options = ["--max-unchanged", "0.6", "--protect", "nearest", "--as", "safe"]
    made = calibrated(*options, "--mechanism", mechanism, "--epsilon", epsilon)["protected"]
    assert made["words_mapped"] >= 1
    assert made["exposed_words_left"] == 0
    assert made["largest_unchanged"] <= 0.6
    assert 7 in Embedding.open("safe").protected
    assert deniable("privatize", "--embedding", "safe", "--epsilon", "2", data="w7\n").stdout.strip() != ""


def test_a_protected_word_that_comes_out_itself_too_often_misses_the_target() -> None:
    # From 0, the words at -1 and 1 come out with probability e^(-ε/2)/2 = 0.39 each, and 0 itself with 0.22.
    line = Embedding(["left", "middle", "right"], np.array([[-1.0], [0.0], [1.0]]), name="line")
    store.save(protect(line, np.array([0, 2])), "line")
    command = "calibrate --embedding line --effort 2000 --json --epsilon 0.5 --max-unchanged 0.3"
    made = deniable(*command.split())
    assert made.returncode == 0, made.stderr
    answer = json.loads(made.stdout)
    assert answer["meets_the_targets"] is False
    assert answer["largest_unchanged_with_95%_confidence"] >= 0.389
    refused = deniable("privatize", "--embedding", "line", "--max-unchanged", "0.3", data="left\n")
    assert refused.returncode == 1
    assert "stay themselves more often" in refused.stderr


def test_without_targets_there_is_a_table_and_every_word_is_written(tmp_path: Path) -> None:
    command = "calibrate --embedding small --effort 50 --parquet words.parquet --csv w.csv"
    shown = deniable(*command.split())
    assert shown.returncode == 0, shown.stderr
    assert "N_w mean" in shown.stdout
    page = (tmp_path / "small-calibration.html").read_text()
    assert "How private is text released" in page
    assert not list(tmp_path.glob(".*"))
    table = pyarrow.parquet.read_table(tmp_path / "words.parquet")
    assert table.num_rows == 120 * 12
    assert {"unchanged", "unchanged_draws", "distinct", "support", "H0", "H1", "H2", "Hinf"} <= set(
        table.column_names
    )
    counted, smooth = (np.asarray(table[name]) for name in ("unchanged_draws", "unchanged"))
    assert abs(counted.mean() / 50 - smooth.mean()) < 0.05  # one draw for each of 50 rays
    assert np.corrcoef(counted, smooth)[0, 1] > 0.9
    assert (tmp_path / "w.csv").read_text().count("\n") == 120 * 12 + 1


def test_words_that_were_not_walked_have_no_spread_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("deniable.calibration.run.SAMPLED_WORDS", 30)
    asked = ["--epsilon", "2", "--epsilon", "4", "--csv", "w.csv", "--parquet"]
    answer = calibrated(*asked, "words.parquet")
    assert answer["words_walked"] == 30
    table = pyarrow.parquet.read_table(tmp_path / "words.parquet").to_pylist()
    assert len(table) == 2 * 120
    walked = [row for row in table if row["distinct"] is not None]
    assert len(walked) == 2 * 30
    assert all(
        (row["support"] is None) == (row["H1_error"] is None) == (row["distinct"] is None) for row in table
    )
    assert (tmp_path / "w.csv").read_text().count(",,") > 0
    assert "words_walked" not in calibrated("--all-walks", *asked, "all.parquet")
    every = {
        (row["word"], row["epsilon"]): row
        for row in pyarrow.parquet.read_table(tmp_path / "all.parquet").to_pylist()
    }
    assert all(
        every[row["word"], row["epsilon"]] == pytest.approx(row, abs=1e-8) for row in walked
    )  # walks end where 10⁻⁹ is left


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--max-unchanged", "1e-9"], 1, "meets the targets for every word"),
        (["--max-unchanged", "1e-9", "--quantile", "0.99"], 1, "meets the targets for 99 % of the words"),
        (["--max-unchanged", "2"], 2, "max_unchanged"),
        (["--words", "EMPTY"], 2, "no word to calibrate"),
        (["--protect", "nearest"], 2, "--as"),
        (["--effort", "0"], 2, "effort"),
        (["--report", "absent/page.html"], 1, "is not there"),
        (["--report", "."], 1, "is a folder"),
        (["--figures", "EMPTY"], 1, "EMPTY"),
    ],
)
def test_what_cannot_be_done_is_one_clear_message(arguments: list[str], code: int, says: str) -> None:
    Path("EMPTY").write_text("\n")
    failed = deniable("calibrate", "--embedding", "small", "--effort", "50", *arguments)
    assert failed.returncode == code
    assert says in failed.stderr
    assert "Traceback" not in failed.stderr


def test_receipts_quote_n_w_and_s_w_after_any_run_over_all_words_and_never_fewer_rays(tmp_path: Path) -> None:
    note = tmp_path / "embeddings" / "small" / "calibration.json"
    calibrated("--max-unchanged", "0.6", "--quantile", "0.9")
    first = json.loads(note.read_text())
    assert first["rays"] == 100
    for epsilon in (1.0, 2.2, 5.0):
        found = quote_calibration(Multivariate(Embedding.open("small"), epsilon=epsilon))
        assert found is not None
        assert found.support is not None
        assert found.words_for_support == 120
        assert found.at_epsilon <= 1.5 * epsilon  # as fine as before S_w came in
    assert (
        deniable(
            "calibrate", "--embedding", "small", "--effort", "20", "--epsilon", "2", "--json", "-q"
        ).returncode
        == 0
    )
    assert json.loads(note.read_text()) == first
    note.write_text("{")
    calibrated("--max-unchanged", "0.6", "--quantile", "0.9")
    assert json.loads(note.read_text()) == first


def test_a_damaged_cache_is_one_clear_message(tmp_path: Path) -> None:
    calibrated("--max-unchanged", "0.6", "--quantile", "0.5")
    (folder,) = (
        path
        for path in (tmp_path / "embeddings" / "small" / "calibrations").iterdir()
        if not (path / "distinct.npy").exists()
    )
    with (folder / "radii.npy").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"?")
    failed = deniable(
        "calibrate", "--embedding", "small", "--effort", "100", "--max-unchanged", "0.6", "--quantile", "0.5"
    )
    assert failed.returncode == 1
    assert "the stored calibration is damaged: remove its folder and calibrate again" in failed.stderr
    assert failed.stderr.count("\n") == 1


STOPPED = """
import os, signal
from deniable.channel.store import ColumnStore
from deniable.cli.app import main

append = ColumnStore.append

def append_and_stop(self, **rows):
    append(self, **rows)
    os.kill(os.getpid(), signal.SIGINT)

ColumnStore.append = append_and_stop
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background ignore it
main()
"""
"""The command, with a Ctrl-C after the first block of words, however busy the machine is."""


def test_a_run_stopped_by_the_keyboard_is_continued_and_gives_the_same(home: Path) -> None:
    embedding = Embedding([f"w{i}" for i in range(700)], np.random.default_rng(1).standard_normal((700, 8)))
    store.save(embedding, "larger")
    options = "calibrate --embedding larger --effort 1000 --json --max-unchanged 0.9 --epsilon 2 --sample"
    command = [*options.split(), "600"]  # three blocks of words
    folder = home / "embeddings" / "larger" / "calibrations"
    stopped = subprocess.run(
        [sys.executable, "-c", STOPPED, *command], capture_output=True, text=True, check=False
    )
    assert stopped.returncode == 130
    assert not stopped.stdout
    assert "the same command goes on from there" in stopped.stderr
    assert "Traceback" not in stopped.stderr
    (journal,) = folder.glob("*/journal.txt")
    lines = journal.read_text().splitlines()
    assert len(lines) == 1
    continued = deniable(*command)
    assert continued.returncode == 0, continued.stderr
    assert json.loads(continued.stdout)["words"] == 600
    assert journal.read_text().splitlines()[:1] == lines
    ids, radii = (np.load(journal.with_name(name)) for name in ("ids.npy", "radii.npy"))
    anew = measure_by_rays(embedding, rays=1000, ids=np.sort(ids), keep=False)
    assert np.array_equal(ids, anew.ids)
    assert np.array_equal(radii, anew.radii)
