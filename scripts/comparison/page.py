"""The numbers of docs/research/comparison.md, from the results of ``deniable lab compare`` beside it.

Words per second are left out: they were measured on busy machines. docs/research/speed.md counts processor
seconds instead.
"""

from __future__ import annotations

from deniable.lab.comparison import ComparisonResult, read_comparison
from deniable.lab.comparison.report.comparison_page import privacy_utility_figure
from deniable.lab.comparison.report.words import columns_of, finding, legend_of, met_and_missed, target_name
from deniable.report.figure import png
from scripts.pages import EXPERIMENTS, table

PAGE = EXPERIMENTS / "comparison.md"
AT_EQUAL_ATTACKERS = "comparison-sst2-attackers"
NAMES = (
    "comparison-sst2-default",
    "comparison-sst2-default-constants",
    "comparison-imdb-default",
    "comparison-sst2-glove-840b",
    "comparison-imdb-glove-840b",
    AT_EQUAL_ATTACKERS,
)
ATTACKERS: dict[str, str] = {
    "named": "for words by themselves",
    "context": "in context",
    "kinds": "for kinds",
}


def read_comparisons() -> dict[str, ComparisonResult]:
    """Return the results beside the page, in its order."""
    return {name: read_comparison(EXPERIMENTS / f"{name}.json") for name in NAMES}


def tables() -> dict[str, str]:
    """Return the numbers of each setting."""
    return {name: section(name, result) for name, result in read_comparisons().items()}


def draw() -> None:
    """Draw the figure of each setting; at equal attackers there is nothing to draw."""
    for name, result in read_comparisons().items():
        if name != AT_EQUAL_ATTACKERS:
            (EXPERIMENTS / f"{name}.png").write_bytes(png(privacy_utility_figure(result), dpi=150))


def section(name: str, result: ComparisonResult) -> str:
    """Return one setting: what was done, the plot, and a table for each target."""
    texts, sample = result.texts, result.sample
    parts = [
        f"{texts.learn:,} texts to learn from ({texts.words:,} words), {texts.test:,} to test on, "
        f"{result.runs} runs; privacy "
        f"read on {sample.words:,} words of the text, {sample.distinct:,} of them distinct; blind guessing "
        "names "
        f"{100 * sample.guess:.1f} % of them. {finding(result)}",
        f"{legend_of(result)} {epsilons_apart(result)}"
        if name == AT_EQUAL_ATTACKERS
        else f"![Accuracy against the success of the adversary]({name}.png)",
    ]
    columns = columns_of(result)[1:]
    shown = [place for place, column in enumerate(columns) if column != "words/s"]
    for target in result.targets:
        met, missed = met_and_missed(result, target)
        rows = [[row[place] for place in shown] for row in met]
        parts += [
            f"**{target_name(target)}**",
            table([columns[place] for place in shown], rows),
            " ".join(missed),
        ]
    return "\n\n".join(part for part in parts if part)


def epsilons_apart(result: ComparisonResult) -> str:
    """Return the ε of each row by the attacker that was matched."""
    found: dict[str, list[str]] = {}
    for row, worth in result.matched():
        found.setdefault(row.name, []).append(f"{worth.epsilon:.3g} {ATTACKERS[row.reading]}")
    said = [f"{where}, {', '.join(epsilons)}" for where, epsilons in found.items()]
    return f"The ε by the attacker that is matched: {'; '.join(said)}."
