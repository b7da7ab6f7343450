"""One page for a comparison."""

from __future__ import annotations

from typing import Any

from deniable.comparison.report.figure import privacy_utility_figure
from deniable.comparison.report.words import COLUMNS, LEGEND, front, matched, met_and_missed, said_first, target_name
from deniable.report.page import Page


def comparison_page(answer: dict[str, Any]) -> Page:
    """Return the page: which mechanism is worth most at equal privacy, the plot, the table and how it was measured."""
    page = Page("Mechanisms at equal privacy", kicker="deniable compare", lead=said_first(answer))
    page.add_facts(
        [
            (str(len(answer["mechanisms"])), "mechanisms"),
            (f"{answer['texts']['learn']:,}", "texts to learn from"),
            (f"{answer['runs']} × {answer['texts']['words']:,}", "words released at each ε"),
        ]
    )
    page.add_section(
        "Privacy and utility",
        "The further up, the more accurate; the further left, the less an adversary learns. A mechanism is worth considering where it lies "
        "on the dashed line: nothing else there is better in both.",
    )
    if matched(answer):
        page.add_figure(
            privacy_utility_figure(answer),
            caption="Every mechanism at every target. Bars are one standard deviation of the runs.",
            alt="Accuracy against the success of the Bayes adversary; the table holds the values. On the front: "
            + ", ".join(f"{row['mechanism']} at ε = {row['epsilon']:.3g}" for row in front(answer)),
        )
    page.add_section("The table", LEGEND)
    for target in answer["targets"]:
        met, missed = met_and_missed(answer, target)
        if met:
            page.add_table(COLUMNS[1:], met, caption=target_name(target))
        if missed:
            page.add_list([f"At {target_name(target)}, {sentence}" for sentence in missed])
    _add_method(page, answer)
    return page


def _add_method(page: Page, answer: dict[str, Any]) -> None:
    sample, texts = answer["sample"], answer["texts"]
    within = ", ".join(f"{value:g} ({name})" for name, value in answer["tolerance"].items())
    page.add_section(
        "How it was measured",
        "The ε of different mechanisms do not compare, so ε was searched for each until a reading had the wanted value within "
        f"{within}. Readings are taken on {sample['words']:,} words drawn from the text ({sample['distinct']:,} distinct), so that "
        "frequent words count as often as they occur; an unknown word never comes out as itself and counts as changed.",
        "The most exposed 1 % of the text are chosen on one half of the draws and judged on the other. The single worst word is not used: "
        "it is some isolated word that the sample happens to hold or not.",
        f"The adversary knows the mechanism, ε, the embedding, word frequencies, and that the word is one of the {sample['distinct']:,} "
        "distinct words of the sample. It learns from draws what each of them becomes, guesses the likeliest, and is judged on fresh "
        "draws: a lower bound on the best possible adversary among these words, the same learner for every mechanism. Blind guessing is "
        f"right for {100 * sample['guess']:.1f} %.",
        f"{texts['learn']:,} texts ({texts['words']:,} words) were released with secure noise, {answer['runs']} times; TF-IDF and logistic "
        f"regression learnt from each release and were tested on {texts['test']:,} original texts. Words per second are those of the "
        "slowest run, on this machine as it was.",
    )
    if answer["left_out"]:
        page.add_list(f"Left out: {name}, {why}." for name, why in answer["left_out"].items())
    page.add_note(
        "Equal readings are not equal guarantees: CusText exposes the cell of every word with certainty, SanText+ keeps most words that "
        "are not listed, and the others promise bounds in different metrics. The numbers come from the texts themselves: treat this page "
        "as you treat them."
    )
    embedding = answer["embedding"]
    page.add_text(
        f"Embedding {embedding['name']} ({embedding['fingerprint'][:12]}), seed {answer['seed']} for the sample, the split and the "
        f"readings; deniable {answer['version']}."
    )
