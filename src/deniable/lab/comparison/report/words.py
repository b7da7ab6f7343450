"""What a comparison found, as sentences and as a table: for the terminal and for the page alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from deniable.audit.named import WAYS
from deniable.lab.comparison.matching import Target
from deniable.lab.comparison.readings import Name
from deniable.lab.comparison.results import ComparisonResult, MeanAndSpread, Row, Worth, pareto_front
from deniable.report.wording import percent_fixed

Column = tuple[str, Callable[[Row, Worth], str]]
"""The name of a column of a table, and its cell in a row."""

READINGS = {
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
    "context": "Words named in context: how often that attacker names the word, alone or beside its "
    "neighbours, whichever is better.",
    "kinds": "Kinds of words named: how often that attacker names the kind of a less frequent word.",
    "reached": "Reached: the value at the ε found.",
    "N_w": "N_w: the share of words that stay unchanged.",
    "exposed": "Exposed: how often the 1 % of the text stays unchanged that does so most often.",
    "adversary": "Adversary: how often it names the word behind a released one.",
    "received": "Received: learnt from and judged on words as released.",
    "words": "Accuracies in % of classifiers that learnt from released text and are judged on it, by what "
    "they read: words as released, words as decoded, mean vectors as released and as expected.",
    "decoded": "Decoded: judged after the release was decoded; rows are in its order.",
    "moved": "Moved: mean distance from a word to what became of it, 1 for a word drawn at random.",
}
_NAMED_AT_MOST = 3


def table_columns(result: ComparisonResult) -> list[Column]:
    """Return the columns of the table between the names and the marks."""
    epsilon: Column = ("ε", lambda _, worth: f"{worth.epsilon:.3g}")
    accuracies: list[Column] = [
        ("accuracy", lambda _, worth: _accuracy(worth.accuracy)),
        ("received", lambda _, worth: _accuracy(worth.received)),
        ("decoded", lambda _, worth: _accuracy(worth.best_known)),
    ]
    if result.several and result.decoding is None:
        return [epsilon, *_REACHED, ("accuracy", accuracies[1][1])]
    if result.several:
        return [
            epsilon,
            ("words", lambda _, worth: _accuracy(worth.received, "")),
            ("decoded", lambda _, worth: _accuracy(worth.best_known, "")),
            ("vectors", lambda _, worth: _accuracy(worth.on_vectors and worth.on_vectors.as_released, "")),
            ("decoded", lambda _, worth: _accuracy(worth.on_vectors and worth.on_vectors.decoded, "")),
        ]
    measured = 3 if result.decoding is not None else 2 if result.judged_on == "released text" else 1
    return [
        epsilon,
        _REACHED[0],
        ("N_w", lambda _, worth: f"{worth.reached.average:.2f}"),
        _REACHED[1],
        ("adversary", lambda _, worth: f"{worth.reached.adversary:.2f}"),
        *accuracies[:measured],
        ("moved", lambda _, worth: f"{worth.distance.mean:.2f}"),
        ("words/s", lambda _, worth: f"{worth.words_per_second:,.0f}"),
    ]


_REACHED: list[Column] = [
    ("reached", lambda row, worth: f"{worth.reached.value(row.reading):.3f}"),
    ("exposed", lambda _, worth: f"{worth.reached.worst:.2f}"),
]


def columns_of(result: ComparisonResult) -> list[str]:
    """Return the names of the columns of the table; with what a receiver gets, where that was measured."""
    names = ["matched at", *(["embedding"] if result.several else []), "mechanism"]
    return [*names, *(name for name, _ in table_columns(result)), ""]


def legend_of(result: ComparisonResult) -> str:
    """Return what the columns mean."""
    columns, readings = columns_of(result), {target.reading for target in result.targets}
    judged = result.judged_on if result.several else "original text"
    accuracy = f"Accuracy: of a classifier that learnt from released text, on {judged}."
    legends = {**_LEGENDS, "accuracy": accuracy}
    named = [name for name in WAYS if name in readings]
    parts = [legends[name] for name in dict.fromkeys([*named, *columns]) if name in legends]
    parts.append(
        "Accuracies are means ± standard deviations of the runs. ◆: no other row of the table has an "
        "attacker no stronger and an accuracy no lower, one of them better, as they are shown."
    )
    if result.decoding is not None:
        parts.append("◇: the same with decoded text.")
    if named and not result.several:
        parts.append(
            "Where words or kinds named are matched, what was reached counts there in place of the adversary."
        )
    return " ".join(parts)


def finding(result: ComparisonResult) -> str:
    """Return what was found in a few sentences: the most accurate mechanism at each target, and whom it is
    clearly ahead of."""
    sentences = [
        f"A classifier that learns from original text is right for {percent_fixed(result.original)} of the "
        f"texts, one that always names the most frequent label for {percent_fixed(result.guess)}."
    ]
    for target in result.targets:
        found = _matched_at(result, target)
        if not found:
            continue
        begin = f"At {target_name(target)}, judged on {result.judged_on}, "
        sentences.append(_best(begin, found, _received, result))
        if result.decoding is not None:
            sentences.append(_best("Once all are decoded, ", found, _decoded, result))
    return " ".join(sentences)


def table(result: ComparisonResult) -> list[list[str]]:
    """Return the rows of the one table, grouped by target, most accurate first: decoded, where that was
    measured."""
    return [cells for target in result.targets for cells in _table_at(result, target, result.rows)]


def _table_at(result: ComparisonResult, target: Target, rows: Sequence[Row]) -> list[list[str]]:
    there = [row for row in rows if _is_at(row, target)]
    there.sort(key=lambda row: 0.0 if row.worth is None else -row.worth.best_known.mean)
    best = _unbeaten(result, target, _received)
    decoded = [] if result.decoding is None else _unbeaten(result, target, _decoded)
    columns = table_columns(result)
    return [
        [
            target_name(target),
            *_named(row),
            *(
                [NOT_MET, row.problem, *[NOT_MET] * (len(columns) - 2)]
                if row.worth is None
                else [cell(row, row.worth) for _, cell in columns]
            ),
            ("◆" if row in best else "") + ("◇" if row in decoded else ""),
        ]
        for row in there
    ]


def _unbeaten(
    result: ComparisonResult, target: Target, accuracy: Callable[[Worth], MeanAndSpread]
) -> list[Row]:
    """Return the rows at a target that no other row there beats, by figures as the table has them.

    The attacker is the one that was matched. Where N_w was, it is the adversary, whose success stands beside
    it; not so with several embeddings, where that is not shown.
    """
    matched = result.several or target.reading in ("adversary", *WAYS)
    attacker: Name = target.reading if matched else "adversary"
    digits, found = 3 if matched else 2, _matched_at(result, target)
    points = [
        (round(worth.reached.value(attacker), digits), round(100 * accuracy(worth).mean, 1))
        for _, worth in found
    ]
    return [found[place][0] for place in pareto_front(points)]


def places_table(result: ComparisonResult, target: Target) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of the accuracies at a target by where text is released, as released and
    decoded.

    Mean vectors come last, if they were measured. With several embeddings, the first table already has them
    and both sides; what was reached, for which it has no room, is here.
    """
    there = [(row, worth) for row, worth in _matched_at(result, target) if worth.receiver is not None]
    places = {"train": "training", "test": "test"} if result.several else {
        "train": "training time", "test": "test time", "both": "both times"
    }  # fmt: skip
    if not result.several and there and all(worth.on_vectors is not None for _, worth in there):
        places["on_vectors"] = "mean vectors"
    rows = [
        [
            *_named(row),
            *([cell(row, worth) for _, cell in _REACHED] if result.several else []),
            *(
                _accuracy(accuracy, "" if result.several else " %")
                for place in places
                for accuracy in _released_and_decoded(worth, place)
            ),
        ]
        for row, worth in sorted(there, key=lambda pair: -pair[1].best_known.mean)
    ]
    columns = ["embedding", "mechanism", "reached", "exposed"] if result.several else ["mechanism"]
    return [*columns, *(name for place in places.values() for name in (place, "decoded"))], rows


def _released_and_decoded(worth: Worth, place: str) -> tuple[MeanAndSpread | None, MeanAndSpread | None]:
    receiver, vectors = worth.receiver, worth.on_vectors
    if place == "on_vectors":
        return (None, None) if vectors is None else (vectors.as_released, vectors.decoded)
    return (
        (None, None)
        if receiver is None
        else (getattr(receiver.as_released, place), getattr(receiver.decoded, place))
    )


def spaces_table(result: ComparisonResult) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of what the texts are in each embedding."""
    columns = {
        "embedding": [space.embedding.name for space in result.spaces],
        "dimensions": [f"{space.dimension:,}" for space in result.spaces],
        "words it knows": [f"{space.vocabulary:,}" for space in result.spaces],
        "words of the text": [f"{space.words:,}" for space in result.spaces],
        "unknown": [percent_fixed(space.unknown) for space in result.spaces],
        "blind guess": [percent_fixed(space.blind) for space in result.spaces],
        "original text": [percent_fixed(space.original) for space in result.spaces],
    }
    if any(space.original_on_vectors is not None for space in result.spaces):
        columns["mean vectors"] = [percent_fixed(space.original_on_vectors) for space in result.spaces]
    return list(columns), [list(row) for row in zip(*columns.values(), strict=True)]


def met_and_missed(result: ComparisonResult, target: Target) -> tuple[list[list[str]], list[str]]:
    """Return the rows of the table at a target without its name, and sentences about the mechanisms that
    cannot be brought there."""
    missed = [
        f"{row.name}: {row.problem}." for row in result.rows if _is_at(row, target) and row.worth is None
    ]
    return [cells[1:] for cells in _table_at(result, target, [row for row, _ in result.matched()])], missed


def target_name(target: Target) -> str:
    """Return a target as people read it."""
    return f"{READINGS[target.reading]} = {target.value:g}"


def telling_difference(
    result: ComparisonResult, accuracy: Callable[[Worth], MeanAndSpread] | None = None
) -> float | None:
    """Return the difference of two accuracies that is more than chance in the noise: three standard errors of
    a difference.

    The standard deviation of the runs is pooled over all rows, because a few runs say little about their own.
    None for one run. ``accuracy`` says which accuracies: those with words as released, unless others are
    named.
    """
    spreads = [(accuracy or _received)(worth).spread for _, worth in result.matched()]
    known = [spread for spread in spreads if spread is not None]
    if not known or len(known) < len(spreads):
        return None
    pooled = math.sqrt(sum(spread**2 for spread in known) / len(known))
    return 3.0 * pooled * math.sqrt(2.0 / result.runs)


def _is_at(row: Row, target: Target) -> bool:
    return (row.reading, row.target) == (target.reading, target.value)


def _matched_at(result: ComparisonResult, target: Target) -> list[tuple[Row, Worth]]:
    return [(row, worth) for row, worth in result.matched() if _is_at(row, target)]


def _received(worth: Worth) -> MeanAndSpread:
    return worth.received


def _decoded(worth: Worth) -> MeanAndSpread:
    return worth.best_known


def _best(
    begin: str,
    found: list[tuple[Row, Worth]],
    accuracy: Callable[[Worth], MeanAndSpread],
    result: ComparisonResult,
) -> str:
    telling = telling_difference(result, accuracy)
    ordered = sorted(((row.name, accuracy(worth).mean) for row, worth in found), key=lambda pair: -pair[1])
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


def _accuracy(accuracy: MeanAndSpread | None, unit: str = " %") -> str:
    if accuracy is None:
        return NOT_MET
    spread = "" if accuracy.spread is None else f" ± {100 * accuracy.spread:.1f}"
    return f"{100 * accuracy.mean:.1f}{unit}{spread}"


def _named(row: Row) -> list[str]:
    return [row.embedding, row.mechanism] if row.embedding else [row.mechanism]
