"""``deniable audit bound``: try to refute the promise."""

from __future__ import annotations

from typing import Annotated

import typer

from deniable.cli.audit.options import AsJson, EmbeddingName, Epsilon, PageFile, Quiet, Save, Seed
from deniable.cli.mechanism import Name as MechanismName
from deniable.cli.mechanism import Options as MechanismOptions


def bound(
    epsilon: Epsilon,
    embedding: EmbeddingName = "default",
    mechanism: MechanismName = "multivariate",
    mechanism_options: MechanismOptions = None,
    draws: Annotated[int, typer.Option(help="Draws per word in the small spaces.")] = 100_000,
    own_draws: Annotated[int, typer.Option(help="Draws per word on the embedding itself.")] = 10_000,
    seed: Seed = 0,
    save: Save = None,
    report: PageFile = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Try to refute the bound that the mechanism promises, as a black box. Exit code 1 if it is refuted."""
    from deniable.audit.bound.attempt import audit_bound
    from deniable.cli.audit.options import check_places, choose, finish
    from deniable.embeddings.embedding import Embedding
    from deniable.progress import Progress

    check_places(save, report)
    chosen = choose(mechanism, mechanism_options)
    with Progress("attacking", unit="spaces") as progress:
        result = audit_bound(
            Embedding.open(embedding),
            chosen,
            epsilon=epsilon,
            draws=draws,
            own_draws=own_draws,
            seed=seed,
            report=None if quiet else progress.report,
        )
    finish(result, save=save, page=report, as_json=as_json)
    if result.refuted:
        raise typer.Exit(1)
