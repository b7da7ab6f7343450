"""``deniable lab compare``: mechanisms side by side at equal privacy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.options import (
    AsJson,
    Device,
    FileOptions,
    NeverReleased,
    PageFile,
    Quiet,
    open_without,
    with_groups,
)
from deniable.cli.terminal import make_table, open_console, print_json, save_json

if TYPE_CHECKING:
    from deniable.lab.comparison.matching import Target
    from deniable.lab.comparison.results import ComparisonResult

_WIDTH_OF_FILES = 140


@with_groups
def compare(
    *,
    data: Annotated[
        Path,
        typer.Argument(
            help="CSV, TSV, JSON Lines or Parquet with one labelled text per record; may be compressed."
        ),
    ],
    text: Annotated[
        str, typer.Option("--text", "--column", "-c", help="The column that holds the text.")
    ] = "text",
    label: Annotated[
        str, typer.Option("--label", help="The column that holds the label of the task.")
    ] = "label",
    reading: FileOptions,
    mechanism: Annotated[
        list[str] | None,
        typer.Option(
            "--mechanism",
            "-m",
            metavar="NAME[:OPTION=VALUE,…]",
            help="A mechanism to compare. May be repeated; all by default.",
        ),
    ] = None,
    embedding: Annotated[
        list[str] | None,
        typer.Option(
            "--embedding",
            help="The name of an installed embedding; the built-in one by default. May be repeated.",
        ),
    ] = None,
    never_release: NeverReleased = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            "-t",
            metavar="READING=VALUE",
            help="What all have in common: average or worst (N_w), or the success of an attacker: adversary "
            "(among the words of a sample), "
            "named (among all words of the text), context (the same, reading in context too; needs --public) "
            "or kinds (the kind of a less "
            "frequent word). May be repeated.",
        ),
    ] = None,
    public: Annotated[
        Path | None,
        typer.Option(
            help="A public text, one document per line: the attackers of context and kinds read in context "
            "with it."
        ),
    ] = None,
    train: Annotated[
        int | None,
        typer.Option(help="How many texts to learn from, drawn at random; half of them by default."),
    ] = None,
    test: Annotated[
        int | None, typer.Option(help="How many other texts to test on; all the rest by default.")
    ] = None,
    longest: Annotated[int | None, typer.Option(help="Cut texts after this many words.")] = None,
    runs: Annotated[
        int, typer.Option(help="How many times the data is released at each ε, to see the spread.")
    ] = 2,
    words: Annotated[
        int, typer.Option(help="How many words of the text to read privacy on, drawn at random.")
    ] = 1_000,
    seed: Annotated[
        int, typer.Option(help="The seed of the split, the sample and the readings; releases never use it.")
    ] = 0,
    decode: Annotated[
        bool,
        typer.Option(help="Measure what a receiver gets too, as released and decoded, or leave that out."),
    ] = True,
    decode_words: Annotated[
        int, typer.Option(help="For decoding: how many words may have gone in, the most frequent ones.")
    ] = 10_000,
    directions: Annotated[
        int,
        typer.Option(
            "--effort",
            help="For decoding and words named: at most how many points are drawn around each word, or "
            "directions followed, or draws made.",
        ),
    ] = 300,
    keep: Annotated[
        Path | None, typer.Option(help="A folder for measured numbers: run again to go on where it stopped.")
    ] = None,
    save: Annotated[Path | None, typer.Option("--save", help="Where to write the result as JSON.")] = None,
    report: PageFile = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for the plot, as PNG and SVG.")] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
    device: Device = "cpu",  # noqa: ARG001 - its callback sets it
) -> None:
    """Compare mechanisms at equal privacy: ε is chosen for each so that all have the same reading, then text
    is released and used.

    Accuracy is that of a classifier that learns from released text. What somebody gets who has released text
    only is shown as released and decoded; for decoding, what words become is computed at every ε, which may
    take many minutes.

    With several embeddings, mechanisms are compared in all of them, by default at equal success of an
    attacker over all words of the text.
    """
    from dataclasses import replace

    from deniable.atomic import check_place
    from deniable.lab.comparison.experiment import compare_mechanisms
    from deniable.lab.comparison.readings import QUICK, THOROUGH
    from deniable.lab.comparison.settings import ATTACKERS, TARGETS, ComparisonSettings
    from deniable.mechanisms.catalogue import parse_mechanism
    from deniable.parameters import validated_count
    from deniable.progress import Stages
    from deniable.records.reading import read_labelled
    from deniable.utility.accuracy import DecodingEffort
    from deniable.utility.classifiers import sklearn
    from deniable.words.never_release import NeverRelease

    for path in (save, report):
        if path is not None:
            check_place(path)
    sklearn("linear_model", "comparing mechanisms")
    chosen = embedding or ["default"]
    default = TARGETS if len(chosen) == 1 else ATTACKERS
    targets = tuple(parse_target(typed) for typed in target) if target else default
    decoding = (
        DecodingEffort(support=validated_count(decode_words, "--decode-words"), directions=directions)
        if decode
        else None
    )
    quick, thorough = (
        replace(QUICK, directions=max(1, directions // 5)),
        replace(THOROUGH, directions=directions),
    )
    settings = ComparisonSettings(
        targets=targets,
        runs=runs,
        words=words,
        seed=seed,
        quick=quick,
        thorough=thorough,
        decoding=decoding,
        public=public,
    )
    mechanisms = (
        [parse_mechanism(typed, parameter="--mechanism") for typed in mechanism] if mechanism else None
    )
    listed = NeverRelease.read(never_release or ())
    opened = [open_without(name, listed) for name in chosen]
    texts = read_labelled(data, person_column=label, text_column=text, called="label", **reading.reading())
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    with (
        Stages("comparing", unit="matches") as progress,
        Stages("preparing to decode", unit="words") as preparing,
    ):

        def prepare(done: int, total: int) -> None:
            progress.close()
            preparing.report(done, total)

        result = compare_mechanisms(
            texts,
            opened,
            mechanisms,
            settings=settings,
            train=train,
            test=test,
            longest=longest,
            keep=keep,
            channel_report=None if quiet else prepare,
            report=None if quiet else progress.report,
        )
    _finish(result, save=save, report=report, figures=figures, as_json=as_json)


def parse_target(typed: str) -> Target:
    """Return a target typed as READING=VALUE.

    :raises InvalidParameter: if there is no such reading, or the value is not a share.
    """
    from deniable.cli.tune import parse_reading
    from deniable.lab.comparison.matching import Target
    from deniable.lab.comparison.readings import NAMES

    reading, value = parse_reading(typed, NAMES)
    return Target(reading=reading, value=value)


def _finish(
    result: ComparisonResult, *, save: Path | None, report: Path | None, figures: Path | None, as_json: bool
) -> None:
    if save is not None:
        save_json(save, result.to_dict())
    if report is not None:
        from deniable.lab.comparison.report.comparison_page import comparison_page

        comparison_page(result).write(report)
    if figures is not None:
        from deniable.lab.comparison.report.comparison_page import privacy_utility_figure
        from deniable.report.figure import save as save_figure

        save_figure(privacy_utility_figure(result), figures, "comparison")
    if as_json:
        print_json(result.to_dict())
    else:
        _show(result)


def _show(result: ComparisonResult) -> None:
    from deniable.lab.comparison.report.words import (
        columns_of,
        finding,
        legend_of,
        met_and_missed,
        target_name,
    )

    # Nobody makes a file or a pipe wider: there the table is written as wide as it is.
    console = open_console(None if sys.stdout.isatty() else _WIDTH_OF_FILES)
    console.print(finding(result))
    for target in result.targets:
        met, missed = met_and_missed(result, target)
        console.print()
        console.print(make_table(columns_of(result)[1:], met, title=target_name(target)))
        for sentence in missed:
            console.print(sentence)
    console.print()
    console.print(legend_of(result))
    for name, why in result.left_out.items():
        console.print(f"Left out: {name}, {why}.")
