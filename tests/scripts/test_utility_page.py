"""Results of the utility experiments of another recipe or other data are never put together."""

from __future__ import annotations

import importlib
import json
import tarfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("torch")
    return ROOT / "scripts"


def some_results(count: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        (ROOT / "docs" / "experiments" / "utility.json").read_text(encoding="utf-8")
    )
    return found[:count]


def packed(results: list[dict[str, Any]], folder: Path, name: str) -> Path:
    for number, result in enumerate(results):
        file = folder / name / "imdb" / "x" / "results" / f"{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(result))
    with tarfile.open(folder / f"{name}.tgz", "w:gz") as archive:
        archive.add(folder / name, arcname=".")
    return folder / f"{name}.tgz"


def test_of_two_results_alike_the_later_wins_and_another_recipe_is_refused(
    scripts: Path, tmp_path: Path
) -> None:
    module = importlib.import_module("scripts.utility.results")
    results = some_results(3)
    newer = {**results[0], "scores": {"accuracy": 0.123}}
    older = {**results[1], "recipe": {**results[1]["recipe"], "units": 7}}
    first, second = (
        packed(results[:1], tmp_path, "first"),
        packed([newer, older, results[2]], tmp_path, "second"),
    )
    found = module.gather([first, second])
    assert found.refused == 1
    assert sorted(outcome["scores"]["accuracy"] for outcome in found.ours) == sorted(
        [0.123, results[2]["scores"]["accuracy"]]
    )
    assert len(module.gather([tmp_path / "second"]).ours) == 2, "a folder is read like its packed form"


def test_what_was_trained_after_tan_is_kept_apart(scripts: Path, tmp_path: Path) -> None:
    from deniable.lab.tasks.data.registry import training_settings

    module = importlib.import_module("scripts.utility.results")
    ours, tan = (
        {**some_results(1)[0], "task": "insuranceqa", "recipe": json.loads(json.dumps(asdict(training)))}
        for training in (training_settings("insuranceqa"), training_settings("insuranceqa", after_tan=True))
    )
    found = module.gather([packed([ours, tan], tmp_path, "both")])
    assert (found.ours, found.after_tan, found.refused) == ([ours], [tan], 0)


def test_results_of_different_data_are_not_put_together(scripts: Path) -> None:
    module = importlib.import_module("scripts.utility.results")
    first, second = some_results(2)
    with pytest.raises(ValueError, match="different ways"):
        module.experiments_of([first, {**second, "data": "other"}])


def test_losses_are_those_of_the_same_run(scripts: Path) -> None:
    module = importlib.import_module("scripts.utility.results")

    def result(at: str, epsilon: float | None, run: int, accuracy: float) -> dict[str, Any]:
        return {"at": at, "epsilon": epsilon, "run": run, "scores": {"accuracy": accuracy}}

    outcomes = [
        result("nowhere", None, 1, 0.9),
        result("nowhere", None, 2, 0.8),
        result("train", 5.0, 2, 0.7),
        result("train", 5.0, 3, 0.1),
    ]
    experiment = module.Experiment(task="imdb", embedding={"dimension": 3}, outcomes=outcomes)
    assert experiment.losses("train", "accuracy") == {5.0: [pytest.approx(0.1)]}
