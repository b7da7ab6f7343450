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
    corpus: Annotated[Path | None, typer.Option(help="A text to count the words in, one document per line.")] = None,
    acceptable: Annotated[float, typer.Option(help="The share of words that the adversary may guess, for the advice in the result.")] = 0.2,
    words: Annotated[int, typer.Option(help="How many words to attack in each frequency band; the rest of the work grows with it.")] = 150,
    rays: Annotated[int, typer.Option(help="Directions (rays) per released word, for the mechanism of the paper.")] = 128,
    draws: Annotated[
        int, typer.Option(help="Simulated draws of every word, where probabilities are neither exact nor found by rays.")
    ] = 100,
    seed: Seed = 0,
    save: Save = None,
    report: PageFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Let the Bayes adversary guess the words: how often is the guess right, and for which words most often?

    Without --frequencies or --corpus the adversary takes word frequencies from the embedding's order (Zipf's law).
    """
    from deniable.audit.inversion import InversionEffort, audit_inversion
    from deniable.cli.audit.options import check_places, choose, finish
    from deniable.embeddings.embedding import Embedding
    from deniable.progress import Progress

    if frequencies is not None and corpus is not None:
        raise typer.BadParameter("give --frequencies or --corpus, not both")
    check_places(save, report)
    chosen = choose(mechanism, mechanism_options)
    with Progress("guessing", unit="values of ε") as progress:
        result = audit_inversion(
            Embedding.open(embedding),
            chosen,
            epsilons=epsilon,
            frequencies=frequencies,
            corpus=corpus,
            acceptable=acceptable,
            effort=InversionEffort.of(words, rays=rays, draws=draws),
            seed=seed,
            report=None if quiet else progress.report,
        )
    finish(result, save=save, page=report, as_json=as_json)
