"""The tables and figures of docs/experiments/utility.md, from the results of ``deniable lab reproduce``
beside it."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

from deniable.lab.tasks.data.registry import TASKS
from deniable.learning.figure import curve
from deniable.learning.summary import markdown_table
from deniable.report.figure import save
from deniable.report.wording import percent_fixed
from scripts.pages import EXPERIMENTS, ROOT, table
from scripts.utility.results import AFTER_TAN, RESULTS, Experiment, experiments_of

PAGE = EXPERIMENTS / "utility.md"
COMPARED = (11.65, 14.56, 17.47, 23.3, 34.95, 52.42)
Unchanged = dict[str, dict[float, float]]


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    experiments, after_tan = read(RESULTS), read(AFTER_TAN)
    unchanged = read_unchanged()
    return {
        **{
            each.name: markdown_table(each.points, unchanged[each.embedding["fingerprint"]])
            for each in experiments
        },
        **{
            f"{each.name} after Tan": markdown_table(each.points, unchanged[each.embedding["fingerprint"]])
            for each in after_tan
        },
        "binary": lost_on_imdb(experiments, unchanged),
        "compared": compared(experiments, unchanged),
    }


def draw() -> None:
    """Draw a figure for each task and embedding."""
    baselines: dict[str, Any] = json.loads(
        (EXPERIMENTS / "utility-baselines.json").read_text(encoding="utf-8")
    )
    unchanged = read_unchanged()
    for experiment in read(RESULTS):
        entry, baseline = TASKS[experiment.task], baselines[experiment.task]
        if baseline["data"] != experiment.outcomes[0]["data"]:
            raise SystemExit(f"{experiment.task}: the baselines were measured on other data")
        figure = curve(
            experiment.points,
            entry.score,
            title=f"{entry.title} ({experiment.embedding['dimension']} dimensions)",
            label=entry.score_in_words,
            baselines={baseline["baseline"]: baseline["scores"][entry.score]},
            unchanged=unchanged[experiment.embedding["fingerprint"]],
        )
        save(figure, ROOT / "docs" / "figures", f"utility-{experiment.name}")


def read(path: Path) -> list[Experiment]:
    """Return the experiments of a file of results."""
    return experiments_of(json.loads(path.read_text(encoding="utf-8")))


def read_unchanged() -> Unchanged:
    """Return the average N_w by embedding and ε."""
    matched = json.loads((EXPERIMENTS / "matched-epsilon.json").read_text(encoding="utf-8"))
    large, small = matched["embeddings"].values()
    return {
        large: {row["paper"]: row["average_unchanged"] for row in matched["table"]}
        | {row["epsilon"]: row["average_unchanged"] for row in matched["between_300d"]},
        small: {row["epsilon_50d"]: row["average_unchanged"] for row in matched["table"]}
        | {row["epsilon"]: row["average_unchanged"] for row in matched["between_50d"]},
    }


def lost_on_imdb(experiments: list[Experiment], unchanged: Unchanged) -> str:
    """Return how many points of accuracy each run on IMDb lost against the unperturbed model of the same
    run."""
    rows = []
    for experiment in (each for each in experiments if each.task == "imdb"):
        train, test = experiment.losses("train", "accuracy"), experiment.losses("test", "accuracy")
        shares = unchanged[experiment.embedding["fingerprint"]]
        for epsilon in sorted(set(train) | set(test)):
            share = f"{shares[epsilon]:.3f}" if epsilon in shares else ""
            lost = [_lost(found.get(epsilon)) for found in (train, test)]
            rows.append([f"{experiment.embedding['dimension']}d", f"{epsilon:g}", share, *lost])
    return table(
        ["embedding", "ε", "average N_w", "lost at training time", "lost at test time"], rows, align="lr"
    )


def compared(experiments: list[Experiment], unchanged: Unchanged) -> str:
    """Return the share of the unperturbed score that is lost in 300 dimensions, at ε of the paper."""
    large = [each for each in experiments if each.embedding["dimension"] == 300]
    rows = []
    for epsilon in COMPARED:
        cells = []
        for experiment in large:
            score = TASKS[experiment.task].score
            clean = next(point for point in experiment.points if point.epsilon is None).mean(score)
            for at in ("train", "test"):
                losses = experiment.losses(at, score).get(epsilon)
                cells.append("not run" if not losses else percent_fixed(fmean(losses) / clean))
        rows.append([f"{epsilon:g}", f"{unchanged[large[0].embedding['fingerprint']][epsilon]:.3f}", *cells])
    head = [
        "ε",
        "average N_w",
        *(f"{each.task} at {at} time" for each in large for at in ("training", "test")),
    ]
    return table(head, rows, align="r")


def _lost(losses: list[float] | None) -> str:
    if not losses:
        return "not run"
    spread = f" ({100 * min(losses):.1f} to {100 * max(losses):.1f})" if len(losses) > 1 else ""
    return f"{100 * fmean(losses):.1f}{spread}"
