"""Write the numbers of docs/experiments/comparison.md from the results beside it: everything below the heading "The numbers".

The corrections under "Which should I use" come from here too: one has to stand as long as the results are of words as released only, the
other says what an adversary misses who reads each word by itself, from the results of scripts/measure_attackers.py beside the page. What
decoding changes is said from the results of scripts/measure_decoding.py and measure_purpose.py.

Words per second are left out: they were measured on busy machines. docs/mechanisms/speed.md counts processor seconds instead.

The words above that heading are written by people, who must read them again when the numbers change.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

from attackers_prose import headline, read_results
from decoding_prose import ahead_of_randomised_response
from decoding_results import read_rows
from deniable.comparison import ComparisonResult, read_comparison
from deniable.comparison.report.comparison_page import privacy_utility_figure
from deniable.comparison.report.words import LEGEND, columns_of, finding, met_and_missed, target_name
from deniable.report.figure import png

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
HEADING = "## The numbers"
ADVICE = "## Which should I use, and when?"
CORRECTION = (
    "**A correction.** The results below are of words as released, judged on original text. Whoever receives a release has released text "
    "on both sides and can decode it, at no cost in privacy, and that changes the order: randomised response, hard to beat as released, is "
    "not so once all are decoded. Its errors are uniform, so nothing can be learnt from them; a mechanism that keeps words near their "
    "meaning gets a part of what it lost back. [Measured with released text on both sides](decoding.md){decoded}; `deniable compare` shows "
    "both."
)
IN_CONTEXT = (
    "**What the adversary misses.** The adversaries below read each word by itself. [Measured on running text](attackers.md): {headline} "
    "So what is equal below is equal for single words. `deniable compare --target context=0.2 --public corpus.txt` brings mechanisms to an "
    "equal attacker in context, `--target kinds=0.3` to one who tells the kind of a word; that was not measured for this page."
)
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


def with_correction(words: str, *, needed: bool, attacked: str = "", decoded: str = "") -> str:
    """Return the words of the page with the correction below the heading of the advice, once; without it where it is not needed.

    ``attacked`` is what was found of attackers in context, and ``decoded`` what decoding changes, if anything was.
    """
    begin, _, rest = words.partition(f"{ADVICE}\n\n")
    ours = ("**A correction.**", "**What the adversary misses.**")
    paragraphs = [paragraph for paragraph in rest.split("\n\n") if not paragraph.startswith(ours)]
    corrections = [CORRECTION.format(decoded=f", {decoded}" if decoded else "")] * needed + [IN_CONTEXT.format(headline=attacked)] * bool(
        attacked
    )
    shown = [textwrap.fill(each, 140, break_long_words=False, break_on_hyphens=False) for each in corrections]
    return begin + f"{ADVICE}\n\n" + "\n\n".join([*shown, *paragraphs])


def main() -> None:
    """Write the figures and the page."""
    page = FOLDER / "comparison.md"
    sections, results = [HEADING, LEGEND], list[ComparisonResult]()
    for name, title in SETTINGS.items():
        saved = FOLDER / f"{name}.json"
        if saved.exists():
            result = read_comparison(saved)
            results.append(result)
            (FOLDER / f"{name}.png").write_bytes(png(privacy_utility_figure(result), dpi=150))
            sections.append(section(name, title, result))
    words = page.read_text("utf-8").split(f"\n{HEADING}\n")[0].rstrip("\n")
    attacked = read_results(FOLDER)
    words = with_correction(
        words,
        needed=any(result.decoding is None for result in results),
        attacked=headline(attacked) if attacked else "",
        decoded=ahead_of_randomised_response(read_rows(FOLDER)),
    )
    page.write_text(words + "\n\n" + "\n\n".join(sections) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
