from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

from deniable.embeddings.readers import packing, raw
from tests.embeddings.conftest import Added, Refused

WORDS = ["a", "b\u3000", "no\u00a0break", "😀"]
VECTORS = np.arange(12, dtype=np.float32).reshape(4, 3) / 7


def saved(*, compressed: bool = False, **arrays: Any) -> bytes:
    out = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(out, **arrays)
    return out.getvalue()


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize(
    ("words", "vectors"), [("words", "vectors"), ("vocab", "embeddings"), ("tokens", "W")]
)
def test_words_and_vectors_come_back(
    added: Added, monkeypatch: pytest.MonkeyPatch, compressed: bool, words: str, vectors: str
) -> None:
    monkeypatch.setattr(raw, "_ROWS_AT_ONCE", 3)
    embedding = added(saved(compressed=compressed, **{words: np.array(WORDS), vectors: VECTORS}))
    assert list(embedding.words) == WORDS
    np.testing.assert_array_equal(embedding.vectors, VECTORS)


@pytest.mark.parametrize("dtype", ["<f2", ">f4", "<f8", "<i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_other_numbers_become_float32(added: Added, dtype: DTypeLike, order: Any) -> None:
    vectors = np.array(VECTORS * 7, dtype=dtype, order=order)
    embedding = added(saved(words=np.array([word.encode() for word in WORDS]), vectors=vectors))
    np.testing.assert_array_equal(embedding.vectors, VECTORS * 7)


def test_python_objects_are_never_unpickled(refused: Refused) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (pytest.fail, ("a pickle was read",))

    words = saved(words=np.array([Trap(), "b"], dtype=object), vectors=VECTORS[:2])
    vectors = saved(words=np.array(["a", "b"]), vectors=np.array([[Trap()], [1]]))
    for content in (words, vectors):
        assert "never read" in refused(content, name="v.npz").problem


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"words": np.array(WORDS)}, "no array for the vectors"),
        ({"vectors": VECTORS}, "no array for the words"),
        (
            {"words": np.array(WORDS), "vocab": np.array(WORDS), "vectors": VECTORS},
            "more than one array for the words",
        ),
        ({"words": np.array(WORDS[:3]), "vectors": VECTORS}, "3 words but 4 vectors"),
        ({"words": np.array(WORDS), "vectors": VECTORS[0]}, "must be a table of numbers"),
        ({"words": np.array(WORDS), "vectors": VECTORS.astype(complex)}, "must be a table of numbers"),
        ({"words": np.arange(4), "vectors": VECTORS}, "must be one row of strings"),
        ({"words": np.array([b"a", b"\xff", b"c", b"d"]), "vectors": VECTORS}, "not UTF-8"),
        ({"words": np.array(WORDS), "vectors": np.full((4, 3), 1e300)}, "not a finite number"),
        ({"words": np.array(WORDS), "vectors": np.full((4, 3), 1e300, order="F")}, "not a finite number"),
        (
            {"words": np.array([7, 0x110000], dtype="<u4").view("<U1"), "vectors": VECTORS[:2]},
            "stands for no character",
        ),
        (
            {"words": np.array([7, 0x110000], dtype=">u4").view(">U1"), "vectors": VECTORS[:2]},
            "stands for no character",
        ),
        ({"words": np.array([], dtype="U1"), "vectors": VECTORS[:0]}, "no words"),
    ],
)
def test_what_is_wrong_is_said(refused: Refused, arrays: dict[str, Any], said: str) -> None:
    assert said in refused(saved(**arrays), name="v.npz").problem


def test_cut_off_and_damaged_files_are_refused(refused: Refused) -> None:
    content = saved(
        compressed=True, words=np.array(WORDS), vectors=np.random.default_rng(0).normal(size=(4, 300))
    )
    refused(content[: len(content) // 2], name="v.npz")
    middle = len(content) // 2
    refused(content[:middle] + bytes(64) + content[middle + 64 :], name="v.npz")


def test_a_bomb_of_zeros_is_refused_before_it_unpacks(
    refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "MOST_UNPACKED", 1 << 20)
    content = saved(compressed=True, words=np.array(["a", "b"]), vectors=np.zeros((2, 1 << 18), np.float32))
    assert "past the limit" in refused(content, name="v.npz").problem
