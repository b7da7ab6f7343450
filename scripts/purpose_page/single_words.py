"""Single words and sample texts, from docs/experiments/purpose-words.json."""

from __future__ import annotations

from typing import Any

from purpose_page.names import DATA, table

SMALLEST = 0.08


def words_table(found: list[dict[str, Any]]) -> str:
    """Return how many words keep themselves in each space."""
    rows = []
    for each in found:
        shares = [f"{100 * each['mean']:.1f} %", f"{100 * each['largest']:.0f} %", f"{100 * each['above_half']:.2f} %"]
        rows.append([DATA[each["data"]], each["space"], f"{100 * each['named']:.0f} %", f"{each['epsilon']:g}", *shares])
    return table(["data", "space", "names", "ε", "N_w, mean", "N_w, worst word", "words above ½"], 2, rows)


def samples_table(found: list[dict[str, Any]]) -> str:
    """Return what sample texts became."""
    samples = [[each["space"], *sample] for each in found if each["level"] == SMALLEST for sample in each["samples"]]
    return table(["space", "text", "released"], 3, samples)
