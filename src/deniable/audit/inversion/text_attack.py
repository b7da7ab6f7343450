"""Running text under attack: released in memory, and read by every attacker there is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from deniable.arrays import Floats, Ids
from deniable.audit.inversion.attackers import (
    AsReleased,
    Attacker,
    Blind,
    FurtherAttacker,
    InContext,
    Known,
    WordByWord,
)
from deniable.audit.inversion.drawn_words import InversionEffort, proved_bound
from deniable.audit.inversion.judging import Truth, judge, release_text
from deniable.audit.inversion.results import (
    ALONE,
    BLIND,
    NEAREST_WORD,
    AttackedTextSummary,
    AttackerFinding,
    ProvedBound,
)
from deniable.audit.inversion.text import (
    MOST_FREQUENT,
    AttackedText,
    PublicText,
    read_attacked_text,
    read_public_text,
)
from deniable.channel.channel import Channel
from deniable.channel.making import make_channel
from deniable.decoding import priors
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.kinds import make_kinds
from deniable.errors import UnusableAuditData
from deniable.interfaces import Mechanism
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.progress import Report
from deniable.words.cutter import Lookup
from deniable.words.frequency import shares_of_all
from deniable.words.public_text import read_word_list

_WORDS_TO_CHOOSE_BY = 3_000
"""How many words of public text attackers release to choose how far to trust what they read."""


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
        """Return what the words that attackers think of become: those words that ``attack`` with this seed
        releases, or all of them."""
        learns = any(each.shadow_words for each in self.further)
        released = [*release_text(mechanism, self.truth.text, seed=2 * seed + 1)]
        if self.public.shadow is not None:
            for words in (
                _WORDS_TO_CHOOSE_BY,
                *(each.chooses_by for each in self.further if each.chooses_by),
            ):
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

    def bound(self, mechanism: Mechanism, found: Sequence[AttackerFinding]) -> ProvedBound | None:
        """Return what no reader of single words exceeds at the frequencies of the text's own known words;
        None if it is not known."""
        ids = self.truth.text.ids[: self.truth.text.places]
        counts = np.bincount(ids[ids != self.embedding.unknown_id], minlength=len(self.embedding) + 1).astype(
            np.float64
        )
        one_by_one = [each.word.first.value for each in found if each.name in (BLIND, ALONE, NEAREST_WORD)]
        return proved_bound(mechanism, counts, best=max(one_by_one)) if counts.any() and one_by_one else None

    def _attackers(self, mechanism: Mechanism, channel: Channel, seed: int) -> Iterator[Attacker]:
        """Yield each attacker when it is its turn: their tables are large."""
        prior = priors.first_shares(channel, self.public.bigrams)
        yield Blind(channel, prior)
        yield AsReleased(channel, prior)
        alone = WordByWord(channel, prior)
        yield alone
        # Text of its own from draws of its own: what an attacker is judged by it has not seen. While it
        # learns, its bigrams have not seen the shadow either, as they have not seen the text that is
        # attacked.
        shadow, trust, learning = self.public.shadow, 1.0, None
        if shadow is not None:
            learning = InContext(channel, priors.first_shares(channel, shadow.bigrams), shadow.bigrams)
            trust = learning.choose_trust(shadow.release(mechanism, seed=2 * seed, words=_WORDS_TO_CHOOSE_BY))
        in_context = InContext(channel, prior, self.public.bigrams, trust=trust)
        yield in_context
        known = Known(
            mechanism=mechanism,
            channel=channel,
            prior=prior,
            public=self.public,
            alone=alone,
            in_context=in_context,
            learning=learning,
            seed=2 * seed,
        )
        for each in self.further:
            yield each.attacker(known)

    def summarise(self) -> AttackedTextSummary:
        """Return what was attacked and what was read."""
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


def make_truth(
    embedding: Embedding, text: AttackedText, shares: Floats, lists: Mapping[str, Ids] | None = None
) -> Truth:
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
