"""What a comparison found, as sentences and as a table: for the terminal and for the page alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from deniable.audit.named import WAYS
from deniable.lab.comparison.matching import Target
from deniable.lab.comparison.readings import Name
from deniable.lab.comparison.results import ComparisonResult, MeanAndSpread, Row, Worth, pareto_front
from deniable.report.wording import percent_fixed

READINGS = {
    "average": "average N_w",
    "worst": "N_w of the most exposed 1 %",
    "adversary": "Bayes adversary's success",
    "named": "words named by the attacker",
    "context": "words named in context",
    "kinds": "kinds of words named",
}
COLUMNS = [
    "matched at",
    "mechanism",
    "ε",
    "reached",
    "N_w",
    "exposed",
    "adversary",
    "accuracy",
    "moved",
    "words/s",
    "",
]
OF_SEVERAL = ["matched at", "embedding", "mechanism", "ε"]
PLAIN = ["reached", "exposed", "accuracy"]
NOT_MET = "–"
LEGEND = (
    "Matched at: the reading that all mechanisms of the group share, and the value wanted; reached: the "
    "value at the ε found. N_w: share "
    "of the words that stay unchanged. Exposed: the same for the 1 % of the text that stays unchanged most "
    "often. Adversary: how often "
    "the word behind a released word is named. Accuracy: of a classifier that learnt from released text, on "
    "original text (mean ± "
    "standard deviation of the runs). Moved: mean distance from a word to what became of it, 1 for a word "
    "drawn at random. ◆: no other "
    "row of the table has an adversary no stronger and an accuracy no lower, one of them better, as they are "
    "shown."
)
RECEIVED_LEGEND = (
    " Received: learnt from and judged on words as released, which the headline is about; rows are in its "
    "order. `deniable utility` judges "
    "the same, but learns from more of the texts and with another regularisation, so its figures differ a "
    "little. ◆: no other row of the "
    "table has an adversary no stronger and a received accuracy no lower, one of them better, as they are "
    "shown."
)
DECODED_LEGEND = (
    " Received: learnt from and judged on words as released. Decoded: the same after the release was "
    "decoded; rows are in its order. "
    "◆ and ◇: no other row of the table has an adversary no stronger and an accuracy no lower, one of them "
    "better, as they are shown, with "
    "words as released and decoded."
)
OF_ATTACKERS = (
    " Where words or kinds named are matched, what was reached counts there in place of the adversary."
)
REACHED_LEGEND = (
    "Reached: the value at the ε found. Exposed: how often the 1 % of the text stays unchanged "
    "that does so most often. "
)
RECEIVED_ACCURACY = (
    "Accuracy: of a classifier that learnt from released text, on released text (mean ± standard deviation "
    "of the runs). ◆: no other row "
    "of the table reached no more and has an accuracy no lower, one of them better, as they are shown."
)
PLAIN_ACCURACY = (
    "Accuracy: of a classifier that learnt from released text, on original text (mean ± standard deviation "
    "of the runs). ◆: no other row "
    "of the table reached no more and has an accuracy no lower, one of them better, as they are shown."
)
ON_BOTH_SIDES = (
    "Accuracies in % (mean ± standard deviation of the runs) of classifiers that learnt from released text "
    "and are judged on released "
    "text, by what they read: words as released, words as decoded (rows are in its order), mean vectors as "
    "released, and mean vectors as "
    "expected. ◆ and ◇: no other row of the table reached no more and has an accuracy no lower, one of them "
    "better, with words as released "
    "and decoded."
)
_NAMED_AT_MOST = 3
ATTACKER_LEGENDS = {
    "named": "Words named: how often the attacker over all words of the text names the word behind a "
    "released one. ",
    "context": "Words named in context: how often that attacker names the word, reading it by itself or "
    "beside its neighbours, "
    "whichever is better. ",
    "kinds": "Kinds of words named: how often that attacker tells of what kind a less frequent word was. ",
}
PLACES = {"train": "training time", "test": "test time", "both": "both times"}


def columns_of(result: ComparisonResult) -> list[str]:
    """Return the columns of the table; with what a receiver gets, where that was measured."""
    if result.several:
        return [
            *OF_SEVERAL,
            *(PLAIN if result.decoding is None else ["words", "decoded", "vectors", "decoded"]),
            "",
        ]
    place = COLUMNS.index("accuracy") + 1
    return [*COLUMNS[:place], *_received_columns(result), *COLUMNS[place:]]


def _received_columns(result: ComparisonResult) -> list[str]:
    if result.decoding is not None:
        return ["received", "decoded"]
    return ["received"] if _has_received(result) else []


def _has_received(result: ComparisonResult) -> bool:
    """Return whether, without decoding, it was measured how released text is judged; old versions did not."""
    return result.decoding is None and result.judged_on == "released text"


def legend_of(result: ComparisonResult) -> str:
    """Return what the columns mean."""
    readings = {target.reading for target in result.targets}
    named = "".join(legend for reading, legend in ATTACKER_LEGENDS.items() if reading in readings)
    if result.several:
        accuracy = RECEIVED_ACCURACY if _has_received(result) else PLAIN_ACCURACY
        return named + (REACHED_LEGEND + accuracy if result.decoding is None else ON_BOTH_SIDES)
    received = RECEIVED_LEGEND if result.decoding is None else DECODED_LEGEND
    legend = LEGEND[: LEGEND.index(" ◆")] + received if _received_columns(result) else LEGEND
    return named + legend + (OF_ATTACKERS if named else "")


def finding(result: ComparisonResult) -> str:
    """Return what was found in a few sentences: the most accurate mechanism at each target, and whom it is
    clearly ahead of."""
    sentences = [
        f"A classifier that learns from original text is right for {percent_fixed(result.original)} of the "
        "texts, "
        f"one that always names the most frequent label for {percent_fixed(result.guess)}."
    ]
    for target in result.targets:
        found = [(row, worth) for row, worth in result.matched() if _is_at(row, target)]
        if not found:
            continue
        sentences.append(
            _best(f"At {target_name(target)}, judged on {result.judged_on}, ", found, _received, result)
        )
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
    best, decoded = (
        _unbeaten(result, target, _received),
        [] if result.decoding is None else _unbeaten(result, target, _decoded),
    )
    return [
        _cells(row, ("◆" if row in best else "") + ("◇" if row in decoded else ""), result) for row in there
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
    digits = 3 if matched else 2
    found = [(row, worth) for row, worth in result.matched() if _is_at(row, target)]
    points = [
        (round(worth.reached.value(attacker), digits), round(100 * accuracy(worth).mean, 1))
        for _, worth in found
    ]
    return [found[place][0] for place in pareto_front(points)]


def places_table(result: ComparisonResult, target: Target) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of the accuracies at a target by where text is released, as released and
    decoded.

    Where it was measured, what a classifier makes of mean vectors stands at the end. With several embeddings
    the first table has no room for what was reached, which stands here.
    """
    there = [worth for row, worth in result.matched() if _is_at(row, target)]
    # With several embeddings, both sides and mean vectors stand in the first table already.
    on_vectors = not result.several and all(worth.on_vectors is not None for worth in there)
    places = [place for place in PLACES if place != "both" or not result.several]
    rows = []
    for row, worth in sorted(result.matched(), key=lambda pair: -pair[1].best_known.mean):
        if _is_at(row, target) and worth.receiver is not None:
            pairs = [
                (getattr(worth.receiver.as_released, place), getattr(worth.receiver.decoded, place))
                for place in places
            ]
            if on_vectors and worth.on_vectors is not None:
                pairs.append((worth.on_vectors.as_released, worth.on_vectors.decoded))
            begin = [*_named(row), *(_reached(row, worth) if result.several else [])]
            rows.append(
                [
                    *begin,
                    *(
                        (_in_percent if result.several else _accuracy)(each)
                        for pair in pairs
                        for each in pair
                    ),
                ]
            )
    of_places = [PLACES[place].removesuffix(" time") if result.several else PLACES[place] for place in places]
    names = [*of_places, *(["mean vectors"] if on_vectors and rows else [])]
    columns = ["embedding", "mechanism", "reached", "exposed"] if result.several else ["mechanism"]
    return [*columns, *(name for place in names for name in (place, "decoded"))], rows


def spaces_table(result: ComparisonResult) -> tuple[list[str], list[list[str]]]:
    """Return the columns and rows of what the texts are in each embedding."""
    columns = [
        "embedding",
        "dimensions",
        "words it knows",
        "words of the text",
        "unknown",
        "blind guess",
        "original text",
    ]
    rows = [
        [
            space.embedding.name,
            f"{space.dimension:,}",
            f"{space.vocabulary:,}",
            f"{space.words:,}",
            percent_fixed(space.unknown),
            percent_fixed(space.blind),
            percent_fixed(space.original),
            *([] if space.original_on_vectors is None else [percent_fixed(space.original_on_vectors)]),
        ]
        for space in result.spaces
    ]
    return [*columns, *(["mean vectors"] if rows and len(rows[0]) > len(columns) else [])], rows


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
    ordered = [(row.name, accuracy(worth).mean) for row, worth in found]
    ordered.sort(key=lambda pair: -pair[1])
    first, best = ordered[0]
    sentence = f"{begin}{first} is the most accurate ({percent_fixed(best)})"
    if telling is None:
        return sentence + "; one run does not tell how far that is chance."
    if len(found) == 1:
        return sentence + "; no other mechanism is there to compare it with."
    close = [name for name, other in ordered[1:] if best - other <= telling]
    more = len(close) - _NAMED_AT_MOST
    names = f"{', '.join(close[:_NAMED_AT_MOST])} and {more} more" if more > 1 else ", ".join(close)
    clear = f"(clear: more than {100 * telling:.1f} points)"
    return sentence + (
        f", not clearly ahead of {names} {clear}." if close else f", clearly ahead of the others {clear}."
    )


def _reached(row: Row, worth: Worth) -> list[str]:
    return [f"{worth.reached.value(row.reading):.3f}", f"{worth.reached.worst:.2f}"]


def _in_percent(accuracy: MeanAndSpread | None) -> str:
    if accuracy is None:
        return NOT_MET
    return f"{100 * accuracy.mean:.1f}" + (
        "" if accuracy.spread is None else f" ± {100 * accuracy.spread:.1f}"
    )


def _accuracy(accuracy: MeanAndSpread) -> str:
    return percent_fixed(accuracy.mean) + (
        "" if accuracy.spread is None else f" ± {100 * accuracy.spread:.1f}"
    )


def _named(row: Row) -> list[str]:
    return [row.embedding, row.mechanism] if row.embedding else [row.mechanism]


def _cells(row: Row, mark: str, result: ComparisonResult) -> list[str]:
    begin, columns = (
        [target_name(Target(reading=row.reading, value=row.target)), *_named(row)],
        columns_of(result),
    )
    if row.worth is None:
        return [*begin, NOT_MET, row.problem, *[NOT_MET] * (len(columns) - len(begin) - 3), ""]
    reached, worth = row.worth.reached, row.worth
    if result.several:
        on = worth.on_vectors
        read = [
            worth.received,
            worth.best_known,
            *((None, None) if on is None else (on.as_released, on.decoded)),
        ]
        plain = [*_reached(row, worth), _accuracy(worth.received)]
        return [
            *begin,
            f"{worth.epsilon:.3g}",
            *(plain if result.decoding is None else map(_in_percent, read)),
            mark,
        ]
    return [
        *begin,
        f"{worth.epsilon:.3g}",
        f"{reached.value(row.reading):.3f}",
        f"{reached.average:.2f}",
        f"{reached.worst:.2f}",
        f"{reached.adversary:.2f}",
        _accuracy(worth.accuracy),
        *map(_accuracy, [worth.received, worth.best_known][: len(_received_columns(result))]),
        f"{worth.distance.mean:.2f}",
        f"{worth.words_per_second:,.0f}",
        mark,
    ]
