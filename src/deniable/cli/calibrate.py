"""``deniable calibrate``: choose ε by looking at every word."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from deniable.cli.mechanism import Name, Options

if TYPE_CHECKING:
    from deniable.calibration.protection import By, Protection


def calibrate(
    embedding: Annotated[str, typer.Option(help="The name of an installed embedding.")] = "default",
    mechanism: Name = "multivariate",
    mechanism_option: Options = None,
    max_unchanged: Annotated[
        float | None, typer.Option(help="At most this share of draws may return a word unchanged (N_w), such as 0.5.")
    ] = None,
    min_distinct: Annotated[
        int | None, typer.Option(help="In as many draws as --rays says, a word must become at least this many distinct words.")
    ] = None,
    quantile: Annotated[float, typer.Option(help="The share of the words that must meet the targets; 1 is all.")] = 1.0,
    epsilon: Annotated[list[float] | None, typer.Option("--epsilon", "-e", help="A value of ε to look at. May be repeated.")] = None,
    rays: Annotated[
        int,
        typer.Option(min=1, help="How many random directions to follow from each word, or draws for each word and ε."),
    ] = 1000,
    words: Annotated[Path | None, typer.Option(help="Look only at the words in this file, one a line.")] = None,
    sample: Annotated[int | None, typer.Option(help="Look only at this many words, drawn at random: a quick look.")] = None,
    protect: Annotated[str | None, typer.Option(metavar="nearest|unknown", help="Let exposed words go in as others.")] = None,
    most_protected: Annotated[
        float, typer.Option(help="With --protect and no --epsilon: the largest share of the words to protect.")
    ] = 0.01,
    save_as: Annotated[str | None, typer.Option("--as", help="The name to install the protected embedding under.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Where to write every word's values as CSV.")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Where to write every word's values as Parquet.")] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Where to write the HTML page; without targets the default is EMBEDDING-calibration.html."),
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for the single figures, as PNG and SVG.")] = None,
    word: Annotated[list[str] | None, typer.Option(help="A word whose outputs the page shows. May be repeated.")] = None,
    example: Annotated[list[str] | None, typer.Option(help="A public sentence to show on the page. May be repeated.")] = None,
    all_walks: Annotated[bool, typer.Option("--all-walks", help="Measure S_w of every word, not of 1,000: slow with many words.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines; a page is written with --report only.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Find the largest ε that meets targets for every word, name the words that hardly change, and write a page about it.

    Without targets the page covers a range of ε that is found, from all words changed to none. An interrupted run is
    continued by the same command. With --protect the words that miss the targets are exposed and go in as others: at the
    given --epsilon, or at the largest ε where at most the share --most-protected does.

    The mechanisms multivariate, mahalanobis and gaussian are measured by rays, at all ε at once. The others are measured at twelve values
    of ε (or those given), and again between the two where the targets are lost: by exact sums where a mechanism has them, and by draws for
    vickrey and rank-smoothing, which takes long for many words.
    """
    from deniable import calibration
    from deniable.cli.mechanism import parse_options
    from deniable.embeddings.embedding import Embedding
    from deniable.mechanisms.chosen import ChosenMechanism
    from deniable.progress import Stages
    from deniable.words.word_list import read_word_list

    chosen = ChosenMechanism(name=mechanism, options=parse_options(mechanism, mechanism_option))
    targets = calibration.Targets(max_unchanged=max_unchanged, min_distinct=min_distinct, quantile=quantile)
    protection = _protection(protect, save_as, most_protected)
    opened = Embedding.open(embedding)
    if report is None and not targets.given and not as_json:
        report = Path(f"{Path(opened.name).name}-calibration.html")
    files = calibration.Files(
        csv=csv, parquet=parquet, page=report, figures=figures, words=tuple(word or ()), sentences=tuple(example or ())
    )
    try:
        with ExitStack() as stack:
            measuring = None if quiet else stack.enter_context(Stages(f"calibrating {opened.name}", unit="words")).report
            drawing = None if quiet else stack.enter_context(Stages("drawing the page", unit="values of ε")).report
            result = calibration.calibrate(
                opened,
                mechanism=chosen,
                targets=targets,
                epsilons=epsilon or (),
                draws=rays,
                words=None if words is None else read_word_list(words),
                sample=sample,
                support_of_all=all_walks,
                protect=protection,
                files=files,
                report=measuring,
                report_page=drawing,
            )
    except KeyboardInterrupt:
        print("deniable: stopped; finished words are kept, and the same command goes on from there", file=sys.stderr)
        raise typer.Exit(130) from None
    if as_json:
        print(json.dumps(result.to_dict(), indent=2, ensure_ascii=False))
    else:
        from deniable.cli.calibration_view import show

        show(result)


def _protection(by: str | None, name: str | None, most_protected: float) -> Protection | None:
    from deniable.calibration import Protection

    if by is None:
        return None
    if name is None:
        raise typer.BadParameter("--protect needs --as NAME, a target, at most one --epsilon, and all words")
    return Protection(name=name, by=cast("By", by), most_protected=most_protected)
