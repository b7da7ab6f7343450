from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import DTypeLike

from deniable.embeddings.embedding import Embedding
from deniable.embeddings.readers import packing, raw
from deniable.embeddings.store import add
from deniable.errors import MalformedEmbedding

Refused = Callable[..., MalformedEmbedding]

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
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compressed: bool, words: str, vectors: str
) -> None:
    monkeypatch.setattr(raw, "_ROWS_AT_ONCE", 3)
    path = tmp_path / "v"
    path.write_bytes(saved(compressed=compressed, **{words: np.array(WORDS), vectors: VECTORS}))
    add(path, "npz")
    embedding = Embedding.open("npz")
    assert list(embedding.words) == WORDS
    np.testing.assert_array_equal(embedding.vectors, VECTORS)


@pytest.mark.parametrize("dtype", ["<f2", ">f4", "<f8", "<i4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_other_numbers_become_float32(tmp_path: Path, dtype: DTypeLike, order: Any) -> None:
    path = tmp_path / "v.npz"
    vectors = np.array(VECTORS * 7, dtype=dtype, order=order)
    path.write_bytes(saved(words=np.array([word.encode() for word in WORDS]), vectors=vectors))
    add(path, "npz")
    np.testing.assert_array_equal(Embedding.open("npz").vectors, VECTORS * 7)


def test_python_objects_are_never_unpickled(refused: Refused) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (pytest.fail, ("a pickle was read",))

    objects = np.array([Trap(), "b"], dtype=object)
    assert "never read" in refused(saved(words=objects, vectors=VECTORS[:2]), name="v.npz").problem
    assert (
        "never read"
        in refused(saved(words=np.array(["a", "b"]), vectors=np.array([[Trap()], [1]])), name="v.npz").problem
    )


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
        (
            {"words": np.array(["a", "b", "a", "c"]), "vectors": VECTORS},
            "word 3: the word 'a' stands on word 1 already",
        ),
        ({"words": np.array(["a", "", "c", "d"]), "vectors": VECTORS}, "word 2: the word is empty"),
        (
            {"words": np.array(["a", "x\ny", "c", "d"]), "vectors": VECTORS},
            "word 2: the word 'x\\ny' holds a line break",
        ),
        ({"words": np.array([b"a", b"\xff", b"c", b"d"]), "vectors": VECTORS}, "not UTF-8"),
        (
            {"words": np.array(["a", "\ud800", "c", "d"]), "vectors": VECTORS},
            "word 2: the word '\\ud800' holds half a character",
        ),
        (
            {"words": np.array(WORDS), "vectors": np.full((4, 3), np.nan, np.float32)},
            "word 1: the vector of 'a'",
        ),
        ({"words": np.array(WORDS), "vectors": np.full((4, 3), 1e300)}, "not a finite number"),
        ({"words": np.array(WORDS), "vectors": np.full((4, 3), 1e300, order="F")}, "not a finite number"),
        ({"words": np.array(["a", "b"]), "vectors": np.zeros((2, 0), np.float32)}, "no dimensions"),
        (
            {"words": np.array(["a", "b"]), "vectors": np.array([[1.0], [2e12]])},
            "word 2: the vector of 'b' is longer than 1e+12",
        ),
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
