"""What an audit found, as a sentence and as tables: for the terminal and for the page alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Table = tuple[str, list[str], list[list[str]]]
Answer = dict[str, Any]

_AT_RISK = 6


def said_first(answer: Answer) -> str:
    """Return the finding in a sentence or two."""
    return _SENTENCES[answer["audit"]](answer)


def tables(answer: Answer) -> list[Table]:
    """Return what was measured: caption, columns, rows."""
    return _TABLES[answer["audit"]](answer)


def percent(value: float | None) -> str:
    """Return a share as people read it."""
    return "–" if value is None else f"{100 * value:.1f} %"


def _bound_sentence(answer: Answer) -> str:
    tried, what = len(answer["places"]), f"{answer['mechanism']} at ε = {answer['epsilon']:g}"
    if answer["refuted"]:
        broken = [place["space"] for place in answer["places"] if place["refuted"]]
        return f"REFUTED: the promise of {what} is broken in {len(broken)} of {tried} places, such as {broken[0]}."
    return f"Not refuted: in {tried} places no event was found that {what} makes likelier than it promises."


def _bound_tables(answer: Answer) -> list[Table]:
    rows = []
    for place in answer["places"]:
        worst = place["worst_pairs"][0] if place["worst_pairs"] else None
        shown = "–" if worst is None or worst["shown"] is None else f"{worst['shown']:.3f}"
        promised = "–" if worst is None else f"{worst['promised']:.3f}"
        rows.append([place["space"], f"{place['draws_per_word']:,}", promised, shown, "REFUTED" if place["refuted"] else "holds"])
    return [("The pair that came closest, in each place", ["space", "draws a word", "promised", "shown at least", ""], rows)]


def _advice(answer: Answer, what: str) -> str:
    largest = answer.get("largest_acceptable_epsilon")
    if largest is None:
        return f"At none of the values tried does it stay at or below {answer['acceptable']:g} {what}."
    return f"Up to ε = {largest:g}, of the values tried, it stays at or below {answer['acceptable']:g} {what}."


def _inversion_sentence(answer: Answer) -> str:
    rows = answer["results"]
    ends = " and ".join(
        f"{percent(row['bayes']['value'])} of the words at ε = {row['epsilon']:g}" for row in (rows[0], rows[-1])[: len(rows)]
    )
    return (
        f"The best guess of an adversary who knows the mechanism and the word frequencies is right for {ends}; "
        f"without seeing anything it is right for {percent(rows[0]['prior_guess'])}. {_advice(answer, 'of the words')}"
    )


def _inversion_tables(answer: Answer) -> list[Table]:
    rows = answer["results"]
    overall = [
        [f"{r['epsilon']:g}", _with_error(r["bayes"]), _with_error(r["nearest_word"]), *(percent(b["bayes"]["value"]) for b in r["bands"])]
        for r in rows
    ]
    names = [f"ranks {band['ranks']}" for band in rows[0]["bands"]]
    repeats = [
        [f"{r['epsilon']:g}", str(m["releases"]), percent(m["majority"]["value"]), percent(m["bayes"]["value"] if m["bayes"] else None)]
        for r in rows
        for m in r["repeats"]
    ]
    risk = [
        [f"{r['epsilon']:g}", w["word"], percent(w["bayes"]["value"]), percent(w["bayes"]["low"])]
        for r in rows
        for w in r["at_risk"][:_AT_RISK]
    ]
    return [
        ("How often the word is named, over all text and by frequency", ["ε", "Bayes", "nearest word", *names], overall),
        ("The same word released again and again with fresh noise", ["ε", "releases", "majority vote", "Bayes"], repeats),
        ("Words most at risk, and how often they are named", ["ε", "word", "named", "at least (95 %)"], risk),
    ]


def _with_error(found: dict[str, float]) -> str:
    return f"{percent(found['value'])} ± {100 * found['standard_error']:.1f}"


def _membership_sentence(answer: Answer) -> str:
    original = answer["protocol"]["original"]["original text"]["plain"]["mean"]["auc"]
    warning = "" if original >= 0.9 else " The auditor is weak on this data (AUC below 0.9), so that failing on released text says little."
    return (
        f"On models trained on original text the auditor tells whose text was used with an AUC of {original:.2f}.{warning} "
        f"{_advice(answer, 'AUC for every adversary')}"
    )


def _membership_tables(answer: Answer) -> list[Table]:
    rows = []
    for condition, questions in answer["protocol"].items():
        for question, adversaries in questions.items():
            for adversary, found in adversaries.items():
                mean = found["mean"]
                cells = [f"{mean[key]:.2f}" for key in ("precision", "recall", "accuracy", "auc", "auc_either_way")]
                rows.append([condition, question, adversary, *cells])
    columns = ["condition", "question", "adversary", "precision", "recall", "accuracy", "AUC", "max(AUC, 1 − AUC)"]
    return [("What the auditor reaches", columns, rows)]


def _authorship_sentence(answer: Answer) -> str:
    return (
        f"Among {answer['authors']} authors the classifier names the right one for {percent(answer['original']['value'])} of original "
        "texts; "
        f"always naming the most frequent author is right for {percent(answer['guess'])}. {_advice(answer, 'of the texts')}"
    )


def _authorship_tables(answer: Answer) -> list[Table]:
    names = ("learnt_from_original", "learnt_from_released")
    rows = [["original text", percent(answer["original"]["value"]), "–"]]
    rows += [[f"ε = {row['epsilon']:g}", *(percent(row[name]["value"]) for name in names)] for row in answer["released"]]
    return [("How often the author of a text is named", ["text", "learnt from original text", "learnt from released text"], rows)]


_SENTENCES: dict[str, Callable[[Answer], str]] = {
    "bound": _bound_sentence,
    "inversion": _inversion_sentence,
    "membership": _membership_sentence,
    "authorship": _authorship_sentence,
}
_TABLES: dict[str, Callable[[Answer], list[Table]]] = {
    "bound": _bound_tables,
    "inversion": _inversion_tables,
    "membership": _membership_tables,
    "authorship": _authorship_tables,
}
