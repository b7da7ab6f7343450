from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable import Embedding
from deniable.embeddings.subwords import Subwords
from deniable.errors import MalformedEmbedding


@pytest.mark.parametrize(
    ("words", "vectors", "says"),
    [
        ([], np.zeros((0, 2)), "no words"),
        (["a"], np.zeros((1, 0)), "no dimensions"),
        (["a", "b"], [[1.0, 2.0]], "2 words but 1 vectors"),
        (["a"], [1.0], "1 axes"),
        (["a", "a"], [[1.0], [2.0]], "word 2: the word 'a' stands on word 1 already"),
        (["a", ""], [[1.0], [2.0]], "word 2: the word is empty"),
        (["a", 7], [[1.0], [2.0]], "word 2: the word is not a string"),
        (["a\nb"], [[1.0]], "line break"),
        (["a\r"], [[1.0]], "line break"),
        (["a", "\ud800"], [[1.0], [2.0]], "word 2: .* half a character"),
        (["a", "b"], [[1.0], [np.nan]], "word 2: the vector of 'b' has a value that is not a finite number"),
        (["a", "b"], [[1.0], [np.inf]], "not a finite number"),
        (["a", "b"], [[1.0], [1e300]], "not a finite number"),
        (
            ["a", "b"],
            [[1.0, 0.0], [8e11, 8e11]],
            r"word 2: the vector of 'b' is longer than 1e\+12: not a usable word vector",
        ),
        (["a", "b"], [[1.0], [3e38]], "not a usable word vector"),
        (["<unk>", "</s>"], [[1.0], [2.0]], "only word"),
    ],
)
def test_what_is_no_embedding_is_refused(words: list[str], vectors: Any, says: str) -> None:
    with pytest.raises(MalformedEmbedding, match=says):
        Embedding(words, vectors)


def test_the_unknown_word_is_the_mean_unless_the_embedding_has_its_own() -> None:
    assert Embedding(["a", "b"], [[1.0], [4.0]]).unknown.tolist() == [2.5]
    own = Embedding(["a", "<unk>", "b"], [[1.0], [9.0], [4.0]])
    assert own.unknown.tolist() == [9.0]
    assert list(own.words) == ["a", "b"]
    assert own.vectors.tolist() == [[1.0], [4.0]]


@pytest.mark.parametrize("mark", ["</s>", "[redacted]"])
def test_marks_of_sentence_ends_and_of_no_word_are_no_words(mark: str) -> None:
    embedding = Embedding(["a", mark, "b"], [[1.0], [7.0], [4.0]])
    assert list(embedding.words) == ["a", "b"]
    assert embedding.unknown.tolist() == [2.5]


def test_what_is_noted_of_a_stored_embedding_is_an_attribute_of_embeddings() -> None:
    vectors = np.ones((1, 2), dtype=np.float32)
    with pytest.raises(TypeError, match="protecton"):
        Embedding.from_checked(["a"], vectors, vectors[0], name="typo", protecton=None)


def test_words_that_share_a_vector_are_counted() -> None:
    embedding = Embedding(list("abcd"), [[0.0, 1.0], [2.0, 2.0], [-0.0, 1.0], [2.0, 2.0]])
    assert embedding.shadowed.tolist() == [2, 3]


def test_the_fingerprint_changes_with_every_part() -> None:
    def fingerprint(
        words: str = "ab", first: float = 1.0, unknown: float = 5.0, run: int | None = None
    ) -> str:
        embedding = Embedding(list(words), [[first], [2.0]], unknown=[unknown])
        if run is not None:
            embedding.subwords = Subwords(np.ones((3, 1), dtype=np.float32), minn=run, maxn=4)
        return embedding.fingerprint

    different = {fingerprint(), fingerprint("ac"), fingerprint(first=1.5), fingerprint(unknown=6.0)}
    assert len(different | {fingerprint(run=2), fingerprint(run=3)}) == 6
    assert fingerprint() == fingerprint()


def test_ids_and_rows_hold_the_unknown_word() -> None:
    embedding = Embedding(["a", "b"], [[1.0], [4.0]])
    ids = embedding.ids(["b", "nobody", "a"])
    assert ids.tolist() == [1, 2, 0]
    assert embedding.rows(ids).tolist() == [[4.0], [2.5], [1.0]]
    rows = embedding.rows(np.array([0]))
    rows[:] = 0
    assert embedding.vectors[0] == 1.0


@pytest.mark.parametrize("unknown", [[np.nan], [2e12], [1.0, 2.0]])
def test_an_unknown_vector_that_cannot_be_used_is_refused(unknown: list[float]) -> None:
    with pytest.raises(
        MalformedEmbedding, match="the unknown-word vector must be 1 finite numbers and no longer than"
    ):
        Embedding(["a"], [[1.0]], unknown=unknown)


def test_what_the_caller_does_to_its_arrays_changes_nothing() -> None:
    vectors, unknown = np.ones((2, 3), dtype=np.float32), np.zeros(3, dtype=np.float32)
    embedding = Embedding(["a", "b"], vectors, unknown=unknown)
    vectors[:] = unknown[:] = 7
    assert embedding.vectors.max() == 1
    assert embedding.unknown.max() == 0


def test_vectors_cannot_be_written_over() -> None:
    for embedding in (Embedding(["a", "b"], np.ones((2, 3), dtype=np.float32)), Embedding.open("default")):
        for array in (embedding.vectors, embedding.unknown):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


def test_case_is_told_by_the_words_and_the_longest_vectors_are_taken() -> None:
    assert len(Embedding(["a", "b"], [[1e12], [-1e12]])) == 2
    assert not Embedding(["a", "7"], [[1.0], [2.0]]).cased
    assert Embedding(["a", "A"], [[1.0], [2.0]]).cased
