"""``deniable audit inversion``: guess the words that went in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from deniable.cli.audit.options import AuditOptions, Epsilons
from deniable.cli.options import VocabularyOptions, with_groups

if TYPE_CHECKING:
    from deniable.audit.inversion.attackers import FurtherAttacker


@dataclass(frozen=True, kw_only=True)
class AttackedTextFiles:
    """What attackers have read, and what they attack; the names are those of ``audit_inversion``."""

    public: Annotated[
        Path | None,
        typer.Option(
            help="A public text file, one document a line: attackers then know which words follow one "
            "another, and attack text."
        ),
    ] = None
    text: Annotated[
        Path | None,
        typer.Option(
            help="A text file to release in memory and attack, one document a line. Default: one document in "
            "ten of --public, "
            "which the attackers then do not read."
        ),
    ] = None
    words: Annotated[
        list[Path] | None,
        typer.Option(
            help="A file of words to report apart, one a line, such as names or drugs. Needs --public. May "
            "be repeated."
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class EffortOptions:
    """How much is simulated."""

    words_per_band: Annotated[
        int,
        typer.Option(
            help="How many words to attack in each frequency band; the rest of the work grows with it."
        ),
    ] = 150
    points: Annotated[
        int,
        typer.Option(
            help="For multivariate, mahalanobis and gaussian: at most how many noisy points are kept of each "
            "released word. "
            "Where the embedding has fewer than 1,000 words, rays are followed from each of them."
        ),
    ] = 128
    draws: Annotated[
        int,
        typer.Option(
            help="Simulated draws of every word, where probabilities are neither exact nor found by points "
            "or rays."
        ),
    ] = 100
    places: Annotated[
        int, typer.Option(help="With --public: attack documents with about this many words together.")
    ] = 2_000
    support: Annotated[
        int,
        typer.Option(help="With --public: how many words the attackers think of, the most frequent ones."),
    ] = 20_000
    directions: Annotated[
        int,
        typer.Option(
            help="With --public: at most how many points are drawn around each of these words, or directions "
            "followed, or draws made."
        ),
    ] = 300


@with_groups
def inversion(
    *,
    epsilon: Epsilons,
    mechanism: VocabularyOptions,
    files: AttackedTextFiles,
    frequencies: Annotated[
        Path | None, typer.Option(help="A file with a word and its count on each line.")
    ] = None,
    corpus: Annotated[
        Path | None, typer.Option(help="A text to count the words in, one document per line.")
    ] = None,
    acceptable: Annotated[
        float, typer.Option(help="The share of words that may be named, for the advice in the result.")
    ] = 0.2,
    effort: EffortOptions,
    audit: AuditOptions,
) -> None:
    """Let attackers guess the words: how often is the guess right, and for which words most often?

    Without --public, --frequencies or --corpus they take word frequencies from the embedding's order (Zipf's
    law). With --public they also read released words in their context, and the kind of a word is guessed
    beside the word itself. More attackers: deniable lab inversion.
    """
    run(epsilon, mechanism, files, frequencies, corpus, acceptable, effort, audit, further=())


def run(
    epsilon: list[float],
    mechanism: VocabularyOptions,
    files: AttackedTextFiles,
    frequencies: Path | None,
    corpus: Path | None,
    acceptable: float,
    effort: EffortOptions,
    audit: AuditOptions,
    *,
    further: Sequence[FurtherAttacker],
) -> None:
    """Audit with the attackers of the package and ``further`` ones."""
    from deniable.audit.inversion.audit import audit_inversion
    from deniable.audit.inversion.drawn_words import InversionEffort

    if len([path for path in (frequencies, corpus, files.public) if path is not None]) > 1:
        raise typer.BadParameter("give one of --public, --frequencies and --corpus")
    if files.public is None and (files.text is not None or files.words or further):
        raise typer.BadParameter(
            "--text, --words and further attackers need --public: a public text that the attackers have read"
        )
    sizes = vars(effort).copy()
    chosen, opened = mechanism.choose(), mechanism.open()
    with audit.progress("guessing", unit="steps") as report:
        result = audit_inversion(
            opened,
            chosen,
            epsilons=epsilon,
            frequencies=frequencies,
            corpus=corpus,
            acceptable=acceptable,
            effort=InversionEffort.of(sizes.pop("words_per_band"), **sizes),
            public=files.public,
            text=files.text,
            words=files.words or (),
            further=further,
            seed=audit.seed,
            report=report,
        )
    audit.finish(result)
