"""``deniable lab inversion``: the inversion audit with an attacker who learns, and one with a language
model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.audit import AttackedTextFiles, AuditOptions, EffortOptions, Epsilons, run_inversion
from deniable.cli.options import VocabularyOptions, with_groups

if TYPE_CHECKING:
    from deniable.audit.inversion.attackers import FurtherAttacker


@with_groups
def inversion(
    *,
    epsilon: Epsilons,
    mechanism: VocabularyOptions,
    files: AttackedTextFiles,
    learnt: Annotated[
        bool,
        typer.Option(
            "--learnt",
            help="Also try an attacker that releases public text itself and learns from it. Needs PyTorch.",
        ),
    ] = False,
    shadow_words: Annotated[
        int, typer.Option(help="With --learnt: how many words of public text it releases and learns from.")
    ] = 40_000,
    language_model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Also try an attacker with a language model from this machine: smollm2, which the extra lab "
            "installs, or the path of a "
            "GGUF file or of a folder for transformers. Slow without a GPU: use --places 300.",
        ),
    ] = None,
    acceptable: Annotated[
        float, typer.Option(help="The share of words that may be named, for the advice in the result.")
    ] = 0.2,
    effort: EffortOptions,
    audit: AuditOptions,
) -> None:
    """Run `deniable audit inversion` with more attackers: one who learns from public text, one with a
    language model. Needs --public."""
    if files.public is None:
        raise typer.BadParameter(
            "--learnt and --language-model need --public: a public text that the attackers have read"
        )
    further: list[FurtherAttacker] = []
    if learnt:
        from deniable.lab.inversion.learnt import LearntAttack

        further.append(LearntAttack(shadow_words=shadow_words))
    if language_model is not None:
        from deniable.lab.inversion.language_model import LanguageModelAttack
        from deniable.lab.inversion.local_model import open_language_model

        further.append(LanguageModelAttack(model=open_language_model(language_model)))
    run_inversion(epsilon, mechanism, files, None, None, acceptable, effort, audit, further=further)
