"""``deniable embeddings geometry`` and ``compare``: embeddings side by side, before any text is released."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.options import AsJson
from deniable.cli.terminal import make_table, open_console

Figures = Annotated[Path | None, typer.Option(help="A folder for the figure, as PNG and SVG.")]


def geometry(
    name: Annotated[str, typer.Argument(help="The name of an embedding.")],
    other: Annotated[str | None, typer.Argument(help="Another one: both are cut down to the words they share.")] = None,
    sample: Annotated[int | None, typer.Option(help="Measure only this many words, drawn at random.")] = None,
    figures: Figures = None,
    as_json: AsJson = False,
) -> None:
    """Show how far words are from their k-th neighbour, in percentiles over the words."""
    from deniable.calibration.geometry import PERCENTILES, compare_geometry

    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    found = compare_geometry(name, other, sample=sample)
    if figures is not None:
        from deniable.calibration.report.figures import write_geometry

        write_geometry(found, figures)
    if as_json:
        print(json.dumps([each.to_dict() for each in found], indent=2))
        return
    console = open_console()
    for each in found:
        rows = [[f"{k:,}", *(f"{value:.3f}" for value in row)] for k, row in zip(each.neighbours, each.percentiles, strict=True)]
        console.print(f"{each.embedding}: distance to the k-th neighbour, percentiles over {each.words:,} words")
        console.print(make_table(["k", *(f"{p} %" for p in PERCENTILES)], rows, left=()))


def compare(
    names: Annotated[list[str], typer.Argument(help="The names of two or more embeddings.")],
    sample: Annotated[int, typer.Option(help="How many of the words that all of them have are measured.")] = 500,
    rays: Annotated[int, typer.Option(help="How many random directions to follow from each word.")] = 1000,
    figures: Figures = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Show average N_w and S_w of the same words against ε in several embeddings."""
    from deniable.calibration.compare import compare_embeddings
    from deniable.progress import Stages

    if len(names) < 2:
        raise typer.BadParameter("give two or more embeddings")
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    with Stages(f"calibrating {', '.join(names)}", unit="words") as stages:
        compared = compare_embeddings(names, sample=sample, rays=rays, report=None if quiet else stages.report)
    if figures is not None:
        from deniable.calibration.report.figures import write_averages

        write_averages(compared, figures)
    if as_json:
        print(json.dumps([row.to_dict() for rows in compared for row in rows], indent=2))
        return
    cells = [
        [row.embedding, f"{row.epsilon:.4g}", f"{row.unchanged:.3f}", f"{row.error:.3f}", f"{row.support:.0f}", f"{row.distinct:.0f}"]
        for rows in compared
        for row in rows
    ]
    open_console().print(make_table(["embedding", "ε", "N_w mean", "±", "S_w mean", "distinct mean"], cells))
