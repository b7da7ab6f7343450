"""``deniable compare``: mechanisms side by side at equal privacy."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.options import Delimiter, Encoding, Format, Header

if TYPE_CHECKING:
    from deniable.comparison.experiment import Comparison, Contender, Plan
    from deniable.comparison.material import Texts
    from deniable.embeddings.embedding import Embedding

_WIDTH_OF_FILES = 120
_TARGETS = ["average=0.1", "average=0.3", "worst=0.5", "adversary=0.2", "adversary=0.4"]


def compare(
    data: Annotated[Path, typer.Argument(help="CSV, TSV, JSON Lines or Parquet with one labelled text a record; may be compressed.")],
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
            help="What all mechanisms shall have in common: average, worst (N_w) or adversary (its success). May be repeated.",
        ),
    ] = None,
    train: Annotated[int | None, typer.Option(help="Learn from so many texts, drawn at random; half of them by default.")] = None,
    test: Annotated[int | None, typer.Option(help="Test on so many other texts; all the rest by default.")] = None,
    longest: Annotated[int | None, typer.Option(help="Cut texts after so many words.")] = None,
    runs: Annotated[int, typer.Option(help="Releases of the data at each ε, to see the spread.")] = 2,
    words: Annotated[int, typer.Option(help="Words drawn from the text to read privacy on.")] = 1_000,
    seed: Annotated[int, typer.Option(help="For the split, the sample and the readings; releases never use it.")] = 0,
    keep: Annotated[Path | None, typer.Option(help="A folder for measured numbers: run again to go on where it stopped.")] = None,
    save: Annotated[Path | None, typer.Option("--save", help="Where to write the result as JSON.")] = None,
    report: Annotated[Path | None, typer.Option("--report", help="Where to write the result as a page for people (HTML).")] = None,
    figures: Annotated[Path | None, typer.Option(help="A folder for the plot, as PNG and SVG.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Compare mechanisms at equal privacy: ε is chosen for each so that all have the same reading, then text is released and used."""
    from deniable.cli.audit.options import check_places
    from deniable.comparison.contenders import all_contenders, contender
    from deniable.comparison.contenders import target as parsed_target
    from deniable.comparison.experiment import Comparison, Plan
    from deniable.comparison.keeping import Kept
    from deniable.comparison.material import as_texts, split
    from deniable.embeddings.embedding import Embedding
    from deniable.learning.scores import sklearn
    from deniable.parameters import validated_count
    from deniable.progress import Progress
    from deniable.records.labelled import read_labelled

    check_places(save, report)
    for given, name in ((train, "train"), (test, "test"), (longest, "longest")):
        if given is not None:
            validated_count(given, name)
    sklearn("linear_model")
    plan = Plan(
        targets=tuple(parsed_target(t) for t in target or _TARGETS), runs=runs, words=words, seed=validated_count(seed, "seed", at_least=0)
    )
    opened = Embedding.open(embedding)
    taking_part, left_out = ([contender(m, opened) for m in mechanism], {}) if mechanism else all_contenders(opened)
    texts = read_labelled(
        data, person_column=label, text_column=text, format=format_, delimiter=delimiter, header=header, encoding=encoding
    )
    parts = split(texts, train=train, test=test, seed=seed)
    learn, tested = (as_texts(part, opened, longest=longest) for part in parts)
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    comparison = Comparison(opened, learn, tested, plan, kept=Kept(keep))
    rows = []
    with Progress("comparing", total=len(taking_part) * len(plan.targets), unit="matches") as progress:
        for each in taking_part:
            rows += comparison.rows(each, None if quiet else progress.advance)
    answer = _answer(comparison, plan, opened, (learn, tested), taking_part) | {"left_out": left_out, "rows": rows}
    _finish(answer, save=save, report=report, figures=figures, as_json=as_json)


def _answer(
    comparison: Comparison, plan: Plan, embedding: Embedding, texts: tuple[Texts, Texts], taking_part: list[Contender]
) -> dict[str, Any]:
    from deniable.comparison.matching import TOLERANCE
    from deniable.version import __version__

    learn, tested = texts
    return {
        "version": __version__,
        "embedding": {"name": embedding.name, "fingerprint": embedding.fingerprint, "protected": len(embedding.protected)},
        "seed": plan.seed,
        "runs": plan.runs,
        "tolerance": dict(TOLERANCE),
        "targets": [{"reading": t.reading, "value": t.value} for t in plan.targets],
        "mechanisms": [each.name for each in taking_part],
        "texts": {"learn": len(learn.labels), "test": len(tested.labels), "words": len(learn.ids)},
        "sample": {"words": plan.words, "distinct": len(comparison.probe.ids), "guess": float(comparison.probe.shares.max())},
        "original": comparison.original(),
        "guess": max(tested.labels.count(label) for label in set(learn.labels)) / len(tested.labels),
    }


def _finish(answer: dict[str, Any], *, save: Path | None, report: Path | None, figures: Path | None, as_json: bool) -> None:
    from deniable.atomic import write_whole

    if save is not None:
        write_whole(save, json.dumps(answer, indent=1, ensure_ascii=False) + "\n")
    if report is not None:
        from deniable.comparison.report.page import comparison_page

        comparison_page(answer).write(report)
    if figures is not None:
        from deniable.comparison.report.figure import privacy_utility_figure
        from deniable.report.figure import save as save_figure

        save_figure(privacy_utility_figure(answer), figures, "comparison")
    if as_json:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        _show(answer)


def _show(answer: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    from deniable.comparison.report.words import COLUMNS, LEGEND, met_and_missed, said_first, target_name

    # Nobody makes a file or a pipe wider: there the table is written as wide as it is.
    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else _WIDTH_OF_FILES)
    console.print(said_first(answer))
    for target in answer["targets"]:
        met, missed = met_and_missed(answer, target)
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
    for name, why in answer["left_out"].items():
        console.print(f"Left out: {name}, {why}.")
