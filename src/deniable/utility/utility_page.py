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
    about, decoded = found.about, found.decoded
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
    tried = sorted({point.epsilon for point in found.in_order if point.epsilon is not None})
    if len(tried) == 1:
        page.add_text(no_curve("ε", tried[0]))
    else:
        dashed = (
            ""
            if decoded is None
            else " Dashed: released text was decoded before it was learnt from or judged."
        )
        page.add_figure(
            utility_figure(found),
            caption="Right answers on held-out texts against ε. Bands reach from the lowest to the highest "
            "run; the upper axis says how often an average word of the vocabulary stays itself "
            f"(N_w).{dashed}",
            alt=_alt(found),
        )
    page.add_list(
        [
            "Perturbed at both times: somebody has released text only, learns from one part of it and judges "
            "the "
            "other." + (" The answer above is for them." if found.learns else ""),
            "Perturbed at training time: somebody learns from the release and meets original text later. The "
            "texts that are judged have lost nothing.",
            "Perturbed at test time: somebody has learnt from original text and judges released text.",
        ]
    )
    if decoded is not None:
        page.add_section(
            "Decoded text",
            "Whoever has the release and its card can compute how often each word is expected behind every "
            "text, and learn from these counts instead of the words as released. It costs no privacy: it "
            f"shows nothing that was not released. {found.gain}",
            "Which way to read a release is chosen on validation texts, a part of those to learn from. The "
            "texts that are judged have no say in it."
            + (" The answer above goes by the reading chosen." if found.learns else ""),
        )
    elif about.not_decoded:
        page.add_text(f"Released text is read as it stands here: {about.not_decoded}.")
    page.add_section("All numbers")
    columns = ["perturbed", "ε", "average N_w", "words changed", "accuracy", "lowest to highest", "macro F1"]
    if decoded is not None:
        columns += ["accuracy, decoded", "lowest to highest", "macro F1, decoded", "chosen reading"]
    page.add_table(
        columns,
        [_row(point, found) for point in found.in_order],
        caption="Means over the runs. Words changed: of your texts; unknown words always change."
        + ("" if decoded is None else " The first scores are those of words as released."),
    )
    _add_method(page, found)
    return page


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
    decoded, epsilon = found.decoded_of(point), point.epsilon
    cells = [PLACES[point.at], *[""] * 3, *_scores(point)]
    if epsilon is not None:
        cells[1:4] = [f"{epsilon:g}", f"{found.unchanged[epsilon]:.3f}", percent_fixed(point.changed)]
    if found.decoded is None:
        return cells
    return [*cells, *([""] * 4 if decoded is None else [*_scores(decoded), found.choice_at(point)])]


def _scores(point: Point) -> list[str]:
    low, high = point.spread(SCORE)
    return [f"{point.mean(SCORE):.3f}", f"{low:.3f} to {high:.3f}", f"{point.mean('macro F1'):.3f}"]


def _add_method(page: Page, found: Findings) -> None:
    about, decoded, embedding = found.about, found.decoded, found.about.embedding
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
    if decoded is not None:
        drawn = {"rays": "rays", "points": "shared points", "simulation": "draws"}
        exact = decoded.method == "exact"
        made = "exact sums" if exact else f"{decoded.directions:,} {drawn[decoded.method]} a word"
        items.append(
            f"Decoding: {decoded.support:,} words of the embedding, and ⊥, may have gone in; what each "
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
