"""What an experiment found, for people: the figure and a Markdown table, beside the results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deniable.atomic import whole_file
from deniable.calibration.matching import AverageUnchanged
from deniable.embeddings.embedding import Embedding
from deniable.errors import MissingExtra
from deniable.learning.summary import markdown_table, points_of
from deniable.mechanisms.chosen import ChosenMechanism
from deniable.tasks.data.examples import Classification, Task
from deniable.tasks.data.registry import TASKS


def write_account(
    name: str,
    task: Task,
    outcomes: list[dict[str, Any]],
    folder: Path,
    *,
    embedding: str | Path,
    mechanism: ChosenMechanism | None = None,
) -> list[Path]:
    """Write ``curve.svg``, ``curve.png`` and ``table.md`` and return their paths.

    :raises MissingExtra: if matplotlib is not installed.
    """
    try:
        from deniable.learning.figure import curve
        from deniable.report.figure import save
    except ImportError as error:
        raise MissingExtra("drawing figures", "experiments") from error
    entry, points = TASKS[name], points_of(outcomes)
    average = AverageUnchanged(Embedding.open(embedding), mechanism)
    unchanged = {point.epsilon: average.at(point.epsilon) for point in points if point.epsilon is not None}
    baselines = baselines_of(task)
    shown = {text: scores[entry.score] for text, scores in baselines.items() if entry.score in scores}
    figure = curve(points, entry.score, title=entry.title, label=entry.score_in_words, baselines=shown, unchanged=unchanged)
    table = folder / "table.md"
    with whole_file(table) as file:
        lines = [markdown_table(points, unchanged), ""]
        for text, scores in baselines.items():
            lines.append(f"{text}: " + ", ".join(f"{score} {value:.3f}" for score, value in scores.items()) + ".")
        if mechanism is not None and not mechanism.is_papers:
            lines.append(f"Mechanism: {mechanism.name}.")
        lines.append(f"N_w: average over {average.source}. Scores: mean (lowest to highest run).")
        file.write(("\n".join(lines) + "\n").encode())
    return [*save(figure, folder, "curve"), table]


def baselines_of(task: Task) -> dict[str, dict[str, float]]:
    """Return what the task is compared with: the majority class, or BM25."""
    if isinstance(task, Classification):
        return {"Always the most frequent class": {"accuracy": task.majority}}
    from deniable.tasks.experiment.bm25 import bm25_scores

    return {"BM25": bm25_scores(task)}
