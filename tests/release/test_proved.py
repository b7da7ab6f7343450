"""What is proved of a release, from its card: the numbers, their sentences, and when a number protects
nobody."""

from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs

from deniable import Embedding, Keyed, MalformedCard, Multivariate, Privatizer
from deniable.release.card import Card, card_from
from deniable.release.proved import ProvedNumbers, accounting_in_words, capacity_in_words
from deniable.release.receipt_page import ReceiptFile, decode_receipt, numbers_of_release, receipt_page


@pytest.fixture
def space(monkeypatch: pytest.MonkeyPatch) -> Embedding:
    vectors = np.random.default_rng(0).normal(size=(60, 5))
    made = Embedding([f"w{i}" for i in range(60)], vectors)
    monkeypatch.setattr(Card, "open_embedding", lambda _: made)
    return made


def released(private: Privatizer, texts: list[str]) -> tuple[Card, ReceiptFile]:
    private.many(texts)
    return card_from(private.card.to_dict()), decode_receipt(private.receipt().to_json(), "receipt")


def test_the_table_has_the_words_of_the_median_text(space: Embedding) -> None:
    card, receipt = released(
        Privatizer(Multivariate(space, epsilon=2.0)), ["w1 w2 w3", "w1", "w4 w5 w6 w7 w8 w9 w10"]
    )
    numbers = numbers_of_release(card, receipt, delta=1e-5)
    assert [(row.distance, row.words) for row in numbers.accounting] == [
        (d, m) for d in ("median", "largest") for m in (1, 5, 20, 3)
    ]
    assert {row.delta for row in numbers.accounting} == {1e-5}
    assert numbers.capacity is not None
    assert 1.0 < numbers.capacity.high <= 61.0
    assert numbers.bayes_bound is None  # these are no words of English
    page = receipt_page(receipt, numbers).html()
    assert all(said.partition("'")[0] in page for said in numbers.in_words())
    assert "What is proved in numbers" not in receipt_page(receipt).html()


def test_kept_and_redacted_words_count(space: Embedding) -> None:
    mechanism = Multivariate(space, epsilon=2.0)
    keeping = Privatizer(mechanism, keep_words=["w1", "w2"], unknown="redact")
    plain, kept = (
        numbers_of_release(*released(private, ["w1"])).capacity
        for private in (Privatizer(mechanism), keeping)
    )
    assert plain is not None
    assert kept is not None
    assert kept.value > plain.value + 1.0


def test_a_budget_counts_at_the_largest_epsilon_that_a_word_can_get(space: Embedding) -> None:
    mechanism, small = Multivariate(space, epsilon=4.0), Multivariate(space, epsilon=1.5)
    budget, tight, plain, least = (
        numbers_of_release(*released(private, ["w1 w2 w3", "w4"]))
        for private in (
            Privatizer(mechanism, record_epsilon=9.0),  # a record of one word gets the 4 of a word
            Privatizer(mechanism, record_epsilon=1.5),
            Privatizer(mechanism),
            Privatizer(small),
        )
    )
    assert budget == plain
    assert tight == least
    assert plain.capacity is not None
    assert least.capacity is not None
    assert least.capacity.high < plain.capacity.low  # not at the ε of another record


def test_nothing_is_said_of_draws_that_are_shared_and_of_the_card_of_another_release(
    space: Embedding,
) -> None:
    keyed = Privatizer(Multivariate(space, epsilon=2.0), randomness=Keyed(b"k" * 32, consistent=True))
    keyed.many(["w1"], record_ids=["ann"])
    card, receipt = card_from(keyed.card.to_dict()), decode_receipt(keyed.receipt().to_json(), "receipt")
    numbers = numbers_of_release(card, receipt)
    assert (numbers.capacity, numbers.bayes_bound, numbers.accounting) == (None, None, ())
    assert "share one draw" in numbers.in_words()[0]
    with pytest.raises(MalformedCard, match="another release"):
        numbers_of_release(structs.replace(card, epsilon=3.0), receipt)


def test_a_number_that_protects_nobody_is_called_so(space: Embedding) -> None:
    assert "at most 1 time in 50," in capacity_in_words(20.0)
    assert "protects nobody" not in capacity_in_words(20.0)
    assert "protects nobody" in capacity_in_words(2e3)
    weak, strong = (
        numbers_of_release(*released(Privatizer(Multivariate(space, epsilon=e)), ["w1"]))
        for e in (20.0, 0.01)
    )
    assert "so large that it protects nobody" in accounting_in_words(weak.accounting)
    assert "protects nobody" not in accounting_in_words(strong.accounting)
    assert ProvedNumbers(capacity=None, bayes_bound=None, accounting=()).in_words() == []
