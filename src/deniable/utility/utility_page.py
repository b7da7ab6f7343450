"""The page about what a release costs: the curve, what it means, the table, and what it does not say."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from deniable.atomic import write_whole
from deniable.learning.figure import curve
from deniable.learning.summary import PLACES, Point
from deniable.report.figure import save
from deniable.report.markup import code, phrase
from deniable.report.page import Page
from deniable.report.wording import no_curve, percent, percent_fixed
from deniable.utility.findings import SCORE, Findings

_PLACES = {
    "both": "learnt from and judged on released text",
    "train": "learnt from released text, judged on original text",
    "test": "learnt from original text, judged on released text",
}


def utility_figure(found: Findings) -> Figure:
    """Return the trade-off curve with the average N_w on the upper axis."""
    return curve(
        found.in_order,
        SCORE,
        title="What the text is still good for",
        label=SCORE,
        baselines={"always the most frequent class": found.majority[SCORE]},
        unchanged=found.unchanged,
        decoded=() if found.decoded is None else found.decoded.points,
    )


def write_utility_figures(found: Findings, folder: Path) -> list[Path]:
    """Write the curve (``utility.png``, ``utility.svg``) and the table (``utility.md``) into a folder and
    return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "utility.md"
    write_whole(table, found.table())
    return [*save(utility_figure(found), folder, "utility"), table]


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
            "Already from the original text the classifier learns hardly more than which class is the most "
            "frequent. The curve says "
            "nothing then, and where it stays near the original there was nothing to lose: look for more "
            "texts, better labels, or another "
            "model.",
            kind="warning",
        )
    page.add_facts(_facts(found))
    page.add_section("The trade-off")
    tried = sorted({point.epsilon for point in found.in_order if point.epsilon is not None})
    if len(tried) == 1:
        page.add_text(no_curve(tried[0]))
    else:
        page.add_figure(
            utility_figure(found),
            caption="Right answers on held-out texts against ε. Bands reach from the lowest to the highest "
            "run; the upper axis says how "
            "often an average word of the vocabulary stays itself (N_w)."
            + (
                ""
                if found.decoded is None
                else " Dashed: released text was decoded before it was learnt from or judged."
            ),
            alt=_alt(found),
        )
    page.add_list(
        [
            "Perturbed at both times: somebody is given the release, learns from one part of it and judges "
            "the other. The original is "
            "never seen." + (" The answer above is for them." if found.learns else ""),
            "Perturbed at training time: somebody learns from the release and meets original text later. "
            "That is kinder: the texts that "
            "are judged have lost nothing.",
            "Perturbed at test time: somebody has learnt from original text and is given released text to "
            "judge.",
        ]
    )
    _add_decoding(page, found)
    page.add_section("All numbers")
    decoded = (
        []
        if found.decoded is None
        else ["accuracy, decoded", "lowest to highest", "macro F1, decoded", "chosen reading"]
    )
    page.add_table(
        [
            "perturbed",
            "ε",
            "average N_w",
            "words changed",
            "accuracy",
            "lowest to highest",
            "macro F1",
            *decoded,
        ],
        [_row(point, found) for point in found.in_order],
        caption="Means over the runs. Words changed: of your texts; unknown words always change."
        + (" The first scores are those of words as released." if decoded else ""),
    )
    _add_method(page, found)
    return page


def _add_decoding(page: Page, found: Findings) -> None:
    if found.decoded is None:
        if found.about.not_decoded:
            page.add_text(f"Released text is read as it stands here: {found.about.not_decoded}.")
        return
    page.add_section("Decoded text")
    page.add_text(
        "Whoever has the release and its card can compute how often each word is expected behind every text, "
        "and learn from these counts "
        "instead of the words as released. It costs no privacy: it shows nothing that was not released. "
        f"{found.gain}",
        "Which way to read a release is chosen on validation texts, a part of those to learn from. The texts "
        "that are judged have no say "
        "in it." + (" The answer above goes by the reading chosen." if found.learns else ""),
    )


def _facts(found: Findings) -> list[tuple[str, str]]:
    best = found.smallest_acceptable()
    facts = [
        (f"{found.clean.mean(SCORE):.3f}", "accuracy with the original text"),
        (f"{found.majority[SCORE]:.3f}", "always naming the most frequent class"),
    ]
    if best is not None and best.epsilon is not None:
        loss = f"{100 * found.acceptable_loss:g} points"
        facts.append(
            (
                f"{best.epsilon:g}",
                f"the smallest ε that costs somebody with released text only at most {loss}",
            )
        )
        facts.append((percent(best.changed), "of the words of your texts change at this ε"))
    return facts


def _alt(found: Findings) -> str:
    parts = [f"Accuracy against ε. Unperturbed {found.clean.mean(SCORE):.3f}."]
    for place, text in _PLACES.items():
        for reading, points in ((text, found.at(place)), (f"{text}, decoded", found.decoded_at(place))):
            if points:
                parts.append(
                    f"{reading}: from {points[0].mean(SCORE):.3f} at ε {points[0].epsilon:g} to "
                    f"{points[-1].mean(SCORE):.3f}."
                )
    return " ".join(parts)


def _row(point: Point, found: Findings) -> list[str]:
    low, high = point.spread(SCORE)
    return [
        PLACES[point.at],
        "" if point.epsilon is None else f"{point.epsilon:g}",
        "" if point.epsilon is None else f"{found.unchanged[point.epsilon]:.3f}",
        "" if point.epsilon is None else percent_fixed(point.changed),
        f"{point.mean(SCORE):.3f}",
        f"{low:.3f} to {high:.3f}",
        f"{point.mean('macro F1'):.3f}",
        *_decoded_cells(point, found),
    ]


def _decoded_cells(point: Point, found: Findings) -> list[str]:
    if found.decoded is None:
        return []
    decoded = found.decoded_of(point)
    if decoded is None:
        return [""] * 4
    low, high = decoded.spread(SCORE)
    return [
        f"{decoded.mean(SCORE):.3f}",
        f"{low:.3f} to {high:.3f}",
        f"{decoded.mean('macro F1'):.3f}",
        found.choice_at(point),
    ]


def _add_method(page: Page, found: Findings) -> None:
    about = found.about
    page.add_section("How it was measured")
    page.add_list(
        [
            f"{about.texts:,} texts of {about.classes:,} classes; {about.left_out:,} records without a text "
            "or a label were "
            f"left out. In each of {about.runs} runs {percent(about.held_out)} of every class are held out "
            f"({about.judged:,} texts), "
            "another part each time, and all texts are released anew, with noise from the secure source.",
            f"Classifier: {about.model}. Mechanism: {about.mechanism} over the embedding "
            f"{about.embedding.name} "
            f"({about.embedding.words:,} words, {about.embedding.dimension} dimensions).",
            f"N_w: {about.average_unchanged_from}. It is an average: some words stay far more often. Every "
            "word's own value comes "
            "from deniable calibrate.",
            *_how_decoded(found),
        ]
    )
    page.add_section("What this page does not say")
    page.add_list(
        [
            "The scores come from your original texts and carry no guarantee of their own. Treat the page as "
            "you treat the texts' labels.",
            "Another task on the same texts may need more of them, or less.",
            phrase(
                "How well an attacker does is measured by ",
                code("deniable audit"),
                "; ε alone does not say it.",
            ),
        ]
    )


def _how_decoded(found: Findings) -> list[str]:
    decoded = found.decoded
    if decoded is None:
        return []
    drawn = {"rays": "rays", "points": "shared points", "simulation": "draws"}
    made = (
        "exact sums"
        if decoded.method == "exact"
        else f"{decoded.directions:,} {drawn[decoded.method]} a word"
    )
    return [
        f"Decoding: {decoded.support:,} words of the embedding, and ⊥, may have gone in; what each becomes "
        f"comes from {made}. How frequent "
        "they are behind the release is learnt from all released texts, without labels. The classifier reads "
        "how often each word is "
        "expected in a text (TF-IDF and logistic regression); original text gives it whole counts of the "
        "same words."
    ]
