from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from deniable import Embedding, InvalidParameter
from deniable.arrays import Floats
from deniable.embeddings.derived import map_embedding
from deniable.embeddings.linear_map import STEP, LinearMap, MapOrigin, PublicData
from deniable.embeddings.subwords import Subwords
from deniable.purposes import reduce, shape
from tests.support.made_purpose import DIMENSION, made_embedding, public_texts


def map_of(embedding: Embedding) -> LinearMap:
    assert embedding.linear_map is not None
    return embedding.linear_map


def shaped() -> Embedding:
    return shape(made_embedding(), [public_texts()], dimension=4)


@pytest.mark.parametrize(
    "made",
    [reduce(made_embedding(), 5), shaped(), shape(made_embedding(), [public_texts(classes=4)], dimension=3)],
)
def test_the_map_is_orthonormal_but_for_its_stated_scales(made: Embedding) -> None:
    linear_map = map_of(made)
    axes = linear_map.axes.astype(np.float64)
    assert np.abs(axes @ axes.T - np.eye(len(axes))).max() < 10 * STEP
    assert np.array_equal(linear_map.matrix, linear_map.scales[:, None] * axes)
    assert linear_map.axes.shape == (made.dimension, DIMENSION)
    assert (linear_map.scales[: linear_map.origin.dimension] == 1.0).all()


def test_words_and_the_unknown_word_and_parts_of_words_are_all_mapped() -> None:
    embedding = made_embedding()
    embedding.subwords = Subwords(
        np.random.default_rng(0).normal(size=(20, DIMENSION)).astype(np.float32), minn=3, maxn=4
    )
    made = reduce(embedding, 5)
    matrix = map_of(made).matrix
    assert np.allclose(made.vectors, embedding.vectors @ matrix.T, atol=1e-5)
    assert np.allclose(made.unknown, embedding.unknown @ matrix.T, atol=1e-5)
    assert made.subwords is not None
    assert np.allclose(
        made.subwords.vectors(["unheard"]), embedding.subwords.vectors(["unheard"]) @ matrix.T, atol=1e-5
    )
    assert made.words == embedding.words
    assert made.fingerprint != embedding.fingerprint


def test_distances_are_those_of_the_map() -> None:
    embedding, made = made_embedding(), shaped()
    before = embedding.vectors[3].astype(np.float64) - embedding.vectors[8]
    after = float(np.linalg.norm(made.vectors[3].astype(np.float64) - made.vectors[8]))
    assert after == pytest.approx(float(np.linalg.norm(map_of(made).matrix @ before)), rel=1e-5)


def test_reducing_to_all_axes_keeps_every_distance_and_to_fewer_never_lengthens_one() -> None:
    embedding = made_embedding()

    def distances(of: Embedding) -> Floats:
        between: Floats = np.linalg.norm(
            of.vectors[:50, None].astype(np.float64) - of.vectors[None, 50:100], axis=2
        )
        return between

    whole = distances(embedding)
    assert np.allclose(distances(reduce(embedding, DIMENSION)), whole, rtol=1e-5)
    assert (distances(reduce(embedding, 6)) <= whole * (1.0 + 1e-5)).all()


def test_reduced_axes_are_the_principal_ones() -> None:
    embedding = made_embedding()
    centred = embedding.vectors.astype(np.float64) - embedding.vectors.mean(axis=0, dtype=np.float64)
    strengths = np.linalg.svd(centred, compute_uv=False)
    found = reduce(embedding, 4).vectors.astype(np.float64).std(axis=0) * np.sqrt(len(embedding))
    assert np.allclose(found, strengths[:4], rtol=1e-4)


def test_the_same_data_gives_the_same_fingerprint_in_another_process_with_other_arithmetic() -> None:
    code = (
        "from tests.support.made_purpose import *; from deniable.purposes import *;"
        "print(shape(made_embedding(), [public_texts(), public_texts(classes=3, seed=2)], "
        "dimension=4).fingerprint)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={"PATH": "", "OPENBLAS_CORETYPE": core},
        ).stdout
        for core in ("Nehalem", "Haswell")
    }
    here = shape(made_embedding(), [public_texts(), public_texts(classes=3, seed=2)], dimension=4)
    assert found == {here.fingerprint + "\n"}


def test_a_map_is_applied_alike_in_any_number_of_rows() -> None:
    embedding = made_embedding()
    linear_map = map_of(reduce(embedding, 5))
    one_by_one = np.concatenate(
        [linear_map.apply(embedding.vectors[i : i + 1]) for i in range(len(embedding))]
    )
    assert np.array_equal(linear_map.apply(embedding.vectors), one_by_one)


def test_a_protected_space_is_not_mapped() -> None:
    from deniable.calibration.choice import protect

    with pytest.raises(InvalidParameter, match="is protected; map the embedding that it was made from"):
        reduce(protect(made_embedding(), np.array([3])), 4)


def test_a_map_for_other_coordinates_is_refused() -> None:
    origin = MapOrigin(kind="reduced", source="made", source_fingerprint="0" * 32, dimension=2)
    wrong = LinearMap.of(np.eye(DIMENSION + 1)[:2], np.ones(2), origin)
    with pytest.raises(InvalidParameter, match=f"vectors of {DIMENSION + 1} coordinates"):
        map_embedding(made_embedding(), wrong)


@pytest.mark.parametrize(
    ("dimension", "says"), [(0, "at least 1"), (13, "12 axes only; choose at most 12"), (2.5, "whole number")]
)
def test_dimensions_that_cannot_be_are_refused(dimension: int, says: str) -> None:
    with pytest.raises(InvalidParameter, match=says):
        reduce(made_embedding(), dimension)


def test_axes_along_which_no_word_differs_are_not_offered() -> None:
    flat = made_embedding().vectors.copy()
    flat[:, 7:] = 1.0
    embedding = Embedding(made_embedding().words, flat)
    assert reduce(embedding, 7).dimension == 7
    with pytest.raises(InvalidParameter, match="7 axes only; choose at most 7"):
        reduce(embedding, 8)
    with pytest.raises(InvalidParameter, match="0 axes only; there is nothing to choose from"):
        reduce(Embedding(["one", "two"], np.ones((2, 3))), 1)


def test_a_map_that_was_made_before_columns_were_noted_keeps_its_digest() -> None:
    learnt: Any = {"texts": 20, "left_out": 1, "labels": "classes", "classes": ("a", "b"), "directions": 1}
    public = PublicData(name="made.csv", sha256="0" * 64, **learnt)
    made: Any = {"kind": "shaped", "source": "made", "source_fingerprint": "1" * 32}
    origin = MapOrigin(**made, dimension=1, strength=2.0, directions=1, public=(public,))
    before = LinearMap.of(np.eye(2), np.array([1.0, 2.5]), origin)
    assert before.digest == "e674d970cdb0adfc431f5a6ceeea93b4"
    named = replace(origin, public=(replace(public, column="mood"),))
    assert LinearMap.of(np.eye(2), np.array([1.0, 2.5]), named).digest != before.digest
