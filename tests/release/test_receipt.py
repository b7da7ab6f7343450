from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable import TEM, Embedding, Gaussian, InsecureSeededRandomness, Multivariate, Privatizer, __version__
from deniable.release.tally import Tally, UserCounts
from tests.support.strategies import random_embedding


def test_the_receipt_says_what_was_promised_and_spent(embedding: Embedding) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=3))
    private.many(["the fox", None, "it", "the secretword it fox"])
    receipt = json.loads(private.receipt().to_json())
    assert receipt["deniable"] == __version__
    assert (receipt["epsilon_per_word"], receipt["largest_epsilon_of_a_word"]) == (3, 3)
    assert receipt["embedding"]["fingerprint"] == embedding.fingerprint
    assert receipt["counts"] == {
        "records": 4,
        "missing_records": 1,
        "words": 7,
        "unknown_words": 1,
        "protected_words": 0,
        "rows": None,
    }
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
    ("policy", "says"),
    [
        ({"unknown": "redact"}, "positions of unknown words"),
        ({"unknown": "drop"}, "number of known words"),
        ({"punctuation": "keep"}, "punctuation marks"),
        ({"case": "keep"}, "capitalised"),
        ({"keep_words": ["the"]}, "of 1 listed words"),
        ({"unknown": "error"}, "every word was known"),
    ],
)
def test_every_relaxation_is_named(policy: dict[str, object], says: str, embedding: Embedding) -> None:
    receipt = Privatizer(Multivariate(embedding, epsilon=3), **policy).receipt()  # type: ignore[arg-type]
    assert len(receipt.relaxations) == 1
    assert says in receipt.relaxations[0]
    assert says in receipt.summary()


def test_with_a_budget_the_receipt_says_what_a_word_may_get_and_what_one_got(embedding: Embedding) -> None:
    texts = ["", "the fox", None, "the fox it do"]
    alone = Privatizer(Multivariate(embedding, epsilon=60), record_epsilon=60)
    assert alone.receipt().largest_epsilon_of_a_word == 0
    alone.many(texts)
    receipt = alone.receipt().to_dict()
    assert (
        receipt["epsilon_per_word"],
        receipt["epsilon_per_record"],
        receipt["largest_epsilon_of_a_word"],
    ) == (None, 60, 30)
    assert "ε = 60 per record: a word of the shortest record got 30" in alone.receipt().summary()
    limited = Privatizer(Multivariate(embedding, epsilon=20), record_epsilon=60)
    limited.many(texts)
    receipt = limited.receipt().to_dict()
    assert (
        receipt["epsilon_per_word"],
        receipt["epsilon_per_record"],
        receipt["largest_epsilon_of_a_word"],
    ) == (20, 60, 20)
    budget = {name: receipt["budget"][name] for name in ("longest_record", "median_record")}
    assert budget == {
        "longest_record": {"words": 4, "epsilon": 60},
        "median_record": {"words": 2, "epsilon": 40},
    }
    assert (
        "ε = 60 per record and at most 20 per word: a word of the shortest record got 20"
        in limited.receipt().summary()
    )
    assert any("largest ε of a word come from the private text" in caveat for caveat in receipt["caveats"])


def test_a_seed_is_recorded_and_shouted(embedding: Embedding) -> None:
    receipt = Privatizer(
        Multivariate(embedding, epsilon=3), randomness=InsecureSeededRandomness(insecure_seed=42)
    ).receipt()
    assert receipt.to_dict()["randomness"]["insecure_seed"] == 42
    assert "INSECURE" in receipt.summary()


def test_an_unused_privatizer_has_an_empty_receipt(embedding: Embedding) -> None:
    receipt = Privatizer(Multivariate(embedding, epsilon=3)).receipt()
    nothing = {"words": 0, "epsilon": 0}
    assert receipt.budget == {
        **{f"{which}_{what}": nothing for what in ("record", "row") for which in ("longest", "median")},
        "longest_user": None,
    }
    assert "0 records" in receipt.summary()


TALLIES = st.builds(
    Tally,
    records=st.integers(0, 9),
    missing=st.integers(0, 9),
    words=st.integers(0, 99),
    unknown_words=st.integers(0, 9),
    lengths=st.dictionaries(st.integers(0, 9), st.integers(1, 9)).map(Counter),
    rows=st.integers(0, 9),
    row_texts=st.integers(0, 9),
    row_lengths=st.dictionaries(st.integers(0, 9), st.integers(1, 9)).map(Counter),
    users=st.builds(
        UserCounts,
        counts=st.dictionaries(st.text("ab", max_size=2), st.integers(0, 9)).map(Counter),
        uncertain=st.integers(0, 3),
        texts=st.integers(0, 3),
    ),
)


@given(TALLIES, TALLIES)
def test_tallies_add_up_and_survive_json(first: Tally, second: Tally) -> None:
    copied = Tally.from_dict(json.loads(json.dumps(first.to_dict())))
    assert copied == first
    copied.add(second)
    assert copied.records == first.records + second.records
    assert sum(copied.lengths.values()) == sum(first.lengths.values()) + sum(second.lengths.values())
    everything = sorted(copied.lengths.elements())
    assert copied.median == (everything[(len(everything) - 1) // 2] if everything else 0)
    assert copied.longest == max(everything, default=0)
    assert (copied.rows, copied.row_texts) == (first.rows + second.rows, first.row_texts + second.row_texts)
    assert copied.users.largest >= max(first.users.largest, second.users.largest)


def test_the_promise_is_worded_for_what_was_done(embedding: Embedding) -> None:
    mechanism = Multivariate(embedding, epsilon=3)
    assert Privatizer(mechanism).receipt().settings.guarantee["statement"].startswith("For any two words")
    relaxed = Privatizer(mechanism, unknown="redact").receipt().settings.guarantee["statement"]
    assert relaxed.startswith("Between texts that agree in everything listed under relaxations")
    per_record = Privatizer(mechanism, record_epsilon=7).receipt().settings.guarantee
    assert per_record["epsilon"] is None
    assert "Here ε is the smaller of 3 and 7 divided by the number of words" in per_record["statement"]
    unlimited = Privatizer(mechanism, record_epsilon=3).receipt().settings.guarantee
    assert "Here ε is 3 divided by the number of words" in unlimited["statement"]
    seeded = Privatizer(mechanism, randomness=InsecureSeededRandomness(insecure_seed=1)).receipt()
    assert "insecure_seed" in seeded.relaxations[0]


def test_a_source_of_noise_that_is_not_ours_is_named(embedding: Embedding) -> None:
    class Silent(InsecureSeededRandomness):
        def describe(self) -> dict[str, object]:
            return {"source": "secure"}

    receipt = Privatizer(Multivariate(embedding, epsilon=3), randomness=Silent(insecure_seed=1)).receipt()
    assert "Silent" in receipt.randomness["class"]


@pytest.mark.parametrize("kind", [TEM, Gaussian])
def test_a_budget_per_record_states_no_parameter_that_goes_with_another_epsilon(
    kind: type[TEM] | type[Gaussian],
) -> None:
    private = Privatizer(kind(random_embedding(20, 3), epsilon=10.0), record_epsilon=10.0)
    private("w1 w2 w3")
    assert not {"gamma", "sigma"} & set(json.loads(private.receipt().to_json())["guarantee"]["parameters"])
