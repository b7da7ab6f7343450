"""Write the numbers of docs/experiments/comparison.md from the results beside it: everything below the heading "The numbers".

Words per second are left out: they were measured on busy machines. docs/mechanisms/speed.md counts processor seconds instead.

The words above that heading are written by people, who must read them again when the numbers change.
"""

from __future__ import annotations

from pathlib import Path

from deniable.comparison import ComparisonResult, read_comparison
from deniable.comparison.report.page import privacy_utility_figure
from deniable.comparison.report.words import LEGEND, columns_of, finding, met_and_missed, target_name
from deniable.report.figure import png

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
HEADING = "## The numbers"
SETTINGS = {
    "comparison-sst2-default": "SST-2, built-in embedding (50,000 words, 50 dimensions)",
    "comparison-sst2-default-constants": "SST-2, built-in embedding: other constants of rank smoothing and Vickrey",
    "comparison-imdb-default": "IMDb, built-in embedding (50,000 words, 50 dimensions)",
    "comparison-sst2-glove-840b": "SST-2, GloVe 840B (33,860 words, 300 dimensions)",
    "comparison-imdb-glove-840b": "IMDb, GloVe 840B (33,860 words, 300 dimensions)",
}


def section(name: str, title: str, result: ComparisonResult) -> str:
    """Return one setting: what was done, the plot, and a table for each target."""
    texts, sample = result.texts, result.sample
    parts = [
        f"### {title}",
        f"{texts.learn:,} texts to learn from ({texts.words:,} words), {texts.test:,} to test on, {result.runs} runs; privacy "
        f"read on {sample.words:,} words of the text, {sample.distinct:,} of them distinct; blind guessing names "
        f"{100 * sample.guess:.1f} % of them. {finding(result)}",
        f"![Accuracy against the success of the adversary]({name}.png)",
    ]
    for target in result.targets:
        columns = columns_of(result)[1:]
        shown = [place for place, column in enumerate(columns) if column != "words/s"]
        lines = ["| " + " | ".join(columns[place] for place in shown) + " |", "|" + "---|" * len(shown)]
        met, missed = met_and_missed(result, target)
        lines += ["| " + " | ".join(row[place] for place in shown) + " |" for row in met]
        parts += [f"**{target_name(target)}**", "\n".join(lines), " ".join(missed)]
    return "\n\n".join(part for part in parts if part)


def main() -> None:
    """Write the figures and the page."""
    page = FOLDER / "comparison.md"
    sections = [HEADING, LEGEND]
    for name, title in SETTINGS.items():
        saved = FOLDER / f"{name}.json"
        if saved.exists():
            result = read_comparison(saved)
            (FOLDER / f"{name}.png").write_bytes(png(privacy_utility_figure(result), dpi=150))
            sections.append(section(name, title, result))
    words = page.read_text("utf-8").split(f"\n{HEADING}\n")[0].rstrip("\n")
    page.write_text(words + "\n\n" + "\n\n".join(sections) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
