"""``deniable audit authorship``: who wrote this?"""

from __future__ import annotations

from typing import Annotated

import typer

from deniable.cli.audit.options import AsJson, DataFile, EmbeddingName, Epsilons, PageFile, Quiet, Save, Seed, TextColumn
from deniable.cli.mechanism import Name as MechanismName
from deniable.cli.mechanism import Options as MechanismOptions
from deniable.cli.options import Delimiter, Encoding, Format, Header


def authorship(
    data: DataFile,
    epsilon: Epsilons,
    author_column: Annotated[str, typer.Option(help="The column that says who wrote the text.")] = "author",
    text_column: TextColumn = "text",
    format_: Format = None,
    delimiter: Delimiter = None,
    header: Header = True,
    encoding: Encoding = "utf-8",
    embedding: EmbeddingName = "default",
    mechanism: MechanismName = "multivariate",
    mechanism_options: MechanismOptions = None,
    authors: Annotated[int | None, typer.Option(help="Take at most this many authors, those with the most texts.")] = None,
    min_texts: Annotated[int, typer.Option(help="Leave out authors with fewer texts than this.")] = 4,
    acceptable: Annotated[float, typer.Option(help="The share of texts whose author may be named, for the advice in the result.")] = 0.2,
    seed: Seed = 0,
    save: Save = None,
    report: PageFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a classifier of style on original and on released text, and let it name the author of released text."""
    from deniable.audit.authorship import audit_authorship
    from deniable.cli.audit.options import check_places, choose, finish
    from deniable.embeddings.embedding import Embedding
    from deniable.learning.scores import sklearn
    from deniable.parameters import validated_epsilon
    from deniable.progress import Progress
    from deniable.records.labelled import read_labelled

    check_places(save, report)
    sklearn("svm")
    chosen = choose(mechanism, mechanism_options)
    values = [validated_epsilon(value) for value in epsilon]
    opened = Embedding.open(embedding)
    texts = read_labelled(
        data, person_column=author_column, text_column=text_column, format=format_, delimiter=delimiter, header=header, encoding=encoding
    )
    with Progress("releasing and training", unit="values of ε") as progress:
        result = audit_authorship(
            texts,
            opened,
            chosen,
            epsilons=values,
            authors=authors,
            min_texts=min_texts,
            acceptable=acceptable,
            seed=seed,
            report=None if quiet else progress.report,
        )
    finish(result, save=save, page=report, as_json=as_json)
