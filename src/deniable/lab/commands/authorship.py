"""``deniable lab authorship``: who wrote this?"""

from __future__ import annotations

from typing import Annotated

import typer

from deniable.cli.audit import AuditOptions, Epsilons
from deniable.cli.options import DataFile, with_groups
from deniable.lab.commands.options import AttackedTextOptions, DecodedOptions


@with_groups
def authorship(
    *,
    data: DataFile,
    epsilon: Epsilons,
    author_column: Annotated[str, typer.Option(help="The column that says who wrote the text.")] = "author",
    text: AttackedTextOptions,
    authors: Annotated[
        int | None, typer.Option(help="Take at most this many authors, those with the most texts.")
    ] = None,
    min_texts: Annotated[int, typer.Option(help="Leave out authors with fewer texts than this.")] = 4,
    acceptable: Annotated[
        float,
        typer.Option(help="The share of texts whose author may be named, for the advice in the result."),
    ] = 0.2,
    decoded: DecodedOptions,
    audit: AuditOptions,
) -> None:
    """Train classifiers of style on original and on released text, and let them name the author of released
    text, decoded too."""
    from deniable.lab.authorship import audit_authorship

    decoding = decoded.decoding()
    attacked = text.open(data, epsilon, person_column=author_column)
    with audit.progress("releasing and training", unit="values of ε") as report:
        result = audit_authorship(
            *attacked,
            epsilons=epsilon,
            authors=authors,
            min_texts=min_texts,
            acceptable=acceptable,
            decoding=decoding,
            seed=audit.seed,
            report=report,
        )
    audit.finish(result)
