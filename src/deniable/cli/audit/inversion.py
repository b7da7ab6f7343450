"""``deniable audit inversion``: guess the words that went in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from deniable.cli.audit.options import AuditOptions, Epsilons
from deniable.cli.options import MechanismOptions, with_groups


@with_groups
def inversion(
    *,
    epsilon: Epsilons,
    mechanism: MechanismOptions,
    frequencies: Annotated[Path | None, typer.Option(help="A file with a word and its count on each line.")] = None,
    corpus: Annotated[Path | None, typer.Option(help="A text to count the words in, one document per line.")] = None,
    acceptable: Annotated[float, typer.Option(help="The share of words that the adversary may guess, for the advice in the result.")] = 0.2,
    words: Annotated[int, typer.Option(help="How many words to attack in each frequency band; the rest of the work grows with it.")] = 150,
    rays: Annotated[int, typer.Option(help="Directions (rays) per released word, for the mechanism of the paper.")] = 128,
    draws: Annotated[
        int, typer.Option(help="Simulated draws of every word, where probabilities are neither exact nor found by rays.")
    ] = 100,
    audit: AuditOptions,
) -> None:
    """Let the Bayes adversary guess the words: how often is the guess right, and for which words most often?

    Without --frequencies or --corpus the adversary takes word frequencies from the embedding's order (Zipf's law).
    """
    from deniable.audit.inversion import InversionEffort, audit_inversion

    if frequencies is not None and corpus is not None:
        raise typer.BadParameter("give --frequencies or --corpus, not both")
    chosen, opened = mechanism.choose(), mechanism.open()
    with audit.progress("guessing", unit="values of ε") as report:
        result = audit_inversion(
            opened,
            chosen,
            epsilons=epsilon,
            frequencies=frequencies,
            corpus=corpus,
            acceptable=acceptable,
            effort=InversionEffort.of(words, rays=rays, draws=draws),
            seed=audit.seed,
            report=report,
        )
    audit.finish(result)
