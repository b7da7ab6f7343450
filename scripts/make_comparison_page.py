"""Write the numbers of docs/experiments/comparison.md from the results beside it: everything below the heading "The numbers".

The corrections under "Which should I use" come from here too: one has to stand as long as the results are of words as released only, the
others say what an adversary misses who reads each word by itself, or knows the channel less well than it could, from the results of
scripts/measure_attackers.py and what scripts/earlier_attackers.py kept of earlier ones. What decoding changes is said from the results of
scripts/measure_decoding.py and measure_purpose.py. So does the paragraph that says which differences are called clear.

Words per second are left out: they were measured on busy machines. docs/mechanisms/speed.md counts processor seconds instead.

The words above that heading are written by people, who must read them again when the numbers change.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from pathlib import Path

from attackers_prose import headline, read_results
from decoding_prose import ahead_of_randomised_response
from decoding_results import read_rows
from deniable.lab.comparison import ComparisonResult, read_comparison
from deniable.lab.comparison.report.comparison_page import privacy_utility_figure
from deniable.lab.comparison.report.words import LEGEND, columns_of, finding, legend_of, met_and_missed, target_name, telling_difference
from deniable.report.figure import png
from earlier_attackers import compare, how_much_stronger

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
HEADING = "## The numbers"
ADVICE = "## Which should I use, and when?"
CORRECTION = (
    "**A correction.** The results below are of words as released, judged on original text. Whoever receives a release has released text "
    "on both sides and can decode it, at no cost in privacy, and that changes the order: randomised response, hard to beat as released "
    "(the tasks here are of sentiment), is not so once all are decoded. Its errors are uniform, so nothing can be learnt from them; a "
    "mechanism that keeps words near their meaning gets a part of what it lost back. [Measured with released text on both "
    "sides](decoding.md){decoded}; `deniable lab compare` shows both."
)
IN_CONTEXT = (
    "**What the adversary misses.** The adversaries below read each word by itself. [Measured on running text](attackers.md): {headline} "
    "So what is equal below is equal for single words. `deniable lab compare --target context=0.2 --public corpus.txt` brings mechanisms "
    "to an equal attacker in context, `--target kinds=0.3` to one who tells the kind of a word; {measured}."
)
STRONGER = (
    "**What it did not know.** {stronger} The comparisons below, but for that of the last section, were made before that and not repeated: "
    "their adversary of drawn words learns from draws, behind every mechanism alike."
)
CLEAR = (
    "Only what the numbers below show. Differences are called clear where they exceed three standard errors of the noise, the spread of "
    "runs pooled over the rows of a section: {points} points of accuracy with {runs} runs, and each finding says its own. The training "
    "texts are the same for all, and other texts or classifiers may tell another story."
)
AT_EQUAL_ATTACKERS = "comparison-sst2-attackers"
COMMANDS = {
    AT_EQUAL_ATTACKERS: """deniable lab compare sst2.jsonl.xz --embedding default --embedding sentiment-16-2 --mechanism multivariate \\
  --mechanism randomized-response --train 600 --test 600 --words 200 --longest 100 --runs 2 --directions 100 --no-decode \\
  --target named=0.17 --target context=0.17 --target kinds=0.35 --public public-reviews.txt.xz \\
  --save docs/experiments/comparison-sst2-attackers.json""",
}
"""How results were measured that scripts/run_comparison.py does not measure."""
ATTACKERS: dict[str, str] = {"named": "for words by themselves", "context": "in context", "kinds": "for kinds"}
SETTINGS = {
    "comparison-sst2-default": "SST-2, built-in embedding (50,000 words, 50 dimensions)",
    "comparison-sst2-default-constants": "SST-2, built-in embedding: other constants of rank smoothing and Vickrey",
    "comparison-imdb-default": "IMDb, built-in embedding (50,000 words, 50 dimensions)",
    "comparison-sst2-glove-840b": "SST-2, GloVe 840B (33,860 words, 300 dimensions)",
    "comparison-imdb-glove-840b": "IMDb, GloVe 840B (33,860 words, 300 dimensions)",
    AT_EQUAL_ATTACKERS: "SST-2 at equal attackers: of words, in context and of kinds, in the built-in space and a shaped one",
}


def read_comparisons() -> dict[str, ComparisonResult]:
    """Return the results beside the page, in its order."""
    return {name: read_comparison(saved) for name in SETTINGS if (saved := FOLDER / f"{name}.json").exists()}


def section(name: str, title: str, result: ComparisonResult) -> str:
    """Return one setting: what was done, the plot, and a table for each target."""
    texts, sample = result.texts, result.sample
    parts = [
        f"### {title}",
        f"{texts.learn:,} texts to learn from ({texts.words:,} words), {texts.test:,} to test on, {result.runs} runs; privacy "
        f"read on {sample.words:,} words of the text, {sample.distinct:,} of them distinct; blind guessing names "
        f"{100 * sample.guess:.1f} % of them. {finding(result)}",
        f"{legend_of(result)} {epsilons_apart(result)}"
        if name in COMMANDS
        else f"![Accuracy against the success of the adversary]({name}.png)",
    ]
    for target in result.targets:
        columns = columns_of(result)[1:]
        shown = [place for place, column in enumerate(columns) if column != "words/s"]
        lines = ["| " + " | ".join(columns[place] for place in shown) + " |", "|" + "---|" * len(shown)]
        met, missed = met_and_missed(result, target)
        lines += ["| " + " | ".join(row[place] for place in shown) + " |" for row in met]
        parts += [f"**{target_name(target)}**", "\n".join(lines), " ".join(missed)]
    if name in COMMANDS:
        kinds = f"Kinds are {result.kinds}. The shaped space and the public reviews are those of [the page about purposes](purpose.md)."
        known = (
            "These attackers know what the paper's mechanism makes of a word by [shared points](channels.md), and what randomised response "
            "does exactly."
        )
        parts += [kinds, known, f"```text\n{COMMANDS[name]}\n```"]
    return "\n\n".join(part for part in parts if part)


def epsilons_apart(result: ComparisonResult) -> str:
    """Return the ε of each row by the attacker that was matched."""
    found: dict[str, list[str]] = {}
    for row, worth in result.matched():
        found.setdefault(row.name, []).append(f"{worth.epsilon:.3g} {ATTACKERS[row.reading]}")
    said = [f"{where}, {', '.join(epsilons)}" for where, epsilons in found.items()]
    return f"The ε by the attacker that is matched: {'; '.join(said)}."


def clear_differences(results: Iterable[ComparisonResult]) -> str:
    """Return which differences of accuracy are called clear, from the least to the most of all results; nothing where runs do not tell."""
    found = [(result.runs, 100 * telling) for result in results if (telling := telling_difference(result)) is not None]
    if not found:
        return ""
    runs, points = sorted({runs for runs, _ in found}), sorted(points for _, points in found)
    return CLEAR.format(points=f"{points[0]:.1f} to {points[-1]:.1f}", runs=" or ".join(map(str, runs)))


def with_correction(words: str, *, needed: bool, attacked: str = "", decoded: str = "", stronger: str = "", clear: str = "") -> str:
    """Return the words of the page with the correction below the heading of the advice, once; without it where it is not needed.

    ``attacked`` is what was found of attackers in context, ``decoded`` what decoding changes, and ``stronger`` what attackers name who
    know the channel better, if anything was. ``clear`` says which differences are called clear, and stands below all of them.
    """
    begin, _, rest = words.partition(f"{ADVICE}\n\n")
    ours = ("**A correction.**", "**What the adversary misses.**", "**What it did not know.**", "Only what the numbers below show.")
    paragraphs = [paragraph for paragraph in rest.split("\n\n") if not paragraph.startswith(ours)]
    measured = "the last section has it" if (FOLDER / f"{AT_EQUAL_ATTACKERS}.json").exists() else "that was not measured for this page"
    corrections = [CORRECTION.format(decoded=f", {decoded}" if decoded else "")] * needed
    corrections += [IN_CONTEXT.format(headline=attacked, measured=measured)] * bool(attacked)
    corrections += [STRONGER.format(stronger=stronger)] * bool(stronger)
    corrections += [clear] * bool(clear)
    shown = [textwrap.fill(each, 140, break_long_words=False, break_on_hyphens=False) for each in corrections]
    return begin + f"{ADVICE}\n\n" + "\n\n".join([*shown, *paragraphs])


def main() -> None:
    """Write the figures and the page."""
    page = FOLDER / "comparison.md"
    sections, results = [HEADING, LEGEND], read_comparisons()
    for name, result in results.items():
        if name not in COMMANDS:
            (FOLDER / f"{name}.png").write_bytes(png(privacy_utility_figure(result), dpi=150))
        sections.append(section(name, SETTINGS[name], result))
    words = page.read_text("utf-8").split(f"\n{HEADING}\n")[0].rstrip("\n")
    attacked = read_results(FOLDER)
    words = with_correction(
        words,
        needed=any(result.decoding is None for result in results.values()),
        attacked=headline(attacked) if attacked else "",
        decoded=ahead_of_randomised_response(read_rows(FOLDER)),
        stronger=how_much_stronger(compare(FOLDER, attacked)),
        clear=clear_differences(results.values()),
    )
    page.write_text(words + "\n\n" + "\n\n".join(sections) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
