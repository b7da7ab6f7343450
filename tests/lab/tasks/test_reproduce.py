"""``reproduce``: everything that ``deniable lab reproduce`` does, as a Python call with a typed result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from deniable import Embedding
from deniable.errors import InvalidParameter, TaskDataError
from deniable.lab.tasks import Reproduction, reproduce


def test_results_and_curve_and_a_second_call_that_has_nothing_to_do(
    data: Path, installed: Embedding, tmp_path: Path
) -> None:
    new: list[str] = []

    def run() -> Reproduction:
        return reproduce(
            "imdb",
            data,
            embedding="two-kinds",
            epsilons=[50.0],
            at="test",
            runs=2,
            work=tmp_path / "w",
            epochs=1,
            texts=20,
            on_result=lambda outcome: new.append(outcome.setting.name),
        )

    found = run()
    assert new == ["unperturbed-run1", "test-50-run1", "unperturbed-run2", "test-50-run2"]
    assert [outcome.setting.name for outcome in found.outcomes] == new
    assert [(point.at, point.epsilon, point.runs) for point in found.points] == [
        ("nowhere", None, 2),
        ("test", 50.0, 2),
    ]
    assert found.folder.parent == tmp_path / "w" / "imdb"
    assert not list(found.folder.glob("curve*")), "the call itself draws nothing"
    assert [path.name for path in found.write_curve()] == ["curve.svg", "curve.png", "table.md"]
    again = run()
    assert len(new) == 4
    assert again.outcomes == found.outcomes


def test_what_cannot_be_is_refused_before_any_work(data: Path, installed: Embedding, tmp_path: Path) -> None:
    def run(**changed: Any) -> Reproduction:
        return reproduce(
            **{"name": "imdb", "data": data, "embedding": "two-kinds", "work": tmp_path / "w", **changed}
        )

    with pytest.raises(InvalidParameter, match="must be one of imdb, enron, insuranceqa"):
        run(name="none such")
    for name, value in {
        "at": "never",
        "runs": 0,
        "epsilons": [-1.0],
        "after_tan": True,
        "texts": 0,
    }.items():
        with pytest.raises(InvalidParameter):
            run(**{name: value})
    with pytest.raises(TaskDataError, match="no such file or folder"):
        run(data=tmp_path / "nothing")
    assert not (tmp_path / "w").exists()
