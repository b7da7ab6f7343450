"""The page of a calibration, for a privacy officer who never saw ε: the answer first, then the words, then
the method. What it shows is computed once: N_w and S_w against ε, and public examples.

The examples are released by the mechanism and the secure noise that private text would get.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from deniable.arrays import Floats
from deniable.calibration.calibration import Calibration
from deniable.calibration.choice import Choice, Targets, evaluate
from deniable.calibration.result import EpsilonRow, headline, limits_of, row_at, word_cells, worst_words
from deniable.calibration.table import TableCalibration
from deniable.channel.distribution import ETA
from deniable.embeddings.embedding import Embedding
from deniable.interfaces import NOTHING_EXPOSED
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.progress import Report
from deniable.release.privatizer import Privatizer
from deniable.report.curves import curves
from deniable.report.figure import save
from deniable.report.markup import code, phrase, strong, unchanged_word, word
from deniable.report.page import Page
from deniable.report.wording import Lines, Point, percent, percent_up, words
from deniable.words.cutter import Cutter

SHOWN_AVERAGES = (0.05, 0.2, 0.5)
"""Without targets, sample texts are shown where the average word stays this often."""

EXPOSED = 0.5
"""Without targets, a word that stays itself more often than this counts as exposed."""

SENTENCES = (
    "my doctor said the test results would arrive on friday",
    "we moved to seattle last year and my son plays hockey there",
    "please cancel the insurance on my car before the end of march",
)
"""Written for this purpose; nobody's text."""

_CURVE_VALUES, _ENOUGH, _WORST = 16, 8, 15


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What the page and the figures show.

    ``calibration`` has N_w of all words looked at, ``sample`` S_w of them or of a sample. ``choice`` is the ε
    that is spoken of; ``has_targets`` says that targets chose it or were held against it. ``shown`` are the
    three values of ε that texts are shown at, and ``releases`` the texts and a release of them at each.
    """

    calibration: Calibration
    sample: Calibration
    choice: Choice
    has_targets: bool
    curves: list[EpsilonRow]
    shown: tuple[EpsilonRow, ...]
    releases: list[list[str]]

    @cached_property
    def unchanged(self) -> Lines:
        """N_w against ε: the average, and the words at some quantiles."""
        names = ("median word", "95 % of words", "99 % of words", "worst word")
        averages = [Point(row.epsilon, row.average) for row in self.curves]
        return {"average word": averages} | {
            name: [Point(row.epsilon, row.quantiles[place]) for row in self.curves]
            for place, name in enumerate(names)
        }

    @cached_property
    def support(self) -> Lines:
        """How many words a word may become against ε, for words at some quantiles."""
        support, epsilons = self.sample.support, self.sample.epsilons
        assert support is not None  # noqa: S101 - the sample is measured with it
        order = np.argsort(epsilons)
        quantiles: Floats = np.quantile(support, (0.5, 0.05, 0.0), axis=0)
        names = ("median word", "95 % of words have more", "worst word")
        return {
            name: [Point(float(epsilons[e]), float(row[e])) for e in order]
            for name, row in zip(names, quantiles, strict=True)
        }


def findings(
    calibration: Calibration,
    sample: Calibration,
    *,
    choice: Choice | None = None,
    epsilons: Sequence[float] = (),
    sentences: tuple[str, ...] = (),
    report: Report | None = None,
) -> Findings:
    """Return what the page shows; ``sentences`` are public examples, or else our own."""
    shown = _shown(calibration, choice, epsilons)
    # Where S_w was measured over a whole range, the curves of N_w take the same values of ε: each is a pass
    # over all words and rays.
    measured = sample is not calibration and len(sample.epsilons) >= _ENOUGH
    spread = sample.epsilons.tolist() if measured else calibration.span(_CURVE_VALUES)
    wanted = sorted({*spread, *shown, *([choice.epsilon] if choice is not None else [])})
    calibration.prepare(wanted)
    rows = {}
    for done, epsilon in enumerate(wanted, 1):
        rows[epsilon] = row_at(calibration, epsilon)
        if report is not None:
            report(done, len(wanted))
    return Findings(
        calibration=calibration,
        sample=sample,
        choice=choice or evaluate(calibration, shown[len(shown) // 2], Targets(max_unchanged=EXPOSED)),
        has_targets=choice is not None,
        curves=list(rows.values()),
        shown=tuple(rows[epsilon] for epsilon in shown),
        releases=example_releases(calibration.embedding, calibration.mechanism, shown, sentences),
    )


def _shown(calibration: Calibration, choice: Choice | None, epsilons: Sequence[float]) -> list[float]:
    if choice is None and epsilons:
        ordered = sorted(set(epsilons))
        return sorted({ordered[0], ordered[len(ordered) // 2], ordered[-1]})
    if choice is not None:
        wanted = [float(f"{choice.epsilon / 1.5:.3g}"), float(f"{choice.epsilon * 1.5:.3g}")]
    else:
        wanted = [calibration.epsilon_reaching(share) for share in SHOWN_AVERAGES]
    if calibration.method != "rays":  # a new value would be another pass over all words
        known = np.array(calibration.span(_CURVE_VALUES))
        wanted = [float(known[np.abs(np.log(known / each)).argmin()]) for each in wanted]
    return sorted({*wanted, *([] if choice is None else [choice.epsilon])})


def example_releases(
    embedding: Embedding, mechanism: ChosenMechanism, epsilons: list[float], sentences: tuple[str, ...] = ()
) -> list[list[str]]:
    """Return the sentences, and one release of every sentence at each ε.

    Our own sentences are left out where the vocabulary knows less than half of their words (another
    language): the list is empty then.
    """
    cut = Cutter(embedding).words
    chosen = sentences or tuple(
        text for text in SENTENCES if 2 * sum(word in embedding.index for word in cut(text)) >= len(cut(text))
    )
    if not chosen:
        return []
    privatizers = [Privatizer(mechanism(embedding, epsilon=epsilon)) for epsilon in epsilons]
    return [list(chosen), *([privatizer(text) for text in chosen] for privatizer in privatizers)]


def write_figures(found: Findings, folder: Path) -> tuple[Path, ...]:
    """Write both figures of the page into a folder, as PNG and SVG; return the files."""
    unchanged = curves(found.unchanged, **_of_unchanged(found))
    support = curves(found.support, **_of_support(found))
    return (*save(unchanged, folder, "unchanged"), *save(support, folder, "support"))


def _of_unchanged(found: Findings) -> dict[str, Any]:
    marks = [row.epsilon for row in found.shown]
    return {"x": "ε", "y": "released unchanged (N_w)", "marks": marks, "title": _whose(found.calibration)}


def _of_support(found: Findings) -> dict[str, Any]:
    return {"x": "ε", "y": "words it may become (S_w)", "shares": False, "title": _whose(found.sample)}


def _whose(calibration: Calibration) -> str:
    """Return which words a figure shows, if not all: it may be passed on without its page."""
    looked_at = calibration.looked_at
    return "" if looked_at.all else f"{looked_at.count:,} of {looked_at.vocabulary:,} words"


def calibration_page(found: Findings) -> Page:
    """Return the page."""
    calibration = found.calibration
    embedding, looked_at = calibration.embedding, calibration.looked_at
    page = Page(
        f"How private is text released with “{embedding.name}”?"
        + ("" if looked_at.all else f" A look at {looked_at}"),
        lead=_lead(found),
        kicker=f"Calibration of {calibration.mechanism.in_words(embedding)}: {looked_at}, in "
        f"{embedding.dimension} dimensions",
    )
    page.add_facts(_facts(found))
    if not looked_at.all:
        _, *known = limits_of(calibration, found.choice, miss=_missing(found))
        more = f" {' '.join(known)} Calibrate without --words and --sample to look at all."
        page.add_note(phrase(strong(f"This page speaks of {looked_at.them}."), more), kind="warning")
    _add_texts(page, found)
    _add_unchanged(page, found)
    _add_exposed(page, found)
    _add_limits(page, found)
    _add_method(page, found)
    return page


def _lead(found: Findings) -> str:
    if found.has_targets:
        return headline(found.calibration, found.choice)
    counts = ", ".join(f"{percent(row.average)} at ε\u00a0=\u00a0{row.epsilon:g}" for row in found.shown)
    return (
        "Each word of a text is replaced by one drawn at random; ε says how much chance there is in it. On "
        f"average over {found.calibration.looked_at}, a word comes out unchanged in this share of its "
        f"releases: {counts}."
    )


def _facts(found: Findings) -> list[tuple[str, str]]:
    looked_at, choice = found.calibration.looked_at, found.choice
    the_words = "" if looked_at.all else " looked at"
    if not found.has_targets:
        return [
            (
                f"ε = {row.epsilon:g}",
                f"a word{the_words} comes out unchanged in {percent(row.average)} of its releases "
                f"on average; {words(row.words_above_half)} in over half",
            )
            for row in found.shown
        ]
    average = next(row.average for row in found.curves if row.epsilon == choice.epsilon)
    verb = "meets" if choice.meets_targets else "misses"
    whose = looked_at if looked_at.all else looked_at.them
    by_estimate = choice.missing is not None and found.calibration.method != "exact"
    missed = f"of {whose} miss the target{' by their estimated N_w' if by_estimate else ''}"
    facts = [
        (f"ε = {choice.epsilon:g}", f"{verb} the target for {looked_at.share(choice.targets.quantile)}"),
        (percent(average), f"of its releases leave the average word{the_words} unchanged"),
        (words(len(choice.failing)), missed),
    ]
    if choice.missing is not None:
        what = f"of the vocabulary miss the target ({choice.missing.provided})"
        facts.append((f"≤ {percent_up(choice.missing.at_most)}", what))
    return facts


def _missing(found: Findings) -> str:
    return "miss the target" if found.has_targets else "come out unchanged in over half of their releases"


def _add_texts(page: Page, found: Findings) -> None:
    page.add_section("What happens to a text")
    if not found.releases:
        page.add_text("Our examples have too few words of the vocabulary. Give your own with --example.")
        return
    original, *drawn = found.releases
    before = [Cutter(found.calibration.embedding).words(text) for text in original]
    samples: list[tuple[str, str, Sequence[str]]] = [
        ("Before", "public examples, nobody’s private text", original)
    ]
    for release, row in zip(drawn, found.shown, strict=True):
        texts = [_marked(text, each) for text, each in zip(release, before, strict=True)]
        samples.append(
            (f"ε = {row.epsilon:g}", f"{percent(row.average)} of words unchanged on average", texts)
        )
    page.add_samples(samples)
    page.add_text(
        "Each text is one draw with the secure noise of a release. Words that stayed are underlined. A "
        "smaller ε means more noise: more privacy, less meaning."
    )


def _marked(released: str, before: list[str]) -> Markup:
    """Return a released text with the words that stayed in their place marked."""
    after = released.split(" ")
    if len(after) != len(before):
        return phrase(released)
    pairs = zip(after, before, strict=True)
    return Markup(" ").join(unchanged_word(now) if now == then else phrase(now) for now, then in pairs)


def _add_unchanged(page: Page, found: Findings) -> None:
    looked_at, sample = found.calibration.looked_at, found.sample
    page.add_section(
        "How often a word stays as it is",
        phrase(
            strong("N_w"),
            " is how often a word is released unchanged. A word with many near neighbours is easily "
            "replaced, a lonely one hardly ever: an average says little about the word you worry about.",
        ),
    )
    page.add_curves(
        found.unchanged,
        **_of_unchanged(found),
        caption=f"N_w against ε over {looked_at}. Dotted lines mark the ε of the texts above.",
    )
    page.add_table(
        ["ε", "average", "± error", "median", "95 %", "99 %", "worst", "stay in over half"],
        [
            [
                f"{row.epsilon:g}",
                *map(percent, (row.average, row.error, *row.quantiles)),
                f"{row.words_above_half:,}",
            ]
            for row in found.curves
        ],
        folded="The same as a table",
        text_columns=0,
    )
    page.add_text(
        phrase(
            "A word that changes is hidden only if it can become many others. ",
            strong("S_w"),
            f" is the number of words that hold {percent(1.0 - ETA)} of what it becomes.",
        )
    )
    whose = f"{words(len(sample.ids))} drawn at random from {looked_at.them}"
    if len(sample.ids) == looked_at.count:
        whose = looked_at.them
    page.add_curves(found.support, **_of_support(found), caption=f"S_w against ε ({whose}).")


def _add_exposed(page: Page, found: Findings) -> None:
    choice, calibration = found.choice, found.calibration
    looked_at, count, exact = calibration.looked_at, len(choice.failing), calibration.method == "exact"
    whose = looked_at if looked_at.all else looked_at.them
    page.add_section(f"The words that are least protected, of {looked_at}")
    page.add_note(
        phrase(
            strong(f"At ε = {choice.epsilon:g}, {count:,} of {whose} {_missing(found)}."),
            " A reader who sees one of these words in a released text may take it for the original. "
            if count
            else " The words below come closest to staying themselves.",
        ),
        kind="warning" if count else "note",
    )
    if calibration.protected.any():
        page.add_text(
            "Protected words go in as others, and their N_w is how often they come out themselves all the "
            "same. A protected word misses a target also where the word that it goes in as stays too often."
        )
    sure = "is the value itself" if exact else f"holds for {looked_at.them} together with 95 % confidence"
    columns, rows = word_cells(worst_words(calibration, choice, _WORST), shown=word)
    page.add_table(
        columns,
        rows,
        caption=f"The {len(rows)} words that change least at ε = {choice.epsilon:g}, of {looked_at}. "
        f"“At most” {sure}.",
        text_columns=1 + ("protected" in columns),
    )
    if count and calibration.embedding.protection is None:
        limit = EXPOSED if choice.targets.max_unchanged is None else choice.targets.max_unchanged
        command = (
            f"deniable calibrate --embedding {calibration.embedding.name}{calibration.mechanism.as_typed} "
            f"--max-unchanged {limit:g} --epsilon {choice.epsilon:g} --protect nearest --as NAME"
        )
        page.add_text(
            phrase(
                "They can be protected. ",
                code(command),
                " makes an embedding in which each goes in as its nearest word that meets the target, by a "
                "public map, and measures again.",
            )
        )


def _add_limits(page: Page, found: Findings) -> None:
    calibration, epsilon = found.calibration, found.choice.epsilon
    guarantee = calibration.mechanism(calibration.embedding, epsilon=epsilon).guarantee
    exposed = "" if guarantee.exposed == NOTHING_EXPOSED else f" Exposed: {guarantee.exposed}."
    limits = {
        "It is not the guarantee.": f"That is a theorem and holds at every ε. {guarantee.statement}{exposed}",
        "What this ε is.": guarantee.caveat,
        "It speaks of one word, released once.": "A text spends ε for each of its words, and twice if it is "
        "released twice. The words around it may give a word away.",
        "It does not say what an attacker can guess.": "Somebody who knows how people write can do better "
        "than N_w and S_w suggest.",
        "Words that are not in the vocabulary": "go in as one symbol for all of them, and never come out.",
    }
    page.add_section("What this page does not say")
    page.add_list(phrase(strong(f"{title} "), text) for title, text in limits.items())


def _add_method(page: Page, found: Findings) -> None:
    """Add how the numbers were measured, and by which mechanism."""
    calibration, looked_at, choice = found.calibration, found.calibration.looked_at, found.choice
    draws = f"{calibration.draws:,}"
    seed = "from a public seed, so anybody gets the same numbers"
    if isinstance(calibration, TableCalibration) and calibration.on_gpu:
        seed = "with secure noise on a GPU; another run gets other numbers, within the errors"
    method = {
        "exact": "the mechanism's own probabilities of all outputs were summed at each ε: nothing is "
        "estimated, errors are 0",
        "simulation": f"the mechanism itself drew {draws} times at each ε shown, {seed}",
        "rays": f"{draws} random directions were followed from the word outwards, {seed}; that gives without "
        "bias what the word becomes at every ε",
    }[calibration.method]
    page.add_section("How it was measured", f"For {'every word' if looked_at.all else looked_at}, {method}.")
    if calibration.method != "exact":
        page.add_text(
            f"“± error” is one standard error, at most {percent(float(choice.errors.max()))} at ε = "
            f"{choice.epsilon:g}. Words that nothing met are missing from S_w, so it is estimated from "
            "below. “At most” is a bound by Hoeffding and by Maurer and Pontil, whichever is smaller, with a "
            f"union bound over {looked_at.them}; it holds for an ε fixed beforehand."
            + (" This ε was found on the same draws." if found.has_targets else "")
        )
    if choice.missing is not None:
        fixed = "found on these very words, too" if choice.missing.for_any_epsilon else "fixed beforehand"
        page.add_text(
            f"The bound on the share of the vocabulary counts {choice.missing.counted:,} of "
            f"{looked_at.them}: those that miss the target, and those that may, by the error of their N_w. "
            "It is Clopper and Pearson’s, for words drawn without replacement; half of the 5 % is for this "
            f"draw, half for the errors. It holds for an ε {fixed}."
        )
    whose = "" if looked_at.all else f" of {looked_at.them}"
    worst = f"{percent_up(float(choice.upper.max()))} at ε = {choice.epsilon:g}"
    page.add_table(
        ["what", "value"],
        [
            ["embedding", calibration.embedding.name],
            ["mechanism", calibration.mechanism.in_words(calibration.embedding)],
            ["fingerprint", code(calibration.embedding.fingerprint)],
            ["words measured, N_w", str(looked_at)],
            ["words measured, S_w", f"{len(found.sample.ids):,}"],
            ["directions or draws per word", draws],
            [f"95 % bound on the worst N_w{whose}", worst],
        ],
        text_columns=2,
    )
