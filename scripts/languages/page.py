"""The tables of docs/research/languages.md, from languages.json beside it, which
scripts/languages/measure.py measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scripts.pages import EXPERIMENTS, percent, read_json, table

PAGE = EXPERIMENTS / "languages.md"
NAMES = {
    "fr": "French",
    "ja": "Japanese",
    "zh": "Chinese",
    "ru": "Russian",
    "de": "German",
    "es": "Spanish",
    "ar": "Arabic",
}
TASKS = {
    "fr": "French tweets: negative, neutral, positive",
    "ja": "Japanese hotel reviews: positive, neutral, negative",
    "ru": "Russian messages: appropriate or not",
}
Measured = dict[str, Any]


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    results = read_json(EXPERIMENTS / "languages.json")
    return {
        "cutting": cutting(results["cutting"]),
        "utility": utility(results["utility"]),
        "calibration": calibration(results["calibration"]["table"]),
    }


def by_rules(measured: Measured) -> Iterator[tuple[str, Measured, str, Measured]]:
    """Yield each language, what was measured of it, and each way of cutting with what it gave."""
    for language, found in measured.items():
        yield from ((language, found, rules, found[rules]) for rules in ("plain", "rules") if rules in found)


def cutting(measured: Measured) -> str:
    """Return how words agree with gold."""
    rows = []
    for language, found, rules, one in by_rules(measured):
        agreement = []
        for what in ("boundary", "word"):
            precision, recall, f1 = (f"{one[f'{what}_{name}']:.3f}" for name in ("precision", "recall", "f1"))
            agreement += [f"{precision} / {recall}", f"**{f1}**" if rules == "rules" else f1]
        known = [percent(one["known"]), percent(found["gold_known"])] if found["vocabulary"] else ["–", "–"]
        counts = f"{found['sentences']:,}", f"{one['words']:,}"
        rows.append([NAMES[language], counts[0], rules, *agreement, counts[1], *known])
    head = ["language", "sentences", "cut by", "boundaries P / R", "F1", "words P / R", "F1", "words"]
    return table([*head, "known", "gold known"], rows, align="lrlr")


def utility(measured: Measured) -> str:
    """Return what classifiers still learn."""
    rows = []
    for language, found, rules, one in by_rules(measured):
        reached = [f"{one[name]:.3f} ({one[f'{name}_f1']:.3f})" for name in ("majority", "original")]
        released = zip(one["released"], one["released_f1"], found["epsilons"], strict=True)
        reached += [f"{score:.3f} ({f1:.3f}), ε = {epsilon:g}" for score, f1, epsilon in released]
        changed = " / ".join(f"{100 * share:.0f}" for share in one["changed"]) + " %"
        rows.append([f"{TASKS[language]} ({one['texts']:,})", rules, *reached, changed])
    stays = [f"stays {share} %" for share in (25, 50, 75)]
    head = ["texts", "cut by", "always the commonest", "original", *stays, "changed"]
    return table(head, rows, align="llr")


def calibration(measured: list[Measured]) -> str:
    """Return how often Japanese words stay unchanged, by ε."""
    rows = []
    for row in measured:
        shares = [f"{row['unchanged'][name]:.3f}" for name in ("mean", "median", "95%")]
        rows.append([f"{row['epsilon']:g}", *shares, f"{row['distinct_median']:,.0f}"])
    head = ["ε", "average N_w", "median", "95 % of words at most", "distinct words in 1,000 draws, median"]
    return table(head, rows, align="r")
