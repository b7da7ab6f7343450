"""``deniable compare``: mechanisms side by side at equal privacy."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.options import Delimiter, Encoding, Format, Header

if TYPE_CHECKING:
    from deniable.comparison.matching import Target
    from deniable.comparison.results import ComparisonResult
    from deniable.mechanisms.catalogue import ChosenMechanism

_WIDTH_OF_FILES = 120


def compare(
    data: Annotated[Path, typer.Argument(help="CSV, TSV, JSON Lines or Parquet with one labelled text per record; may be compressed.")],
    text: Annotated[str, typer.Option("--text", "--column", "-c", help="The column that holds the text.")] = "text",
    label: Annotated[str, typer.Option("--label", help="The column that holds the label of the task.")] = "label",
    format_: Format = None,
    delimiter: Delimiter = None,
    header: Header = True,
    encoding: Encoding = "utf-8",
    mechanism: Annotated[
        list[str] | None,
        typer.Option("--mechanism", "-m", metavar="NAME[:OPTION=VALUE,…]", help="A mechanism to compare. May be repeated; all by default."),
    ] = None,
    embedding: Annotated[str, typer.Option("--embedding", help="The name of an installed embedding.")] = "default",
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            "-t",
            metavar="READING=VALUE",
            help="What all mechanisms have in common: average or worst (N_w), or adversary (its success). May be repeated.",
        ),
    ] = None,
    train: Annotated[int | None, typer.Option(help="How many texts to learn from, drawn at random; half of them by default.")] = None,
    test: Annotated[int | None, typer.Option(help="How many other texts to test on; all the rest by default.")] = None,
    longest: Annotated[int | None, typer.Option(help="Cut texts after this many words.")] = None,
    runs: Annotated[int, typer.Option(help="How many times the data is released at each ε, to see the spread.")] = 2,
    words: Annotated[int, typer.Option(help="How many words of the text to read privacy on, drawn at random.")] = 1_000,
    seed: Annotated[int, typer.Option(help="The seed of the split, the sample and the readings; releases never use it.")] = 0,
    keep: Annotated[Path | None, typer.Option(help="A folder for measured numbers: run again to go on where it stopped.")] = None,
    save: Annotated[Path | None, typer.Option("--save", help="Where to write the result as JSON.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Where to write the result as a page for people (HTML).")] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for the plot, as PNG and SVG.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.")] = False,
) -> None:
    """Compare mechanisms at equal privacy: ε is chosen for each so that all have the same reading, then text is released and used."""
    from deniable.cli.audit.options import check_places
    from deniable.comparison.experiment import TARGETS, ComparisonSettings, compare_mechanisms
    from deniable.embeddings.embedding import Embedding
    from deniable.learning.scores import sklearn
    from deniable.progress import Progress
    from deniable.records.labelled import read_labelled

    check_places(save, report)
    sklearn("linear_model", "comparing mechanisms")
    targets = tuple(parse_target(typed) for typed in target) if target else TARGETS
    settings = ComparisonSettings(targets=targets, runs=runs, words=words, seed=seed)
    mechanisms = [parse_mechanism(typed) for typed in mechanism] if mechanism else None
    opened = Embedding.open(embedding)
    texts = read_labelled(
        data, person_column=label, text_column=text, format=format_, delimiter=delimiter, header=header, encoding=encoding
    )
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    with Progress("comparing", unit="matches") as progress:
        result = compare_mechanisms(
            texts,
            opened,
            mechanisms,
            settings=settings,
            train=train,
            test=test,
            longest=longest,
            keep=keep,
            report=None if quiet else progress.report,
        )
    _finish(result, save=save, report=report, figures=figures, as_json=as_json)


def parse_mechanism(typed: str) -> ChosenMechanism:
    """Return a mechanism typed as NAME or NAME:OPTION=VALUE,OPTION=VALUE.

    :raises InvalidParameter: if there is no such mechanism or option.
    """
    from deniable.errors import InvalidParameter
    from deniable.mechanisms.catalogue import ChosenMechanism, checked_options, entry_of

    name, _, rest = typed.partition(":")
    options: dict[str, str] = {}
    for text in rest.split(",") if rest else []:
        key, equals, value = text.partition("=")
        if not (key and equals):
            raise InvalidParameter("--mechanism", typed, "must be NAME or NAME:OPTION=VALUE, such as rank-smoothing:c=0.1")
        options[key] = value
    checked_options(entry_of(name), options)
    return ChosenMechanism(name=name, options=options)


def parse_target(typed: str) -> Target:
    """Return a target typed as READING=VALUE.

    :raises InvalidParameter: if there is no such reading, or the value is not a share.
    """
    from deniable.comparison.matching import Target
    from deniable.comparison.readings import NAMES
    from deniable.errors import InvalidParameter

    name, _, value = typed.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    for known in NAMES:
        if name == known and 0.0 < number < 1.0:
            return Target(reading=known, value=number)
    raise InvalidParameter("--target", typed, f"must be READING=VALUE with a reading of {', '.join(NAMES)} and a value between 0 and 1")


def _finish(result: ComparisonResult, *, save: Path | None, report: Path | None, figures: Path | None, as_json: bool) -> None:
    from deniable.atomic import write_whole

    if save is not None:
        write_whole(save, json.dumps(result.to_dict(), indent=1, ensure_ascii=False) + "\n")
    if report is not None:
        from deniable.comparison.report.page import comparison_page

        comparison_page(result).write(report)
    if figures is not None:
        from deniable.comparison.report.page import privacy_utility_figure
        from deniable.report.figure import save as save_figure

        save_figure(privacy_utility_figure(result), figures, "comparison")
    if as_json:
        print(json.dumps(result.to_dict(), indent=2, ensure_ascii=False))
    else:
        _show(result)


def _show(result: ComparisonResult) -> None:
    from rich.console import Console
    from rich.table import Table

    from deniable.comparison.report.words import COLUMNS, LEGEND, finding, met_and_missed, target_name

    # Nobody makes a file or a pipe wider: there the table is written as wide as it is.
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _WIDTH_OF_FILES)
    console.print(finding(result))
    for target in result.targets:
        met, missed = met_and_missed(result, target)
        shown = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", title=target_name(target), title_justify="left", title_style="")
        for place, column in enumerate(COLUMNS[1:]):
            shown.add_column(column, justify="right" if place else "left")
        for row in met:
            shown.add_row(*row)
        console.print()
        console.print(shown)
        for sentence in missed:
            console.print(sentence)
    console.print()
    console.print(LEGEND)
    for name, why in result.left_out.items():
        console.print(f"Left out: {name}, {why}.")
