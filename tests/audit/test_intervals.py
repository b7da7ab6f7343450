"""Intervals of words in documents hold as often as they say, also where the words of a document resemble one
another."""

from __future__ import annotations

import numpy as np
import pytest

from deniable import Multivariate
from deniable.arrays import Ids
from deniable.audit.shares import Flags, Share, share_by_cluster, share_of
from tests.audit.made_text import follow_one_another, prepare
from tests.support.strategies import random_embedding

DOCUMENTS, LENGTH = 40, 50


def drawn(seed: int, *, alike: bool) -> tuple[Flags, Ids]:
    """Return hits, three in ten over all; alike in a document, or each by itself."""
    random = np.random.default_rng(seed)
    chances = random.beta(3.0, 7.0, size=DOCUMENTS) if alike else np.full(DOCUMENTS, 0.3)
    return random.random(DOCUMENTS * LENGTH) < np.repeat(chances, LENGTH), np.repeat(
        np.arange(DOCUMENTS), LENGTH
    )


def found(hits: Flags, documents: Ids) -> Share:
    share = share_by_cluster(hits, documents)
    assert share is not None
    return share


@pytest.mark.parametrize("alike", [True, False])
def test_intervals_hold_in_19_samples_of_20(alike: bool) -> None:
    shares = [found(*drawn(seed, alike=alike)) for seed in range(600)]
    held = np.mean([share.low <= 0.3 <= share.high for share in shares])
    assert held > 0.93
    if alike:
        naive = [
            share_of(int(hits.sum()), len(hits))
            for hits, _ in (drawn(seed, alike=True) for seed in range(600))
        ]
        assert np.mean([share.low <= 0.3 <= share.high for share in naive]) < 0.7, (
            "so that the test can tell the two"
        )


def test_they_are_hardly_wider_where_words_do_not_depend_on_their_document() -> None:
    hits, documents = drawn(1, alike=False)
    share, exact = found(hits, documents), share_of(int(hits.sum()), len(hits))
    assert (share.value, share.tries) == (exact.value, exact.tries)
    assert share.low <= exact.low < exact.high <= share.high
    assert share.high - share.low < 1.3 * (exact.high - exact.low)


def test_documents_of_one_word_give_the_interval_of_clopper_and_pearson() -> None:
    hits = np.arange(50) < 20
    share, exact = found(hits, np.arange(50)), share_of(20, 50)
    # The variance between documents has a degree of freedom less.
    assert (share.low, share.high) == pytest.approx((exact.low, exact.high), abs=0.003)
    never = found(np.zeros(10, dtype=np.bool_), np.arange(10))
    assert (never.low, never.high) == pytest.approx((0.0, share_of(0, 10).high))
    always = found(np.ones(10, dtype=np.bool_), np.arange(10))
    assert (always.low, always.high) == pytest.approx((share_of(10, 10).low, 1.0))


def test_a_single_document_says_next_to_nothing_and_no_words_nothing() -> None:
    share = found(np.arange(1_000) < 300, np.zeros(1_000, dtype=np.int64))
    assert share.low < 0.05
    assert share.high > 0.9
    assert share_by_cluster(np.zeros(0, dtype=np.bool_), np.zeros(0, dtype=np.int64)) is None


def test_attackers_are_judged_by_document() -> None:
    """Thirty words of two documents say less than thirty words do."""
    one = follow_one_another(30, 1, 30, seed=1)[0]
    attack = prepare(
        random_embedding(30, 3), follow_one_another(30, 50, 20, seed=2), [one[:15], one[15:]], epsilon=4.0
    )
    word = attack.judge(Multivariate(attack.embedding, epsilon=4.0), attack.alone).word.first
    assert word.tries == 30
    exact = share_of(round(word.value * word.tries), word.tries)
    assert word.high - word.low > 1.5 * (exact.high - exact.low), "two documents say little"
