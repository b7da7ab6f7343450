"""Tables and figures show what the results hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable import Embedding
from deniable.lab.tasks import Reproduction
from deniable.lab.tasks.task import Task
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.utility.summary import Outcome, lines_of, markdown, points_of, table_of


def outcome(at: str, epsilon: float | None, run: int, accuracy: float) -> Outcome:
    changed = {} if epsilon is None else {"train": 0.5, "validation": 0.2} if at == "train" else {"test": 0.4}
    words = {"train": 90, "validation": 10, "test": 50}
    return Outcome(
        at=at,
        epsilon=epsilon,
        run=run,
        scores={"accuracy": accuracy},
        changed=changed,
        words={split: words[split] for split in changed},
    )


OUTCOMES = [
    outcome("test", 5.0, 1, 0.6),
    outcome("train", 50.0, 1, 0.89),
    outcome("train", 5.0, 1, 0.7),
    outcome("train", 5.0, 2, 0.8),
    outcome("nowhere", None, 1, 0.9),
    outcome("nowhere", None, 2, 0.88),
]


def test_points_bring_the_runs_together_and_weigh_changed_words() -> None:
    points = points_of(OUTCOMES)
    assert [(point.at, point.epsilon, point.runs) for point in points] == [
        ("nowhere", None, 2),
        ("train", 5.0, 2),
        ("train", 50.0, 1),
        ("test", 5.0, 1),
    ]
    assert points[1].mean("accuracy") == pytest.approx(0.75)
    assert points[1].spread("accuracy") == (0.7, 0.8)
    assert points[1].changed == pytest.approx((90 * 0.5 + 10 * 0.2) / 100)


def test_the_table() -> None:
    rows = markdown(*table_of(points_of(OUTCOMES), {5.0: 0.25})).splitlines()
    assert rows[0].split("|")[1:-1] == [
        " perturbed ",
        " ε ",
        " average N_w ",
        " words changed ",
        " runs ",
        " accuracy ",
    ]
    assert rows[2:] == [
        "| nothing |  |  |  | 2 | 0.890 (0.880 to 0.900) |",
        "| at training time | 5 | 0.250 | 47.0 % | 2 | 0.750 (0.700 to 0.800) |",
        "| at training time | 50 |  | 47.0 % | 1 | 0.890 |",
        "| at test time | 5 | 0.250 | 40.0 % | 1 | 0.600 |",
    ]


def test_the_lines_are_means_with_the_range_of_the_runs() -> None:
    assert lines_of(points_of(OUTCOMES), "accuracy") == {
        "perturbed at training time": [(5.0, pytest.approx(0.75), 0.7, 0.8), (50.0, 0.89, 0.89, 0.89)],
        "perturbed at test time": [(5.0, 0.6, 0.6, 0.6)],
    }


def test_the_curve_and_the_table_are_written_beside_the_results(
    reviews: Task, installed: Embedding, tmp_path: Path
) -> None:
    folder = tmp_path / "curve"
    folder.mkdir()
    found = Reproduction(
        folder=folder, embedding="two-kinds", mechanism=ChosenMechanism(), task=reviews, outcomes=OUTCOMES
    )
    files = found.write_curve()
    assert [file.name for file in files] == ["curve.svg", "curve.png", "table.md"]
    table = (folder / "table.md").read_text(encoding="utf-8")
    assert "Always the most frequent class: accuracy" in table
    assert "| at training time | 50 |" in table
    assert "| at training time | 50 |  |" not in table, "no N_w"
