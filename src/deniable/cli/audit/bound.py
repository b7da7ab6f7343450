"""``deniable audit bound``: try to refute the promise."""

from __future__ import annotations

import typer

from deniable.cli.audit.options import AuditOptions
from deniable.cli.options import VocabularyOptions, with_groups


@with_groups
def bound(
    *,
    epsilon: float,
    mechanism: VocabularyOptions,
    draws: int = 100_000,
    own_draws: int = 10_000,
    audit: AuditOptions,
) -> None:
    """Try to refute the bound that the mechanism promises, as a black box. Exit code 1 if it is refuted.

    :param draws: Draws per word in the small spaces.
    :param own_draws: Draws per word on the embedding itself.
    """
    from deniable.audit.bound import audit_bound

    chosen, opened = mechanism.choose(), mechanism.open()
    with audit.progress("attacking", unit="spaces") as report:
        result = audit_bound(
            opened, chosen, epsilon=epsilon, draws=draws, own_draws=own_draws, seed=audit.seed, report=report
        )
    audit.finish(result)
    if result.refuted:
        raise typer.Exit(1)
