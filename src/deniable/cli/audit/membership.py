"""``deniable audit membership``: was this user's text used?"""

from __future__ import annotations

from typing import Annotated

import typer

from deniable.cli.audit.options import AsJson, DataFile, EmbeddingName, Epsilons, PageFile, Quiet, Save, Seed, TextColumn
from deniable.cli.mechanism import Name as MechanismName
from deniable.cli.mechanism import Options as MechanismOptions
from deniable.cli.options import Delimiter, Encoding, Format, Header


def membership(
    data: DataFile,
    epsilon: Epsilons,
    user_column: Annotated[str, typer.Option(help="The column that says who wrote the text.")] = "user",
    text_column: TextColumn = "text",
    format_: Format = None,
    delimiter: Delimiter = None,
    header: Header = True,
    encoding: Encoding = "utf-8",
    embedding: EmbeddingName = "default",
    mechanism: MechanismName = "multivariate",
    mechanism_options: MechanismOptions = None,
    users: Annotated[
        int | None, typer.Option(help="How many users are in the training data; as many are out, twice as many are the shadow models'.")
    ] = None,
    min_texts: Annotated[int, typer.Option(help="Leave out users with fewer texts than this.")] = 20,
    max_texts: Annotated[int, typer.Option(help="Take at most this many texts of each user.")] = 500,
    targets: Annotated[int, typer.Option(help="How many target models, each with other users in; the paper has one.")] = 1,
    shadows: Annotated[int, typer.Option(help="How many shadow models the adversary trains.")] = 10,
    epochs: Annotated[int, typer.Option(help="Epochs of the language models.")] = 30,
    acceptable: Annotated[float, typer.Option(help="The AUC that the adversary may reach, for the advice in the result.")] = 0.6,
    seed: Seed = 0,
    save: Save = None,
    report: PageFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train language models on original and on released text, and let an auditor tell whose text was used."""
    from deniable.audit.membership.audit import audit_membership
    from deniable.cli.audit.options import check_places, choose, finish
    from deniable.embeddings.embedding import Embedding
    from deniable.learning.scores import sklearn
    from deniable.parameters import validated_epsilon
    from deniable.progress import Progress
    from deniable.records.labelled import read_labelled

    check_places(save, report)
    sklearn("svm", "the membership audit", extra="experiments")
    chosen = choose(mechanism, mechanism_options)
    values = [validated_epsilon(value) for value in epsilon]
    opened = Embedding.open(embedding)
    texts = read_labelled(
        data, person_column=user_column, text_column=text_column, format=format_, delimiter=delimiter, header=header, encoding=encoding
    )
    with Progress("training language models", unit="steps") as progress:
        result = audit_membership(
            texts,
            opened,
            chosen,
            epsilons=values,
            users=users,
            min_texts=min_texts,
            max_texts=max_texts,
            targets=targets,
            shadows=shadows,
            epochs=epochs,
            acceptable=acceptable,
            seed=seed,
            report=None if quiet else progress.report,
        )
    finish(result, save=save, page=report, as_json=as_json)
