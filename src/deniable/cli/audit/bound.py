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
    from deniable.audit.bound.attempt import LEVEL, NOT_PROVEN, audit_bound, places
    from deniable.cli.audit.options import check_places, finish, maker, settings
    from deniable.embeddings.embedding import Embedding
    from deniable.progress import Progress

    check_places(save, report)
    opened = Embedding.open(embedding)
    make = maker(mechanism, mechanism_options, opened)
    found = []
    with Progress("attacking", total=places(opened), unit="spaces") as progress:
        for place in audit_bound(make, opened, epsilon, seed=seed, draws=draws, own_draws=own_draws):
            found.append(place.to_dict())
            if not quiet:
                progress.advance(1)
    refuted = any(place["refuted"] for place in found)
    answer = {**settings("bound", opened, mechanism, seed), "epsilon": epsilon, "refuted": refuted, "level": LEVEL}
    finish({**answer, "places": found, "not_proven": NOT_PROVEN}, save=save, page=report, as_json=as_json)
    if refuted:
        raise typer.Exit(1)
