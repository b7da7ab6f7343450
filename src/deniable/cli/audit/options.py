"""Options that all audits share, and the mechanisms that can be named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from deniable.embeddings.embedding import Embedding
    from deniable.interfaces import Mechanism

EmbeddingName = Annotated[str, typer.Option("--embedding", help="The name of an installed embedding.")]
Epsilon = Annotated[float, typer.Option("--epsilon", "-e", help="The privacy parameter, per word.")]
Epsilons = Annotated[list[float], typer.Option("--epsilon", "-e", help="A value of ε to look at. May be repeated.")]
Seed = Annotated[int, typer.Option(help="Where the audit's own draws start; releases never use it.")]
Save = Annotated[Path | None, typer.Option("--save", help="Where to write the result as JSON, for `deniable audit report`.")]
PageFile = Annotated[Path | None, typer.Option("--report", help="Where to write the result as a page for people (HTML).")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]
DataFile = Annotated[Path, typer.Argument(help="CSV, TSV, JSON Lines or Parquet with one text a record; may be compressed.")]
TextColumn = Annotated[str, typer.Option("--text-column", "--column", "-c", help="The column that holds the text.")]


def maker(name: str, options: list[str] | None, own: Embedding) -> Callable[[Embedding, float], Mechanism]:
    """Return what makes the named mechanism for an embedding and ε.

    An option that lists words of the user's own embedding cannot be used in the small spaces of the bound's audit: there, every
    other word takes their place.

    :raises InvalidParameter: if there is no mechanism or no option of that name.
    """
    from deniable.cli.mechanism import parse_options
    from deniable.mechanisms.catalogue import make_mechanism

    given = parse_options(name, options)

    def make(embedding: Embedding, epsilon: float) -> Mechanism:
        fitting = dict(given)
        if "sensitive" in fitting and embedding is not own:
            fitting["sensitive"] = tuple(embedding.words[::2])
        return make_mechanism(name, embedding, epsilon=epsilon, options=fitting)

    return make


def settings(audit: str, embedding: Embedding, mechanism: str, seed: int) -> dict[str, Any]:
    """Return how every result begins: what was audited, of what, from which seed."""
    from deniable.version import __version__

    return {
        "audit": audit,
        "version": __version__,
        "embedding": {"name": embedding.name, "fingerprint": embedding.fingerprint, "protected": len(embedding.protected)},
        "mechanism": mechanism,
        "seed": seed,
    }


def finish(answer: dict[str, Any], *, save: Path | None, page: Path | None, as_json: bool) -> None:
    """Print the result, and write it where it was asked for."""
    import json

    from deniable.atomic import write_whole
    from deniable.cli.audit.view import show

    if save is not None:
        write_whole(save, json.dumps(answer, indent=1, ensure_ascii=False) + "\n")
    if page is not None:
        from deniable.audit.report.page import audit_page

        audit_page([answer]).write(page)
    if as_json:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        show(answer)


def check_places(*paths: Path | None) -> None:
    """Refuse a file that cannot be written before the work begins.

    :raises RecordError: if a path is a folder or its folder is not there.
    """
    from deniable.report.place import check_place

    for path in paths:
        if path is not None:
            check_place(path)
