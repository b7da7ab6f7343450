"""``deniable embeddings train``: make an embedding from a public text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer


def train(
    corpus: Annotated[Path, typer.Argument(help="A public text file, one document per line; may be packed (gz, bz2, xz, zst, zip).")],
    name: Annotated[str, typer.Option(help="The name to install the embedding under.")],
    dimension: Annotated[int, typer.Option(help="How many coordinates a vector has.")] = 100,
    window: Annotated[int, typer.Option(help="How many words to each side count as the context of a word.")] = 5,
    min_count: Annotated[int, typer.Option(help="Leave out words that occur fewer times than this.")] = 5,
    epochs: Annotated[int, typer.Option(help="How many times to go through the text.")] = 5,
    workers: Annotated[int | None, typer.Option(help="How many threads; with 1 the result can be repeated. Default: one per core.")] = None,
    first: Annotated[int | None, typer.Option(help="Keep only this many of the most frequent words.")] = None,
    subwords: Annotated[bool, typer.Option("--subwords", help="Train vectors of word parts too, for --unknown subwords.")] = False,
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
    typer.echo(f"{name}: {made.words:,} words x {made.dimension} dimensions, fingerprint {made.fingerprint}, in {made.folder}")
