"""What a comparison found, as sentences and as a table: for the terminal and for the page alike."""

from __future__ import annotations

import math
from typing import Any

from deniable.comparison.pareto import pareto_front

Answer = dict[str, Any]

READINGS = {
    "average": "average N_w",
    "worst": "N_w of the most exposed 1 %",
    "adversary": "Bayes adversary's success",
}
COLUMNS = ["matched at", "mechanism", "ε", "reached", "N_w", "exposed", "adversary", "accuracy", "moved", "words/s", ""]
NOT_MET = "–"
LEGEND = (
    "Matched at: the reading that all mechanisms of the group share, and the value wanted; reached: the value at the ε found. N_w: share "
    "of the words that stay unchanged. Exposed: the same for the 1 % of the text that stays unchanged most often. Adversary: how often "
    "the word behind a released word is named. Accuracy: of a classifier that learnt from released text, on original text (mean ± "
    "standard deviation of the runs). Moved: mean distance from a word to what became of it, 1 for a word drawn at random. ◆: no other "
    "row has both a weaker adversary and a higher accuracy."
)


def matched(answer: Answer) -> list[dict[str, Any]]:
    """Return the rows of mechanisms that could be brought to the target."""
    return [row for row in answer["rows"] if "epsilon" in row]


def front(answer: Answer) -> list[dict[str, Any]]:
    """Return the rows that no other row beats in the adversary's success and accuracy together, weakest adversary first."""
    rows = matched(answer)
    return [rows[place] for place in pareto_front([(row["reached"]["adversary"], row["accuracy"]["mean"]) for row in rows])]


def said_first(answer: Answer) -> str:
    """Return the finding in a few sentences: the most accurate mechanism at each target, and whom it is clearly ahead of."""
    sentences = [
        f"A classifier that learns from original text is right for {_percent(answer['original'])} of the texts, "
        f"one that always names the most frequent label for {_percent(answer['guess'])}."
    ]
    for target in answer["targets"]:
        rows = sorted(_of(answer, target), key=lambda row: -row["accuracy"]["mean"])
        if rows:
            sentences.append(_best(target, rows, telling_difference(answer)))
    return " ".join(sentences)


def table(answer: Answer) -> list[list[str]]:
    """Return the rows of the one table, grouped by target, most accurate first."""
    best, shown = front(answer), []
    for target in answer["targets"]:
        rows = [row for row in answer["rows"] if (row["reading"], row["target"]) == (target["reading"], target["value"])]
        rows.sort(key=lambda row: -row["accuracy"]["mean"] if "epsilon" in row else 0.0)
        shown += [_cells(row, "◆" if row in best else "") for row in rows]
    return shown


def met_and_missed(answer: Answer, target: dict[str, Any]) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the table at a target without its name, and sentences about the mechanisms that cannot be brought there."""
    own = [row[1:] for row in table(answer) if row[0] == target_name(target)]
    missed = [f"{row[0]}: {row[2]}." for row in own if row[1] == NOT_MET]
    return [row for row in own if row[1] != NOT_MET], missed


def target_name(target: dict[str, Any]) -> str:
    """Return a target as people read it."""
    return f"{READINGS[target['reading']]} = {target['value']:g}"


def _of(answer: Answer, target: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in matched(answer) if (row["reading"], row["target"]) == (target["reading"], target["value"])]


def telling_difference(answer: Answer) -> float | None:
    """Return the difference of two accuracies that is more than chance in the noise: three standard errors of a difference.

    The standard deviation of the runs is pooled over all rows, because a few runs say little about their own. None for one run.
    """
    spreads = [row["accuracy"]["spread"] for row in matched(answer)]
    if not spreads or None in spreads:
        return None
    pooled = math.sqrt(sum(spread**2 for spread in spreads) / len(spreads))
    return 3.0 * pooled * math.sqrt(2.0 / answer["runs"])


def _best(target: dict[str, Any], rows: list[dict[str, Any]], telling: float | None) -> str:
    first = rows[0]
    sentence = f"At {target_name(target)}, {first['mechanism']} is the most accurate ({_percent(first['accuracy']['mean'])})"
    if telling is None:
        return sentence + "; one run does not tell how far that is chance."
    if len(rows) == 1:
        return sentence + "; no other mechanism is there to compare it with."
    close = [row["mechanism"] for row in rows[1:] if first["accuracy"]["mean"] - row["accuracy"]["mean"] <= telling]
    return sentence + (f", not clearly ahead of {', '.join(close)}." if close else ", clearly ahead of the others.")


def _cells(row: dict[str, Any], mark: str) -> list[str]:
    begin = [target_name({"reading": row["reading"], "value": row["target"]}), row["mechanism"]]
    if "epsilon" not in row:
        return [*begin, NOT_MET, row["problem"], *[NOT_MET] * 6, ""]
    reached, spread = row["reached"], row["accuracy"]["spread"]
    return [
        *begin,
        f"{row['epsilon']:.3g}",
        f"{reached[row['reading']]:.3f}",
        f"{reached['average']:.2f}",
        f"{reached['worst']:.2f}",
        f"{reached['adversary']:.2f}",
        _percent(row["accuracy"]["mean"]) + ("" if spread is None else f" ± {100 * spread:.1f}"),
        f"{row['distance']['mean']:.2f}",
        f"{row['words_per_second']:,.0f}",
        mark,
    ]


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"
