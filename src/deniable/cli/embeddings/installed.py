"""``deniable embeddings``: add, list, show, remove, restrict, train and compare the embeddings on this
machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.options import AsJson
from deniable.cli.terminal import make_table, open_console, print_json
from deniable.errors import printable

if TYPE_CHECKING:
    from deniable.embeddings.store import EmbeddingFacts

Figures = Annotated[Path | None, typer.Option(help="A folder for the figure, as PNG and SVG.")]


def add(
    file: Annotated[
        Path,
        typer.Argument(
            help="GloVe, word2vec, fastText, .npz or .safetensors; may be packed (gz, bz2, xz, zst, zip)."
        ),
    ],
    name: Annotated[str, typer.Option(help="The name to install it under.")],
    format: Annotated[  # noqa: A002
        str | None, typer.Option(help="The file format, if the content does not show it.")
    ] = None,
    first: Annotated[
        int | None, typer.Option(help="Read only this many words from the start of the file.")
    ] = None,
    duplicates: Annotated[
        str, typer.Option(help="What to do with repeated words: refuse, or keep the first.")
    ] = "refuse",
    licence: Annotated[
        str | None, typer.Option(help="A note on the licence, kept with the embedding.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Read an embedding file, check it and install it."""
    from deniable.embeddings import store
    from deniable.progress import Progress

    with Progress(f"reading {file.name}", unit="bytes") as progress:
        added = store.add(
            file,
            name,
            format=format,
            first=first,
            duplicates=duplicates,
            licence=licence,
            report=progress.report,
        )
    show_facts(added, as_json=as_json)


def list_installed(as_json: AsJson = False) -> None:
    """List the embeddings that can be used, the built-in default first."""
    from deniable.embeddings import store

    every = store.describe_all()
    if as_json:
        print_json([facts.to_dict() for facts in every])
        return
    rows = []
    for facts in every:
        if facts.problem is None:
            shown = [
                f"{facts.words:,}",
                str(facts.dimension),
                _bytes(facts.size),
                (facts.fingerprint or "")[:12],
            ]
        else:
            shown = ["damaged", "", _bytes(facts.size), ""]
        rows.append([facts.name, *shown])
    open_console().print(
        make_table(["name", "words", "dimension", "bytes", "fingerprint"], rows, left=(0, 4))
    )


def show(
    name: Annotated[str, typer.Argument(help="The name of an embedding.")],
    verify: Annotated[
        bool, typer.Option("--verify", help="Compute the fingerprint again from the files and compare.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is known about an embedding."""
    from deniable.embeddings import store

    show_facts(store.describe(name, verified=verify), as_json=as_json)


def remove(
    name: Annotated[str, typer.Argument(help="The name of an installed embedding.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Remove it without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove an installed embedding."""
    from deniable.embeddings import store

    info = store.info(name)
    if not yes:
        typer.confirm(f"Remove the embedding {name!r} ({info.size:,} bytes)?", abort=True, err=True)
    store.remove(name)
    if as_json:
        print_json({"removed": name})
    else:
        typer.echo(f"removed {name}")


def restrict(
    name: Annotated[str, typer.Argument(help="The name of an embedding.")],
    new: Annotated[str, typer.Option("--as", help="The name to install the smaller embedding under.")],
    keep: Annotated[
        Path | None, typer.Option(help="Keep the words of this file only (one per line, UTF-8).")
    ] = None,
    exclude: Annotated[
        Path | None, typer.Option(help="Leave out the words of this file (one per line, UTF-8).")
    ] = None,
    first: Annotated[
        int | None, typer.Option(help="Of what is left, keep only this many words from the start.")
    ] = None,
    common: Annotated[
        str | None, typer.Option(help="Keep only the words that this other embedding has too.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Install a part of an embedding under a new name. Words that are left out become unknown words."""
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


def train(
    corpus: Annotated[
        Path,
        typer.Argument(
            help="A public text file, one document per line; may be packed (gz, bz2, xz, zst, zip)."
        ),
    ],
    name: Annotated[str, typer.Option(help="The name to install the embedding under.")],
    dimension: Annotated[int, typer.Option(help="How many coordinates a vector has.")] = 100,
    window: Annotated[
        int, typer.Option(help="How many words to each side count as the context of a word.")
    ] = 5,
    min_count: Annotated[int, typer.Option(help="Leave out words that occur fewer times than this.")] = 5,
    epochs: Annotated[int, typer.Option(help="How many times to go through the text.")] = 5,
    workers: Annotated[
        int | None,
        typer.Option(help="How many threads; with 1 the result can be repeated. Default: one per core."),
    ] = None,
    first: Annotated[int | None, typer.Option(help="Keep only this many of the most frequent words.")] = None,
    subwords: Annotated[
        bool, typer.Option("--subwords", help="Train vectors of word parts too, for --unknown subwords.")
    ] = False,
) -> None:
    """Train an embedding on a public text and install it. Never train on the text that is to be protected."""
    from deniable.embeddings.training import WARNING, Training, install_trained
    from deniable.progress import Progress

    settings = Training(
        dimension=dimension,
        window=window,
        min_count=min_count,
        epochs=epochs,
        workers=workers if workers is not None else os.cpu_count() or 1,
        first=first,
        subwords=subwords,
    )
    typer.echo(f"deniable: warning: {WARNING}", err=True)
    with Progress(f"training on {corpus.name}", unit="bytes") as progress:
        made = install_trained(corpus, name, settings, report=progress.report)
    typer.echo(
        f"{name}: {made.words:,} words x {made.dimension} dimensions, fingerprint {made.fingerprint}, in "
        f"{made.folder}"
    )


def geometry(
    name: Annotated[str, typer.Argument(help="The name of an embedding.")],
    other: Annotated[
        str | None, typer.Argument(help="Another one: both are cut down to the words they share.")
    ] = None,
    sample: Annotated[int | None, typer.Option(help="Measure only this many words, drawn at random.")] = None,
    figures: Figures = None,
    as_json: AsJson = False,
) -> None:
    """Show how far words are from their k-th neighbour, in percentiles over the words."""
    from deniable.calibration.compare import PERCENTILES, compare_geometry

    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    found = compare_geometry(name, other, sample=sample)
    if figures is not None:
        from deniable.calibration.report.figures import write_geometry

        write_geometry(found, figures)
    if as_json:
        print_json([each.to_dict() for each in found])
        return
    console = open_console()
    for each in found:
        rows = [
            [f"{k:,}", *(f"{value:.3f}" for value in row)]
            for k, row in zip(each.neighbours, each.percentiles, strict=True)
        ]
        console.print(
            f"{each.embedding}: distance to the k-th neighbour, percentiles over {each.words:,} words"
        )
        console.print(make_table(["k", *(f"{p} %" for p in PERCENTILES)], rows, left=()))


def compare(
    names: Annotated[list[str], typer.Argument(help="The names of two or more embeddings.")],
    sample: Annotated[
        int, typer.Option(help="How many of the words that all of them have are measured.")
    ] = 500,
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
        compared = compare_embeddings(
            names, sample=sample, rays=rays, report=None if quiet else stages.report
        )
    if figures is not None:
        from deniable.calibration.report.figures import write_averages

        write_averages(compared, figures)
    if as_json:
        print_json([row.to_dict() for rows in compared for row in rows])
        return
    cells = [
        [
            row.embedding,
            f"{row.epsilon:.4g}",
            f"{row.unchanged:.3f}",
            f"{row.error:.3f}",
            f"{row.support:.0f}",
            f"{row.distinct:.0f}",
        ]
        for rows in compared
        for row in rows
    ]
    open_console().print(make_table(["embedding", "ε", "N_w mean", "±", "S_w mean", "distinct mean"], cells))


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
    """Return the scales of axes in words: most of them are 1."""
    others = [f"{scale:g}" for scale in scales if scale != 1.0]
    return f"{len(scales) - len(others)} axes as they are" + (
        f", {len(others)} of the purpose times {', '.join(others)}" if others else ""
    )


def _bytes(size: int | None) -> str:
    return "built in" if size is None else f"{size:,}"
