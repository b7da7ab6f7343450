from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deniable.embeddings.derived import restrict
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.store import install_restricted, save
from deniable.errors import EmbeddingExists, InvalidParameter, MalformedEmbedding


@pytest.fixture
def embedding() -> Embedding:
    return Embedding(["a", "b", "c", "d"], np.arange(8.0).reshape(4, 2), name="letters")


def test_kept_words_stay_in_the_order_of_the_embedding(embedding: Embedding) -> None:
    smaller = restrict(embedding, keep=["d", "b", "z", "b"])
    assert list(smaller.words) == ["b", "d"]
    np.testing.assert_array_equal(smaller.vectors, [[2, 3], [6, 7]])


def test_excluded_words_become_unknown(embedding: Embedding) -> None:
    smaller = restrict(embedding, exclude=["a", "q"])
    assert list(smaller.words) == ["b", "c", "d"]
    assert smaller.ids(["a"]).tolist() == [smaller.unknown_id]


def test_common_words_keep_the_order_of_the_first(embedding: Embedding) -> None:
    other = Embedding(["d", "x", "a"], np.ones((3, 5)) * np.arange(3)[:, None])
    assert list(restrict(embedding, common_with=other).words) == ["a", "d"]
    assert list(restrict(other, common_with=embedding).words) == ["d", "a"]


def test_first_counts_what_is_left(embedding: Embedding) -> None:
    assert list(restrict(embedding, exclude=["a"], first=2).words) == ["b", "c"]
    assert list(restrict(embedding, first=99).words) == ["a", "b", "c", "d"]


def test_an_empty_result_is_an_error(embedding: Embedding) -> None:
    nothing: list[dict[str, Any]] = [{"keep": ["z"]}, {"keep": []}, {"exclude": "abcd"}]
    for asked in nothing:
        with pytest.raises(MalformedEmbedding, match="no word is left"):
            restrict(embedding, **asked)


def test_asking_for_nothing_or_nonsense_is_an_error(embedding: Embedding) -> None:
    with pytest.raises(InvalidParameter):
        restrict(embedding)
    with pytest.raises(InvalidParameter):
        restrict(embedding, first=0)


@pytest.mark.parametrize("own", [False, True])
def test_the_unknown_vector_stays(own: bool) -> None:
    words = ["a", "b", "c", *(["<unk>"] if own else [])]
    embedding = Embedding(words, np.arange(2.0 * len(words)).reshape(-1, 2), name="whole")
    smaller = restrict(embedding, first=1)
    np.testing.assert_array_equal(smaller.unknown, embedding.unknown)
    assert smaller.unknown_origin == ("own" if own else "mean of whole")
    assert smaller.fingerprint != embedding.fingerprint


def test_a_restricted_embedding_can_be_stored(embedding: Embedding) -> None:
    smaller = restrict(embedding, keep=["c"])
    info = save(smaller, "smaller", source="restricted from letters")
    again = Embedding.open("smaller")
    assert info.unknown == again.unknown_origin == "mean of letters"
    assert again.fingerprint == smaller.fingerprint


def test_a_part_of_a_stored_embedding_is_installed_with_its_source_and_what_was_not_there(
    embedding: Embedding,
) -> None:
    save(embedding, "letters")
    save(Embedding(["b", "c"], [[1.0], [2.0]]), "other")
    made = install_restricted(
        "letters", "part", keep=["a", "b", "y", "z", "z"], exclude=["q", "a"], common_with="other"
    )
    assert (made.name, made.words, made.absent_from_keep, made.absent_from_exclude) == ("part", 1, 2, 1)
    assert made.source == f"restricted from letters ({embedding.fingerprint})"
    assert list(Embedding.open("part").words) == ["b"]
    assert list(made.to_dict())[-3:] == ["folder", "absent_from_keep", "absent_from_exclude"]
    with pytest.raises(EmbeddingExists):
        install_restricted("nowhere", "part", first=1)
