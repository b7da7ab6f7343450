"""The tables of docs/experiments/languages.md, from languages.json beside it, which
scripts/languages/measure.py measured."""

from __future__ import annotations

import json
from typing import Any

from scripts.pages import EXPERIMENTS, percent, table

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
Found = dict[str, Any]


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    results = json.loads((EXPERIMENTS / "languages.json").read_text(encoding="utf-8"))
    return {
        "cutting": cutting(results["cutting"]),
        "utility": utility(results["utility"]),
        "calibration": calibration(results["calibration"]),
    }


def cutting(measured: Found) -> str:
    """Return how words agree with gold."""
    rows = []
    for language, found in measured.items():
        for rules in (each for each in ("plain", "rules") if each in found):
            one = found[rules]
            agreement = []
            for what in ("boundary", "word"):
                f1 = f"{one[f'{what}_f1']:.3f}"
                agreement += [
                    f"{one[f'{what}_precision']:.3f} / {one[f'{what}_recall']:.3f}",
                    f"**{f1}**" if rules == "rules" else f1,
                ]
            known = (
                ["–", "–"]
                if found["vocabulary"] is None
                else [percent(one["known"]), percent(found["gold_known"])]
            )
            rows.append(
                [NAMES[language], f"{found['sentences']:,}", rules, *agreement, f"{one['words']:,}", *known]
            )
    head = [
        "language",
        "sentences",
        "cut by",
        "boundaries P / R",
        "F1",
        "words P / R",
        "F1",
        "words",
        "known",
        "gold known",
    ]
    return table(head, rows, align="lrlr")


def utility(measured: Found) -> str:
    """Return what classifiers still learn."""
    rows = []
    for language, found in measured.items():
        for rules in (each for each in ("plain", "rules") if each in found):
            one = found[rules]
            released = zip(one["released"], one["released_f1"], found["epsilons"], strict=True)
            reached = [f"{one[name]:.3f} ({one[f'{name}_f1']:.3f})" for name in ("majority", "original")]
            reached += [f"{score:.3f} ({f1:.3f}), ε = {epsilon:g}" for score, f1, epsilon in released]
            changed = " / ".join(f"{100 * share:.0f}" for share in one["changed"]) + " %"
            rows.append([f"{TASKS[language]} ({one['texts']:,})", rules, *reached, changed])
    stays = [f"stays {share} %" for share in (25, 50, 75)]
    return table(
        ["texts", "cut by", "always the commonest", "original", *stays, "changed"], rows, align="llr"
    )


def calibration(measured: Found) -> str:
    """Return how often Japanese words stay unchanged, by ε."""
    rows = [
        [
            f"{row['epsilon']:g}",
            *(f"{row['unchanged'][name]:.3f}" for name in ("mean", "median", "95%")),
            f"{row['distinct_median']:,.0f}",
        ]
        for row in measured["table"]
    ]
    head = ["ε", "average N_w", "median", "95 % of words at most", "distinct words in 1,000 draws, median"]
    return table(head, rows, align="r")
