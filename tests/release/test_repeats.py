"""Texts that a Privatizer releases again are counted, and what was spent on each adds up."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from deniable import Embedding, Keyed, Multivariate, Privatizer
from deniable.records import privatize_file
from deniable.release import tally as repeats
from deniable.release.receipt_page import decode_receipt, receipt_page
from deniable.release.tally import Tally

TEXT = "the fox it do the fox it do the fox it do"  # 12 words


@pytest.fixture
def private(embedding: Embedding) -> Privatizer:
    return Privatizer(Multivariate(embedding, epsilon=6))


def again(private: Privatizer) -> int:
    return int(private.receipt().to_dict()["counts"].get("released_again", 0))


def test_a_text_released_five_times_spends_five_times(private: Privatizer) -> None:
    for _ in range(5):
        private(TEXT)
    receipt = private.receipt()
    made = receipt.to_dict()
    assert (made["counts"]["records"], made["counts"]["released_again"]) == (5, 4)
    assert (
        made["budget"]["longest_record"] == made["budget"]["median_record"] == {"words": 60, "epsilon": 360}
    )
    assert "longest text Σε = 360" in receipt.summary()
    assert "texts released again: 4 of 5" in receipt.summary()
    written = decode_receipt(receipt.to_json(), "receipt")
    assert written.counts.released_again == 4
    assert "Texts released again" in receipt_page(written).html()


def test_a_budget_per_record_is_spent_each_time(embedding: Embedding) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=6), record_epsilon=30)
    for _ in range(3):
        private.many([TEXT, "the"])
    budget = private.receipt().budget
    assert budget["longest_record"] == {"words": 36, "epsilon": 90}
    assert budget["median_record"] == {"words": 3, "epsilon": 18}
    assert private.receipt().largest_epsilon_of_a_word == 6


def test_equal_texts_of_one_call_are_different_records(private: Privatizer) -> None:
    texts = ["the fox", "the fox", "it", None, ""]
    private.many(texts)
    assert again(private) == 0
    list(private.stream(texts))
    assert again(private) == 3
    private.many(["the fox"] * 3)
    assert again(private) == 5, "the third copy is new"
    assert private.receipt().budget["longest_record"] == {"words": 6, "epsilon": 36}
    assert private.receipt().tally.releases == {(0, 1): 2, (1, 2): 1, (2, 3): 2, (2, 1): 1}


def test_the_parts_of_a_column_are_one_call(private: Privatizer) -> None:
    column = pa.chunked_array([["the fox"], ["the fox"]])
    private.column(column)
    assert again(private) == 0
    private.column(column)
    assert again(private) == 2


def test_without_repeats_a_receipt_says_nothing_of_them(private: Privatizer) -> None:
    private.many(["the fox", "the fox", "it"])
    receipt = private.receipt()
    assert "released_again" not in receipt.to_dict()["counts"]
    assert "repeats" not in receipt.tally.to_dict()
    assert "again" not in receipt.summary()


def test_a_text_that_did_not_come_out_is_not_counted(embedding: Embedding) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=6), unknown="error")
    with pytest.raises(Exception, match="unknown"):
        private.many(["the fox", "zorblatt"])
    private("the fox")
    assert again(private) == 0


def test_what_remembers_nothing_recognises_nothing(private: Privatizer) -> None:
    private("the fox")
    private.remember_nothing()
    private("the fox")
    assert (again(private), private.receipt().tally.records) == (0, 2)


def test_with_a_key_nothing_is_spent_again(embedding: Embedding) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=6), randomness=Keyed.new())
    assert private(TEXT, record_id=1) == private(TEXT, record_id=1)
    assert again(private) == 0
    assert private.receipt().budget["longest_record"] == {"words": 12, "epsilon": 72}


def test_books_kept_elsewhere_begin_with_new_texts(private: Privatizer) -> None:
    private("the fox")
    assert private.take_tally().records == 1
    private("the fox")
    private("the fox")
    assert private.take_tally().releases == {(2, 2): 1}


def test_a_file_with_equal_records_repeats_none(private: Privatizer, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("the fox\n" * 30_000)
    receipt = privatize_file(private, tmp_path / "in.txt", tmp_path / "out.txt")
    assert receipt is not None
    assert receipt.tally.released_again == 0


def test_memory_is_bounded(private: Privatizer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MOST_TEXTS", 10)
    texts = ["fox " * words for words in range(1, 31)]
    list(private.stream(texts * 2))
    assert again(private) == 0, "one call, though its texts were forgotten in between"
    private.many(texts[-10:])
    assert again(private) == 10
    private.many(texts)
    assert again(private) == 10, "the first ones were forgotten, and made the others be"
    releases = private.receipt().tally.releases
    assert releases.total() == 100 - 10
    assert min(releases.values()) > 0


def test_rows_of_several_texts_are_not_known_to_be_the_same(private: Privatizer) -> None:
    for _ in range(2):
        private.many(["the fox", "it"], rows=[2])
    receipt = private.receipt()
    assert receipt.to_dict()["counts"]["rows"] is None
    assert receipt.budget["longest_row"] is None
    assert receipt.budget["longest_record"] == {"words": 4, "epsilon": 24}


def test_repeats_survive_json_and_add_up() -> None:
    tally = Tally()
    for times in (2, 3, 4):
        tally.count_again(12, times)
    other = Tally.from_dict(json.loads(json.dumps(tally.to_dict())))
    assert other == tally
    other.add(tally)
    assert (tally.released_again, other.released_again, other.repeats) == (3, 6, {(12, 4): 2})
