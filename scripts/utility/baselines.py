"""Write docs/research/utility-baselines.json: what the models of the three tasks are compared with, and
what no model can pass.

Usage: python -m scripts.utility.baselines --imdb DATA --enron DATA --insuranceqa DATA

For IMDb and Enron: the majority class, and TF-IDF with logistic regression. For InsuranceQA: BM25 over the
same pools, and the share of the test questions whose pool holds a right answer at all, since top-1 and MRR
cannot be higher.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from deniable.lab.tasks.reproduction import TASKS, baseline_of
from deniable.lab.tasks.task import Task
from deniable.utility.classifiers import Classifier, class_scores
from deniable.words.cutter import words_of
from scripts.pages import EXPERIMENTS, options_of, read_json, write_json

PLACE = EXPERIMENTS / "utility-baselines.json"


def main() -> None:
    """Read the data sets that are given and write what was found, beside what was found before."""
    parser = options_of(__doc__)
    for name in TASKS:
        parser.add_argument(f"--{name}", type=Path)
    given = {name: path for name, path in vars(parser.parse_args()).items() if path is not None}
    found: dict[str, Any] = read_json(PLACE) if PLACE.exists() else {}
    for name, path in given.items():
        found[name] = baseline(TASKS[name].load(path))
    write_json(PLACE, found)


def baseline(task: Task) -> dict[str, Any]:
    """Return the counts of a task and what its models are compared with."""
    name, scores = baseline_of(task)
    parts = {split: len(part) for split, part in task.parts.items()}
    found: dict[str, Any] = {"data": task.digest, "texts": parts, "baseline": name, "scores": scores}
    if task.classes:
        found["linear"] = linear(task)
    else:
        found["answers"] = len(task.answers)
        found["pools_with_a_right_answer"] = {
            str(size): float(
                np.mean(
                    [
                        not set(pool).isdisjoint(right)
                        for pool, right in zip(pools, task.test.answers, strict=True)
                    ]
                )
            )
            for size, pools in task.test.pools.items()
        }
    return found


def linear(task: Task) -> dict[str, float]:
    """Return the scores of TF-IDF and logistic regression on the unperturbed texts."""
    words = [words_of(text) for part in (task.train, task.test) for text in part.texts]
    labels = np.array(task.train.labels + task.test.labels)
    learnt = len(task.train)
    model = Classifier("words", strength=10.0).fit(words[:learnt], labels[:learnt])
    return class_scores(model.predict(words[learnt:]), labels[learnt:])


if __name__ == "__main__":
    main()
