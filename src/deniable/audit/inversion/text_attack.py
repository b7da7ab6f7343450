"""Running text under attack: released in memory, read by every attacker there is, and judged.

Success is counted at places with a word that the embedding knows. Unknown words are all released as one, ⊥: a
released word does not tell which it was. To say "unknown" there is counted in a group of its own. At all
other places an attacker gains nothing by saying so, and names a known word. Intervals take the words of a
document together.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.attackers import (
    Attacker,
    FurtherAttacker,
    Known,
    as_released,
    blind,
    choose_trust,
    in_context,
    word_by_word,
)
from deniable.audit.inversion.drawn_words import InversionEffort, above, proved_bound
from deniable.audit.inversion.results import (
    ALONE,
    BLIND,
    NEAREST_WORD,
    AttackedTextSummary,
    AttackerFinding,
    GroupFinding,
    ListFinding,
    ProvedBound,
    Success,
)
from deniable.audit.inversion.text import (
    GROUPS,
    AttackedText,
    PublicText,
    read_attacked_text,
    read_public_text,
)
from deniable.audit.shares import share_by_cluster
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.decoding import priors
from deniable.decoding.context import ContextDecoder
from deniable.decoding.reading import NOT_AMONG_THEM, Reading
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.kinds import Kinds, make_kinds
from deniable.errors import UnusableAuditData
from deniable.interfaces import Mechanism
from deniable.measures.bayes_bound import bound_in_context
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.progress import Report
from deniable.words.cutter import Cutter
from deniable.words.frequency import shares_of_all
from deniable.words.public_text import read_word_list

_PLACES_IN_CONTEXT = 1_000
_WORDS_TO_CHOOSE_BY = 3_000
"""How many words of public text attackers release to choose how far to trust what they read."""


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What attackers are judged by: a text, the groups and kinds of its words, and a user's lists by name."""

    text: AttackedText
    groups: Ids = field(repr=False)
    kinds: Kinds
    lists: Mapping[str, Ids]


def release_text(mechanism: Mechanism, text: AttackedText, *, seed: int) -> list[Ids]:
    """Return the documents as a release would make them, for an attack in memory, never to be written."""
    return text.split(Draws(mechanism, seed=seed).of_each(text.ids))


def judge(
    attacker: Attacker, released: Sequence[Ids], truth: Truth, *, began: float | None = None
) -> AttackerFinding:
    """Return what an attacker reaches on a release; ``began`` is when it began to prepare.

    :raises ValueError: if the text has no word that the embedding knows.
    """
    began = time.perf_counter() if began is None else began
    reading = attacker.read(released)
    seconds = time.perf_counter() - began
    ids, documents, drawn = truth.text.ids, _document_of_each(truth.text), slice(0, truth.text.judged)
    unknown_id = len(truth.kinds.of) - 1
    # Where a word is known, ⊥ is no candidate.
    ranks, of_unknown = reading.ranks(ids), reading.ranks(np.full_like(ids, unknown_id))
    ranks = ranks - ((of_unknown < ranks) & (ranks < NOT_AMONG_THEM)).astype(np.int64)
    kind_ranks = reading.kind_ranks(ids, truth.kinds)[drawn]
    known, has_kind, groups = ids[drawn] != unknown_id, kind_ranks >= 0, truth.groups[drawn]
    word = _success(ranks[drawn][known], documents[drawn][known])
    if word is None:
        raise ValueError("the attacked text has no word that the embedding knows")
    return AttackerFinding(
        name=attacker.name,
        knows=attacker.knows,
        seconds=round(seconds, 2),
        word=word,
        kind=_success(kind_ranks[has_kind], documents[drawn][has_kind]),
        groups=tuple(
            GroupFinding(
                group=name,
                places=int((groups == place).sum()),
                word=_success(ranks[drawn][groups == place], documents[drawn][groups == place]),
            )
            for place, name in enumerate(GROUPS)
        ),
        lists=tuple(_judge_list(name, listed, reading, ranks, truth) for name, listed in truth.lists.items()),
    )


def _document_of_each(text: AttackedText) -> Ids:
    return np.repeat(np.arange(len(text)), text.lengths)


def _judge_list(name: str, listed: Ids, reading: Reading, ranks: Ids, truth: Truth) -> ListFinding:
    """Return how well words of a list are named, and told from others where the list is the likeliest of all
    kinds. How often that is true is counted where documents were drawn at random."""
    ids, documents, kinds = truth.text.ids, _document_of_each(truth.text), truth.kinds
    own = np.isin(ids, listed)
    judged = (own | (kinds.of[ids] >= 0)) & (np.arange(len(ids)) < truth.text.judged)
    with_list = kinds.with_list(listed)
    says = reading.kind_masses(with_list).argmax(axis=1) == kinds.count
    return ListFinding(
        name=name,
        words=len(listed),
        places=int(own.sum()),
        word=_success(ranks[own], documents[own]),
        found=share_by_cluster(says[own], documents[own]),
        rightly=share_by_cluster(own[says & judged], documents[says & judged]),
    )


def _success(ranks: Ids, documents: Ids) -> Success | None:
    first, within_ten = (share_by_cluster(ranks < most, documents) for most in (1, 10))
    return None if first is None or within_ten is None else Success(first=first, within_ten=within_ten)


@dataclass(frozen=True, kw_only=True)
class TextAttack:
    """Running text, what is public, and what attackers are judged by; the same for all ε."""

    embedding: Embedding
    public: PublicText
    truth: Truth
    effort: InversionEffort
    shares: Floats = field(repr=False)
    further: Sequence[FurtherAttacker] = ()

    @classmethod
    def prepare(
        cls,
        embedding: Embedding,
        public: Path,
        text: Path | None = None,
        *,
        words: Sequence[Path] = (),
        effort: InversionEffort,
        seed: int,
        further: Sequence[FurtherAttacker] = (),
    ) -> TextAttack:
        """Read the texts and lists of words; ``audit_inversion`` says what they are."""
        lists = {path.stem: _read_list(embedding, path) for path in words}
        listed = np.unique(np.concatenate(list(lists.values()))) if lists else None
        attacked = (
            None
            if text is None
            else read_attacked_text(embedding, text, places=effort.places, seed=seed, listed=listed)
        )
        read, held = read_public_text(
            embedding,
            public,
            hold_back=text is None,
            places=effort.places,
            seed=seed,
            listed=listed,
            attacked=attacked,
            shadow_words=max([each.shadow_words or 0 for each in further], default=0) or _WORDS_TO_CHOOSE_BY,
        )
        if read.shadow is None and any(each.shadow_words for each in further):
            raise UnusableAuditData(
                public,
                "is too short for an attacker who learns: give a public text with more documents, one a line",
            )
        attacked = held if attacked is None else attacked
        assert attacked is not None  # noqa: S101 - one of the two
        shares = shares_of_all(embedding, None if read.bigrams is None else read.bigrams.counts)
        truth = make_truth(embedding, attacked, shares, lists)
        return cls(
            embedding=embedding, public=read, truth=truth, effort=effort, shares=shares, further=further
        )

    @property
    def inputs(self) -> Ids:
        """The words that attackers think of, ⊥ among them: the most frequent ones of the public text."""
        return np.append(
            priors.most_frequent(self.embedding, self.public.bigrams, self.effort.support),
            self.embedding.unknown_id,
        )

    def channel(
        self, mechanism: Mechanism, chosen: ChosenMechanism, *, seed: int, report: Report | None = None
    ) -> Channel:
        """Return what the words that attackers think of become, among the words that ``attack`` releases."""
        learns = any(each.shadow_words for each in self.further)
        released = release_text(mechanism, self.truth.text, seed=2 * seed + 1)
        if self.public.shadow is not None:
            for words in (_WORDS_TO_CHOOSE_BY, *filter(None, (each.chooses_by for each in self.further))):
                released += self.public.shadow.release(mechanism, seed=2 * seed, words=words).released
        return make_channel(
            self.embedding,
            chosen,
            epsilon=mechanism.epsilon,
            inputs=self.inputs,
            outputs=None
            if learns
            else np.unique(np.concatenate(released)),  # who learns releases far more text
            directions=self.effort.directions,
            report=report,
        )

    def attack(self, mechanism: Mechanism, channel: Channel, *, seed: int) -> tuple[AttackerFinding, ...]:
        """Release the text in memory, and return what each attacker who knows the channel reaches."""
        released = release_text(mechanism, self.truth.text, seed=2 * seed + 1)
        found, began = [], time.perf_counter()
        for attacker in self._attackers(mechanism, channel, seed):
            found.append(judge(attacker, released, self.truth, began=began))
            began = time.perf_counter()
        return tuple(found)

    def bounds(
        self, mechanism: Mechanism, found: Sequence[AttackerFinding], *, seed: int
    ) -> dict[str, ProvedBound] | None:
        """Return what no reader of single words exceeds, for known words, kinds, groups and lists, and what
        no reader in context does. None if nothing is known."""
        truth, unknown = self.truth, self.embedding.unknown_id
        drawn = slice(0, truth.text.judged)
        ids, groups = truth.text.ids[drawn], truth.groups[drawn]
        alone = [each for each in found if each.name in (BLIND, ALONE, NEAREST_WORD)]
        asked: dict[str, tuple[Ids, Sequence[Success | None]]] = {
            "known words of the text": (ids, [each.word for each in alone])
        }
        for place, name in enumerate(GROUPS):
            asked[f"words of the text: {name}"] = (
                ids[groups == place],
                [each.groups[place].word for each in alone],
            )
        for place, (name, listed) in enumerate(truth.lists.items()):
            own = truth.text.ids[np.isin(truth.text.ids, listed)]
            asked[f"list {name}"] = own, [each.lists[place].word for each in alone]
        asked["kinds"] = ids, [each.kind for each in alone]
        bounds = {}
        for name, (words, reached) in asked.items():
            known = words[words != unknown]
            shares = np.bincount(known, minlength=len(self.embedding) + 1).astype(np.float64)
            best = max((each.first.value for each in reached if each is not None), default=None)
            kinds = truth.kinds if name == "kinds" else None
            if best is not None and len(known):
                bounds[name] = proved_bound(mechanism, shares, best=best, kinds=kinds)
        best_of_all = max(each.word.first.value for each in found)
        in_context = bound_in_context(mechanism, self._in_context(seed), in_words="words of the bigrams")
        if in_context is not None:
            bounds["in context"] = above(in_context, best_of_all)
        return {name: bound for name, bound in bounds.items() if bound is not None} or None

    def _in_context(self, seed: int) -> Iterator[Floats]:
        """Yield how likely each known word is, by the public bigrams, between the true words of the text."""
        chance = np.random.default_rng([seed, 7])
        text, bigrams = self.truth.text, self.public.bigrams
        places = [(document, place) for document in text.split(text.ids) for place in range(len(document))]
        for number in chance.permutation(len(places))[:_PLACES_IN_CONTEXT].tolist():
            document, place = places[number]
            first = int(document[place - 1]) if place else None
            last = int(document[place + 1]) if place + 1 < len(document) else None
            shares = bigrams.between(first, last)
            shares[self.embedding.unknown_id] = 0.0
            yield shares

    def _attackers(self, mechanism: Mechanism, channel: Channel, seed: int) -> Iterator[Attacker]:
        """Yield each attacker when it is its turn: their tables are large."""
        prior = priors.first_shares(channel, self.public.bigrams)
        yield blind(channel, prior)
        yield as_released(channel, prior)
        alone = word_by_word(channel, prior)
        yield alone
        # Text of its own from draws of its own: what an attacker is judged by it has not seen. While it
        # learns, its bigrams have not seen the shadow either, as they have not seen the text that is
        # attacked.
        shadow, trust, learning = self.public.shadow, 1.0, None
        if shadow is not None:
            decoder = ContextDecoder(channel, shadow.bigrams, priors.first_shares(channel, shadow.bigrams))
            trust = choose_trust(decoder, shadow.release(mechanism, seed=2 * seed, words=_WORDS_TO_CHOOSE_BY))
            learning = in_context(decoder)
        by_bigrams = in_context(ContextDecoder(channel, self.public.bigrams, prior, trust=trust))
        yield by_bigrams
        known = Known(
            mechanism=mechanism,
            channel=channel,
            prior=prior,
            public=self.public,
            alone=alone,
            in_context=by_bigrams,
            learning=learning,
            seed=2 * seed,
        )
        for each in self.further:
            yield each.attacker(known)

    def summarise(self) -> AttackedTextSummary:
        """Return what was attacked and what was read."""
        text = self.truth.text
        ids = text.ids[: text.judged]
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


def make_truth(
    embedding: Embedding, text: AttackedText, shares: Floats, lists: Mapping[str, Ids] | None = None
) -> Truth:
    """Return what attackers of a text are judged by; ``shares`` say how frequent all words and ⊥ are."""
    kinds = make_kinds(embedding, counts=shares)
    return Truth(text=text, groups=text.groups(embedding, shares), kinds=kinds, lists=dict(lists or {}))


def _read_list(embedding: Embedding, path: Path) -> Ids:
    ids = np.unique(Cutter(embedding).ids(read_word_list(path, name="words")))
    known: Ids = ids[ids != embedding.unknown_id].astype(np.int64)
    if not len(known):
        raise UnusableAuditData(path, f"none of its words is in the embedding {embedding.name!r}")
    return known
