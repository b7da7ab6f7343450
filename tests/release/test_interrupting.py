"""Long work can be ended inside one text, and cutting a long text in parts changes none of its words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deniable import Embedding, Multivariate, Privatizer
from deniable.mechanisms import base
from deniable.progress import check_interrupt, interrupted_by
from deniable.release import policies
from deniable.words import unspaced
from tests.support.strategies import NASTY_TEXT

KINDS = {
    "plain": ["the", "fox", "do", "n't", "'s", "john", "u.s.", "o'clock", "e-mail", "7", "12", "com"],
    "cased": ["The", "the", "Fox", "US", "n't", "'s", "Σας", "σας"],
    "elided": ["l'", "d'", "homme", "eau", "the", "of", "and", "aujourd'hui"],
    "unspaced": ["東京", "に", "行く", "the", "。", "日本", "กา", "ร"],
    "arabic": ["كتاب", "من", "في", "the"],
}
PARTS = [
    *" \n\t\r\u00a0\u3000\u2028aB5❶𐄇Σσς.',-:/@<>\"`ー。\u0301\u0640\u00ad",
    *("www.", "://", ".com", "n't", "'s", "l'", "東京", "に", "كتاب"),
]
TEXT = NASTY_TEXT | st.lists(st.sampled_from(PARTS), max_size=16).map("".join)


class Ended(Exception):
    """The work was to end."""


def after(calls: int) -> tuple[Callable[[], None], list[int]]:
    """Return a check that ends the work at that call, and the list of calls."""
    made: list[int] = []

    def check() -> None:
        made.append(1)
        if len(made) > calls:
            raise Ended

    return check, made


def embedding_of(words: list[str]) -> Embedding:
    return Embedding(words, np.random.default_rng(0).standard_normal((len(words), 6)), name="few")


def private(embedding: Embedding) -> Privatizer:
    return Privatizer(Multivariate(embedding, epsilon=6))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("punctuation", ["drop", "keep"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXT)
def test_a_text_cut_in_parts_has_the_same_words(kind: str, punctuation: Any, text: str) -> None:
    drafter = policies.Drafter(
        embedding_of(KINDS[kind]), policies.TextPolicy(punctuation=punctuation, case="keep")
    )
    whole = drafter.draft(text, record=1)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(policies, "CHARACTERS_AT_ONCE", 1)
        assert drafter.draft(text, record=1) == whole


def test_the_kinds_are_cut_as_they_say() -> None:
    rules = {kind: embedding_of(words).language_rules for kind, words in KINDS.items()}
    assert [kind for kind, rule in rules.items() if rule is not None] == ["elided", "unspaced", "arabic"]


def test_a_release_ends_inside_a_text(monkeypatch: pytest.MonkeyPatch, embedding: Embedding) -> None:
    drawn: list[int] = []
    draw = Multivariate.draw
    monkeypatch.setattr(base, "NUMBERS_AT_ONCE", 100 * embedding.dimension)

    def counted(self: Multivariate, ids: Any, source: Any, epsilon: Any) -> Any:
        drawn.append(len(ids))
        return draw(self, ids, source, epsilon)

    monkeypatch.setattr(Multivariate, "draw", counted)
    release = private(embedding)
    check, calls = after(1_000)
    with interrupted_by(check):
        assert release("the fox " * 1_000).count(" ") >= 1_000
    assert (len(drawn), len(calls)) == (20, 21), "before the text, and before every part that is drawn"
    drawn.clear()
    check, _ = after(5)
    with interrupted_by(check), pytest.raises(Ended):
        release("the fox " * 1_000)
    assert len(drawn) == 4
    assert release.take_tally().words == 2_000, "what was not released is not counted"
    assert len(release("the fox " * 1_000)) > 0, "nobody ends it any more"


@pytest.mark.parametrize(
    ("module", "kind", "text"), [(policies, "plain", "the fox "), (unspaced, "unspaced", "東京に")]
)
def test_the_cut_ends_inside_a_text_and_a_run_without_spaces(
    module: Any, kind: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHARACTERS_AT_ONCE", 100)
    monkeypatch.setattr(Multivariate, "draw", lambda *_: pytest.fail("nothing is to be drawn"))
    check, calls = after(10)
    with interrupted_by(check), pytest.raises(Ended):
        private(embedding_of(KINDS[kind]))(text * 1_000)
    assert len(calls) == 11


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit", ["a.❶", "❶❶", "5!", "a-b'", "東京に", "»fox«"])
@pytest.mark.parametrize("punctuation", ["drop", "keep"])
def test_the_cut_ends_inside_a_text_without_spaces(kind: str, unit: str, punctuation: Any) -> None:
    drafter = policies.Drafter(embedding_of(KINDS[kind]), policies.TextPolicy(punctuation=punctuation))
    check, calls = after(1_000_000)
    with interrupted_by(check):
        words = drafter.draft(unit * (200_000 // len(unit)), record=1).words
    assert len(calls) > words // 10_000, "one check for every few thousand words"


def test_checks_are_nested_and_end_with_their_block() -> None:
    outer, inner = after(100), after(100)
    with interrupted_by(outer[0]):
        with interrupted_by(inner[0]):
            check_interrupt()
        check_interrupt()
        check_interrupt()
    check_interrupt()
    assert (len(outer[1]), len(inner[1])) == (2, 1)
