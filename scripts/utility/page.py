"""The tables and figures of docs/research/utility.md, from the results of ``deniable lab reproduce``
beside it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deniable.lab.tasks.reproduction import TASKS
from deniable.report.curves import curves
from deniable.report.figure import save
from deniable.utility.summary import lines_of
from scripts.pages import EXPERIMENTS, FIGURES, csv_text, read_json, table
from scripts.utility.results import AFTER_TAN, RESULTS, Experiment, experiments_of

PAGE = EXPERIMENTS / "utility.md"
COLUMNS = (
    "task",
    "released",
    "epsilon",
    "average N_w",
    "words changed",
    "runs",
    "score",
    "mean",
    "lowest",
    "highest",
)
SHOWN = (5.82, 11.65, 14.56, 17.47, 23.3, 34.95, 52.42)
Unchanged = dict[str, dict[float, float]]
"""The average N_w by embedding and ε."""


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    experiments, unchanged = experiments_of(read_json(RESULTS)), read_unchanged()
    return {"scores": scores(experiments, unchanged)}


def data() -> dict[str, str]:
    """Return every score of every task, embedding and ε."""
    curves = [(each.name, each) for each in experiments_of(read_json(RESULTS))]
    curves += [(f"{each.name} after Tan", each) for each in experiments_of(read_json(AFTER_TAN))]
    return {"utility.csv": csv_text(COLUMNS, rows(curves, read_unchanged()))}


def rows(curves: list[tuple[str, Experiment]], unchanged: Unchanged) -> Iterator[list[object]]:
    """Return one row per task, embedding, side, ε and score, in the order of COLUMNS."""
    for name, experiment in curves:
        shares = unchanged[experiment.embedding["fingerprint"]]
        for point in experiment.points:
            share = "" if point.epsilon is None else shares.get(point.epsilon, "")
            setting = [name, point.at, point.epsilon or "", share, f"{point.changed:.4f}"]
            for score in point.scores:
                ends = (point.mean(score), *point.spread(score))
                yield [*setting, len(point.scores[score]), score, *(f"{each:.4f}" for each in ends)]


def scores(experiments: list[Experiment], unchanged: Unchanged) -> str:
    """Return the scores in 300 and 50 dimensions at equal average N_w, one row per side and N_w."""
    baselines: dict[str, Any] = read_json(EXPERIMENTS / "utility-baselines.json")
    tasks = list(dict.fromkeys(each.task for each in experiments))

    def cells(at: str, share: float | None) -> list[str]:
        by_task: dict[str, list[str]] = {task: [] for task in tasks}
        for each in experiments:
            shares = unchanged[each.embedding["fingerprint"]]
            points = [point for point in each.points if point.at == at]
            if share is not None:
                near = min(shares, key=lambda epsilon, shares=shares: abs(shares[epsilon] - share))  # type: ignore[misc]
                points = [point for point in points if point.epsilon == near]
            by_task[each.task] += [f"{point.mean(TASKS[each.task].score):.3f}" for point in points]
        return [" / ".join(each) for each in by_task.values()]

    lines = [
        ["guessing or BM25", "", *(f"{baselines[task]['scores'][TASKS[task].score]:.3f}" for task in tasks)]
    ]
    lines.append(["nothing", "", *cells("nowhere", None)])
    shown = [unchanged[experiments[0].embedding["fingerprint"]][epsilon] for epsilon in SHOWN]
    for at, title in (("train", "training text"), ("test", "test text")):
        lines += [[title, f"{share:.3f}", *cells(at, share)] for share in shown]
    heads = [f"{task}, {TASKS[task].score}" for task in tasks]
    return table(["released", "average N_w", *heads], lines, align="lr")


def draw() -> None:
    """Draw a figure for each task and embedding."""
    baselines: dict[str, Any] = read_json(EXPERIMENTS / "utility-baselines.json")
    for experiment in experiments_of(read_json(RESULTS)):
        entry, baseline = TASKS[experiment.task], baselines[experiment.task]
        if baseline["data"] != experiment.outcomes[0]["data"]:
            raise SystemExit(f"{experiment.task}: the baselines were measured on other data")
        clean = next(point for point in experiment.points if point.epsilon is None).mean(entry.score)
        figure = curves(
            lines_of(experiment.points, entry.score),
            x="ε",
            y=entry.score_in_words,
            levels={"unperturbed": clean, baseline["baseline"]: baseline["scores"][entry.score]},
            shares=False,
            title=f"{entry.title} ({experiment.embedding['dimension']} dimensions)",
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
