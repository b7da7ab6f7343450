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
    users: Annotated[int | None, typer.Option(help="Users in the training data; as many are out, twice as many are the shadows'.")] = None,
    min_texts: Annotated[int, typer.Option(help="Leave out users with fewer texts.")] = 20,
    max_texts: Annotated[int, typer.Option(help="Take at most so many texts of a user.")] = 500,
    targets: Annotated[int, typer.Option(help="Target models, each with other users in; the paper has one.")] = 1,
    shadows: Annotated[int, typer.Option(help="Shadow models of the adversary.")] = 10,
    epochs: Annotated[int, typer.Option(help="Epochs of the language models.")] = 30,
    acceptable: Annotated[float, typer.Option(help="The AUC that the adversary may reach, for the advice in the result.")] = 0.6,
    seed: Seed = 0,
    save: Save = None,
    report: PageFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train language models on original and on released text, and let an auditor tell whose text was used."""
    from dataclasses import replace

    from deniable.audit.membership.audit import audit_membership, largest_acceptable
    from deniable.audit.membership.plan import make_plan
    from deniable.audit.membership.settings import LanguageModelSettings
    from deniable.audit.membership.users import chosen_users
    from deniable.cli.audit.options import check_places, finish, maker, settings
    from deniable.embeddings.embedding import Embedding
    from deniable.learning.scores import sklearn
    from deniable.parameters import validated_count, validated_epsilon
    from deniable.progress import Progress
    from deniable.records.labelled import read_labelled

    check_places(save, report)
    sklearn("svm")
    opened = Embedding.open(embedding)
    make = maker(mechanism, mechanism_options, opened)
    mechanisms = {f"ε = {value:g}": make(opened, value) for value in sorted(validated_epsilon(e) for e in epsilon)}
    texts = read_labelled(
        data, person_column=user_column, text_column=text_column, format=format_, delimiter=delimiter, header=header, encoding=encoding
    )
    found = list(chosen_users(texts, opened, fewest=min_texts, most=max_texts, seed=seed).values())
    plan = make_plan(len(found), in_each=users, targets=targets, shadows=shadows, seed=seed, source=str(data))
    model = replace(LanguageModelSettings(), epochs=validated_count(epochs, "epochs"))
    with Progress("training language models", unit="steps") as progress:
        result = audit_membership(found, mechanisms, plan, seed=seed, settings=model, report=None if quiet else progress.report)
    answer = {
        **settings("membership", opened, mechanism, seed),
        "acceptable": acceptable,
        "largest_acceptable_epsilon": largest_acceptable(result, acceptable),
        **result,
    }
    finish(answer, save=save, page=report, as_json=as_json)
