"""The inversion audit in one call: every attacker there is, at every ε, and the best of them as the
result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from deniable.arrays import Floats
from deniable.audit.inversion.attackers import FurtherAttacker
from deniable.audit.inversion.drawn_words import InversionEffort, invert
from deniable.audit.inversion.results import InversionResult
from deniable.audit.inversion.text_attack import TextAttack
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
    if public is None:
        asked = {"text": text, "words": words, "further": further}
        for name, given in asked.items():
            if given:
                raise InvalidParameter(
                    name, str(given), "needs a public text that attackers read: give public too"
                )
    read = (
        None
        if public is None
        else TextAttack.prepare(
            embedding, public, text, words=words, effort=effort, seed=seed, further=further
        )
    )
    prior = _prior(embedding, frequencies, corpus, read)
    steps = _Steps(len(values), with_channels=read is not None, report=report)
    found = []
    for place, value in enumerate(values):
        made = mechanism(embedding, epsilon=value)
        at_value = invert(made, prior, seed=seed, effort=effort)
        if read is not None:
            channel = read.channel(made, mechanism, seed=seed, report=steps.of_channel(place))
            attackers = read.attack(made, channel, seed=seed)
            at_value = replace(at_value, attackers=attackers, text_bound=read.bound(made, attackers))
        found.append(at_value)
        steps.finish(place)
    return InversionResult(
        **head_of("inversion", embedding, mechanism, seed),
        frequencies=str(frequencies or corpus or public or "by rank (Zipf)"),
        acceptable=acceptable,
        largest_acceptable_epsilon=largest_acceptable(((each, each.at_most) for each in found), acceptable),
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
    if read is None:
        return by_rank(embedding)
    shares = read.shares[:-1]
    known: Floats = shares / shares.sum()
    return known


class _Steps:
    """Progress by values of ε; in hundredths of them if each has a channel to be made, which counts as half
    of it."""

    def __init__(self, values: int, *, with_channels: bool, report: Report | None) -> None:
        self._report, self._parts = report, 100 if with_channels else 1
        self._total = self._parts * values

    def of_channel(self, place: int) -> Report:
        return lambda done, total: self._say(self._parts * place + self._parts * done // (2 * max(1, total)))

    def finish(self, place: int) -> None:
        self._say(self._parts * (place + 1))

    def _say(self, done: int) -> None:
        if self._report is not None:
            self._report(done, self._total)
