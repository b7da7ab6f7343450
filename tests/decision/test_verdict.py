"""The verdict follows from bound, attacks, lists and use, and from nothing else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from deniable.audit.linked import Linked
from deniable.audit.shares import Share
from deniable.decision.decision import Answer, judge
from deniable.decision.page import attack_tables
from deniable.decision.rehearsal import Attack, ExposedWord, Listed, Rehearsal
from deniable.measures.estimate import Estimate


def share(value: float, *, low: float | None = None, high: float | None = None) -> Share:
    return Share(
        value=value,
        low=value - 0.01 if low is None else low,
        high=value + 0.01 if high is None else high,
        tries=1_000,
    )


def bound(high: float, blind: float = 0.05) -> Estimate:
    return Estimate(value=high - 0.005, low=high - 0.01, high=high, blind=blind)


GOOD = Rehearsal(
    texts=100,
    words=1_000,
    attacked_words=1_000,
    unknown_share=0.01,
    bound=bound(0.07),
    attacks=(Attack(reader="word by word", share=share(0.06), blind=0.05),),
    lists=(),
    exposed=(),
    linked=None,
    frequencies=None,
    samples=(),
)
FEW = (Attack(reader="x", share=share(0.9, low=0.2, high=1.0), blind=0.05),)
LINKED = Linked(reader="x", first=0.5, among_first_few=0.9, tries=100, candidates=100)
EXPOSED = (ExposedWord(word="asthma", places=5, unchanged=0.8),)


def listed(unchanged: float, *, held_back: bool = False) -> tuple[Listed, ...]:
    return (Listed(name="drugs", places=1_000, held_back=held_back, unchanged=share(unchanged), named=None),)


def test_the_bound_stands_above_the_attack_on_single_words() -> None:
    assert GOOD.to_dict()["gap"] == pytest.approx(0.01)
    assert "7 % of the words: 1.0 points above" in attack_tables(GOOD)[0].caption
    unknown = replace(GOOD, bound=None)
    assert unknown.to_dict()["gap"] is None
    assert "No bound is known" in attack_tables(unknown)[0].caption


@pytest.mark.parametrize(
    ("changed", "answer"),
    [
        ({}, "release"),
        ({"bound": bound(0.09)}, "release with changes"),
        ({"bound": bound(0.14, blind=0.12)}, "release with changes"),
        ({"attacks": (Attack(reader="in context", share=share(0.10), blind=0.05),)}, "do not release"),
        # An attack that only guesses the most frequent word takes nothing from the release.
        ({"attacks": (Attack(reader="in context", share=share(0.12), blind=0.12),)}, "release"),
        # An interval that says nothing forbids nothing.
        ({"attacks": (Attack(reader="x", share=share(0.6, low=0.2, high=0.9), blind=0.05),)}, "release"),
        # Few texts are no excuse where no bound speaks for the release.
        ({"attacks": FEW, "bound": None}, "do not release"),
        ({"attacks": FEW, "bound": bound(0.9)}, "do not release"),
        ({"attacks": (*FEW, Attack(reader="y", share=share(0.3), blind=0.05))}, "do not release"),
        ({"linked": LINKED}, "release with changes"),
        ({"exposed": EXPOSED}, "release with changes"),
        ({"lists": listed(0.2)}, "release"),
        ({"lists": listed(0.4)}, "release with changes"),
        ({"lists": listed(0.8)}, "do not release"),
        ({"lists": listed(0.8, held_back=True)}, "release"),
    ],
)
def test_each_finding_has_its_verdict(changed: dict[str, object], answer: Answer) -> None:
    verdict = judge(replace(GOOD, **changed), limit=0.08, use={})  # type: ignore[arg-type]
    assert verdict.answer == answer
    assert verdict.may_release is (answer != "do not release")
    assert bool(verdict.reasons) is (answer != "release")
    assert bool(verdict.changes) is (answer != "release")
