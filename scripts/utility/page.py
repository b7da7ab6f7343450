"""The tables and figures of docs/research/utility.md, from the results of ``deniable lab reproduce``
beside it."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from deniable.lab.tasks.data.registry import TASKS
from deniable.learning.figure import curve
from deniable.learning.summary import markdown_table
from deniable.report.figure import save
from deniable.report.wording import percent_fixed
from scripts.pages import EXPERIMENTS, FIGURES, read_json, table
from scripts.utility.results import AFTER_TAN, RESULTS, Experiment, experiments_of

PAGE = EXPERIMENTS / "utility.md"
COMPARED = (11.65, 14.56, 17.47, 23.3, 34.95, 52.42)
Unchanged = dict[str, dict[float, float]]
"""The average N_w by embedding and ε."""


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    experiments, unchanged = experiments_of(read_json(RESULTS)), read_unchanged()
    after_tan = experiments_of(read_json(AFTER_TAN))
    curves = {each.name: each for each in experiments} | {
        f"{each.name} after Tan": each for each in after_tan
    }
    return {
        **{
            name: markdown_table(each.points, unchanged[each.embedding["fingerprint"]])
            for name, each in curves.items()
        },
        "binary": lost_on_imdb(experiments, unchanged),
        "compared": compared(experiments, unchanged),
    }


def draw() -> None:
    """Draw a figure for each task and embedding."""
    baselines: dict[str, Any] = read_json(EXPERIMENTS / "utility-baselines.json")
    unchanged = read_unchanged()
    for experiment in experiments_of(read_json(RESULTS)):
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
        save(figure, FIGURES, f"utility-{experiment.name}")


def read_unchanged() -> Unchanged:
    """Return the average N_w by embedding and ε."""
    matched = read_json(EXPERIMENTS / "matched-epsilon.json")
    return {
        fingerprint: {row[epsilon]: row["average_unchanged"] for row in matched["table"]}
        | {row["epsilon"]: row["average_unchanged"] for row in matched[between]}
        for fingerprint, epsilon, between in zip(
            matched["embeddings"].values(),
            ("paper", "epsilon_50d"),
            ("between_300d", "between_50d"),
            strict=True,
        )
    }


def lost_on_imdb(experiments: list[Experiment], unchanged: Unchanged) -> str:
    """Return how many points of accuracy each run on IMDb lost against the unperturbed model of the same
    run."""
    rows = []
    for experiment in (each for each in experiments if each.task == "imdb"):
        losses = [experiment.losses(at, "accuracy") for at in ("train", "test")]
        shares = unchanged[experiment.embedding["fingerprint"]]
        for epsilon in sorted(set().union(*losses)):
            share = f"{shares[epsilon]:.3f}" if epsilon in shares else ""
            lost = [_lost(each.get(epsilon)) for each in losses]
            rows.append([f"{experiment.embedding['dimension']}d", f"{epsilon:g}", share, *lost])
    head = ["embedding", "ε", "average N_w", "lost at training time", "lost at test time"]
    return table(head, rows, align="lr")


def compared(experiments: list[Experiment], unchanged: Unchanged) -> str:
    """Return the share of the unperturbed score that is lost in 300 dimensions, at ε of the paper."""
    large = [each for each in experiments if each.embedding["dimension"] == 300]
    rows = []
    for epsilon in COMPARED:
        row = [f"{epsilon:g}", f"{unchanged[large[0].embedding['fingerprint']][epsilon]:.3f}"]
        for experiment in large:
            score = TASKS[experiment.task].score
            clean = next(point for point in experiment.points if point.epsilon is None).mean(score)
            for at in ("train", "test"):
                losses = experiment.losses(at, score).get(epsilon)
                row.append(percent_fixed(fmean(losses) / clean) if losses else "not run")
        rows.append(row)
    titles = [f"{each.task} at {at} time" for each in large for at in ("training", "test")]
    return table(["ε", "average N_w", *titles], rows, align="r")


def _lost(losses: list[float] | None) -> str:
    if not losses:
        return "not run"
    spread = f" ({100 * min(losses):.1f} to {100 * max(losses):.1f})" if len(losses) > 1 else ""
    return f"{100 * fmean(losses):.1f}{spread}"
