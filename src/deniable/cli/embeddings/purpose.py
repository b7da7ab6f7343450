"""``deniable embeddings reduce`` and ``shape``: a space of fewer dimensions, or one made for a declared
purpose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from deniable.cli.embeddings.installed import app, show_facts
from deniable.cli.options import FileOptions, with_groups
from deniable.cli.terminal import progress, warn

if TYPE_CHECKING:
    from deniable.embeddings.linear_map import MapOrigin

Name = Annotated[str, typer.Argument(help="The name of an embedding.")]
New = Annotated[str, typer.Option("--as", help="The name to install the new embedding under.")]


@app.command("reduce")
@with_groups
def reduce(name: Name, *, new: New, dimension: int = 16, as_json: bool = False) -> None:
    """Install an embedding on its first principal axes under a new name.

    The guarantee then holds in the metric of these axes. ε does not compare between the two spaces: calibrate
    the new one.

    :param dimension: How many principal axes to keep.
    """
    from deniable.purposes.installing import install_reduced

    show_facts(install_reduced(name, new, dimension=dimension), as_json=as_json)


@app.command("shape")
@with_groups
def shape(
    name: Name,
    *,
    for_public: list[Path],
    text: list[str],
    label: list[str],
    new: New,
    labels: Literal["auto", "classes", "numbers"] = "auto",
    dimension: int = 16,
    strength: float = 4.0,
    reading: FileOptions,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Install an embedding shaped for a purpose under a new name: words that differ for it lie far apart,
    others close together.

    The purpose is learnt from public labelled texts. The guarantee then holds in the metric of the shaped
    space. ε does not compare between the two spaces: calibrate the new one.

    :param for_public: PUBLIC labelled texts (CSV, TSV, JSON Lines, Parquet) whose labels are the purpose.
        Never the text to be protected. May be repeated, for several purposes.
    :param text: The column that holds the text; given once, or once for each file.
    :param label: The column that holds the label; given once, or once for each file.
    :param labels: What labels are. auto: numbers if they are not whole, or more than 20 different ones;
        else classes.
    :param dimension: How many principal axes are added to the directions of the purpose. With 0, nothing but
        the purpose survives.
    :param strength: How far the purpose spreads words, in spreads of the first principal axis.
    """
    from deniable.embeddings.embedding import Embedding
    from deniable.purposes.installing import check_installable, install_shaped
    from deniable.purposes.label_check import label_warnings
    from deniable.purposes.public_texts import read_public
    from deniable.purposes.shaping import PUBLIC_ONLY

    columns = _each(text, for_public, "--text"), _each(label, for_public, "--label")
    check_installable(name, new, dimension=dimension, strength=strength)
    warn(PUBLIC_ONLY)
    public = [
        read_public(path, text_column=texts, label_column=of, kind=labels, **reading.reading())
        for path, texts, of in zip(for_public, *columns, strict=True)
    ]
    space = Embedding.open(name)
    for warning in (each for texts_of_one in public for each in label_warnings(space, texts_of_one)):
        warn(warning)
    with progress("cutting public texts", unit="texts", quiet=quiet) as report:
        made = install_shaped(name, new, public, dimension=dimension, strength=strength, report=report)
    show_facts(made, as_json=as_json)
    if not as_json and made.linear_map is not None:
        typer.echo("\n" + becomes_public(made.linear_map))


def becomes_public(origin: MapOrigin) -> str:
    """Return what anybody who gets the embedding can compute from it, in words."""
    names = " and ".join(each.name for each in origin.public)
    return (
        f"What becomes public with this embedding: its vectors. From them and those of {origin.source} "
        f"anybody computes the map, and reads from it which words speak for which label of {names}. A label "
        "that few words tell shows what the texts with it are about."
    )


def _each(given: list[str], files: list[Path], option: str) -> list[str]:
    if len(given) not in (1, len(files)):
        problem = f"once, or once for each of the {len(files)} files, not {len(given)} times"
        raise typer.BadParameter(f"give {option} {problem}")
    return given * len(files) if len(given) == 1 else given
