"""``deniable embeddings train``: make an embedding from a public text."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Annotated

import typer


def train(
    corpus: Annotated[Path, typer.Argument(help="A public text file, one document a line; may be packed (gz, bz2, xz, zst, zip).")],
    name: Annotated[str, typer.Option(help="The name to install the embedding under.")],
    dimension: Annotated[int, typer.Option(help="Coordinates of a vector.")] = 100,
    window: Annotated[int, typer.Option(help="Words to each side that count as a word's company.")] = 5,
    min_count: Annotated[int, typer.Option(help="Leave out words that occur less often.")] = 5,
    epochs: Annotated[int, typer.Option(help="How often to go through the text.")] = 5,
    workers: Annotated[int | None, typer.Option(help="Threads; with 1 the result can be repeated. Default: one a core.")] = None,
    first: Annotated[int | None, typer.Option(help="Keep only this many of the most frequent words.")] = None,
    subwords: Annotated[bool, typer.Option("--subwords", help="Train vectors of word parts too, for --unknown subwords.")] = False,
) -> None:
    """Train an embedding on a public text and install it. Never train on the text that is to be protected."""
    from deniable.embeddings import store
    from deniable.embeddings.training import WARNING, Training, train_embedding
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
    store.free_place(name)
    typer.echo(f"deniable: warning: {WARNING}", err=True)
    with Progress(f"training on {corpus.name}", unit="bytes") as progress:
        embedding = train_embedding(corpus, settings, name=name, progress=progress.report)
    with corpus.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    saved = store.save(embedding, name, source=f"trained on {corpus.name} (sha256 {digest}); {settings.described()}")
    typer.echo(
        f"{name}: {len(embedding):,} words x {embedding.dimension} dimensions, fingerprint {embedding.fingerprint}, in {saved.folder}"
    )
