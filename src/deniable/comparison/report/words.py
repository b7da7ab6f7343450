"""What a comparison found, as sentences and as a table: for the terminal and for the page alike."""

from __future__ import annotations

import math

from deniable.comparison.matching import Target
from deniable.comparison.results import ComparisonResult, Row, Worth
from deniable.report.wording import percent_fixed

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


def finding(result: ComparisonResult) -> str:
    """Return what was found in a few sentences: the most accurate mechanism at each target, and whom it is clearly ahead of."""
    sentences = [
        f"A classifier that learns from original text is right for {percent_fixed(result.original)} of the texts, "
        f"one that always names the most frequent label for {percent_fixed(result.guess)}."
    ]
    for target in result.targets:
        found = [(row, worth) for row, worth in result.matched() if _is_at(row, target)]
        if found:
            sentences.append(_best(target, sorted(found, key=lambda pair: -pair[1].accuracy.mean), telling_difference(result)))
    return " ".join(sentences)


def table(result: ComparisonResult) -> list[list[str]]:
    """Return the rows of the one table, grouped by target, most accurate first."""
    best, shown = [row for row, _ in result.front()], []
    for target in result.targets:
        rows = [row for row in result.rows if _is_at(row, target)]
        rows.sort(key=lambda row: 0.0 if row.worth is None else -row.worth.accuracy.mean)
        shown += [_cells(row, "◆" if row in best else "") for row in rows]
    return shown


def met_and_missed(result: ComparisonResult, target: Target) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the table at a target without its name, and sentences about the mechanisms that cannot be brought there."""
    own = [row[1:] for row in table(result) if row[0] == target_name(target)]
    missed = [f"{row[0]}: {row[2]}." for row in own if row[1] == NOT_MET]
    return [row for row in own if row[1] != NOT_MET], missed


def target_name(target: Target) -> str:
    """Return a target as people read it."""
    return f"{READINGS[target.reading]} = {target.value:g}"


def telling_difference(result: ComparisonResult) -> float | None:
    """Return the difference of two accuracies that is more than chance in the noise: three standard errors of a difference.

    The standard deviation of the runs is pooled over all rows, because a few runs say little about their own. None for one run.
    """
    spreads = [worth.accuracy.spread for _, worth in result.matched()]
    known = [spread for spread in spreads if spread is not None]
    if not known or len(known) < len(spreads):
        return None
    pooled = math.sqrt(sum(spread**2 for spread in known) / len(known))
    return 3.0 * pooled * math.sqrt(2.0 / result.runs)


def _is_at(row: Row, target: Target) -> bool:
    return (row.reading, row.target) == (target.reading, target.value)


def _best(target: Target, found: list[tuple[Row, Worth]], telling: float | None) -> str:
    first, worth = found[0]
    sentence = f"At {target_name(target)}, {first.mechanism} is the most accurate ({percent_fixed(worth.accuracy.mean)})"
    if telling is None:
        return sentence + "; one run does not tell how far that is chance."
    if len(found) == 1:
        return sentence + "; no other mechanism is there to compare it with."
    close = [row.mechanism for row, other in found[1:] if worth.accuracy.mean - other.accuracy.mean <= telling]
    return sentence + (f", not clearly ahead of {', '.join(close)}." if close else ", clearly ahead of the others.")


def _cells(row: Row, mark: str) -> list[str]:
    begin = [target_name(Target(reading=row.reading, value=row.target)), row.mechanism]
    if row.worth is None:
        return [*begin, NOT_MET, row.problem, *[NOT_MET] * 6, ""]
    reached, accuracy = row.worth.reached, row.worth.accuracy
    return [
        *begin,
        f"{row.worth.epsilon:.3g}",
        f"{reached.value(row.reading):.3f}",
        f"{reached.average:.2f}",
        f"{reached.worst:.2f}",
        f"{reached.adversary:.2f}",
        percent_fixed(accuracy.mean) + ("" if accuracy.spread is None else f" ± {100 * accuracy.spread:.1f}"),
        f"{row.worth.distance.mean:.2f}",
        f"{row.worth.words_per_second:,.0f}",
        mark,
    ]
