"""The inversion audit in one call: every attacker there is, at every ε, and the best of them as the result."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.attackers import Attacker, Blind, WordByWord
from deniable.audit.inversion.drawn_words import InversionEffort, invert
from deniable.audit.inversion.in_context import InContext
from deniable.audit.inversion.judging import Truth, judge, release_text
from deniable.audit.inversion.language_model import ByLanguageModel, LanguageModel
from deniable.audit.inversion.learnt import Learnt, require_torch
from deniable.audit.inversion.results import AttackedTextSummary, AttackerFinding, InversionResult
from deniable.audit.inversion.text import MOST_FREQUENT, AttackedText, PublicText, read_attacked_text, read_public_text
from deniable.audit.results import head_of, largest_acceptable, sorted_epsilons
from deniable.channel.channel import Channel
from deniable.channel.making import make_channels
from deniable.decoding import priors
from deniable.decoding.kinds import make_kinds
from deniable.embeddings.embedding import Embedding
from deniable.errors import InvalidParameter, UnusableAuditData
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.parameters import validated_count, validated_share
from deniable.progress import Report
from deniable.words.cutter import Lookup
from deniable.words.word_list import read_word_list


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
    learnt: bool = False,
    language_model: LanguageModel | None = None,
    acceptable: float = 0.2,
    effort: InversionEffort | None = None,
    seed: int = 0,
    report: Report | None = None,
) -> InversionResult:
    """Let attackers guess the words behind released words, and return how often each is right.

    They know word frequencies from ``frequencies`` (a file with a word and its count on each line), from ``corpus`` (a text, one document
    a line), or else from the embedding's order. With ``public``, a text of the same form, they also know which words follow one another,
    and running text is attacked: ``text``, one document a line, or one document in ten of the public text, which they then do not read.
    ``words`` are lists of words, one a line, that are reported apart. With ``learnt`` an attacker is tried that releases public text
    itself and learns from it, with ``language_model`` one that asks such a model what comes next. ``acceptable`` is how often the best
    attacker may be right: the upper end of its 95 % interval counts, and no ε after one that fails is advised.

    :raises InvalidParameter: if an argument is not allowed.
    :raises RecordError: if a line of ``frequencies`` is not a word and its count, or a text cannot be read.
    :raises UnusableAuditData: if a file holds no known word.
    :raises MissingExtra: if PyTorch is not installed and ``learnt`` needs it.
    """
    mechanism = ChosenMechanism() if mechanism is None else mechanism
    acceptable, values = validated_share(acceptable, "acceptable"), sorted_epsilons(epsilons)
    effort, seed = InversionEffort() if effort is None else effort, validated_count(seed, "seed", at_least=0)
    if len([path for path in (frequencies, corpus, public) if path is not None]) > 1:
        raise InvalidParameter(
            "corpus" if corpus else "public", str(corpus or public), "cannot be given with another source of frequencies: give one"
        )
    if public is None:
        asked = {"text": text, "words": words, "learnt": learnt, "language_model": language_model}
        for name, given in asked.items():
            if given:
                raise InvalidParameter(name, str(given), "needs a public text that attackers read: give public too")
    if learnt:
        require_torch()
    read = (
        None if public is None else _TextAttack.prepare(embedding, public, text, words, effort, seed, learnt=learnt, model=language_model)
    )
    prior = _prior(embedding, frequencies, corpus, read)
    steps = _Steps(len(values), with_channels=read is not None, report=report)
    channels = [] if read is None else read.channels(mechanism, values, report=steps.of_channels)
    found = []
    for place, value in enumerate(values):
        made = mechanism(embedding, epsilon=value)
        at_value = invert(made, prior, seed=seed, effort=effort)
        found.append(at_value if read is None else replace(at_value, attackers=read.attack(made, channels[place], seed=seed)))
        steps.finish(place)
    return InversionResult(
        **head_of("inversion", embedding, mechanism, seed),
        frequencies=str(frequencies or corpus or public or "by rank (Zipf)"),
        acceptable=acceptable,
        largest_acceptable_epsilon=largest_acceptable(((each, each.at_most) for each in found), acceptable),
        results=tuple(found),
        text=None if read is None else read.summarise(),
    )


@dataclass(frozen=True, kw_only=True)
class _TextAttack:
    """Running text, what is public, and what attackers are judged by; the same for all ε."""

    embedding: Embedding
    public: PublicText
    truth: Truth
    effort: InversionEffort
    shares: Floats = field(repr=False)
    model: LanguageModel | None

    @classmethod
    def prepare(
        cls,
        embedding: Embedding,
        public: Path,
        text: Path | None,
        words: Sequence[Path],
        effort: InversionEffort,
        seed: int,
        *,
        learnt: bool,
        model: LanguageModel | None,
    ) -> _TextAttack:
        lists = {path.stem: _read_list(embedding, path) for path in words}
        listed = np.unique(np.concatenate(list(lists.values()))) if lists else None
        attacked = None if text is None else read_attacked_text(embedding, text, places=effort.places, seed=seed, listed=listed)
        read, held = read_public_text(
            embedding,
            public,
            hold_back=text is None,
            places=effort.places,
            seed=seed,
            listed=listed,
            attacked=attacked,
            shadow_words=effort.shadow_words if learnt else None,
        )
        attacked = held if attacked is None else attacked
        assert attacked is not None  # noqa: S101 - one of the two
        shares = priors.shares_of_all(embedding, read.bigrams)
        truth = make_truth(embedding, attacked, shares, lists)
        return cls(embedding=embedding, public=read, truth=truth, effort=effort, shares=shares, model=model)

    def channels(self, mechanism: ChosenMechanism, epsilons: list[float], *, report: Report | None) -> list[Channel]:
        inputs = np.append(priors.most_frequent(self.embedding, self.public.bigrams, self.effort.support), self.embedding.unknown_id)
        return make_channels(self.embedding, mechanism, epsilons=epsilons, inputs=inputs, directions=self.effort.directions, report=report)

    def attack(self, mechanism: Mechanism, channel: Channel, *, seed: int) -> tuple[AttackerFinding, ...]:
        released = release_text(mechanism, self.truth.text, seed=2 * seed + 1)
        found, began = [], time.perf_counter()
        for attacker in self._attackers(mechanism, channel, seed):
            found.append(judge(attacker, released, self.truth, began=began))
            began = time.perf_counter()
        return tuple(found)

    def _attackers(self, mechanism: Mechanism, channel: Channel, seed: int) -> Iterator[Attacker]:
        """Yield each attacker when it is its turn: their tables are large."""
        prior = priors.first_shares(channel, self.public.bigrams)
        yield Blind(channel, prior)
        alone = WordByWord(channel, prior)
        yield alone
        in_context = InContext(channel, prior, self.public.bigrams)
        yield in_context
        shadow = self.public.shadow
        if shadow is not None:
            # Text of its own from draws of its own: what it is judged by it has not seen. While it learns, its bigrams have not seen the
            # shadow either, as they have not seen the text that is attacked.
            learning = InContext(channel, priors.first_shares(channel, shadow.bigrams), shadow.bigrams)
            yield Learnt(in_context, mechanism, shadow.documents, learning=learning, seed=2 * seed)
        if self.model is not None:
            yield ByLanguageModel(in_context, alone, channel, prior, self.public.bigrams, self.model)

    def summarise(self) -> AttackedTextSummary:
        text = self.truth.text
        ids = text.ids[: text.places]
        return AttackedTextSummary(
            source=text.source,
            documents=text.sampled,
            places=len(ids),
            unknown=float((ids == self.embedding.unknown_id).mean()),
            kinds=self.truth.kinds.count,
            public=self.public.source,
            public_words=self.public.words,
            left_out=self.public.left_out,
            kinds_mapped=self.truth.kinds.mapped or None,
        )


def _prior(embedding: Embedding, frequencies: Path | None, corpus: Path | None, read: _TextAttack | None) -> Floats:
    if frequencies is not None:
        return priors.from_table(embedding, frequencies)
    if corpus is not None:
        return priors.from_corpus(embedding, corpus)
    if read is None:
        return priors.by_rank(embedding)
    shares = read.shares[:-1]
    known: Floats = shares / shares.sum()
    return known


def make_truth(embedding: Embedding, text: AttackedText, shares: Floats, lists: Mapping[str, Ids] | None = None) -> Truth:
    """Return what attackers of a text are judged by; ``shares`` say how frequent all words and ⊥ are."""
    frequent = np.argsort(-shares[:-1], kind="stable")[: min(MOST_FREQUENT, len(embedding) // 10)]
    kinds = make_kinds(embedding, frequent=frequent)
    return Truth(text=text, groups=text.groups(embedding, shares), kinds=kinds, lists=dict(lists or {}))


def _read_list(embedding: Embedding, path: Path) -> Ids:
    ids = np.unique(Lookup(embedding).ids(read_word_list(path, name="words")))
    known: Ids = ids[ids != embedding.unknown_id].astype(np.int64)
    if not len(known):
        raise UnusableAuditData(path, f"none of its words is in the embedding {embedding.name!r}")
    return known


class _Steps:
    """Progress by values of ε; in hundredths of them if there are channels to be made first, which count as one more."""

    def __init__(self, values: int, *, with_channels: bool, report: Report | None) -> None:
        self._report, self._before, self._parts = report, int(with_channels), 100 if with_channels else 1
        self._total = self._parts * (self._before + values)

    def of_channels(self, done: int, total: int) -> None:
        self._say(self._parts * done // max(1, total))

    def finish(self, place: int) -> None:
        self._say(self._parts * (self._before + place + 1))

    def _say(self, done: int) -> None:
        if self._report is not None:
            self._report(done, self._total)
