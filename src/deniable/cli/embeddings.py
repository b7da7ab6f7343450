"""``deniable embeddings``: add, list, show, remove and restrict the embeddings on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.options import AsJson
from deniable.cli.terminal import make_table, open_console, print_json

if TYPE_CHECKING:
    from deniable.embeddings.store import EmbeddingFacts

app = typer.Typer(help="Manage the embeddings on this machine.", no_args_is_help=True, rich_markup_mode=None)


@app.command()
def add(
    file: Annotated[Path, typer.Argument(help="GloVe, word2vec, fastText, .npz or .safetensors; may be packed (gz, bz2, xz, zst, zip).")],
    name: Annotated[str, typer.Option(help="The name to install it under.")],
    format: Annotated[str | None, typer.Option(help="The file format, if the content does not show it.")] = None,  # noqa: A002
    first: Annotated[int | None, typer.Option(help="Read only this many words from the start of the file.")] = None,
    duplicates: Annotated[str, typer.Option(help="What to do with repeated words: refuse, or keep the first.")] = "refuse",
    licence: Annotated[str | None, typer.Option(help="A note on the licence, kept with the embedding.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read an embedding file, check it and install it."""
    from deniable.embeddings import store
    from deniable.progress import Progress

    with Progress(f"reading {file.name}", unit="bytes") as progress:
        added = store.add(file, name, format=format, first=first, duplicates=duplicates, licence=licence, report=progress.report)
    _show(added, as_json=as_json)


@app.command("list")
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
            shown = [f"{facts.words:,}", str(facts.dimension), _bytes(facts.size), (facts.fingerprint or "")[:12]]
        else:
            shown = ["damaged", "", _bytes(facts.size), ""]
        rows.append([facts.name, *shown])
    open_console().print(make_table(["name", "words", "dimension", "bytes", "fingerprint"], rows, left=(0, 4)))


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The name of an embedding.")],
    verify: Annotated[bool, typer.Option("--verify", help="Compute the fingerprint again from the files and compare.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is known about an embedding."""
    from deniable.embeddings import store

    _show(store.describe(name, verified=verify), as_json=as_json)


@app.command()
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


@app.command()
def restrict(
    name: Annotated[str, typer.Argument(help="The name of an embedding.")],
    new: Annotated[str, typer.Option("--as", help="The name to install the smaller embedding under.")],
    keep: Annotated[Path | None, typer.Option(help="Keep the words of this file only (one per line, UTF-8).")] = None,
    exclude: Annotated[Path | None, typer.Option(help="Leave out the words of this file (one per line, UTF-8).")] = None,
    first: Annotated[int | None, typer.Option(help="Of what is left, keep only this many words from the start.")] = None,
    common: Annotated[str | None, typer.Option(help="Keep only the words that this other embedding has too.")] = None,
    as_json: AsJson = False,
) -> None:
    """Install a part of an embedding under a new name. Words that are left out become unknown words."""
    from deniable.embeddings.restrict import install_restricted
    from deniable.words.word_list import read_word_list

    made = install_restricted(
        name,
        new,
        keep=None if keep is None else read_word_list(keep),
        exclude=None if exclude is None else read_word_list(exclude),
        first=first,
        common_with=common,
    )
    _show(made, as_json=as_json)


def _show(facts: EmbeddingFacts, *, as_json: bool) -> None:
    if as_json:
        print_json(facts.to_dict())
        return
    for key, value in facts.to_dict().items():
        if value is not None:
            shown = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
            if isinstance(value, tuple):
                shown = ", ".join(value)
            typer.echo(f"{key.replace('_', ' ') + ':':<20} {shown}")


def _bytes(size: int | None) -> str:
    return "built in" if size is None else f"{size:,}"
