"""Texts that a Privatizer releases again are counted, and what was spent on each adds up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from deniable import Embedding, Keyed, Multivariate, Privatizer, UnknownWord
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


def spent(private: Privatizer) -> Any:
    return private.receipt().budget["longest_record"]


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
    assert spent(private) == {"words": 36, "epsilon": 90}
    assert private.receipt().budget["median_record"] == {"words": 3, "epsilon": 18}
    assert private.receipt().largest_epsilon_of_a_word == 6


def test_equal_texts_of_one_call_are_different_records(private: Privatizer, tmp_path: Path) -> None:
    texts = ["the fox", "the fox", "it", None, ""]
    private.many(texts)
    assert again(private) == 0
    assert "released_again" not in private.receipt().to_dict()["counts"]
    assert "repeats" not in private.receipt().tally.to_dict()
    list(private.stream(texts))
    assert again(private) == 3
    private.many(["the fox"] * 3)
    assert again(private) == 5, "the third copy is new"
    assert spent(private) == {"words": 6, "epsilon": 36}
    assert private.receipt().tally.releases == {(0, 1): 2, (1, 2): 1, (2, 3): 2, (2, 1): 1}
    (tmp_path / "in.txt").write_text("the fox\n" * 9_000)
    receipt = privatize_file(private, tmp_path / "in.txt", tmp_path / "out.txt")
    assert receipt is not None
    assert receipt.tally.released_again == 0, "records of one file, in several batches"


def test_the_parts_of_a_column_are_one_call(private: Privatizer) -> None:
    column = pa.chunked_array([["the fox"], ["the fox"]])
    for repeated in (0, 2):
        private.column(column)
        assert again(private) == repeated


def test_a_text_that_did_not_come_out_is_not_counted(embedding: Embedding) -> None:
    private = Privatizer(Multivariate(embedding, epsilon=6), unknown="error")
    with pytest.raises(UnknownWord):
        private.many(["the fox", "zorblatt"])
    private("the fox")
    assert again(private) == 0


def test_what_remembers_nothing_recognises_nothing_and_with_a_key_nothing_is_spent_again(
    private: Privatizer, embedding: Embedding
) -> None:
    private("the fox")
    private.remember_nothing()
    private("the fox")
    assert (again(private), private.receipt().tally.records) == (0, 2)
    keyed = Privatizer(Multivariate(embedding, epsilon=6), randomness=Keyed.new())
    assert keyed(TEXT, record_id=1) == keyed(TEXT, record_id=1)
    assert (again(keyed), spent(keyed)) == (0, {"words": 12, "epsilon": 72})


def test_books_kept_elsewhere_begin_with_new_texts(private: Privatizer) -> None:
    private("the fox")
    assert private.take_tally().records == 1
    private("the fox")
    private("the fox")
    assert private.take_tally().releases == {(2, 2): 1}


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
    assert receipt.to_dict()["counts"]["rows"] is receipt.budget["longest_row"] is None
    assert spent(private) == {"words": 4, "epsilon": 24}


def test_repeats_survive_json_and_add_up() -> None:
    tally = Tally()
    for times in (2, 3, 4):
        tally.count_again(12, times)
    other = Tally.from_dict(json.loads(json.dumps(tally.to_dict())))
    assert other == tally
    other.add(tally)
    assert (tally.released_again, other.released_again, other.repeats) == (3, 6, {(12, 4): 2})
