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
    authors: Annotated[int | None, typer.Option(help="Take only so many authors, those with most texts.")] = None,
    min_texts: Annotated[int, typer.Option(help="Leave out authors with fewer texts.")] = 4,
    acceptable: Annotated[float, typer.Option(help="How often the author may be named, for the advice in the result.")] = 0.2,
    seed: Seed = 0,
    save: Save = None,
    report: PageFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Train a classifier of style on original and on released text, and let it name the author of released text."""
    from functools import partial

    from deniable.audit.authorship import audit_authorship, largest_acceptable, split_by_author
    from deniable.audit.draws import audited_texts
    from deniable.cli.audit.options import check_places, finish, maker, settings
    from deniable.embeddings.embedding import Embedding
    from deniable.learning.scores import sklearn
    from deniable.parameters import validated_epsilon
    from deniable.progress import Progress
    from deniable.records.labelled import read_labelled
    from deniable.words.cutter import Cutter

    check_places(save, report)
    sklearn("svm")
    opened = Embedding.open(embedding)
    make = maker(mechanism, mechanism_options, opened)
    values = sorted(validated_epsilon(e) for e in epsilon)
    written = read_labelled(
        data, person_column=author_column, text_column=text_column, format=format_, delimiter=delimiter, header=header, encoding=encoding
    )
    split = split_by_author(written, authors=authors, fewest=min_texts, seed=seed)
    cutter = Cutter(opened)

    def plain(texts: list[str]) -> list[str]:
        return [" ".join(cutter.words(text)) for text in texts]

    with Progress("releasing and training", total=len(values), unit="values of ε") as progress:

        def released(value: float, texts: list[str]) -> list[str]:
            # Texts to learn from and texts to judge by are released with noise of their own.
            made = audited_texts(make(opened, value), texts, seed=seed + (0 if texts is split.judged else 1))
            if not quiet and texts is not split.judged:
                progress.advance(1)
            return made

        result = audit_authorship(split, {value: partial(released, value) for value in values}, plain)
    answer = {
        **settings("authorship", opened, mechanism, seed),
        "acceptable": acceptable,
        "largest_acceptable_epsilon": largest_acceptable(result, acceptable),
        **result,
    }
    finish(answer, save=save, page=report, as_json=as_json)
