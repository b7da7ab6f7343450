"""The page about what a release costs: the curve, what it means, the table, and what it does not say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deniable.atomic import write_whole
from deniable.report.curves import curves
from deniable.report.figure import save
from deniable.report.markup import code, phrase
from deniable.report.page import Page
from deniable.report.wording import percent
from deniable.utility.accuracy import DECODED
from deniable.utility.findings import SCORE, SHOWN_PLACES, Findings
from deniable.utility.summary import lines_of


def _curves(found: Findings) -> dict[str, Any]:
    """Return the curves of the trade-off, as ``curves`` takes them."""
    levels = {
        "original text": found.clean.mean(SCORE),
        "always the most frequent class": found.majority[SCORE],
    }
    lines = dict(lines_of(found.in_order, SCORE))
    decoded = [point for place in SHOWN_PLACES for point in found.at(place, DECODED)]
    lines |= lines_of(decoded, SCORE, read=", decoded")
    return {"lines": lines, "x": "ε", "y": SCORE, "levels": levels}


def write_utility_figures(found: Findings, folder: Path) -> list[Path]:
    """Write ``utility.png``, ``utility.svg`` and the table ``utility.md`` into a folder, and return their
    paths."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "utility.md"
    write_whole(table, found.table())
    return [*save(curves(**_curves(found)), folder, "utility"), table]


def utility_page(found: Findings) -> Page:
    """Return the page."""
    about = found.about
    page = Page(
        "What the text is still good for",
        lead=found.headline,
        kicker=f"{about.texts:,} texts, {about.classes:,} classes",
    )
    if not found.learns:
        page.add_note(
            "Even from the original text the classifier learns hardly more than which class is the most "
            "frequent. The curve says nothing then: where it stays near the original there was nothing to "
            "lose. Look for more texts, better labels, or another model.",
            kind="warning",
        )
    page.add_facts(_facts(found))
    page.add_section("The trade-off")
    page.add_curves(
        **_curves(found),
        caption="Right answers on held-out texts against ε. Bands reach from the lowest to the highest run.",
    )
    page.add_list(
        [
            "Perturbed at both times: somebody has released text only, learns from one part of it and judges "
            "the other." + (" The answer above is for them." if found.learns else ""),
            "Perturbed at training time: somebody learns from the release and meets original text later. The "
            "texts that are judged have lost nothing.",
            "Perturbed at test time: somebody has learnt from original text and judges released text.",
        ]
    )
    if found.decoding is not None:
        page.add_section(
            "Decoded text",
            "Anybody with the release and its card can compute how often each word is expected behind every "
            "text, and learn from these counts instead of the words as released. It costs no privacy: it "
            f"shows nothing that was not released. {found.gain}",
            "Which way to read a release is chosen on validation texts, a part of those to learn from. The "
            "texts that are judged have no say in it."
            + (" The answer above goes by the reading chosen." if found.learns else ""),
        )
    elif about.not_decoded:
        page.add_text(f"Released text is read as it stands here: {about.not_decoded}.")
    page.add_section("All numbers")
    page.add_table(
        *_narrow(*found.cells()),
        caption="Mean scores (lowest–highest run). Words changed: of your texts; unknown words always "
        "change.",
    )
    _add_method(page, found)
    return page


def _narrow(columns: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the table without runs and ranges of secondary scores: a page is narrower than a terminal."""
    shown = [place for place, name in enumerate(columns) if name != "runs"]

    def cell(name: str, value: str) -> str:
        return value.partition(" (")[0] if name.startswith("macro F1") else value.replace(" to ", "–")

    return [columns[place] for place in shown], [
        [cell(columns[place], cells[place]) for place in shown] for cells in rows
    ]


def _facts(found: Findings) -> list[tuple[str, str]]:
    best = found.smallest_acceptable()
    facts = [
        (f"{found.clean.mean(SCORE):.3f}", "accuracy with the original text"),
        (f"{found.majority[SCORE]:.3f}", "always naming the most frequent class"),
    ]
    if best is not None and best.epsilon is not None:
        loss = f"{100 * found.acceptable_loss:g} points"
        facts += [
            (
                f"{best.epsilon:g}",
                f"the smallest ε that costs somebody with released text only at most {loss}",
            ),
            (percent(best.changed), "of the words of your texts change at this ε"),
        ]
    return facts


def _add_method(page: Page, found: Findings) -> None:
    about, decoding, embedding = found.about, found.decoding, found.about.embedding
    items = [
        f"{about.texts:,} texts of {about.classes:,} classes; {about.left_out:,} records without a text or a "
        f"label were left out. In each of {about.runs} runs another {percent(about.held_out)} of every class "
        f"are held out ({about.judged:,} texts), and all texts are released again, with noise from the "
        "secure source.",
        f"Classifier: {about.model}. Mechanism: {about.mechanism} over the embedding {embedding.name} "
        f"({embedding.words:,} words, {embedding.dimension} dimensions).",
        f"N_w: {about.average_unchanged_from}. It is an average: some words stay far more often. Every "
        "word's own value comes from deniable calibrate.",
    ]
    if decoding is not None:
        drawn = {"rays": "rays", "points": "shared points", "simulation": "draws"}
        exact = decoding.method == "exact"
        made = "exact sums" if exact else f"{decoding.directions:,} {drawn[decoding.method]} a word"
        items.append(
            f"Decoding: {decoding.support:,} words of the embedding, and ⊥, may have gone in; what each "
            f"becomes comes from {made}. How frequent they are behind the release is learnt from all "
            "released texts, without labels. The classifier reads how often each word is expected in a text; "
            "original text gives it whole counts of the same words."
        )
    page.add_section("How it was measured")
    page.add_list(items)
    page.add_section("What this page does not say")
    audit = phrase(
        "How well an attacker does is measured by ", code("deniable audit"), "; ε alone does not say it."
    )
    page.add_list(
        [
            "The scores come from your original texts and carry no guarantee of their own. Treat the page as "
            "you treat the texts' labels.",
            "Another task on the same texts may need more of them, or less.",
            audit,
        ]
    )
