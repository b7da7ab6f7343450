"""Results of the utility experiments of another recipe or other data are never put together."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")

from scripts.pages import read_json
from scripts.utility.results import RESULTS, experiments_of, gather

from deniable.lab.tasks.reproduction import training_settings


def some_results(count: int) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = read_json(RESULTS)
    return results[:count]


def kept(results: list[dict[str, Any]], folder: Path, name: str) -> Path:
    for number, result in enumerate(results):
        file = folder / name / "imdb" / "x" / "results" / f"{number}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(result))
    return folder / name


def test_of_two_results_alike_the_later_wins_and_another_recipe_is_refused(tmp_path: Path) -> None:
    results = some_results(3)
    newer = {**results[0], "scores": {"accuracy": 0.123}}
    older = {**results[1], "recipe": {**results[1]["recipe"], "units": 7}}
    first = kept(results[:1], tmp_path, "first")
    second = kept([newer, older, results[2]], tmp_path, "second")
    ours, _, refused = gather([first, second])
    assert refused == 1
    accuracies = {outcome["scores"]["accuracy"] for outcome in ours}
    assert accuracies == {0.123, results[2]["scores"]["accuracy"]}


def test_what_was_trained_after_tan_is_kept_apart(tmp_path: Path) -> None:
    ours, tan = (
        {**some_results(1)[0], "task": "insuranceqa", "recipe": json.loads(json.dumps(asdict(training)))}
        for training in (training_settings("insuranceqa"), training_settings("insuranceqa", after_tan=True))
    )
    assert gather([kept([ours, tan], tmp_path, "both")]) == ([ours], [tan], 0)


def test_results_of_different_data_are_not_put_together() -> None:
    first, second = some_results(2)
    with pytest.raises(ValueError, match="different ways"):
        experiments_of([first, {**second, "data": "other"}])
