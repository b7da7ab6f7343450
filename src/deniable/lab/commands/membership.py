"""``deniable lab membership``: was this user's text used?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from deniable.cli.audit import AuditOptions, Epsilons
from deniable.cli.options import DataFile, with_groups
from deniable.lab.commands.options import AttackedTextOptions, DecodedOptions


@dataclass(frozen=True, kw_only=True)
class ProtocolOptions:
    """Whose text the models see, and how many models there are; the names are those of
    ``audit_membership``."""

    users: Annotated[
        int | None,
        typer.Option(
            help="How many users are in the training data; as many are out, twice as many are the shadow "
            "models'."
        ),
    ] = None
    min_texts: Annotated[int, typer.Option(help="Leave out users with fewer texts than this.")] = 20
    max_texts: Annotated[int, typer.Option(help="Take at most this many texts of each user.")] = 500
    targets: Annotated[
        int, typer.Option(help="How many target models, each with other users in; the paper has one.")
    ] = 1
    shadows: Annotated[int, typer.Option(help="How many shadow models the adversary trains.")] = 10
    epochs: Annotated[int, typer.Option(help="Epochs of the language models.")] = 30
    acceptable: Annotated[
        float, typer.Option(help="The AUC that the adversary may reach, for the advice in the result.")
    ] = 0.6


@with_groups
def membership(
    *,
    data: DataFile,
    epsilon: Epsilons,
    user_column: Annotated[str, typer.Option(help="The column that says who wrote the text.")] = "user",
    text: AttackedTextOptions,
    protocol: ProtocolOptions,
    decoded: DecodedOptions,
    audit: AuditOptions,
) -> None:
    """Train language models on original and on released text, and let an auditor tell whose text was used."""
    from deniable.lab.membership.audit import audit_membership

    decoding = decoded.decoding()
    attacked = text.open(data, epsilon, person_column=user_column, extra="lab")
    with audit.progress("training language models", unit="steps") as report:
        result = audit_membership(
            *attacked, epsilons=epsilon, decoding=decoding, seed=audit.seed, report=report, **vars(protocol)
        )
    audit.finish(result)
