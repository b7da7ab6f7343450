"""What the attempt to refute the bound found, in words and in a table."""

from __future__ import annotations

from deniable.audit.bound.attempt import BoundResult
from deniable.audit.catalogue import Audit
from deniable.audit.report.table import Table


def _bound_sentence(result: BoundResult) -> str:
    tried, what = len(result.places), f"{result.mechanism} at ε = {result.epsilon:g}"
    if result.refuted:
        broken = [place.space for place in result.places if place.refuted]
        return (
            f"REFUTED: the promise of {what} is broken in {len(broken)} of {tried} places, such as "
            f"{broken[0]}."
        )
    return f"Not refuted: in {tried} places no event was found that {what} makes likelier than it promises."


def _bound_table(result: BoundResult) -> Table:
    rows = []
    for place in result.places:
        worst = place.worst_pairs[0] if place.worst_pairs else None
        shown = "–" if worst is None or worst.shown is None else f"{worst.shown:.3f}"
        promised = "–" if worst is None else f"{worst.promised:.3f}"
        verdict = "REFUTED" if place.refuted else "holds"
        rows.append([place.space, f"{place.draws_per_word:,}", promised, shown, verdict])
    return Table(
        "The pair that came closest, in each place",
        ["space", "draws a word", "promised", "shown at least", ""],
        rows,
    )


BOUND = Audit(
    result=BoundResult,
    heading="Does the mechanism keep its promise",
    tried=(
        "The promise bounds how much likelier any output may be for one word than for another. Words and "
        "events were chosen on one half of many draws and judged on the other half with exact confidence "
        "intervals: in small spaces, through the whole path of a text, and on the embedding itself."
    ),
    sentence=_bound_sentence,
    tables=lambda result: [_bound_table(result)],
    epsilons=lambda result: (result.epsilon,),
    figure=lambda _: None,
)
