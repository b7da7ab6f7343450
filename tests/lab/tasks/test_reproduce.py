"""``deniable lab reproduce`` and its Python call on tiny data: all results, the figure and the table, and
nothing done twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from deniable import Embedding
from deniable.cli.app import app
from deniable.errors import InvalidParameter, TaskDataError
from deniable.lab.tasks import Reproduction, reproduce
from deniable.lab.tasks.reproduction import baseline_of
from deniable.lab.tasks.task import Part, Task

Command = Callable[..., Result]
QUICK = "--runs 1 --epochs 1"
ONE = f"{QUICK} --at test --texts 20"


@pytest.fixture
def command(data: Path, installed: Embedding, tmp_path: Path) -> Command:
    """Run the command on IMDb; options may come in words separated by blanks."""

    def run(options: str = "", *, status: int | None = 0) -> Result:
        typed = ["lab", "reproduce", "imdb", "--data", str(data), "--embedding", "two-kinds"]
        result = CliRunner().invoke(app, [*typed, "--work", str(tmp_path / "w"), *options.split()])
        assert status is None or result.exit_code == status, result.output
        return result

    return run


def test_what_cannot_be_is_refused_before_any_work(
    data: Path, installed: Embedding, command: Command, tmp_path: Path
) -> None:
    def run(**changed: Any) -> Reproduction:
        return reproduce(
            **{"name": "imdb", "data": data, "embedding": "two-kinds", "work": tmp_path / "w", **changed}
        )

    wrong = {"name": "none", "at": "never", "runs": 0, "epsilons": [-1.0], "after_tan": True, "texts": 0}
    for name, value in wrong.items():
        with pytest.raises(InvalidParameter):
            run(**{name: value})
    with pytest.raises(TaskDataError):
        run(data=tmp_path / "nothing")
    command(f"--data {tmp_path / 'nothing'}", status=2)
    data.write_text(data.read_text()[:500])
    assert isinstance(command(status=None).exception, TaskDataError)
    assert not (tmp_path / "w").exists()


def test_the_command_writes_everything_and_a_second_call_goes_on(
    data: Path, command: Command, tmp_path: Path
) -> None:
    first = command(f"-e 0.5 -e 50 {QUICK}")
    (folder,) = (tmp_path / "w" / "imdb").iterdir()
    names = [f"{at}-{epsilon}-run1.json" for at in ("test", "train") for epsilon in ("0.5", "50")]
    assert sorted(file.name for file in (folder / "results").iterdir()) == [*names, "unperturbed-run1.json"]
    assert all((folder / name).stat().st_size > 0 for name in ("curve.png", "curve.svg", "table.md"))
    assert first.stderr.count("new results") == 5

    kept = {file: file.read_bytes() for file in (folder / "results").iterdir()}
    lost = folder / "results" / "train-50-run1.json"
    lost.unlink()
    new: list[str] = []
    found = reproduce(
        "imdb",
        data,
        embedding="two-kinds",
        epsilons=[0.5, 50.0],
        runs=1,
        work=tmp_path / "w",
        epochs=1,
        on_result=lambda outcome: new.append(outcome.setting.name),
    )
    assert found.folder == folder
    assert "train-50-run1" in new
    assert {(point.at, point.epsilon, point.runs) for point in found.points} == {
        ("nowhere", None, 1),
        *((at, epsilon, 1) for at in ("train", "test") for epsilon in (0.5, 50.0)),
    }
    assert all(file.read_bytes() == content for file, content in kept.items() if file != lost)
    again = json.loads(lost.read_text(encoding="utf-8"))
    assert again["made_with"]["noise"].startswith("secure")
    assert again["made_with"]["model_seed"] == 1
    assert command(f"-e 0.5 -e 50 {QUICK}").stderr.count("new results") == 0


def test_another_mechanism_or_option_never_meets_what_was_kept(command: Command, tmp_path: Path) -> None:
    kept: dict[Path, bytes] = {}
    for chosen, name in (
        ("", "Multivariate"),
        ("-m vickrey", "Vickrey"),
        ("-m vickrey -O t=0.5", "Vickrey"),
        ("-m santext", "SanText"),
    ):
        result = command(f"-e 5 --results-only {ONE} {chosen}")
        assert "2 results in" in result.stdout
        assert result.stderr.count("new results") == 2
        files = {file: file.read_bytes() for file in (tmp_path / "w").rglob("*") if file.is_file()}
        assert kept.items() <= files.items()
        new = files.keys() - kept.keys()
        assert {file.name for file in new} == {"unperturbed-run1.json", "test-5-run1.json"}
        (outcome,) = (json.loads(files[file]) for file in new if file.name == "test-5-run1.json")
        written = json.dumps(outcome["mechanism"])
        assert name in written
        assert ("0.5" in written) == ("t=0.5" in chosen)
        kept = files
    again = command(f"-e 5 --results-only {ONE} -m vickrey -O t=0.75")  # the default, said
    assert again.stderr.count("new results") == 0
    wrong = command(f"-e 5 --results-only {ONE} -m vickrey -O c=1", status=None)
    assert isinstance(wrong.exception, InvalidParameter)


def test_another_mechanism_has_values_of_its_own_and_a_table(command: Command, tmp_path: Path) -> None:
    command(f"-m santext {ONE}")
    (table,) = (tmp_path / "w").rglob("table.md")
    text = table.read_text(encoding="utf-8")
    assert "Mechanism: santext." in text
    assert "exact sums" in text


ANSWERS = ["rent insurance pays rent", "life insurance", "life life life is a very long story about life"]
"""4, 2 and 10 words: 16 / 3 on average. "life" stands in two of them, "insurance" in two, "rent" in one."""


def ranked(right: list[list[int]], pools: list[list[int]], *texts: str) -> dict[str, float]:
    pytest.importorskip("bm25s")
    part = Part(texts=list(texts), answers=right, pools={3: pools})
    task = Task(name="insuranceqa", answers=ANSWERS, train=part, validation=part, test=part)
    name, scores = baseline_of(task)
    assert name == "BM25"
    return scores


def by_hand(word: str, answer: str) -> float:
    """Return Lucene's BM25 of one word with k₁ = 1.5 and b = 0.75."""
    words = answer.split()
    holding = sum(word in other.split() for other in ANSWERS)
    weight = log(1 + (3 - holding + 0.5) / (holding + 0.5))
    return weight * words.count(word) / (words.count(word) + 1.5 * (0.25 + 0.75 * len(words) / (16 / 3)))


def test_bm25_ranks_as_worked_out_by_hand() -> None:
    questions = ["life", "insurance", "rent life"]
    expected = [
        sorted(range(3), key=lambda a: -sum(by_hand(w, ANSWERS[a]) for w in q.split())) for q in questions
    ]
    assert expected == [[2, 1, 0], [1, 0, 2], [0, 2, 1]]
    # The right answers 1, 0 and 1 stand at the places 2, 2 and 3 of these rankings.
    scores = ranked([[1], [0], [1]], [[0, 1, 2]] * 3, *questions)
    assert scores["MRR@3"] == scores["MAP@3"] == pytest.approx((1 / 2 + 1 / 2 + 1 / 3) / 3)
    assert scores["top-1@3"] == 0.0


def test_an_answer_outside_the_pool_and_a_question_without_words_count_as_not_found() -> None:
    assert set(ranked([[0], [2]], [[1, 2], [0, 1]], "rent", "…").values()) == {0.0}
