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

from deniable import InvalidParameter, Keyed, Multivariate, Privatizer
from deniable.errors import RandomnessError
from deniable.noise.encoding import RecordId, encode_id, encode_parts
from tests.support.strategies import random_embedding

KEY = bytes(range(32))
EMBEDDING = random_embedding(200, 5)
TEXTS = [f"w{i % 200} w{i * 7 % 200} nobody w{i * i % 200} knows" for i in range(300)]


def private(epsilon: float = 0.5, *, key: Keyed | None = None, **policies: Any) -> Privatizer:
    return Privatizer(Multivariate(EMBEDDING, epsilon=epsilon), randomness=key or Keyed(KEY), **policies)


def calls(keyed: Privatizer) -> list[Callable[..., object]]:
    """Return all ways to release several texts under ids."""
    return [
        keyed.many,
        lambda texts, record_ids: keyed.column(
            pa.chunked_array([texts[:1], texts[1:]]), record_ids=record_ids
        ),
        lambda texts, record_ids: list(keyed.stream(texts, record_ids=record_ids)),
    ]


def refused(call: Callable[..., object], texts: list[Any], ids: Any) -> InvalidParameter:
    """Return by which error ids are refused, before anything is released."""
    with pytest.raises(InvalidParameter) as caught:
        call(texts, record_ids=ids)
    assert caught.value.name == "record_ids"
    return caught.value


@pytest.mark.parametrize("act", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_key_cannot_be_pickled_or_copied(act: Callable[[object], object]) -> None:
    mechanism, one = Multivariate(EMBEDDING, epsilon=1), np.array([1])
    bound = Keyed(KEY).bind(mechanism, one, positions=one, record_ids=[1], lengths=[1], epsilon=None)
    for secret in (Keyed(KEY), bound):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            act(secret)


def test_the_key_is_never_shown() -> None:
    keyed = Keyed(KEY)
    receipt = private(key=keyed).receipt()
    shown = [repr(keyed), str(keyed), repr(keyed.describe()), receipt.to_json(), receipt.summary()]
    for text in (*shown, repr(receipt), repr(private(key=keyed))):
        assert KEY.hex() not in text
        assert repr(KEY)[2:20] not in text
    assert keyed.fingerprint in receipt.to_json()
    assert Keyed(KEY).fingerprint == keyed.fingerprint != Keyed.new().fingerprint


@pytest.mark.parametrize(
    "key", [b"", b"\xab" * 31, b"\xab" * 33, "ab" * 16, None, 5, bytearray(b"\xab" * 32)]
)
def test_a_key_is_32_bytes_and_the_message_does_not_show_it(key: object) -> None:
    with pytest.raises(InvalidParameter) as caught:
        Keyed(key)  # type: ignore[arg-type]
    assert caught.value.name == "key"
    assert "abab" not in str(caught.value)
    assert r"\xab" not in str(caught.value)


def test_without_entropy_there_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_entropy(count: int) -> bytes:
        raise OSError("no entropy")

    monkeypatch.setattr("secrets.token_bytes", no_entropy)
    with pytest.raises(RandomnessError):
        Keyed.new()


def test_the_same_records_give_the_same_words_in_any_batch_order_and_process_object() -> None:
    ids = [f"record {i}" for i in range(len(TEXTS))]
    whole = private().many(TEXTS, record_ids=ids)
    assert whole != private(key=Keyed.new()).many(TEXTS, record_ids=ids)
    again = private()
    assert [again(text, record_id=name) for text, name in zip(TEXTS, ids, strict=True)] == whole
    assert list(again.stream(iter(TEXTS), record_ids=iter(ids))) == whole
    assert again.many(TEXTS[::-1], record_ids=ids[::-1]) == whole[::-1]
    chunked = pa.chunked_array([TEXTS[:7], [], TEXTS[7:]])
    assert again.column(chunked, record_ids=ids).to_pylist() == whole
    texts = ["w1 w2 w3 " * 3_000, None, "", *TEXTS * 20]  # in several batches
    whole = private().many(texts, record_ids=range(len(texts)))
    for place in (0, 1, 2, 3, 5_000):
        assert again.many([texts[place]], record_ids=[place])[0] == whole[place]


def test_an_id_that_comes_again_much_later_in_a_stream_is_noticed_at_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("deniable.noise.encoding.HELD", 1)
    ids = [*range(9), 3]
    stream = private().stream(TEXTS[:10], record_ids=ids)
    assert [next(stream) for _ in range(10)] == [
        private()(text, record_id=one) for text, one in zip(TEXTS, ids, strict=False)
    ]
    with pytest.raises(InvalidParameter, match="texts 4 and 10"):
        next(stream)
    assert len(list(private(key=Keyed(KEY, consistent=True)).stream(TEXTS[:10], record_ids=ids))) == 10


def test_only_an_edited_word_is_drawn_anew() -> None:
    keyed = private(0.01)
    before = [keyed("w1 w2 w3 w4", record_id=i).split() for i in range(50)]
    after = [keyed("w1 w9 w3 w4", record_id=i).split() for i in range(50)]
    assert all(b[0] == a[0] and b[2:] == a[2:] for b, a in zip(before, after, strict=True))
    assert sum(b[1] != a[1] for b, a in zip(before, after, strict=True)) > 40


def test_exchanging_unknown_words_changes_nothing() -> None:
    keyed = private()
    assert keyed("w1 zorblatt w3", record_id=1) == keyed("w1 smith w3", record_id=1)


def test_budgets_per_record_are_keyed_too() -> None:
    first, again, other = (
        private(4.0, record_epsilon=budget).many(TEXTS, record_ids=range(300)) for budget in (3.0, 3.0, 3.5)
    )
    assert first == again != other


def test_consistent_replacement_holds_for_a_user_and_is_named_in_the_receipt() -> None:
    keyed = private(key=Keyed(KEY, consistent=True))
    first, second = keyed.many(["w1 w2 w1", "w2 w1"], record_ids=["ann", "ann"])
    a, b, c = str(first).split()
    assert a == c
    assert second == f"{b} {a}"
    assert len({keyed("w1", record_id=i) for i in range(40)}) > 10
    receipt = keyed.receipt()
    assert any("which words of a user are equal" in relaxation for relaxation in receipt.relaxations)
    assert receipt.settings.guarantee["statement"].startswith("Between texts that agree")
    assert not private().receipt().relaxations


def test_a_budget_per_record_would_draw_a_users_word_once_for_each_length_and_is_refused() -> None:
    with pytest.raises(InvalidParameter) as caught:
        private(key=Keyed(KEY, consistent=True), record_epsilon=3.0)
    assert caught.value.name == "record_epsilon"


def test_ids_are_asked_for_with_a_key_and_refused_without_one() -> None:
    for call in calls(private()):
        refused(call, ["w1", "w2"], None)
        refused(call, ["w1", "w2"], [1])
    refused(private().many, ["w1"], "a")
    refused(Privatizer(Multivariate(EMBEDDING, epsilon=1)).many, ["w1"], [1])
    with pytest.raises(InvalidParameter):
        private()("w1")


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


OF_OTHER_TYPES = [Patient.A, Bed.SEVENTH, Ward(7), Name("7"), Number(7), Countable(), np.array(7)]
NO_IDS = [np.bool_(1), None, 1.5, True, b"x", (), ("a", None), ["a"], 10**5_000]


@pytest.mark.parametrize(
    "bad",
    [*OF_OTHER_TYPES, *NO_IDS, (Patient.A, 1), ((7,), 1), pa.scalar(None), pa.scalar(1.5)],
    ids=lambda bad: type(bad).__name__,
)
@pytest.mark.parametrize("consistent", [False, True])
def test_an_id_that_is_no_name_is_refused_with_its_record_and_never_shares_noise(
    bad: Any, consistent: bool
) -> None:
    keyed = private(key=Keyed(KEY, consistent=consistent))
    for call in calls(keyed):
        refused(call, ["w1 w2", "w1 w2"], [bad, 7])
    assert "record 2 " in refused(keyed.many, ["w1 w2", "w1 w2"], [7, bad]).problem
    refused(keyed.many, [None, "w1 w2"], [bad, 7])
    assert keyed.receipt().tally.words == 0


@pytest.mark.parametrize("same", [[7, "7"], [("7",), 7], [np.int32(7), np.str_("7")], [("a", 7), ("a", "7")]])
def test_ids_that_share_noise_are_never_taken_for_different_ones(same: list[Any]) -> None:
    assert encode_id(same[0], 1) == encode_id(same[1], 2)
    for call in calls(private()):
        refused(call, ["w1", "w2"], same)


def test_a_repeated_id_is_named_by_its_places_and_not_shown() -> None:
    ids: list[RecordId] = ["anna", "berta", ("x", "anna"), "anna"]
    for call in calls(private()):
        error = refused(call, TEXTS[:4], ids)
        assert "anna" not in str(error)
        assert error.value in ("of texts 1 and 4", "of text 4 and of an earlier one")


IDS = st.text(st.sampled_from("a7\ud800"), max_size=3) | st.integers(-1, 99)
ONE_OR_SEVERAL = IDS | st.lists(IDS, min_size=1, max_size=3).map(tuple)


@given(ONE_OR_SEVERAL, ONE_OR_SEVERAL)
def test_ids_share_their_bytes_only_if_they_are_written_alike(first: object, second: object) -> None:
    written = [tuple(map(str, one)) if isinstance(one, tuple) else (str(one),) for one in (first, second)]
    assert (encode_id(first, 1) == encode_id(second, 1)) == (written[0] == written[1])


@given(st.lists(st.text()), st.lists(st.text()))
def test_different_parts_never_have_the_same_bytes(first: list[str], second: list[str]) -> None:
    assert (encode_parts(first) == encode_parts(second)) == (first == second)


def test_values_of_an_arrow_column_name_records_as_the_plain_values_do() -> None:
    for plain in (7, "a"):
        for scalar in (pa.scalar(plain), (pa.scalar(plain),)):
            assert encode_id(scalar, 1) == encode_id(plain, 1)
