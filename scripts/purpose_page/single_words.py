"""Single words and sample texts, from docs/experiments/purpose-words.json."""

from __future__ import annotations

from typing import Any

from purpose_page.names import DATA, space_name, table

SMALLEST = 0.08


def words_table(found: list[dict[str, Any]]) -> str:
    """Return how many words keep themselves in each space."""
    rows = []
    for each in found:
        above = f"{each['above_half'] * each['words']:,.0f} of {each['words']:,}"
        shares = [f"{100 * each['mean']:.1f} %", f"{100 * each['largest']:.0f} %", above]
        rows.append([DATA[each["data"]], _space(each), f"{100 * each['named']:.0f} %", f"{each['epsilon']:g}", *shares])
    return table(["data", "space", "names", "ε", "N_w, mean", "N_w, worst word", "words above ½"], 2, rows)


def samples_table(found: list[dict[str, Any]]) -> str:
    """Return what sample texts became."""
    samples = [[_space(each), *sample] for each in found if each["level"] == SMALLEST for sample in each["samples"]]
    return table(["space", "text", "released"], 3, samples)


def _space(each: dict[str, Any]) -> str:
    return space_name(each["data"], each["space"])
