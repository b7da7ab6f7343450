"""What an experiment found, for people: the curve and a Markdown table beside the results, and what they are
compared with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from deniable.atomic import whole_file
from deniable.calibration.run import sampled, source_of
from deniable.embeddings.embedding import Embedding
from deniable.errors import MissingExtra
from deniable.lab.tasks.data.examples import AnswerSelection, Classification, Task
from deniable.lab.tasks.data.registry import TASKS
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.utility.scores import ranking_scores
from deniable.utility.summary import Outcome, lines_of, markdown, points_of, table_of
from deniable.words.cutter import words_of


def write_curve_and_table(
    name: str,
    task: Task,
    outcomes: Sequence[Outcome],
    folder: Path,
    *,
    embedding: str | Path,
    mechanism: ChosenMechanism | None = None,
) -> list[Path]:
    """Write ``curve.svg``, ``curve.png`` and ``table.md`` and return their paths.

    :raises MissingExtra: if a library for the baseline is not installed.
    """
    from deniable.report.curves import curves
    from deniable.report.figure import save

    about, points = TASKS[name], points_of(outcomes)
    sample = sampled(Embedding.open(embedding), mechanism)
    unchanged = {
        point.epsilon: sample.average(point.epsilon)[0] for point in points if point.epsilon is not None
    }
    baselines = baselines_of(task)
    levels = {text: scores[about.score] for text, scores in baselines.items() if about.score in scores}
    for point in points:
        if point.epsilon is None:
            levels["unperturbed"] = point.mean(about.score)
    lines, y = lines_of(points, about.score), about.score_in_words
    figure = curves(lines, x="ε", y=y, levels=levels, shares=False, title=about.title)
    table = folder / "table.md"
    with whole_file(table) as file:
        written = [markdown(*table_of(points, unchanged)), ""]
        for text, scores in baselines.items():
            written.append(
                f"{text}: " + ", ".join(f"{score} {value:.3f}" for score, value in scores.items()) + "."
            )
        if mechanism is not None and not mechanism.is_papers:
            written.append(f"Mechanism: {mechanism.name}.")
        written.append(f"N_w: average over {source_of(sample)}. Scores: mean (lowest to highest run).")
        file.write(("\n".join(written) + "\n").encode())
    return [*save(figure, folder, "curve"), table]


def baselines_of(task: Task) -> dict[str, dict[str, float]]:
    """Return what the task is compared with: the majority class, or BM25.

    :raises MissingExtra: if bm25s is needed and not installed.
    """
    if isinstance(task, Classification):
        return {"Always the most frequent class": {"accuracy": task.majority}}
    return {"BM25": bm25_scores(task)}


def bm25_scores(task: AnswerSelection) -> dict[str, float]:
    """Return MAP, MRR and top-1 of the test questions in each pool, by BM25 over all answers (Lucene's form,
    k₁ = 1.5, b = 0.75).

    :raises MissingExtra: if bm25s is not installed.
    """
    try:
        import bm25s
    except ImportError as error:
        raise MissingExtra("a BM25 ranking", "lab") from error
    index = bm25s.BM25()
    index.index([words_of(answer) for answer in task.answers], show_progress=False)
    questions = [words_of(text) for text in task.test.texts]
    found: dict[str, float] = {}
    everything = [index.get_scores(words) if words else np.zeros(len(task.answers)) for words in questions]
    for size, pools in task.test.pools.items():
        scores = np.stack([row[pool] for row, pool in zip(everything, pools, strict=True)])
        right = [np.array(answers) for answers in task.test.answers]
        found |= {
            f"{name}@{size}": value for name, value in ranking_scores(scores, np.array(pools), right).items()
        }
    return found
