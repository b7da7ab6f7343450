"""Results of ``deniable lab reproduce`` from folders, gathered for the page about them.

python -m scripts.utility.results FOLDER [FOLDER ...]
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deniable.lab.tasks.outcomes import TaskOutcome
from deniable.lab.tasks.reproduction import TASKS, training_settings
from deniable.utility.summary import Point, points_of
from scripts.pages import EXPERIMENTS, read_json

RESULTS, AFTER_TAN = (EXPERIMENTS / f"{name}.json" for name in ("utility", "utility-after-tan"))
SHARED = ("task", "data", "embedding", "mechanism", "policy", "recipe")
Outcome = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """All results of one task with one embedding."""

    task: str
    embedding: dict[str, Any]
    outcomes: list[Outcome]

    @property
    def name(self) -> str:
        """A short name, for files."""
        return f"{self.task}-{self.embedding['dimension']}d"

    @property
    def points(self) -> list[Point]:
        """The points of its curve."""
        return points_of(TaskOutcome.from_dict(outcome) for outcome in self.outcomes)


def gather(folders: Iterable[Path]) -> tuple[list[Outcome], list[Outcome], int]:
    """Return the results of our recipes in several folders, those of training after Tan et al.,
    and how many of neither recipe were refused; of two alike the later counts."""
    ours: dict[tuple[Any, ...], Outcome] = {}
    after_tan: dict[tuple[Any, ...], Outcome] = {}
    refused = 0
    for outcome in (read_json(file) for folder in folders for file in sorted(folder.rglob("results/*.json"))):
        task = outcome["task"]
        recipes = [asdict(training_settings(task, after_tan=tan)) for tan in (False, True)]
        if outcome["recipe"] not in recipes:
            refused += 1
            continue
        identity = (outcome["embedding"]["fingerprint"], outcome["data"], outcome["at"])
        key = (list(TASKS).index(task), *identity, outcome["epsilon"] or 0, outcome["run"])
        (ours if outcome["recipe"] == recipes[0] else after_tan)[key] = outcome
    in_order = ([kept[key] for key in sorted(kept)] for kept in (ours, after_tan))
    return (*in_order, refused)  # type: ignore[return-value]


def experiments_of(outcomes: list[Outcome]) -> list[Experiment]:
    """Return the experiments, in the order of the tasks, the larger embedding first.

    :raises ValueError: if results of one task and embedding come from different data, policies or recipes.
    """
    groups: dict[tuple[int, int, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        embedding = outcome["embedding"]
        key = list(TASKS).index(outcome["task"]), -embedding["dimension"], embedding["fingerprint"]
        groups[key].append(outcome)
    experiments = []
    for _, group in sorted(groups.items()):
        task, ways = group[0]["task"], [{name: outcome[name] for name in SHARED} for outcome in group]
        if any(way != ways[0] for way in ways):
            raise ValueError(f"{task}: the results were made in different ways and cannot be put together")
        experiments.append(Experiment(task=task, embedding=group[0]["embedding"], outcomes=group))
    return experiments


def main() -> None:
    """Keep the results of the folders that are named."""
    ours, after_tan, refused = gather(Path(name) for name in sys.argv[1:])
    for outcomes, path in ((ours, RESULTS), (after_tan, AFTER_TAN)):
        content = json.dumps(outcomes, ensure_ascii=False, separators=(",", ":"))
        path.write_text(content.replace('},{"task"', '},\n{"task"') + "\n", encoding="utf-8")
    print(f"{len(ours)} results, {len(after_tan)} after Tan et al., {refused} refused: another recipe")


if __name__ == "__main__":
    main()
