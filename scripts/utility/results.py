"""Results of ``deniable lab reproduce`` from folders and packed folders, gathered for the page about them.

python -m scripts.utility.results FOLDER [FOLDER ...]
"""

from __future__ import annotations

import json
import sys
import tarfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deniable.lab.tasks.data.registry import TASKS, training_settings
from deniable.lab.tasks.experiment.outcomes import TaskOutcome
from deniable.learning.summary import Point, points_of
from scripts.pages import EXPERIMENTS

RESULTS, AFTER_TAN = (EXPERIMENTS / f"{name}.json" for name in ("utility", "utility-after-tan"))
SHARED = ("task", "data", "embedding", "mechanism", "policy", "recipe")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """All results of one task with one embedding."""

    task: str
    embedding: dict[str, Any]
    outcomes: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """A short name, for files."""
        return f"{self.task}-{self.embedding['dimension']}d"

    @property
    def points(self) -> list[Point]:
        """The points of its curve."""
        return points_of(TaskOutcome.from_dict(outcome) for outcome in self.outcomes)

    def losses(self, at: str, score: str) -> dict[float, list[float]]:
        """Return by ε what each run lost against the unperturbed model of the same run (the same seed), where
        there is one."""
        clean = {o["run"]: o["scores"][score] for o in self.outcomes if o["at"] == "nowhere"}
        found: dict[float, list[float]] = defaultdict(list)
        for o in self.outcomes:
            if o["at"] == at and o["run"] in clean:
                found[o["epsilon"]].append(clean[o["run"]] - o["scores"][score])
        return dict(sorted(found.items()))


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """Results of our recipes, results of training after Tan et al., and how many of neither recipe were
    refused."""

    ours: list[dict[str, Any]]
    after_tan: list[dict[str, Any]]
    refused: int


def gather(places: Iterable[Path]) -> Gathered:
    """Return the results of several folders or .tgz files, of two alike the later."""
    ours: dict[tuple[Any, ...], dict[str, Any]] = {}
    after_tan: dict[tuple[Any, ...], dict[str, Any]] = {}
    refused = 0
    recipes = {name: asdict(training_settings(name)) for name in TASKS}
    tan = {name: asdict(training_settings(name, after_tan=True)) for name in TASKS}
    for place in places:
        for outcome in _outcomes(place):
            task, embedding, recipe = outcome["task"], outcome["embedding"], outcome["recipe"]
            if recipe not in (recipes[task], tan[task]):
                refused += 1
                continue
            kept = ours if recipe == recipes[task] else after_tan
            kept[
                list(TASKS).index(task),
                embedding["fingerprint"],
                outcome["data"],
                outcome["at"],
                outcome["epsilon"] or 0,
                outcome["run"],
            ] = outcome
    return Gathered(
        ours=[ours[key] for key in sorted(ours)],
        after_tan=[after_tan[key] for key in sorted(after_tan)],
        refused=refused,
    )


def experiments_of(outcomes: list[dict[str, Any]]) -> list[Experiment]:
    """Return the experiments, in the order of the tasks, the larger embedding first.

    :raises ValueError: if results of one task and embedding come from different data, policies or recipes.
    """
    groups: dict[tuple[int, int, str], list[dict[str, Any]]] = defaultdict(list)
    for outcome in outcomes:
        embedding = outcome["embedding"]
        groups[list(TASKS).index(outcome["task"]), -embedding["dimension"], embedding["fingerprint"]].append(
            outcome
        )
    found = []
    for key in sorted(groups):
        group = groups[key]
        if (
            len({json.dumps({name: outcome[name] for name in SHARED}, sort_keys=True) for outcome in group})
            != 1
        ):
            raise ValueError(
                f"{group[0]['task']}: the results were made in different ways and cannot be put together"
            )
        found.append(Experiment(task=group[0]["task"], embedding=group[0]["embedding"], outcomes=group))
    return found


def _outcomes(place: Path) -> Iterator[dict[str, Any]]:
    if place.is_dir():
        for file in sorted(place.rglob("results/*.json")):
            yield json.loads(file.read_text(encoding="utf-8"))
        return
    with tarfile.open(place) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.name.endswith(".json") else None
            if content is not None:
                yield json.loads(content.read())


def main() -> None:
    """Keep the results of the folders or .tgz files that are named."""
    found = gather(Path(name) for name in sys.argv[1:])
    for outcomes, path in ((found.ours, RESULTS), (found.after_tan, AFTER_TAN)):
        path.write_text(
            json.dumps(outcomes, ensure_ascii=False, separators=(",", ":")).replace(
                '},{"task"', '},\n{"task"'
            )
            + "\n"
        )
    print(
        f"{len(found.ours)} results, {len(found.after_tan)} after Tan et al., {found.refused} refused: "
        "another recipe",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
