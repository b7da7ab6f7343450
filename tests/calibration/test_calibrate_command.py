from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest

from deniable import Embedding
from deniable.embeddings import store


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    vectors = np.random.default_rng(0).standard_normal((120, 4))
    vectors[7] = 40.0
    store.save(Embedding([f"w{i}" for i in range(120)], vectors), "small")
    return tmp_path


def run(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deniable", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, input=text)


def calibrated(*arguments: str) -> dict[str, Any]:
    made = run("calibrate", "--embedding", "small", "--rays", "100", "--json", *arguments)
    assert made.returncode == 0, made.stderr
    answer: dict[str, Any] = json.loads(made.stdout)
    return answer


def test_targets_give_the_largest_epsilon_the_worst_words_and_a_receipt_that_quotes_it() -> None:
    answer = calibrated("--max-unchanged", "0.6", "--quantile", "0.9")
    assert answer["meets_the_targets"] is True
    assert answer["worst_words"][0]["word"] == "w7"
    made = run("privatize", "--embedding", "small", "--max-unchanged", "0.6", "--quantile", "0.9", "--json", text="w1 w2\n")
    assert made.returncode == 0, made.stderr
    receipt = json.loads(made.stderr[made.stderr.index("{") :])
    assert receipt["epsilon_per_word"] <= answer["epsilon"]
    assert receipt["calibration"]["unchanged"]["worst"] > 0.6


def test_exposed_words_are_protected_and_the_result_is_evaluated_again() -> None:
    answer = calibrated("--max-unchanged", "0.6", "--epsilon", "2", "--protect", "nearest", "--as", "safe")
    made = answer["protected"]
    assert isinstance(made, dict)
    assert made["words_mapped"] >= 1
    assert made["exposed_words_left"] == 0
    assert made["largest_unchanged"] <= 0.6
    assert 7 in Embedding.open("safe").protected
    assert run("privatize", "--embedding", "safe", "--epsilon", "2", text="w7\n").stdout.strip() != ""


def test_without_an_epsilon_protection_finds_the_one_at_which_few_words_need_it() -> None:
    alone = calibrated("--max-unchanged", "0.6")["epsilon"]
    answer = calibrated("--max-unchanged", "0.6", "--protect", "nearest", "--most-protected", "0.05", "--as", "safe")
    made = answer["protected"]
    assert answer["epsilon"] > alone  # the isolated word no longer decides
    assert 1 <= made["words_mapped"] <= 6
    assert made["exposed_words_left"] == 0
    assert made["largest_unchanged"] <= 0.6


def test_without_targets_there_is_a_table_and_every_word_is_written(tmp_path: Path) -> None:
    shown = run(
        "calibrate", "--embedding", "small", "--rays", "50", "--parquet", str(tmp_path / "words.parquet"), "--csv", str(tmp_path / "w.csv")
    )
    assert shown.returncode == 0, shown.stderr
    assert "N_w mean" in shown.stdout
    page = (tmp_path / "small-calibration.html").read_text()
    assert "How private is text released" in page
    assert not list(tmp_path.glob("*.partial"))
    table = pyarrow.parquet.read_table(tmp_path / "words.parquet")
    assert table.num_rows == 120 * 12
    assert {"unchanged", "distinct", "support", "H0", "H1", "H2", "Hinf"} <= set(table.column_names)
    assert (tmp_path / "w.csv").read_text().count("\n") == 120 * 12 + 1


def test_a_list_of_words_and_a_sample_are_quick_looks(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("w3\nw4\nabsent\n")
    assert calibrated("--words", str(tmp_path / "list.txt"), "--epsilon", "3")["words"] == 2
    assert calibrated("--sample", "10", "--epsilon", "3")["words"] == 10
    assert not (tmp_path / "embeddings" / "small" / "calibration.json").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--max-unchanged", "1e-9"], 1, "no ε"),
        (["--max-unchanged", "2"], 2, "max_unchanged"),
        (["--embedding", "absent"], 2, "absent"),
        (["--words", "EMPTY"], 2, "no word to calibrate"),
        (["--protect", "nearest"], 2, "--as"),
        (["--epsilon", "0"], 2, "epsilon"),
        (["--rays", "0"], 2, "rays"),
        (["--report", "absent/page.html"], 1, "is not there"),
        (["--report", "."], 1, "is a folder"),
        (["--csv", "absent/words.csv"], 1, "is not there"),
        (["--figures", "EMPTY"], 1, "EMPTY"),
        (["--word", "absent"], 2, "is not a word of the embedding"),
    ],
)
def test_what_cannot_be_done_is_one_clear_message(tmp_path: Path, arguments: list[str], code: int, says: str) -> None:
    (tmp_path / "EMPTY").write_text("\n")
    arguments = [str(tmp_path / "EMPTY") if a == "EMPTY" else a for a in arguments]
    failed = run("calibrate", "--embedding", "small", "--rays", "50", *arguments)
    assert failed.returncode == code
    assert says in failed.stderr
    assert "Traceback" not in failed.stderr


def test_an_embedding_without_calibration_says_what_to_run() -> None:
    failed = run("privatize", "--embedding", "small", "--max-unchanged", "0.5", text="w1\n")
    assert failed.returncode == 2
    assert "deniable calibrate --embedding small" in failed.stderr


def test_targets_and_a_page_with_its_figures(tmp_path: Path) -> None:
    arguments = ["--max-unchanged", "0.6", "--quantile", "0.9", "--report", "page.html", "--figures", "figures", "--word", "w1"]
    answer = calibrated(*arguments, "--example", "w1 w2 w3")
    assert answer["report"] == "page.html"
    page = (tmp_path / "page.html").read_text()
    assert f"At ε = {answer['epsilon']:g} the target is met" in page
    names = {f"{name}.{ending}" for name in ("unchanged", "support", "histograms", "geometry") for ending in ("png", "svg")}
    assert {path.name for path in (tmp_path / "figures").iterdir()} == names


def test_json_without_targets_writes_no_page_unless_asked(tmp_path: Path) -> None:
    assert "report" not in calibrated("--epsilon", "2")
    assert not list(tmp_path.glob("*.html"))


def test_a_damaged_cache_is_one_clear_message(tmp_path: Path) -> None:
    calibrated("--max-unchanged", "0.6", "--quantile", "0.5")
    (folder,) = (tmp_path / "embeddings" / "small" / "calibrations").iterdir()
    with (folder / "radii.npy").open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"?")
    failed = run("calibrate", "--embedding", "small", "--rays", "100", "--max-unchanged", "0.6", "--quantile", "0.5")
    assert failed.returncode == 1
    assert "the stored calibration is damaged: remove its folder and calibrate again" in failed.stderr
    assert failed.stderr.count("\n") == 1


def test_a_run_stopped_by_the_keyboard_is_continued_and_gives_the_same(home: Path) -> None:
    vectors = np.random.default_rng(1).standard_normal((2000, 8))
    store.save(Embedding([f"w{i}" for i in range(2000)], vectors), "larger")
    command = [sys.executable, "-m", "deniable", "calibrate", "--embedding", "larger", "--rays", "1000", "--json", "--quiet"]
    command += ["--max-unchanged", "0.9", "--quantile", "0.5"]
    folder = home / "embeddings" / "larger" / "calibrations"
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    while not any(journal.stat().st_size for journal in folder.glob("*/journal.txt")) and time.monotonic() < until:
        time.sleep(0.005)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert running.returncode not in (0, None)
    assert not out
    assert "Traceback" not in err
    (journal,) = folder.glob("*/journal.txt")
    lines = journal.read_text().splitlines()
    assert 0 < len(lines) < 8
    continued = subprocess.run(command, capture_output=True, text=True, check=True)
    assert journal.read_text().splitlines()[: len(lines)] == lines
    shutil.rmtree(folder)
    anew = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(continued.stdout) == json.loads(anew.stdout)


@pytest.mark.parametrize(("name", "method"), [("santext", "exact"), ("randomized-response", "exact"), ("gaussian", "rays")])
def test_another_mechanism_is_calibrated_and_then_used_to_release(name: str, method: str) -> None:
    asked = ["--max-unchanged", "0.6", "--quantile", "0.9"]
    chosen = ["--mechanism", name]
    refused = run("privatize", "--embedding", "small", *chosen, *asked, text="w1 w2\n")
    assert refused.returncode == 2
    assert "is not calibrated for" in refused.stderr
    answer = calibrated(*chosen, *asked)
    assert (answer["mechanism"], answer["method"], answer["meets_the_targets"]) == (name, method, True)
    made = run("privatize", "--embedding", "small", *chosen, *asked, "--json", text="w1 w2\n")
    assert made.returncode == 0, made.stderr
    receipt = json.loads(made.stderr[made.stderr.index("{") :])
    assert 0.8 * answer["epsilon"] < receipt["epsilon_per_word"] <= answer["epsilon"]
    assert receipt["calibration"]["words"] == 120


def test_a_calibration_with_other_options_is_not_used() -> None:
    calibrated("--mechanism", "tem", "--epsilon", "1", "--epsilon", "3")
    asked = ["privatize", "--embedding", "small", "--mechanism", "tem", "--max-unchanged", "0.9", "--quantile", "0.9"]
    assert run(*asked, text="w1\n").returncode == 0
    other = run(*asked, "--mechanism-option", "beta=0.01", text="w1\n")
    assert other.returncode == 2
    assert "beta = 0.01" in other.stderr
    plain = run("privatize", "--embedding", "small", "--max-unchanged", "0.9", text="w1\n")
    assert "is not calibrated" in plain.stderr


def test_the_page_says_how_it_was_measured_and_what_is_promised(home: Path) -> None:
    page = home / "page.html"
    command = ("--mechanism", "vickrey", "-O", "t=0.5", "--sample", "20", "-e", "1", "-e", "6", "-e", "30", "--report", str(page))
    answer = calibrated(*command)
    assert answer["parameters"] == {"t": 0.5, "noise": "multivariate"}
    assert (answer["method"], len(answer["table"])) == ("simulation", 3)
    text = page.read_text(encoding="utf-8")
    assert "vickrey (t = 0.5, noise = multivariate)" in text
    assert "the mechanism itself drew 100 times" in text
    calibrated("--mechanism", "custext", "-O", "k=5", "--report", str(page))
    text = page.read_text(encoding="utf-8")
    assert "Nothing was drawn" in text
    assert "Exposed: the cell of every word" in text
    assert "d_χ" not in text


def test_exposed_words_are_protected_under_another_mechanism() -> None:
    answer = calibrated("--mechanism", "santext", "--max-unchanged", "0.6", "--epsilon", "4", "--protect", "nearest", "--as", "safe")
    made = answer["protected"]
    assert made["words_mapped"] >= 1
    assert made["exposed_words_left"] == 0
    assert made["largest_unchanged"] <= 0.6


@pytest.mark.parametrize("wrong", [["--mechanism", "none"], ["--mechanism", "vickrey", "-O", "t=2"], ["-O", "t=0.5"]])
def test_a_mechanism_that_cannot_be_is_one_line(wrong: list[str]) -> None:
    made = run("calibrate", "--embedding", "small", *wrong)
    assert made.returncode == 2
    assert len(made.stderr.strip().splitlines()) == 1
