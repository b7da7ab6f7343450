from __future__ import annotations

import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable import (
    TEM,
    Embedding,
    Gaussian,
    InsecureSeededRandomness,
    Multivariate,
    Privatizer,
    Release,
    __version__,
)
from deniable.release.receipt import Receipt
from deniable.release.tally import Tally, UserCounts, lower_median
from tests.support.strategies import random_embedding


def receipt_of(embedding: Embedding, epsilon: float = 3, **settings: Any) -> Receipt:
    """Return the receipt of a privatizer that has released nothing."""
    return Privatizer(Multivariate(embedding, epsilon=epsilon), **settings).receipt()


def test_the_receipt_says_what_was_promised_and_spent(embedding: Embedding) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=3))
    private.many(["the fox", None, "it", "the secretword it fox"])
    receipt = json.loads(private.receipt().to_json())
    assert receipt["deniable"] == __version__
    assert (receipt["epsilon_per_word"], receipt["largest_epsilon_of_a_word"]) == (3, 3)
    assert receipt["embedding"]["fingerprint"] == embedding.fingerprint
    counted = {"records": 4, "missing_records": 1, "words": 7, "unknown_words": 1, "protected_words": 0}
    assert receipt["counts"] == {**counted, "rows": None}
    assert receipt["budget"] == {
        "longest_record": {"words": 4, "epsilon": 12},
        "median_record": {"words": 2, "epsilon": 6},
        **dict.fromkeys(("longest_row", "median_row", "longest_user")),
    }
    assert receipt["relaxations"] == []
    assert receipt["randomness"]["source"] == "secure"
    assert any("not the ε of local differential privacy" in caveat for caveat in receipt["caveats"])
    assert any("one user, one word" in caveat for caveat in receipt["caveats"])
    assert "secretword" not in json.dumps(receipt)


@pytest.mark.parametrize(
    "policy",
    [
        {"unknown": "redact"},
        {"unknown": "drop"},
        {"punctuation": "keep"},
        {"case": "keep"},
        {"keep_words": ["the"]},
        {"unknown": "error"},
        {"unknown": np.str_("redact")},  # from a grid of parameters
    ],
)
def test_every_relaxation_is_named(policy: dict[str, Any], embedding: Embedding) -> None:
    receipt = receipt_of(embedding, **policy)
    [(name, value)] = policy.items()
    value = str(value) if isinstance(value, np.str_) else value
    [relaxation] = receipt.relaxations
    assert relaxation.startswith(f"{name}: of 1" if name == "keep_words" else f"{name}={value!r}: ")
    assert f"relaxed: {relaxation}" in receipt.summary()
    if name != "keep_words":
        assert Release(epsilon=6, **policy).make().card.to_dict()["policy"][name] == value


def test_with_a_budget_the_receipt_says_what_a_word_may_get_and_what_one_got(embedding: Embedding) -> None:
    def spent(epsilon: float, texts: list[str | None]) -> tuple[dict[str, Any], str]:
        private = Privatizer(Multivariate(embedding, epsilon=epsilon), record_epsilon=60)
        private.many(texts)
        return private.receipt().to_dict(), private.receipt().summary()

    names = ("epsilon_per_word", "epsilon_per_record", "largest_epsilon_of_a_word")
    texts = ["", "the fox", None, "the fox it do"]
    assert spent(60, [])[0]["largest_epsilon_of_a_word"] == 0
    alone, summary = spent(60, texts)
    assert [alone[name] for name in names] == [None, 60, 30]
    assert "ε = 60 per record: a word of the shortest record got 30" in summary
    limited, summary = spent(20, texts)
    assert [limited[name] for name in names] == [20, 60, 20]
    assert limited["budget"]["longest_record"] == {"words": 4, "epsilon": 60}
    assert limited["budget"]["median_record"] == {"words": 2, "epsilon": 40}
    assert "ε = 60 per record and at most 20 per word: a word of the shortest record got 20" in summary
    assert any("largest ε of a word come from the private text" in caveat for caveat in limited["caveats"])


def test_a_seed_is_recorded_and_shouted(embedding: Embedding) -> None:
    receipt = receipt_of(embedding, randomness=InsecureSeededRandomness(insecure_seed=42))
    assert receipt.to_dict()["randomness"]["insecure_seed"] == 42
    assert receipt.relaxations[0].startswith("insecure_seed: ")
    assert "INSECURE" in receipt.summary()


def test_an_unused_privatizer_has_an_empty_receipt(embedding: Embedding) -> None:
    receipt = receipt_of(embedding)
    sums = [f"{which}_{what}" for what in ("record", "row") for which in ("longest", "median")]
    assert receipt.budget == {**{each: {"words": 0, "epsilon": 0} for each in sums}, "longest_user": None}
    assert "0 records" in receipt.summary()


def counts(keys: st.SearchStrategy[Any]) -> st.SearchStrategy[Counter[Any]]:
    return st.dictionaries(keys, st.integers(1, 9)).map(Counter)


FEW = st.integers(0, 9)
TALLIES = st.builds(
    Tally,
    **dict.fromkeys(("records", "missing", "words", "unknown_words", "rows", "row_texts"), FEW),
    lengths=counts(FEW),
    row_lengths=counts(FEW),
    users=st.builds(UserCounts, counts=counts(st.text("ab", max_size=2)), uncertain=FEW, texts=FEW),
)


@given(TALLIES, TALLIES)
def test_tallies_add_up_and_survive_json(first: Tally, second: Tally) -> None:
    copied = Tally.from_dict(json.loads(json.dumps(first.to_dict())))
    assert copied == first
    copied.add(second)
    assert copied.records == first.records + second.records
    assert sum(copied.lengths.values()) == sum(first.lengths.values()) + sum(second.lengths.values())
    everything = sorted(copied.lengths.elements())
    assert lower_median(copied.lengths, 0) == (everything[(len(everything) - 1) // 2] if everything else 0)
    assert (copied.rows, copied.row_texts) == (first.rows + second.rows, first.row_texts + second.row_texts)
    assert copied.users.largest >= max(first.users.largest, second.users.largest)


def test_the_promise_is_worded_for_what_was_done(embedding: Embedding) -> None:
    def promised(**settings: Any) -> dict[str, Any]:
        return receipt_of(embedding, **settings).settings.guarantee

    assert promised()["statement"].startswith("For any two words")
    assert promised(unknown="redact")["statement"].startswith("Between texts that agree")
    per_record = promised(record_epsilon=7)
    assert per_record["epsilon"] is None
    assert "Here ε is the smaller of 3 and 7 divided by" in per_record["statement"]
    assert "Here ε is 3 divided by" in promised(record_epsilon=3)["statement"]


def test_a_source_of_noise_that_is_not_ours_is_named(embedding: Embedding) -> None:
    class Silent(InsecureSeededRandomness):
        def describe(self) -> dict[str, object]:
            return {"source": "secure"}

    assert "Silent" in receipt_of(embedding, randomness=Silent(insecure_seed=1)).randomness["class"]


@pytest.mark.parametrize("kind", [TEM, Gaussian])
def test_a_budget_per_record_states_no_parameter_that_goes_with_another_epsilon(
    kind: type[TEM] | type[Gaussian],
) -> None:
    private = Privatizer(kind(random_embedding(20, 3), epsilon=10.0), record_epsilon=10.0)
    private("w1 w2 w3")
    assert not {"gamma", "sigma"} & set(private.receipt().to_dict()["guarantee"]["parameters"])
