"""``deniable embeddings geometry`` and ``compare``: embeddings side by side, before any text is released."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

Figures = Annotated[Path | None, typer.Option(help="A folder for the figure, as PNG and SVG.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


def geometry(
    name: Annotated[str, typer.Argument(help="The name of an embedding.")],
    other: Annotated[str | None, typer.Argument(help="Another one: both are cut down to the words they share.")] = None,
    sample: Annotated[int | None, typer.Option(help="Measure only so many words, drawn at random.")] = None,
    figures: Figures = None,
    as_json: Json = False,
) -> None:
    """Show how far words are from their k-th neighbour, in percentiles over the words."""
    from deniable.calibration.geometry import PERCENTILES, side_by_side
    from deniable.calibration.geometry import geometry as measured
    from deniable.embeddings.embedding import Embedding

    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    first = Embedding.open(name)
    found = [measured(first, sample=sample)] if other is None else list(side_by_side(first, Embedding.open(other), sample=sample))
    if figures is not None:
        from deniable.calibration.report.figures import geometry_figure
        from deniable.report.figure import save

        save(geometry_figure(*found), figures, "geometry")
    if as_json:
        print(json.dumps([{"embedding": g.embedding, "words": g.words, "neighbours": g.to_rows()} for g in found], indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    for each in found:
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        for title in ("k", *(f"{p} %" for p in PERCENTILES)):
            table.add_column(title, justify="right")
        for k, row in zip(each.neighbours, each.percentiles, strict=True):
            table.add_row(f"{k:,}", *(f"{value:.3f}" for value in row))
        console.print(f"{each.embedding}: distance to the k-th neighbour, percentiles over {each.words:,} words")
        console.print(table)


def compare(
    names: Annotated[list[str], typer.Argument(help="The names of two or more embeddings.")],
    sample: Annotated[int, typer.Option(help="How many of the words that all of them have are looked at.")] = 500,
    rays: Annotated[int, typer.Option(help="Directions per word.")] = 1000,
    figures: Figures = None,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Show average N_w and S_w of the same words against ε in several embeddings."""
    from deniable.calibration.compare import averages, common_words
    from deniable.embeddings.embedding import Embedding
    from deniable.progress import Progress

    if len(names) < 2:
        raise typer.BadParameter("give two or more embeddings")
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    opened = [Embedding.open(name) for name in names]
    compared = []
    for embedding, ids in zip(opened, common_words(opened, sample), strict=True):
        with Progress(f"calibrating {embedding.name}", unit="words") as progress:
            compared.append(averages(embedding, ids, rays=rays, report=None if quiet else progress.follow))
    if figures is not None:
        from deniable.calibration.report.comparison import averages_figure
        from deniable.report.figure import save

        save(averages_figure(compared), figures, "averages")
    if as_json:
        print(json.dumps([asdict(row) for rows in compared for row in rows], indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("embedding", "ε", "N_w mean", "±", "S_w mean", "distinct mean"):
        table.add_column(title, justify="left" if title == "embedding" else "right")
    for rows in compared:
        for row in rows:
            shares = (f"{row.unchanged:.3f}", f"{row.error:.3f}", f"{row.support:.0f}", f"{row.distinct:.0f}")
            table.add_row(row.embedding, f"{row.epsilon:.4g}", *shares)
    Console(highlight=False, markup=False).print(table)
