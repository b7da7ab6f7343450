from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import Embedding, InvalidParameter
from deniable.errors import RecordError, TaskDataError
from deniable.purposes import PublicTexts, read_public, reduce, shape
from deniable.purposes.directions import join_directions, learn_directions
from tests.support.made_purpose import DIMENSION, hidden_direction, made_embedding, public_texts

TEXTS = public_texts()


@pytest.mark.parametrize("public", [public_texts(), public_texts(classes=4), public_texts(kind="numbers")])
def test_the_direction_behind_the_labels_is_found(public: PublicTexts) -> None:
    found = learn_directions(made_embedding(), public)
    assert abs(float(found.axes[0] @ hidden_direction())) > 0.9


@pytest.mark.parametrize(
    ("public", "directions"),
    [(public_texts(), 1), (public_texts(classes=4), 3), (public_texts(kind="numbers"), 1)],
)
def test_classes_give_one_direction_less_and_numbers_give_one(public: PublicTexts, directions: int) -> None:
    made = shape(made_embedding(), [public], dimension=4)
    assert made.dimension == 4 + directions
    assert made.linear_map is not None
    (noted,) = made.linear_map.origin.public
    classes = len(set(public.labels)) * (public.kind == "classes")
    assert (noted.directions, noted.labels, len(noted.classes)) == (directions, public.kind, classes)


@pytest.mark.parametrize("strength", [0.5, 2.0, 4.0])
def test_the_purpose_is_spread_as_its_strength_says(strength: float) -> None:
    made = shape(made_embedding(), [public_texts(classes=3)], dimension=4, strength=strength)
    spread = made.vectors.astype(np.float64).std(axis=0)
    assert np.allclose(spread[4:], strength * spread[0], rtol=1e-4)
    assert (np.diff(spread[:4]) <= 0.0).all()


@pytest.mark.parametrize(("classes", "directions"), [(2, 1), (3, 2), (4, 3)])
def test_the_purpose_alone_has_no_other_axes(classes: int, directions: int) -> None:
    texts = public_texts(classes=classes)
    alone = shape(made_embedding(), [texts], dimension=0, strength=2.0)
    beside = shape(made_embedding(), [texts], dimension=1, strength=2.0)
    assert alone.dimension == directions
    assert np.array_equal(alone.vectors, beside.vectors[:, 1:]), "the strength is measured alike"
    assert alone.linear_map is not None
    assert "nothing else survives" in alone.linear_map.origin.in_words()[0]


def test_words_that_differ_for_the_purpose_come_apart_and_others_come_together() -> None:
    embedding = made_embedding()
    made = shape(embedding, [TEXTS], dimension=2, strength=4.0)
    along = embedding.vectors @ hidden_direction()
    far, near = np.argsort(along)[[0, -1]], np.argsort(along)[100:102]

    def share(pair: np.ndarray) -> float:
        before = np.linalg.norm(embedding.vectors[pair[0]] - embedding.vectors[pair[1]])
        return float(np.linalg.norm(made.vectors[pair[0]] - made.vectors[pair[1]]) / before)

    assert share(far) > 2.0
    assert share(near) < 1.0


def test_several_purposes_stand_beside_one_another_and_repeated_ones_once() -> None:
    other = public_texts(classes=3, seed=5)
    shuffled = PublicTexts.of([TEXTS.labels[(3 * i) % 200] for i in range(200)], TEXTS.texts)
    assert shape(made_embedding(), [TEXTS, replace(TEXTS, sha256="of a copy")], dimension=3).dimension == 4
    with pytest.raises(InvalidParameter, match="given twice"):
        shape(made_embedding(), [TEXTS, other, TEXTS], dimension=3)
    made = shape(made_embedding(), [TEXTS, other, shuffled], dimension=3)
    assert made.dimension == 3 + 1 + 2 + 1
    assert made.linear_map is not None
    assert [each.directions for each in made.linear_map.origin.public] == [1, 2, 1]


def test_nan_beside_numbers_is_a_number_that_is_missing() -> None:
    numbers = [f"{i / 7:.3f}" for i in range(200)]
    with_gaps = ["NaN" if i % 10 == 0 else number for i, number in enumerate(numbers)]
    found = PublicTexts.of(with_gaps, TEXTS.texts)
    assert (found.kind, len(found.texts), found.left_out) == ("numbers", 180, 20)
    bread = PublicTexts.of(["nan", "rye"] * 100, TEXTS.texts)
    assert (bread.kind, bread.left_out) == ("classes", 0), "beside other words it is one"
    with pytest.raises(TaskDataError, match="all 100 texts have the same label"):
        PublicTexts.of(["1.5", "nan"] * 100, TEXTS.texts)


def test_a_space_is_mapped_once() -> None:
    for mapped in (reduce(made_embedding(), 3), shape(made_embedding(), [TEXTS], dimension=3)):
        with pytest.raises(InvalidParameter, match="already"):
            reduce(mapped, 2)
        with pytest.raises(InvalidParameter, match="already"):
            shape(mapped, [TEXTS], dimension=2)


def test_joined_directions_are_orthonormal_and_span_all() -> None:
    rng = np.random.default_rng(0)
    several = [np.linalg.qr(rng.normal(size=(DIMENSION, 2)))[0].T for _ in range(3)]
    joined = join_directions([*several, several[0]])
    assert joined.shape == (6, DIMENSION)
    assert np.allclose(joined @ joined.T, np.eye(6))
    assert np.allclose((several[2] @ joined.T) @ joined, several[2])


def test_the_weights_are_those_of_multinomial_regression_for_two_classes_too() -> None:
    from scipy.optimize import minimize

    from deniable.purposes.directions import PENALTY, mean_vectors

    embedding = made_embedding()
    means, _ = mean_vectors(embedding, TEXTS.texts)
    features = (means - means.mean(axis=0)) / means.std(axis=0)
    labels = np.array([int(label[-1]) for label in TEXTS.labels])

    def loss(flat: np.ndarray) -> float:
        weights, constants = flat[: 2 * DIMENSION].reshape(2, DIMENSION), flat[2 * DIMENSION :]
        scores = features @ weights.T + constants
        return float(
            np.logaddexp.reduce(scores, axis=1).sum()
            - scores[np.arange(len(labels)), labels].sum()
            + PENALTY * len(labels) / 2 * (weights**2).sum()
        )

    weights = minimize(loss, np.zeros(2 * DIMENSION + 2), tol=1e-10).x[: 2 * DIMENSION].reshape(2, DIMENSION)
    expected = (weights[1] - weights[0]) / means.std(axis=0)
    expected /= np.linalg.norm(expected)
    found = learn_directions(embedding, TEXTS).axes[0]
    assert abs(float(found @ expected)) == pytest.approx(1.0, abs=1e-5)


def test_a_class_that_is_rare_in_a_part_of_checked_texts_is_learnt_from() -> None:
    """Tuning shapes by four in ten of the texts: a class with a few texts has fewer there."""
    part = replace(TEXTS, labels=["rare", "rare", *TEXTS.labels[2:]])
    assert learn_directions(made_embedding(), part).classes == ("class0", "class1", "rare")


def texts_with(labels: Sequence[str | float], **options: str) -> PublicTexts:
    return PublicTexts.of(labels, TEXTS.texts[: len(labels)], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (["a", "b"] * 5, "has 10 texts with a label; 20 are the least"),
        (["a"] * 50, "all 50 texts have the same label"),
        ([""] * 50, "none of its 50 records has a label"),
        (["a"] * 25 + ["b"] * 25 + ["c"] * 2, "1 of its 3 labels have fewer than 4"),
        ([1.5] * 50, "all 50 texts have the same label"),
        (["1.5", "1.50"] * 25, "all 50 texts have the same label"),
    ],
)
def test_labels_that_teach_nothing_are_refused(labels: list[str | float], says: str) -> None:
    with pytest.raises(TaskDataError, match=says):
        texts_with(labels)


def test_labels_are_classes_or_numbers_as_they_look_or_as_said() -> None:
    stars = [1 + i % 5 for i in range(100)]
    assert texts_with(stars).kind == "classes"
    assert texts_with(stars, kind="numbers").kind == "numbers"
    assert texts_with([i / 2 for i in stars]).kind == "numbers"
    assert texts_with(list(range(100))).kind == "numbers"
    with pytest.raises(TaskDataError, match="100 of its 100 labels are no finite numbers"):
        texts_with(["good", "nan"] * 50, kind="numbers")
    with pytest.raises(InvalidParameter, match="must be classes, numbers or auto"):
        texts_with(stars, kind="colours")
    with pytest.raises(InvalidParameter, match="must be as many as the texts"):
        PublicTexts.of(["a"], ["one", "two"])


def test_texts_without_a_known_word_are_left_out_and_counted() -> None:
    some = PublicTexts.of([*TEXTS.labels, "class0", "class1"], [*TEXTS.texts, "unheard", "of"])
    made = shape(made_embedding(), [some], dimension=3)
    assert made.fingerprint == shape(made_embedding(), [TEXTS], dimension=3).fingerprint
    assert made.linear_map is not None
    assert [(each.texts, each.left_out) for each in made.linear_map.origin.public] == [(200, 2)]
    none = PublicTexts.of(["a", "b"] * 20, ["nothing known"] * 40)
    with pytest.raises(TaskDataError, match="none of its texts holds a word that the embedding knows"):
        shape(made_embedding(), [none])


def test_texts_that_are_all_alike_are_refused() -> None:
    with pytest.raises(TaskDataError, match="the same mean vector"):
        shape(made_embedding(), [PublicTexts.of(["a", "b"] * 20, ["wordaa wordab"] * 40)])


def test_one_text_for_all_labels_teaches_no_direction() -> None:
    pair = ["wordaa wordab", "wordba wordbb"]
    with pytest.raises(TaskDataError, match="its labels have nothing to do with its words"):
        shape(made_embedding(), [PublicTexts.of(["a", "a", "b", "b"] * 20, pair * 40)])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"dimension": 12}, "11 axes only beside the 1 of the purpose; choose at most 11"),
        ({"dimension": -1}, "at least 0"),
        ({"strength": 0.0}, "between 0.01 and 1000"),
        ({"strength": float("nan")}, "between 0.01 and 1000"),
        ({"strength": True}, "between 0.01 and 1000"),
    ],
)
def test_numbers_that_cannot_be_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidParameter, match=says):
        shape(made_embedding(), [TEXTS], **options)
    with pytest.raises(InvalidParameter, match="at least one purpose"):
        shape(made_embedding(), [])


def test_a_space_of_few_dimensions_without_spread_is_refused_in_words() -> None:
    words = made_embedding().words
    flat = np.zeros((len(words), 3))
    flat[:, 0] = np.arange(len(words))
    with pytest.raises(InvalidParameter, match="0 axes only beside the 1 of the purpose"):
        shape(Embedding(words, flat), [TEXTS], dimension=1)


def test_progress_is_told_over_all_purposes() -> None:
    heard: list[tuple[int, int]] = []
    two = [TEXTS, public_texts(seed=2)]
    shape(made_embedding(), two, dimension=3, report=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (400, 400)
    assert heard == sorted(heard)


@pytest.mark.parametrize("scale", [1e-12, 1e9])
def test_the_scale_of_vectors_and_of_numbers_is_no_matter(scale: float) -> None:
    space, numbers = made_embedding(), public_texts(kind="numbers")
    scaled = Embedding(space.words, space.vectors * np.float32(scale))
    huge = PublicTexts.of([f"{float(label) * 1e300:g}" for label in numbers.labels], numbers.texts)
    for public in (TEXTS, numbers, huge):
        before, after = learn_directions(space, public).axes, learn_directions(scaled, public).axes
        assert np.abs(before @ after.T) == pytest.approx(np.eye(len(before)), abs=1e-4)
    made, other = (shape(each, [TEXTS], dimension=3).linear_map for each in (scaled, space))
    assert made is not None
    assert other is not None
    assert made.scales == pytest.approx(other.scales, rel=1e-3)


def test_at_most_twenty_purposes_make_a_space() -> None:
    with pytest.raises(InvalidParameter, match="at most 20 purposes"):
        shape(made_embedding(), [TEXTS] * 21)


def test_files_of_every_format_are_read(tmp_path: Path) -> None:
    lines = [
        json.dumps({"t": text, "y": float(i) / 4 if i % 50 else None}) for i, text in enumerate(TEXTS.texts)
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    found = read_public(tmp_path / "a.jsonl", text_column="t", label_column="y")
    assert (found.kind, len(found.texts), found.left_out, found.source) == ("numbers", 196, 4, "a.jsonl")
    assert found.sha256 == hashlib.sha256((tmp_path / "a.jsonl").read_bytes()).hexdigest()
    table = pa.table({"t": TEXTS.texts, "y": [i % 2 for i in range(200)]})
    pq.write_table(table, tmp_path / "a.parquet")
    assert read_public(tmp_path / "a.parquet", text_column="t", label_column="y").kind == "classes"
    numbers = pa.table(
        {"t": TEXTS.texts, "y": [float("nan") if i == 3 else None if i == 4 else i / 8 for i in range(200)]}
    )
    pq.write_table(numbers, tmp_path / "b.parquet")
    found = read_public(tmp_path / "b.parquet", text_column="t", label_column="y")
    assert (found.kind, found.left_out, found.labels[:4]) == ("numbers", 2, ["0.0", "0.125", "0.25", "0.625"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_refused_since_its_digest_could_not_be_noted(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(RecordError, match="a pipe"):
        read_public(tmp_path / "a.csv", text_column="t", label_column="y")


def test_a_file_without_a_record_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,y\n")
    with pytest.raises(TaskDataError, match="holds no record"):
        read_public(tmp_path / "a.csv", text_column="t", label_column="y")
