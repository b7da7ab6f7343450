"""What a comparison found, as sentences and as a table: for the terminal and for the page alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import attrgetter

from deniable.audit.named import WAYS
from deniable.lab.comparison.readings import Name, Target
from deniable.lab.comparison.results import ComparisonResult, MeanAndSpread, Row, pareto_front
from deniable.report.wording import percent_fixed

Column = tuple[str, Callable[[Row], str]]
"""The name of a column of a table, and its cell in a row."""
Share = Callable[[Row], MeanAndSpread | None]

READINGS: dict[Name, str] = {
    "average": "average N_w",
    "worst": "N_w of the most exposed 1 %",
    "adversary": "Bayes adversary's success",
    "named": "words named by the attacker",
    "context": "words named in context",
    "kinds": "kinds of words named",
}
NOT_MET = "–"
_LEGENDS = {
    "named": "Words named: how often the attacker over all words of the text names the word behind a "
    "released one.",
    "context": "Words named in context: the same by an attacker who also reads its neighbours.",
    "kinds": "Kinds of words named: how often that attacker names the kind of a less frequent word.",
    "reached": "Reached: the value at the ε found.",
    "N_w": "N_w: the share of words that stay unchanged.",
    "exposed": "Exposed: N_w of the most exposed 1 % of the text.",
    "adversary": "Adversary: how often it names the word behind a released one.",
    "received": "Received: learnt from and judged on words as released.",
    "decoded": "Decoded: the same after the release was decoded; rows are in its order.",
    "moved": "Moved: mean distance from a word to what became of it, 1 for a word drawn at random.",
}
_NAMED_AT_MOST = 3

received: Share = attrgetter("received")
decoded: Share = attrgetter("best_known")
"""The accuracies with words as released, and once text is decoded, where that was measured."""


def table_columns(result: ComparisonResult) -> list[Column]:
    """Return the columns between the names and the marks; several embeddings leave room for fewer."""
    epsilon: Column = ("ε", lambda row: f"{row.epsilon:.3g}" if row.epsilon is not None else NOT_MET)
    last: list[Column] = [("decoded", lambda row: _accuracy(row.best_known))] if result.decoding else []
    if result.several:
        return [epsilon, _REACHED, _EXPOSED, ("accuracy", lambda row: _accuracy(row.received)), *last]
    accuracies: list[Column] = [("accuracy", lambda row: _accuracy(row.accuracy))]
    if result.judged_on == "released text":
        accuracies.append(("received", lambda row: _accuracy(row.received)))
    return [
        epsilon,
        _REACHED,
        _reading("N_w", "average"),
        _EXPOSED,
        _reading("adversary", "adversary"),
        *accuracies,
        *last,
        ("moved", lambda row: f"{row.distance.mean:.2f}" if row.distance else NOT_MET),
        ("words/s", lambda row: f"{row.words_per_second:,.0f}" if row.words_per_second else NOT_MET),
    ]


def _reading(title: str, name: Name) -> Column:
    return title, lambda row: f"{row.reached.value(name):.2f}" if row.reached else NOT_MET


_REACHED: Column = (
    "reached",
    lambda row: f"{row.reached.value(row.reading):.3f}" if row.reached else NOT_MET,
)
_EXPOSED = _reading("exposed", "worst")


def columns_of(result: ComparisonResult) -> list[str]:
    """Return the names of the columns of the table."""
    return [*_name_columns(result), *(name for name, _ in table_columns(result)), ""]


def legend_of(result: ComparisonResult) -> str:
    """Return what the columns mean."""
    judged = result.judged_on if result.several else "original text"
    accuracy = f"Accuracy: of a classifier that learnt from released text, on {judged}."
    legends = {**_LEGENDS, "accuracy": accuracy}
    asked = {target.reading for target in result.targets}
    named = [name for name in WAYS if name in asked]
    parts = [legends[name] for name in dict.fromkeys([*named, *columns_of(result)]) if name in legends]
    parts.append(
        "Accuracies are means ± standard deviations of the runs. ◆: no other row of the table has an "
        "attacker no stronger and an accuracy no lower, one of them better, as they are shown."
    )
    if result.decoding is not None:
        parts.append("◇: the same with decoded text.")
    if named and not result.several:
        parts.append("Where words or kinds named are matched, they count there in place of the adversary.")
    return " ".join(parts)


def finding(result: ComparisonResult) -> str:
    """Return the most accurate mechanism at each target, and whom it is clearly ahead of, in sentences."""
    sentences = [
        f"A classifier that learns from original text is right for {percent_fixed(result.original)} of the "
        f"texts, one that always names the most frequent label for {percent_fixed(result.guess)}."
    ]
    for target in result.targets:
        if found := result.matched(target):
            begin = f"At {target_name(target)}, judged on {result.judged_on}, "
            sentences.append(_best(begin, found, received, result))
            if result.decoding is not None:
                sentences.append(_best("Once all are decoded, ", found, decoded, result))
    return " ".join(sentences)


def met_and_missed(result: ComparisonResult, target: Target) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the table at a target, most accurate first, and sentences about those that
    miss it."""
    marks = [(_unbeaten(result, target, received), "◆")]
    if result.decoding is not None:
        marks.append((_unbeaten(result, target, decoded), "◇"))
    lines = []
    for row in sorted(result.matched(target), key=lambda row: -_mean(row.best_known)):
        mark = "".join(mark for best, mark in marks if row in best)
        lines.append([*_named(row), *(cell(row) for _, cell in table_columns(result)), mark])
    missed = [f"{row.name}: {row.problem}." for row in result.rows if row.at(target) and row.reached is None]
    return lines, missed


def _unbeaten(result: ComparisonResult, target: Target, accuracy: Share) -> list[Row]:
    """Return the rows at a target that no other row there beats, as the table shows them. Where N_w was
    matched, the attacker is the adversary that stands beside it."""
    matched = result.several or target.reading in ("adversary", *WAYS)
    attacker: Name = target.reading if matched else "adversary"
    digits, found = 3 if matched else 2, result.matched(target)
    points = [
        (round(row.reached.value(attacker), digits), round(100 * _mean(accuracy(row)), 1))
        for row in found
        if row.reached is not None
    ]
    return [found[place] for place in pareto_front(points)]


def places_table(result: ComparisonResult, target: Target) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of the accuracies at a target by where text is released."""
    rows = [row for row in result.matched(target) if row.as_released is not None]
    rows.sort(key=lambda row: -_mean(row.best_known))
    columns: list[Column] = []
    for place, title in {"train": "training", "test": "test", "both": "both"}.items():
        columns += [_at_place(title, "as_released", place), _at_place("decoded", "decoded", place)]
    if rows and all(row.on_vectors is not None for row in rows):
        columns.append(_at_place("mean vectors", "on_vectors", "as_released"))
        columns.append(_at_place("decoded", "on_vectors", "decoded"))
    lines = [[*_named(row), *(cell(row) for _, cell in columns)] for row in rows]
    return [*_name_columns(result), *(title for title, _ in columns)], lines


def _at_place(title: str, measured: str, place: str) -> Column:
    return title, lambda row: _accuracy(row.of(measured, place), "")


def spaces_table(result: ComparisonResult) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of what the texts are in each embedding."""
    counts = ["dimensions", "words it knows", "words of the text"]
    shares = ["unknown", "blind guess", "original text", "mean vectors"]
    rows = [
        [
            space.embedding.name,
            *(f"{each:,}" for each in (space.dimension, space.vocabulary, space.words)),
            *map(percent_fixed, (space.unknown, space.blind, space.original, space.original_on_vectors)),
        ]
        for space in result.spaces
    ]
    return ["embedding", *counts, *shares], rows


def target_name(target: Target) -> str:
    """Return a target as people read it."""
    return f"{READINGS[target.reading]} = {target.value:g}"


def telling_difference(result: ComparisonResult, accuracy: Share = received) -> float | None:
    """Return three standard errors of a difference of accuracies, pooled over all rows. None for one run."""
    shares = [accuracy(row) for row in result.matched()]
    spreads = [share.spread for share in shares if share is not None and share.spread is not None]
    if not spreads or len(spreads) < len(shares):
        return None
    pooled = math.sqrt(sum(spread**2 for spread in spreads) / len(spreads))
    return 3.0 * pooled * math.sqrt(2.0 / result.runs)


def _best(begin: str, found: list[Row], accuracy: Share, result: ComparisonResult) -> str:
    telling = telling_difference(result, accuracy)
    ordered = sorted(((row.name, _mean(accuracy(row))) for row in found), key=lambda pair: -pair[1])
    first, best = ordered[0]
    sentence = f"{begin}{first} is the most accurate ({percent_fixed(best)})"
    if telling is None:
        return sentence + "; one run does not tell how far that is chance."
    if len(found) == 1:
        return sentence + "; no other mechanism is there to compare it with."
    close = [name for name, other in ordered[1:] if best - other <= telling]
    more = len(close) - _NAMED_AT_MOST
    names = f"{', '.join(close[:_NAMED_AT_MOST])} and {more} more" if more > 1 else ", ".join(close)
    ahead = f"not clearly ahead of {names}" if close else "clearly ahead of the others"
    return f"{sentence}, {ahead} (clear: more than {100 * telling:.1f} points)."


def _mean(accuracy: MeanAndSpread | None) -> float:
    return 0.0 if accuracy is None else accuracy.mean


def _accuracy(accuracy: MeanAndSpread | None, unit: str = " %") -> str:
    if accuracy is None:
        return NOT_MET
    spread = "" if accuracy.spread is None else f" ± {100 * accuracy.spread:.1f}"
    return f"{100 * accuracy.mean:.1f}{unit}{spread}"


def _name_columns(result: ComparisonResult) -> list[str]:
    return ["embedding", "mechanism"] if result.several else ["mechanism"]


def _named(row: Row) -> list[str]:
    return [row.embedding, row.mechanism] if row.embedding else [row.mechanism]
