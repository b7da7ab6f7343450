"""A calibration in a few numbers: what a receipt quotes, and what the command shows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from deniable.calibration.calibration import Calibration
from deniable.calibration.choice import Choice
from deniable.channel.distribution import ETA
from deniable.embeddings.embedding import Embedding
from deniable.neighbours import best_neighbours

QUOTED_QUANTILES = (0.5, 0.9, 0.95, 0.99, 0.999, 1.0)


def quantiles(values: Any, *, worst: str = "largest") -> dict[str, float]:
    """Return median, 95 % and worst of the values; the worst words have the largest values, or the smallest."""
    if worst == "largest":
        return {"median": float(np.median(values)), "95%": float(np.quantile(values, 0.95)), "worst": float(np.max(values))}
    return {"median": float(np.median(values)), "95%": float(np.quantile(values, 0.05)), "worst": float(np.min(values))}


def table(calibration: Calibration, epsilons: list[float]) -> list[dict[str, Any]]:
    """Return one row per ε: N_w and, where walks were made, distinct words, S_w and entropies over all words."""
    calibration.prepare(epsilons)
    rows = []
    for epsilon in epsilons:
        means, _ = calibration.unchanged(epsilon)
        row: dict[str, Any] = {
            "epsilon": epsilon,
            "unchanged": {"mean": float(means.mean()), **quantiles(means)},
            "words_above_half": int((means > 0.5).sum()),
        }
        at = np.flatnonzero(calibration.epsilons == epsilon)
        if calibration.distinct is not None and calibration.support is not None and calibration.entropies is not None and len(at):
            row["distinct"] = {
                "mean": float(calibration.distinct[:, at[0]].mean()),
                **quantiles(calibration.distinct[:, at[0]], worst="smallest"),
            }
            row["support"] = quantiles(calibration.support[:, at[0]], worst="smallest")
            row["mean_entropies_bits"] = dict(
                zip(("H0", "H1", "H2", "Hinf"), calibration.entropies[:, at[0]].mean(axis=0).tolist(), strict=True)
            )
        rows.append(row)
    return rows


def quote(whole: Calibration, epsilons: list[float], walked: Calibration | None = None) -> dict[str, Any]:
    """Return what ``calibration.quote`` reads: N_w of ``whole`` and, at the same ε, S_w and distinct words of ``walked``."""
    rows: list[dict[str, Any]] = []
    whole.prepare(epsilons)
    for epsilon in epsilons:
        means = whole.careful(epsilon)
        row: dict[str, Any] = {
            "epsilon": epsilon,
            # Upwards, like the quantiles: a receipt must not promise more than was found.
            "unchanged": {key: _rounded_up(value, 4) for key, value in {"mean": float(means.mean()), **quantiles(means)}.items()},
            "unchanged_quantiles": {str(q): _rounded_up(float(np.quantile(means, q, method="higher")), 5) for q in QUOTED_QUANTILES},
            "words_above_half": int((means > 0.5).sum()),
        }
        at = np.flatnonzero(np.array([]) if walked is None else walked.epsilons == epsilon)
        if walked is not None and walked.support is not None and walked.distinct is not None and len(at):
            row["support"] = {key: math.floor(value) for key, value in quantiles(walked.support[:, at[0]], worst="smallest").items()}
            row["distinct"] = {key: math.floor(value) for key, value in quantiles(walked.distinct[:, at[0]], worst="smallest").items()}
        rows.append(row)
    return {
        "fingerprint": whole.embedding.fingerprint,
        "mechanism": whole.mechanism.identity(whole.embedding),
        "method": whole.method,
        "rays": whole.rays,
        "words": len(whole.ids),
        "words_for_support": None if walked is None or walked.distinct is None else len(walked.ids),
        "eta": ETA,
        "table": rows,
    }


def _rounded_up(value: float, digits: int) -> float:
    return min(round(value + 0.5 * 10.0**-digits, digits), 1.0)


def worst_words(calibration: Calibration, choice: Choice, count: int = 20) -> list[dict[str, Any]]:
    """Return the words that change least at the chosen ε, with what makes them so: far neighbours, a long vector."""
    rows = np.argsort(-choice.unchanged, kind="stable")[:count]
    return [described(calibration, choice, int(row)) for row in rows]


def described(calibration: Calibration, choice: Choice, row: int) -> dict[str, Any]:
    """Return what is known of one word at the chosen ε."""
    embedding, word = calibration.embedding, int(calibration.ids[row])
    return {
        "word": embedding.words[word],
        "protected": bool(calibration.protected[row]),
        "unchanged": float(choice.unchanged[row]),
        "standard_error": float(choice.errors[row]),
        "at_most": float(choice.upper[row]),
        "distinct": None if choice.distinct is None else int(choice.distinct[row]),
        "nearest_neighbour_at": nearest_distance(embedding, word),
        "norm": float(np.linalg.norm(embedding.vectors[word].astype(np.float64))),
    }


def nearest_distance(embedding: Embedding, word: int) -> float | None:
    """Return the distance to the nearest word with another vector among the next few, if there is one."""
    _, distances = best_neighbours(embedding).nearest_k(embedding.rows(np.array([word])), min(8, len(embedding)))
    apart = distances[0][distances[0] > 0.0]
    return float(apart[0]) if len(apart) else None
