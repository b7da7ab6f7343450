"""The key stays where it is, and keyed releases are repeatable."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable import Embedding, InvalidParameter, Keyed, Multivariate, Privatizer
from deniable.errors import RandomnessError
from deniable.noise.encoding import RecordId, encode_id, encode_parts
from tests.support.strategies import random_embedding

KEY = bytes(range(32))
EMBEDDING = random_embedding(200, 5)
TEXTS = [f"w{i % 200} w{i * 7 % 200} nobody w{i * i % 200} knows" for i in range(300)]


def private(
    keyed: Keyed, epsilon: float = 0.5, embedding: Embedding = EMBEDDING, **policies: object
) -> Privatizer:
    return Privatizer(Multivariate(embedding, epsilon=epsilon), randomness=keyed, **policies)  # type: ignore[arg-type]


@pytest.mark.parametrize("act", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_key_cannot_be_pickled_or_copied(act: Callable[[object], object]) -> None:
    mechanism, one = Multivariate(EMBEDDING, epsilon=1), np.array([1])
    bound = Keyed(KEY).bind(mechanism, one, positions=one, record_ids=[1], lengths=[1], epsilon=None)
    for secret in (Keyed(KEY), bound):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            act(secret)


@pytest.mark.parametrize("act", [pickle.dumps, copy.deepcopy])
def test_a_privatizer_cannot_carry_its_key_to_another_process(act: Callable[[object], object]) -> None:
    with pytest.raises(TypeError):
        act(private(Keyed(KEY)))


def test_the_key_is_never_shown() -> None:
    keyed = Keyed(KEY)
    receipt = private(keyed).receipt()
    shown = [
        repr(keyed),
        str(keyed),
        repr(keyed.describe()),
        receipt.to_json(),
        receipt.summary(),
        repr(receipt),
        repr(private(keyed)),
    ]
    for text in shown:
        assert KEY.hex() not in text
        assert repr(KEY)[2:20] not in text
    assert keyed.fingerprint in receipt.to_json()
    assert Keyed(KEY).fingerprint == keyed.fingerprint != Keyed.new().fingerprint


@pytest.mark.parametrize(
    "key", [b"", b"\xab" * 31, b"\xab" * 33, "ab" * 16, None, 5, bytearray(b"\xab" * 32)]
)
def test_a_key_is_32_bytes_and_the_message_does_not_show_it(key: object) -> None:
    with pytest.raises(InvalidParameter, match="32 random bytes") as caught:
        Keyed(key)  # type: ignore[arg-type]
    assert "abab" not in str(caught.value)
    assert r"\xab" not in str(caught.value)


def test_without_entropy_there_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_entropy(count: int) -> bytes:
        raise OSError("no entropy")

    monkeypatch.setattr("secrets.token_bytes", no_entropy)
    with pytest.raises(RandomnessError, match="no key was made"):
        Keyed.new()


def test_the_same_records_give_the_same_words_in_any_batch_order_and_process_object() -> None:
    ids = [f"record {i}" for i in range(len(TEXTS))]
    whole = private(Keyed(KEY)).many(TEXTS, record_ids=ids)
    assert whole != private(Keyed.new()).many(TEXTS, record_ids=ids)
    again = private(Keyed(KEY))
    assert [again(text, record_id=name) for text, name in zip(TEXTS, ids, strict=True)] == whole
    assert list(again.stream(iter(TEXTS), record_ids=iter(ids))) == whole
    assert again.many(TEXTS[::-1], record_ids=ids[::-1]) == whole[::-1]
    chunked = pa.chunked_array([TEXTS[:7], [], TEXTS[7:]])
    assert again.column(chunked, record_ids=ids).to_pylist() == whole


def test_an_id_that_comes_twice_is_noticed_over_chunks_and_in_streams(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keyed, ids = private(Keyed(KEY)), [*range(9), 3]
    with pytest.raises(InvalidParameter, match="names two texts"):
        keyed.column(pa.chunked_array([TEXTS[:5], TEXTS[5:10]]), record_ids=ids)
    with pytest.raises(InvalidParameter, match="names two texts"):
        list(keyed.stream(TEXTS[:10], record_ids=ids))
    monkeypatch.setattr("deniable.noise.encoding._HELD", 1)
    stream = keyed.stream(TEXTS[:10], record_ids=ids)
    assert [next(stream) for _ in range(10)] == [
        private(Keyed(KEY))(text, record_id=one) for text, one in zip(TEXTS, ids, strict=False)
    ]
    with pytest.raises(InvalidParameter, match="texts 4 and 10"):
        next(stream)
    assert len(list(private(Keyed(KEY, consistent=True)).stream(TEXTS[:10], record_ids=ids))) == 10


def test_batches_that_the_privatizer_makes_do_not_show() -> None:
    texts = ["w1 w2 w3 " * 3_000, None, "", *TEXTS * 20]
    ids = range(len(texts))
    whole = private(Keyed(KEY)).many(texts, record_ids=ids)
    alone = private(Keyed(KEY))
    assert [alone.many([texts[i]], record_ids=[i])[0] for i in (0, 1, 2, 3, 5_000)] == [
        whole[i] for i in (0, 1, 2, 3, 5_000)
    ]


def test_only_an_edited_word_is_drawn_anew() -> None:
    keyed = private(Keyed(KEY), epsilon=0.01)
    before = [keyed("w1 w2 w3 w4", record_id=i).split() for i in range(50)]
    after = [keyed("w1 w9 w3 w4", record_id=i).split() for i in range(50)]
    assert all(b[0] == a[0] and b[2:] == a[2:] for b, a in zip(before, after, strict=True))
    assert sum(b[1] != a[1] for b, a in zip(before, after, strict=True)) > 40


def test_exchanging_unknown_words_changes_nothing() -> None:
    keyed = private(Keyed(KEY))
    assert keyed("w1 zorblatt w3", record_id=1) == keyed("w1 smith w3", record_id=1)


def test_budgets_per_record_are_keyed_too() -> None:
    released = [
        private(Keyed(KEY), epsilon=4.0, record_epsilon=3.0).many(TEXTS, record_ids=range(300))
        for _ in range(2)
    ]
    assert released[0] == released[1]
    assert released[0] != private(Keyed(KEY), epsilon=4.0, record_epsilon=3.5).many(
        TEXTS, record_ids=range(300)
    )


def test_consistent_replacement_holds_for_a_user_and_is_named_in_the_receipt() -> None:
    keyed = private(Keyed(KEY, consistent=True))
    first, second = keyed.many(["w1 w2 w1", "w2 w1"], record_ids=["ann", "ann"])
    a, b, c = str(first).split()
    assert a == c
    assert second == f"{b} {a}"
    users = [keyed("w1", record_id=i) for i in range(40)]
    assert len(set(users)) > 10
    receipt = keyed.receipt()
    assert any("which words of a user are equal" in relaxation for relaxation in receipt.relaxations)
    assert receipt.settings.guarantee["statement"].startswith("Between texts that agree")
    assert not private(Keyed(KEY)).receipt().relaxations


def test_a_budget_per_record_would_draw_a_users_word_once_for_each_length_and_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="drawn more than once"):
        private(Keyed(KEY, consistent=True), record_epsilon=3.0)


def test_ids_are_asked_for_with_a_key_and_refused_without_one() -> None:
    with pytest.raises(InvalidParameter, match="needs an id for each text"):
        private(Keyed(KEY))("w1")
    with pytest.raises(InvalidParameter, match="needs an id for each text"):
        list(private(Keyed(KEY)).stream(["w1"]))
    with pytest.raises(InvalidParameter, match="only with a key"):
        Privatizer(Multivariate(EMBEDDING, epsilon=1)).many(["w1"], record_ids=[1])
    with pytest.raises(InvalidParameter, match="one for each of the 2"):
        private(Keyed(KEY)).many(["w1", "w2"], record_ids=[1])
    with pytest.raises(InvalidParameter, match="one for each of the 2"):
        list(private(Keyed(KEY)).stream(["w1", "w2"], record_ids=[1]))
    with pytest.raises(InvalidParameter, match="one for each of the 2"):
        private(Keyed(KEY)).column(pa.array(["w1", "w2"]), record_ids=[1])
    with pytest.raises(InvalidParameter, match="a single str"):
        private(Keyed(KEY)).many(["w1"], record_ids="a")


class Patient(StrEnum):
    A = "7"


class Bed(IntEnum):
    SEVENTH = 7


class Ward(NamedTuple):
    number: int


class Name(str):
    __slots__ = ()


class Number(int):
    def __str__(self) -> str:
        return "another"


class Countable:
    def __index__(self) -> int:
        return 7


OF_OTHER_TYPES = [
    Patient.A,
    Bed.SEVENTH,
    Ward(7),
    Name("7"),
    Number(7),
    Countable(),
    np.array(7),
    np.bool_(1),
    (Patient.A, 1),
    ((7,), 1),
]


@pytest.mark.parametrize("bad", [None, 1.5, True, b"x", (), ("a", None), ["a"], *OF_OTHER_TYPES])
def test_an_id_that_is_no_name_is_refused_with_its_record(bad: object) -> None:
    keyed = private(Keyed(KEY))
    with pytest.raises(InvalidParameter, match=r"record 2 is"):
        keyed.many(["w1", "w2"], record_ids=["fine", bad])  # type: ignore[list-item]
    assert keyed.receipt().tally.words == 0


def test_a_number_that_python_does_not_write_out_is_no_id() -> None:
    with pytest.raises(InvalidParameter, match="record 1 has too many digits"):
        private(Keyed(KEY))("w1", record_id=10**5_000)


@pytest.mark.parametrize("odd", OF_OTHER_TYPES)
@pytest.mark.parametrize("consistent", [False, True])
def test_an_id_of_another_type_never_shares_the_noise_of_the_number_it_is_made_of(
    odd: Any, consistent: bool
) -> None:
    keyed = private(Keyed(KEY, consistent=consistent))
    for record_ids in ([odd, 7], [7, odd]):
        with pytest.raises(InvalidParameter, match="neither text nor a whole number"):
            keyed.many(["w1 w2", "w1 w2"], record_ids=record_ids)
        with pytest.raises(InvalidParameter, match="neither text nor a whole number"):
            list(keyed.stream(["w1 w2", "w1 w2"], record_ids=record_ids))


@pytest.mark.parametrize("same", [[7, "7"], [("7",), 7], [np.int32(7), np.str_("7")], [("a", 7), ("a", "7")]])
def test_ids_that_share_noise_are_never_taken_for_different_ones(same: list[Any]) -> None:
    assert encode_id(same[0], 1) == encode_id(same[1], 2)
    for call in (private(Keyed(KEY)).many, lambda *a, **b: list(private(Keyed(KEY)).stream(*a, **b))):
        with pytest.raises(InvalidParameter, match="names two texts"):
            call(["w1", "w2"], record_ids=same)


def test_a_repeated_id_is_named_by_its_places_and_not_shown() -> None:
    keyed = private(Keyed(KEY))
    ids: list[RecordId] = ["anna", "berta", ("x", "anna"), "anna"]
    calls: list[Callable[[], object]] = [
        lambda: keyed.many(TEXTS[:4], record_ids=ids),
        lambda: keyed.column(pa.chunked_array([TEXTS[:2], TEXTS[2:4]]), record_ids=ids),
        lambda: list(keyed.stream(TEXTS[:4], record_ids=ids)),
    ]
    for call in calls:
        with pytest.raises(InvalidParameter, match="names two texts") as caught:
            call()
        assert "anna" not in str(caught.value)
        assert "of texts 1 and 4" in str(caught.value) or "of text 4 and of an earlier one" in str(
            caught.value
        )


def test_a_missing_text_still_has_its_id_checked() -> None:
    with pytest.raises(InvalidParameter, match="record 1"):
        private(Keyed(KEY)).many([None], record_ids=[None])  # type: ignore[list-item]


def test_a_number_is_the_text_of_its_digits() -> None:
    assert encode_id(7, 1) == encode_id("7", 1) == encode_id(np.int64(7), 1) == encode_id(("7",), 1)
    assert encode_id(("7", "text"), 1) != encode_id("7text", 1)


IDS = st.text(st.sampled_from("a7\ud800"), max_size=3) | st.integers(-1, 99)


@given(
    IDS | st.lists(IDS, min_size=1, max_size=3).map(tuple),
    IDS | st.lists(IDS, min_size=1, max_size=3).map(tuple),
)
def test_ids_share_their_bytes_only_if_they_are_written_alike(first: object, second: object) -> None:
    written = [tuple(map(str, one)) if isinstance(one, tuple) else (str(one),) for one in (first, second)]
    assert (encode_id(first, 1) == encode_id(second, 1)) == (written[0] == written[1])


@given(st.lists(st.text()), st.lists(st.text()))
def test_different_parts_never_have_the_same_bytes(first: list[str], second: list[str]) -> None:
    assert (encode_parts(first) == encode_parts(second)) == (first == second)


def test_values_of_an_arrow_column_name_records_as_the_plain_values_do() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    for plain in (7, "a"):
        assert (
            encode_id(pyarrow.scalar(plain), 1)
            == encode_id(plain, 1)
            == encode_id((pyarrow.scalar(plain),), 1)
        )
    for wrong in (None, 1.5):
        with pytest.raises(InvalidParameter):
            encode_id(pyarrow.scalar(wrong), 1)
