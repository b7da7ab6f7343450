"""``deniable embeddings``: add, list, show, remove and restrict the embeddings on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(help="Manage the embeddings on this machine.", no_args_is_help=True, rich_markup_mode=None)

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]


@app.command()
def add(
    file: Annotated[Path, typer.Argument(help="GloVe, word2vec, fastText, .npz or .safetensors; may be packed (gz, bz2, xz, zst, zip).")],
    name: Annotated[str, typer.Option(help="The name to install it under.")],
    format: Annotated[str | None, typer.Option(help="The format, if it must not be told from the content.")] = None,  # noqa: A002
    first: Annotated[int | None, typer.Option(help="Take only this many words from the start of the file.")] = None,
    duplicates: Annotated[str, typer.Option(help="What to do with repeated words: refuse, or keep the first.")] = "refuse",
    licence: Annotated[str | None, typer.Option(help="A note on the licence, kept with the embedding.")] = None,
    as_json: Json = False,
) -> None:
    """Read an embedding file, check it and install it."""
    from deniable.embeddings import store
    from deniable.embeddings.description import described
    from deniable.progress import Progress

    with Progress(f"reading {file.name}", unit="bytes") as progress:
        added = store.add(file, name, format=format, first=first, duplicates=duplicates, licence=licence, progress=progress.report)
    _show(described(added), as_json=as_json)


@app.command("list")
def list_installed(as_json: Json = False) -> None:
    """List the embeddings that can be used, the built-in default first."""
    from deniable.embeddings import store
    from deniable.embeddings.description import described, described_default

    every = [described_default(), *(described(info) for info in store.installed())]
    if as_json:
        _print_json(every)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("name")
    for column in ("words", "dimension", "bytes"):
        table.add_column(column, justify="right")
    table.add_column("fingerprint")
    for facts in every:
        if facts.get("problem"):
            table.add_row(facts["name"], "damaged", "", _bytes(facts["size"]), "")
        else:
            table.add_row(facts["name"], f"{facts['words']:,}", str(facts["dimension"]), _bytes(facts["size"]), facts["fingerprint"][:12])
    Console(highlight=False, markup=False).print(table)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="The name of an embedding.")],
    verify: Annotated[bool, typer.Option("--verify", help="Compute the fingerprint anew from the files and compare.")] = False,
    as_json: Json = False,
) -> None:
    """Show what is known about an embedding."""
    from deniable.embeddings import store
    from deniable.embeddings.description import described, described_default

    facts = described_default() if name == store.DEFAULT else described(store.info(name))
    if verify:
        store.verify(name)
        facts["verified"] = True
    _show(facts, as_json=as_json)


@app.command()
def remove(
    name: Annotated[str, typer.Argument(help="The name of an installed embedding.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Remove an installed embedding."""
    from deniable.embeddings import store

    info = store.info(name)
    if not yes:
        typer.confirm(f"Remove the embedding {name!r} ({info.size:,} bytes)?", abort=True, err=True)
    store.remove(name)
    if as_json:
        _print_json({"removed": name})
    else:
        typer.echo(f"removed {name}")


@app.command()
def restrict(
    name: Annotated[str, typer.Argument(help="The name of an embedding.")],
    new: Annotated[str, typer.Option("--as", help="The name to install the smaller embedding under.")],
    keep: Annotated[Path | None, typer.Option(help="Keep the words of this file only (one a line, UTF-8).")] = None,
    exclude: Annotated[Path | None, typer.Option(help="Leave out the words of this file (one a line, UTF-8).")] = None,
    first: Annotated[int | None, typer.Option(help="Of what is left, keep the first this many.")] = None,
    common: Annotated[str | None, typer.Option(help="Keep only words that this other embedding has too.")] = None,
    as_json: Json = False,
) -> None:
    """Install a part of an embedding under a new name. Words that are left out become unknown words."""
    from deniable.embeddings import store
    from deniable.embeddings.description import described
    from deniable.embeddings.restrict import restricted, restriction
    from deniable.words.word_list import read_word_list

    store.free_place(new)
    embedding = store.open_embedding(name)
    chosen = restriction(
        embedding,
        keep=None if keep is None else read_word_list(keep),
        exclude=None if exclude is None else read_word_list(exclude),
        first=first,
        common_with=None if common is None else store.open_embedding(common),
    )
    saved = store.save(restricted(embedding, chosen.ids), new, source=f"restricted from {name} ({embedding.fingerprint})")
    facts = described(saved)
    facts["absent_from_keep"], facts["absent_from_exclude"] = chosen.absent_from_keep, chosen.absent_from_exclude
    _show(facts, as_json=as_json)


def _show(facts: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        _print_json(facts)
        return
    for key, value in facts.items():
        if value is not None:
            shown = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
            typer.echo(f"{key.replace('_', ' ') + ':':<20} {shown}")


def _print_json(value: object) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _bytes(size: int | None) -> str:
    return "built in" if size is None else f"{size:,}"
