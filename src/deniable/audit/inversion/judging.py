"""Judges attackers: releases a text in memory, lets each attacker read it, and counts how often it is right.

Success is counted at places with a word that the embedding knows. Unknown words are all released as one, ⊥: a
released word does not tell which it was. To say "unknown" there is counted in a group of its own. At all
other places an attacker gains nothing by saying so, and names a known word. Intervals take the words of a
document together.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from deniable.arrays import Ids
from deniable.audit.inversion.attackers import Attacker
from deniable.audit.inversion.results import AttackerFinding, GroupFinding, ListFinding, Success
from deniable.audit.inversion.text import GROUPS, AttackedText
from deniable.audit.shares import share_by_cluster
from deniable.channel.draws import Draws
from deniable.decoding.reading import NOT_AMONG_THEM, Reading
from deniable.embeddings.kinds import Kinds
from deniable.interfaces import Mechanism


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What attackers are judged by: the words of a text, their groups, the kinds of words, and the lists of a
    user by name."""

    text: AttackedText
    groups: Ids = field(repr=False)
    kinds: Kinds
    lists: Mapping[str, Ids]

    @property
    def unknown_id(self) -> int:
        """The id of ⊥, which comes after all words."""
        return len(self.kinds.of) - 1


def release_text(mechanism: Mechanism, text: AttackedText, *, seed: int) -> list[Ids]:
    """Return the documents as a release would make them, from a seed. They are for an attack in memory, never
    to be written."""
    return text.split(Draws(mechanism, seed=seed).of_each(text.ids))


def judge(
    attacker: Attacker, released: Sequence[Ids], truth: Truth, *, began: float | None = None
) -> AttackerFinding:
    """Return what an attacker reaches on a release; ``began`` is when it began to prepare, by
    ``time.perf_counter``.

    :raises ValueError: if the text has no word that the embedding knows.
    """
    began = time.perf_counter() if began is None else began
    reading = attacker.read(released)
    seconds = time.perf_counter() - began
    ids, documents, drawn = truth.text.ids, truth.text.document_of_each, slice(0, truth.text.places)
    ranks, kind_ranks = _ranks(reading, ids, truth.unknown_id), reading.kind_ranks(ids, truth.kinds)[drawn]
    known, has_kind, groups = ids[drawn] != truth.unknown_id, kind_ranks >= 0, truth.groups[drawn]
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
            _judge_group(name, ranks[drawn][groups == place], documents[drawn][groups == place])
            for place, name in enumerate(GROUPS)
        ),
        lists=tuple(_judge_list(name, listed, reading, ranks, truth) for name, listed in truth.lists.items()),
    )


def _ranks(reading: Reading, ids: Ids, unknown_id: int) -> Ids:
    """Return the place of each word among the candidates; where the word is known, ⊥ is none of them."""
    ranks, of_unknown = reading.ranks(ids), reading.ranks(np.full_like(ids, unknown_id))
    return ranks - ((of_unknown < ranks) & (ranks < NOT_AMONG_THEM)).astype(np.int64)


def _judge_group(name: str, ranks: Ids, documents: Ids) -> GroupFinding:
    return GroupFinding(group=name, places=len(ranks), word=_success(ranks, documents))


def _judge_list(name: str, listed: Ids, reading: Reading, ranks: Ids, truth: Truth) -> ListFinding:
    """Return how well words of a list are named, and told from others where the list is the likeliest of all
    kinds.

    How often that is said rightly is counted where documents were drawn at random: elsewhere such words are
    more frequent.
    """
    ids, documents, kinds = truth.text.ids, truth.text.document_of_each, truth.kinds
    own = np.isin(ids, listed)
    judged = (own | (kinds.of[ids] >= 0)) & (np.arange(len(ids)) < truth.text.places)
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
