"""``deniable calibrate``: choose ε by looking at words, by default at all of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

import typer

from deniable.cli.options import VocabularyOptions, with_groups
from deniable.cli.terminal import make_table, open_console, print_json, progress, say

if TYPE_CHECKING:
    from deniable.calibration.choice import By, Protection
    from deniable.calibration.result import CalibrationResult
    from deniable.embeddings.embedding import Embedding
    from deniable.mechanisms.catalogue import ChosenMechanism


@with_groups
def calibrate(
    *,
    mechanism: VocabularyOptions,
    max_unchanged: float | None = None,
    min_distinct: int | None = None,
    max_capacity: float | None = None,
    named_at_most: float | None = None,
    quantile: float = 1.0,
    epsilon: list[float] | None = None,
    rays: int = 1000,
    words: Path | None = None,
    sample: int | None = None,
    protect: str | None = None,
    most_protected: float = 0.01,
    save_as: str | None = None,
    csv: Path | None = None,
    parquet: Path | None = None,
    report: Path | None = None,
    figures: Path | None = None,
    example: list[str] | None = None,
    all_walks: bool = False,
    device: str = "cpu",  # noqa: ARG001 - reading it sets it
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Find the largest ε at which words meet your targets, list those that hardly change, and write a page.

    All words of the vocabulary are measured, unless --words or --sample choose some. Then the result is about
    these words only; a random sample also bounds the share of the vocabulary that misses the targets.

    Without targets the page covers the range of ε from all words changed to none. The same command continues
    an interrupted run. With --protect, exposed words (those that miss the targets) are replaced by a stand-in
    before the noise: at the given --epsilon, or at the largest ε with at most --most-protected exposed words.

    The mechanisms multivariate, mahalanobis and gaussian are measured by rays, at all ε at once. The others
    are measured at twelve values of ε (or those given), and again between the two where the targets fail: by
    exact sums where a mechanism has them, and by draws for vickrey and rank-smoothing, which are slow for
    many words. With --device cuda and values of --epsilon, draws on the GPU replace rays.

    :param max_unchanged: At most this share of draws may return a word unchanged (N_w), such as 0.5.
    :param min_distinct: In --effort draws, a word must become at least this many distinct words.
    :param max_capacity: At most this factor may seeing a released word raise anybody's chance to guess
        right, on average, such as 50.
    :param named_at_most: Alone: the share of the words of English text that a reader of single released
        words may name at most, such as 0.08. With --words: of the words of that list.
    :param quantile: The share of the words looked at that must meet the targets; 1 is all.
    :param epsilon -e: A value of ε to look at. May be repeated.
    :param rays --effort: How many random directions to follow from each word, or draws for each word and ε.
    :param words: Look only at the words in this file, one a line.
    :param sample: Look only at this many words, drawn at random: a quick look.
    :param protect nearest|unknown: Replace exposed words by a stand-in before the noise.
    :param most_protected: With --protect and no --epsilon: the largest share of the words to protect.
    :param save_as --as: The name to install the protected embedding under.
    :param csv: Where to write the values of every word looked at as CSV.
    :param parquet: Where to write the values of every word looked at as Parquet.
    :param report: Where to write the HTML page; without targets the default is EMBEDDING-calibration.html.
    :param figures: A folder for the figures, as PNG and SVG.
    :param example: A public sentence to show on the page. May be repeated.
    :param all_walks: Measure S_w of every word, not of 1,000: slow with many words.
    :param as_json --json: Print JSON for machines; a page is written with --report only.
    :param quiet -q: Do not show progress.
    """
    from deniable import calibration
    from deniable.parameters import validated_count
    from deniable.words.public_text import read_word_list

    chosen, draws = mechanism.choose(), validated_count(rays, "--effort")
    targets = calibration.Targets(
        max_unchanged=max_unchanged, min_distinct=min_distinct, quantile=quantile, max_capacity=max_capacity
    )
    protection = _protection(protect, save_as, most_protected)
    opened = mechanism.open()
    if named_at_most is not None:
        if targets.given or epsilon or protection is not None:
            raise typer.BadParameter(
                "--named-at-most chooses epsilon by itself: give no other target, no --epsilon and no "
                "--protect"
            )
        if sample is not None:
            raise typer.BadParameter("--named-at-most takes all words, or those of --words: give no --sample")
        listed = None if words is None else read_word_list(words)
        _show_named(chosen, opened, named_at_most, listed, as_json=as_json)
        return
    if report is None and not targets.given and not as_json:
        report = Path(f"{Path(opened.name).name}-calibration.html")
    files = calibration.Files(
        csv=csv,
        parquet=parquet,
        page=report,
        figures=figures,
        sentences=tuple(example or ()),
    )
    try:
        with (
            progress(f"calibrating {opened.name}", unit="words", quiet=quiet) as report_words,
            progress("drawing the page", unit="values of ε", quiet=quiet) as report_page,
        ):
            result = calibration.calibrate(
                opened,
                mechanism=chosen,
                targets=targets,
                epsilons=epsilon or (),
                draws=draws,
                words=None if words is None else read_word_list(words),
                sample=sample,
                support_of_all=all_walks,
                protect=protection,
                files=files,
                report=report_words,
                report_page=report_page,
            )
    except KeyboardInterrupt:
        say("deniable: stopped; finished words are kept, and the same command goes on from there")
        raise typer.Exit(130) from None
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result)


def _show_named(
    chosen: ChosenMechanism, opened: Embedding, at_most: float, listed: list[str] | None, *, as_json: bool
) -> None:
    """Print the largest ε at which no reader of single words names more than a share of the words of English
    text, or of a list."""
    from deniable.measures.bayes_bound import largest_epsilon
    from deniable.measures.risk import english_group, english_words
    from deniable.report.wording import percent

    among = english_words(opened) if listed is None else english_group(opened, listed)
    epsilon, bound = largest_epsilon(chosen, opened, among, at_most)
    if as_json:
        print_json(
            {
                "embedding": opened.name,
                "fingerprint": opened.fingerprint,
                "mechanism": chosen.name,
                "parameters": chosen.identity(opened)["parameters"],
                "targets": {"named_at_most": at_most},
                "epsilon": epsilon,
                "bayes_bound": bound.to_dict(),
            }
        )
        return
    console = open_console()
    most, blind = percent(bound.high), percent(bound.blind)
    console.print(
        f"ε = {epsilon:g}: of {among.in_words}, a reader of single released words names at most {most},"
    )
    console.print(f"whatever the method (95 % confidence); without the release it is {blind}")


def _protection(by: str | None, name: str | None, most_protected: float) -> Protection | None:
    from deniable.calibration import Protection

    if by is None:
        return None
    if name is None:
        raise typer.BadParameter("--protect needs --as NAME, a target, at most one --epsilon, and all words")
    return Protection(name=name, by=cast("By", by), most_protected=most_protected)


def _show(result: CalibrationResult) -> None:
    """Print the chosen ε, the table and the words that change least."""
    from deniable.calibration.result import headline, limits_of, word_cells

    console, calibration = open_console(), result.calibration
    console.print(
        f"{calibration.embedding.name}, {calibration.mechanism.in_words(calibration.embedding)}: "
        f"{result.looked_at}; {_method(result)}"
    )
    if result.choice is not None:
        for sentence in (headline(calibration, result.choice), *limits_of(calibration, result.choice)):
            console.print(sentence)
    console.print()
    console.print(make_table(*result.cells(), left=()))
    if result.choice is not None:
        if count := len(result.choice.failing):
            console.print(
                f"\n{count:,} of {result.looked_at.them} miss the targets at this ε; they lie far from their "
                "neighbours:"
            )
        columns, rows = word_cells((result.exposed or result.worst_words)[:12])
        console.print(make_table(columns, rows, left=range(1 + ("protected" in columns))))
    if result.protected is not None:
        made = result.protected
        console.print(
            f"\n{made.name}: {made.words_mapped:,} words go in as others ({made.by}); "
            f"{made.exposed_words_left:,} words "
            f"miss the targets now, the worst N_w is {made.largest_unchanged:.3f}"
        )
    if result.sampled_words is not None:
        some = (
            ""
            if result.sampled_words == result.looked_at.count
            else f"{result.sampled_words:,} words drawn at random from "
        )
        console.print(f"\ndistinct words and H₁: {some}{result.looked_at.them}")
    if result.figures is not None:
        console.print(f"\nfigures: {', '.join(str(path) for path in result.figures)}")
    if result.page is not None:
        console.print(f"\nreport: {result.page}")


def _method(result: CalibrationResult) -> str:
    method, draws = result.calibration.method, result.calibration.draws
    if method == "exact":
        return f"exact sums at {len(result.table)} values of ε" if len(result.table) > 1 else "exact sums"
    return f"{draws:,} rays each" if method == "rays" else f"{draws:,} draws for each word and ε"
