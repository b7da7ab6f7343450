"""``deniable audit inversion``: guess the words that went in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.audit.options import AsJson, EmbeddingName, Epsilons, PageFile, Quiet, Save, Seed
from deniable.cli.mechanism import Name as MechanismName
from deniable.cli.mechanism import Options as MechanismOptions


def inversion(
    epsilon: Epsilons,
    embedding: EmbeddingName = "default",
    mechanism: MechanismName = "multivariate",
    mechanism_options: MechanismOptions = None,
    frequencies: Annotated[Path | None, typer.Option(help="A file with a word and its count on each line.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="A text to count the words in, one document a line.")] = None,
    acceptable: Annotated[float, typer.Option(help="How often the adversary may be right, for the advice in the result.")] = 0.2,
    words: Annotated[int, typer.Option(help="Words to attack in each frequency band; the rest of the work goes with it.")] = 150,
    rays: Annotated[int, typer.Option(help="Directions per released word.")] = 128,
    draws: Annotated[int, typer.Option(help="Simulated draws of every word, for mechanisms without rays or exact values.")] = 100,
    seed: Seed = 0,
    save: Save = None,
    report: PageFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Let the Bayes adversary guess the words: how often is the guess right, and for which words most often?

    Without --frequencies or --corpus the adversary takes word frequencies from the embedding's order (Zipf's law).
    """
    from deniable.audit.inversion.attack import Effort, audit_inversion
    from deniable.cli.audit.options import check_places, finish, maker, settings
    from deniable.decoding import priors as known
    from deniable.embeddings.embedding import Embedding
    from deniable.parameters import validated_epsilon, validated_share
    from deniable.progress import Progress

    if frequencies is not None and corpus is not None:
        raise typer.BadParameter("give --frequencies or --corpus, not both")
    check_places(save, report)
    validated_share(acceptable, "acceptable")
    opened = Embedding.open(embedding)
    make = maker(mechanism, mechanism_options, opened)
    prior = known.by_rank(opened)
    if frequencies is not None:
        prior = known.from_table(opened, frequencies)
    elif corpus is not None:
        prior = known.from_corpus(opened, corpus)
    effort = Effort(words_per_band=words, repeated_words=max(1, words // 4), at_risk=max(1, words // 8), rays=rays, draws_per_word=draws)
    rows = []
    with Progress("guessing", total=len(epsilon), unit="values of ε") as progress:
        for value in sorted(validated_epsilon(e) for e in epsilon):
            rows.append(audit_inversion(make(opened, value), prior, seed=seed, effort=effort))
            if not quiet:
                progress.advance(1)
    fine = [row["epsilon"] for row in rows if row["bayes"]["value"] <= acceptable]
    answer = {
        **settings("inversion", opened, mechanism, seed),
        "frequencies": str(frequencies or corpus or "by rank (Zipf)"),
        "acceptable": acceptable,
        "largest_acceptable_epsilon": max(fine, default=None),
        "results": rows,
    }
    finish(answer, save=save, page=report, as_json=as_json)
