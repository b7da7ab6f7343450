"""The inversion audit in one call: every attacker there is, at every ε, and the best of them as the
result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from deniable.arrays import Floats
from deniable.audit.inversion.attackers import FurtherAttacker
from deniable.audit.inversion.drawn_words import InversionEffort, invert
from deniable.audit.inversion.text_attack import TextAttack
from deniable.audit.inversion.wording import InversionResult
from deniable.audit.results import head_of, largest_acceptable, sorted_epsilons
from deniable.decoding import priors
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count, validated_share
from deniable.progress import Report
from deniable.words.frequency import by_rank


def audit_inversion(
    embedding: Embedding,
    mechanism: ChosenMechanism | None = None,
    *,
    epsilons: Sequence[float],
    frequencies: Path | None = None,
    corpus: Path | None = None,
    public: Path | None = None,
    text: Path | None = None,
    words: Sequence[Path] = (),
    further: Sequence[FurtherAttacker] = (),
    acceptable: float = 0.2,
    effort: InversionEffort | None = None,
    seed: int = 0,
    report: Report | None = None,
) -> InversionResult:
    """Let attackers guess the words behind released words, and return how often each is right.

    They know word frequencies from ``frequencies`` (a file with a word and its count on each line), from
    ``corpus`` (a text, one document a line), or else from the embedding's order. With ``public``, a text of
    the same form, they also know which words follow one another, and running text is attacked: ``text``, one
    document a line, or one document in ten of the public text, which they then do not read. ``words`` are
    lists of words, one a line, that are reported apart. ``further`` are more attackers to try, such as those
    of ``deniable.lab.inversion``. ``acceptable`` is how often the best attacker may be right: the upper end
    of its 95 % interval counts, and no ε after one that fails is advised.

    :raises InvalidParameter: if an argument is not allowed.
    :raises RecordError: if a line of ``frequencies`` is not a word and its count, or a text cannot be read.
    :raises UnusableAuditData: if a file holds no known word.
    """
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    acceptable, values = validated_share(acceptable, "acceptable"), sorted_epsilons(epsilons)
    effort, seed = InversionEffort() if effort is None else effort, validated_count(seed, "seed", at_least=0)
    if len([path for path in (frequencies, corpus, public) if path is not None]) > 1:
        raise InvalidParameter(
            "corpus" if corpus else "public",
            str(corpus or public),
            "cannot be given with another source of frequencies: give one",
        )
    for name, given in {"text": text, "words": words, "further": further}.items():
        if public is None and given:
            shown = f"{len(further)} attackers" if name == "further" else str(given)
            raise InvalidParameter(name, shown, "needs a public text that attackers read: give public too")
    read = (
        None
        if public is None
        else TextAttack.prepare(
            embedding, public, text, words=words, effort=effort, seed=seed, further=further
        )
    )
    prior = _prior(embedding, frequencies, corpus, read)
    parts = 1 if read is None else 100  # where channels are made, each is half of the work at its ε

    def say(done: int) -> None:
        if report is not None:
            report(done, parts * len(values))

    found = []
    for place, value in enumerate(values):
        made = mechanism(embedding, epsilon=value)
        at_value = invert(made, prior, seed=seed, effort=effort)
        if read is not None:

            def made_of_channel(done: int, total: int, before: int = parts * place) -> None:
                say(before + parts * done // (2 * max(1, total)))

            channel = read.channel(made, mechanism, seed=seed, report=made_of_channel)
            attackers = read.attack(made, channel, seed=seed)
            at_value = replace(
                at_value, attackers=attackers, text_bounds=read.bounds(made, attackers, seed=seed)
            )
        found.append(at_value)
        say(parts * (place + 1))
    return InversionResult(
        **head_of("inversion", embedding, mechanism, seed),
        frequencies=str(frequencies or corpus or public or "by rank (Zipf)"),
        acceptable=acceptable,
        largest_acceptable_epsilon=largest_acceptable(
            ((each.epsilon, each.at_most) for each in found), acceptable
        ),
        results=tuple(found),
        text=None if read is None else read.summarise(),
    )


def _prior(
    embedding: Embedding, frequencies: Path | None, corpus: Path | None, read: TextAttack | None
) -> Floats:
    if frequencies is not None:
        return priors.from_table(embedding, frequencies)
    if corpus is not None:
        return priors.from_corpus(embedding, corpus)
    return by_rank(embedding) if read is None else read.shares[:-1] / read.shares[:-1].sum()
