"""``deniable embeddings``: add, list, show, remove, restrict, train and compare the embeddings on this
machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from deniable.cli.options import with_groups
from deniable.cli.terminal import make_table, open_console, print_json, progress, warn
from deniable.errors import printable

if TYPE_CHECKING:
    from deniable.embeddings.store import EmbeddingFacts

app = typer.Typer(help="Manage the embeddings on this machine.", no_args_is_help=True, rich_markup_mode=None)

Figures = Annotated[Path | None, typer.Option(help="A folder for the figure, as PNG and SVG.")]


@app.command("add")
@with_groups
def add(
    file: Path,
    *,
    name: str,
    format: str | None = None,  # noqa: A002
    first: int | None = None,
    duplicates: str = "refuse",
    licence: str | None = None,
    as_json: bool = False,
) -> None:
    """Read an embedding file, check it and install it.

    :param file: GloVe, word2vec, fastText, .npz or .safetensors; may be packed (gz, bz2, xz, zst, zip).
    :param name: The name to install it under.
    :param format: The file format, if the content does not show it.
    :param first: Read only this many words from the start of the file.
    :param duplicates: What to do with repeated words: refuse, or keep the first.
    :param licence: A note on the licence, kept with the embedding.
    """
    from deniable.embeddings import store

    with progress(f"reading {file.name}", unit="bytes", quiet=False) as report:
        options = {"first": first, "duplicates": duplicates, "licence": licence, "report": report}
        added = store.add(file, name, format=format, **options)  # type: ignore[arg-type]
    show_facts(added, as_json=as_json)


@app.command("list")
@with_groups
def list_installed(*, as_json: bool = False) -> None:
    """List the embeddings that can be used, the built-in default first."""
    from deniable.embeddings import store

    every = store.describe_all()
    if as_json:
        print_json([facts.to_dict() for facts in every])
        return
    rows = []
    for facts in every:
        words, dimension = ("damaged", "") if facts.problem else (f"{facts.words:,}", str(facts.dimension))
        size = "built in" if facts.size is None else f"{facts.size:,}"
        rows.append([facts.name, words, dimension, size, (facts.fingerprint or "")[:12]])
    heads = ["name", "words", "dimension", "bytes", "fingerprint"]
    open_console().print(make_table(heads, rows, left=(0, 4)))


@app.command("show")
@with_groups
def show(name: str, *, verify: bool = False, as_json: bool = False) -> None:
    """Show what is known about an embedding.

    :param name: The name of an embedding.
    :param verify: Compute the fingerprint again from the files and compare.
    """
    from deniable.embeddings import store

    show_facts(store.describe(name, verified=verify), as_json=as_json)


@app.command("remove")
@with_groups
def remove(name: str, *, yes: bool = False, as_json: bool = False) -> None:
    """Remove an installed embedding.

    :param name: The name of an installed embedding.
    :param yes -y: Remove it without asking.
    """
    from deniable.embeddings import store

    info = store.info(name)
    if not yes:
        typer.confirm(f"Remove the embedding {name!r} ({info.size:,} bytes)?", abort=True, err=True)
    store.remove(name)
    if as_json:
        print_json({"removed": name})
    else:
        typer.echo(f"removed {name}")


@app.command("restrict")
@with_groups
def restrict(
    name: str,
    *,
    new: str,
    keep: Path | None = None,
    exclude: Path | None = None,
    first: int | None = None,
    common: str | None = None,
    as_json: bool = False,
) -> None:
    """Install a part of an embedding under a new name. Words that are left out become unknown words.

    :param name: The name of an embedding.
    :param new --as: The name to install the smaller embedding under.
    :param keep: Keep the words of this file only (one per line, UTF-8).
    :param exclude: Leave out the words of this file (one per line, UTF-8).
    :param first: Of what is left, keep only this many words from the start.
    :param common: Keep only the words that this other embedding has too.
    """
    from deniable.embeddings.store import install_restricted
    from deniable.words.public_text import read_word_list

    made = install_restricted(
        name,
        new,
        keep=None if keep is None else read_word_list(keep),
        exclude=None if exclude is None else read_word_list(exclude),
        first=first,
        common_with=common,
    )
    show_facts(made, as_json=as_json)


@app.command("train")
@with_groups
def train(
    corpus: Path,
    *,
    name: str,
    dimension: int = 100,
    window: int = 5,
    min_count: int = 5,
    epochs: int = 5,
    workers: int | None = None,
    first: int | None = None,
    subwords: bool = False,
) -> None:
    """Train an embedding on a public text and install it. Never train on the text that is to be protected.

    :param corpus: A public text file, one document per line; may be packed (gz, bz2, xz, zst).
    :param name: The name to install the embedding under.
    :param dimension: How many coordinates a vector has.
    :param window: How many words to each side count as the context of a word.
    :param min_count: Leave out words that occur fewer times than this.
    :param epochs: How many times to go through the text.
    :param workers: How many threads; with 1 the result can be repeated. Default: one per core.
    :param first: Keep only this many of the most frequent words.
    :param subwords: Train vectors of word parts too, for --unknown subwords.
    """
    from deniable.embeddings.training import WARNING, Training, install_trained

    settings = Training(
        dimension=dimension,
        window=window,
        min_count=min_count,
        epochs=epochs,
        workers=workers if workers is not None else os.cpu_count() or 1,
        first=first,
        subwords=subwords,
    )
    warn(WARNING)
    with progress(f"training on {corpus.name}", unit="bytes", quiet=False) as report:
        made = install_trained(corpus, name, settings, report=report)
    size = f"{made.words:,} words x {made.dimension} dimensions"
    typer.echo(f"{name}: {size}, fingerprint {made.fingerprint}, in {made.folder}")


@app.command("geometry")
@with_groups
def geometry(
    name: str,
    other: str | None = None,
    *,
    sample: int | None = None,
    figures: Figures = None,
    as_json: bool = False,
) -> None:
    """Show how far words are from their k-th neighbour, in percentiles over the words.

    :param name: The name of an embedding.
    :param other: Another one: both are cut down to the words they share.
    :param sample: Measure only this many words, drawn at random.
    """
    from deniable.calibration.compare import PERCENTILES, compare_geometry, geometry_lines

    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    spaces = compare_geometry(name, other, sample=sample)
    if figures is not None:
        lines, y = geometry_lines(spaces), "distance to the k-th neighbour"
        _save_figure(figures, "geometry", lines, x="k", y=y, shares=False)
    if as_json:
        print_json([each.to_dict() for each in spaces])
        return
    console = open_console()
    for each in spaces:
        over = f"percentiles over {each.words:,} words"
        console.print(f"{each.embedding}: distance to the k-th neighbour, {over}")
        rows = [
            [f"{k:,}", *(f"{value:.3f}" for value in row)]
            for k, row in zip(each.neighbours, each.percentiles, strict=True)
        ]
        console.print(make_table(["k", *(f"{p} %" for p in PERCENTILES)], rows, left=()))


@app.command("compare")
@with_groups
def compare(
    names: list[str],
    *,
    sample: int = 500,
    rays: int = 1000,
    figures: Figures = None,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Show average N_w and S_w of the same words against ε in several embeddings.

    :param names: The names of two or more embeddings.
    :param sample: How many of the words that all of them have are measured.
    :param rays --effort: How many random directions to follow from each word.
    :param quiet -q: Do not show progress.
    """
    from deniable.calibration.compare import average_lines, compare_embeddings

    if len(names) < 2:
        raise typer.BadParameter("give two or more embeddings")
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    with progress(f"calibrating {', '.join(names)}", unit="words", quiet=quiet) as report:
        compared = compare_embeddings(names, sample=sample, rays=rays, report=report)
    if figures is not None:
        _save_figure(figures, "averages", average_lines(compared), x="ε", y="average N_w")
    if as_json:
        print_json([vars(row) for rows in compared for row in rows])
        return
    cells = []
    for row in (row for rows in compared for row in rows):
        counts = f"{row.support:.0f}", f"{row.distinct:.0f}"
        shares = f"{row.unchanged:.3f}", f"{row.error:.3f}"
        cells.append([row.embedding, f"{row.epsilon:.4g}", *shares, *counts])
    open_console().print(make_table(["embedding", "ε", "N_w mean", "±", "S_w mean", "distinct mean"], cells))


def _save_figure(folder: Path, name: str, lines: Any, **axes: Any) -> None:
    from deniable.report.curves import curves
    from deniable.report.figure import save

    save(curves(lines, **axes), folder, name)


def show_facts(facts: EmbeddingFacts, *, as_json: bool) -> None:
    """Print what is known about an embedding, one fact a line, or as JSON."""
    if as_json:
        print_json(facts.to_dict())
        return
    shown = facts.to_dict()
    if facts.linear_map is not None:
        made, *purposes = facts.linear_map.in_words()
        shown["linear_map"] = made
        shown["map_scales"] = _scales(facts.map_scales or ())
        for place, purpose in enumerate(purposes, start=1):
            shown[f"purpose {place}"] = purpose
        if facts.map_verified is False:
            shown["map_verified"] = "no: the embedding that it was made from is not on this machine"
    if facts.cutting is not None:
        shown["cutting"] = "; ".join(facts.cutting)
    for key, value in shown.items():
        if value is not None:
            line = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
            if isinstance(value, tuple):
                line = ", ".join(map(str, value))
            typer.echo(f"{key.replace('_', ' ') + ':':<20} {printable(line)}")


def _scales(scales: Sequence[float]) -> str:
    others = [f"{scale:g}" for scale in scales if scale != 1.0]
    purpose = f", {len(others)} of the purpose times {', '.join(others)}" if others else ""
    return f"{len(scales) - len(others)} axes as they are{purpose}"
