"""``deniable audit inversion``: guess the words that went in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from deniable.cli.audit.options import AuditOptions, Epsilons
from deniable.cli.options import VocabularyOptions, with_groups

if TYPE_CHECKING:
    from deniable.audit.inversion.attackers import FurtherAttacker


@dataclass(frozen=True, kw_only=True)
class AttackedTextFiles:
    """What attackers have read, and what they attack; the names are those of ``audit_inversion``.

    :param public: A public text file, one document a line: attackers then know which words follow one
        another, and attack text.
    :param text: A text file to release in memory and attack, one document a line. Default: one document in
        ten of --public, which the attackers then do not read.
    :param words: A file of words to report apart, one a line, such as names or drugs. Needs --public. May
        be repeated.
    """

    public: Path | None = None
    text: Path | None = None
    words: list[Path] | None = None


@dataclass(frozen=True, kw_only=True)
class EffortOptions:
    """How much is simulated.

    :param words_per_band: How many words to attack in each frequency band; the rest of the work grows with
        it.
    :param effort: What the attackers learn of the channel, in per cent of what is usual: more makes them a
        little stronger, and takes longer.
    :param places: With --public: attack documents with about this many words together.
    :param support: With --public: how many words the attackers think of, the most frequent ones.
    """

    words_per_band: int = 150
    effort: int = 100
    places: int = 2_000
    support: int = 20_000


@with_groups
def inversion(
    *,
    epsilon: Epsilons,
    mechanism: VocabularyOptions,
    files: AttackedTextFiles,
    frequencies: Path | None = None,
    corpus: Path | None = None,
    acceptable: float = 0.2,
    effort: EffortOptions,
    audit: AuditOptions,
) -> None:
    """Let attackers guess the words: how often is the guess right, and for which words most often?

    Without --public, --frequencies or --corpus they take word frequencies from the embedding's order (Zipf's
    law). With --public they also read released words in their context, and the kind of a word is guessed
    beside the word itself. More attackers: deniable lab inversion.

    :param frequencies: A file with a word and its count on each line.
    :param corpus: A text to count the words in, one document per line.
    :param acceptable: The share of words that may be named, for the advice in the result.
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
    from deniable.parameters import validated_count

    if len([path for path in (frequencies, corpus, files.public) if path is not None]) > 1:
        raise typer.BadParameter("give one of --public, --frequencies and --corpus")
    if files.public is None and (files.text is not None or files.words or further):
        raise typer.BadParameter(
            "--text, --words and further attackers need --public: a public text that the attackers have read"
        )
    sizes = vars(effort).copy()
    percent = validated_count(sizes.pop("effort"), "--effort")
    sizes |= {"points": max(1, percent * 128 // 100), "draws": percent, "directions": 3 * percent}
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
