"""Classifiers learn what is there and nothing else, noise takes it away, and what was found is told as it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, Multivariate
from deniable.errors import DeniableError, InvalidParameter, TaskDataError
from deniable.learning.scores import class_scores
from deniable.learning.summary import EmbeddingFacts, Outcome, points_of
from deniable.learning.version import Learner, original_version, released_version
from deniable.learning.word_classifier import LinearLearner
from deniable.utility.findings import Circumstances, Findings
from deniable.utility.measurement import majority_scores, measure, stratified_split
from deniable.utility.texts import read_classified
from tests.support.made_texts import csv_of, made_rows

ABOUT = Circumstances(
    texts=4,
    classes=2,
    left_out=0,
    model="made up",
    mechanism="multivariate",
    mechanism_options={},
    embedding=EmbeddingFacts(name="made up", fingerprint="0", words=40, dimension=4),
    runs=1,
    held_out=0.25,
    average_unchanged_from="made up",
)


def found_in(
    file: Path, embedding: Embedding, *epsilons: float, learner: Learner | None = None, runs: int = 2, acceptable: float = 0.05
) -> Findings:
    data = read_classified(file, text_column="t", label_column="y")
    mechanisms = {epsilon: Multivariate(embedding, epsilon=epsilon) for epsilon in epsilons}
    outcomes = measure(data, dict(mechanisms), learner or LinearLearner(), runs=runs, held_out=0.25)
    return Findings(
        points=points_of(outcomes),
        unchanged=dict.fromkeys(epsilons, 0.5),
        majority=majority_scores(data.labels, 0.25, runs=runs),
        acceptable_loss=acceptable,
        about=ABOUT,
    )


def test_labels_that_depend_on_words_are_learnt_and_the_curve_rises(two_kinds: Embedding, tmp_path: Path) -> None:
    found = found_in(csv_of(made_rows(400), tmp_path / "a.csv"), two_kinds, 0.001, 2.0, 60.0)
    assert found.learns
    assert found.clean.mean("accuracy") > 0.95
    for place in ("train", "test", "both"):
        low, middle, high = (point.mean("accuracy") for point in found.at(place))
        assert low < middle, place
        assert high > 0.95, place
        # Judged texts that say nothing: 200 coin flips lie above 0.7 once in a hundred million times. (What was learnt from noise
        # judges original texts of a kind alike, so that its accuracy can be anything.)
        assert low < (0.9 if place == "train" else 0.7), place
    changed = [point.changed for point in found.at("train")]
    assert changed[0] > 0.9 > changed[1] > changed[2]
    best = found.smallest_acceptable()
    assert best is not None
    assert best.epsilon in (2.0, 60.0)


def test_shuffled_labels_are_not_learnt(two_kinds: Embedding, tmp_path: Path) -> None:
    found = found_in(csv_of(made_rows(400, shuffled=True), tmp_path / "a.csv"), two_kinds, 60.0)
    # The mean of two times 100 judged texts, halves of equal classes.
    assert all(0.3 < point.mean("accuracy") < 0.7 for point in found.points)


def test_the_bilstm_learns_too(two_kinds: Embedding, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from deniable.learning.classifier import BiLstmLearner, ClassifierSettings

    torch.set_num_threads(1)
    settings = ClassifierSettings(units=8, dropout=0.1, batch=20, epochs=6, patience=6, learning_rate=0.02)
    learner = BiLstmLearner(two_kinds, settings=settings)
    found = found_in(csv_of(made_rows(160), tmp_path / "a.csv"), two_kinds, 60.0, learner=learner, runs=1)
    assert found.clean.mean("accuracy") > 0.9
    assert found.at("train")[0].mean("accuracy") > 0.9


def test_every_release_is_drawn_anew_and_keeps_the_number_of_words(two_kinds: Embedding) -> None:
    original = original_version(["good1 bad2 stranger"] * 50, two_kinds)
    mechanism = Multivariate(two_kinds, epsilon=0.5)
    first, second = released_version(original, mechanism), released_version(original, mechanism)
    assert original.words[0] == ["good1", "bad2", "stranger"]
    assert {len(words) for words in first.words} == {3}
    assert {word for words in first.words for word in words} <= set(two_kinds.words)
    assert first.words != second.words


def test_splits_hold_out_the_same_share_of_every_class_and_differ_between_runs() -> None:
    labels = np.array([0] * 80 + [1] * 16 + [2] * 4)
    learnt, judged = stratified_split(labels, 0.25, seed=1)
    assert np.bincount(labels[judged]).tolist() == [20, 4, 1]
    assert sorted([*learnt, *judged]) == list(range(100))
    assert stratified_split(labels, 0.25, seed=2)[1].tolist() != judged.tolist()
    assert np.bincount(labels[stratified_split(labels, 0.99, seed=1)[0]]).min() == 1


def test_scores_and_the_majority_by_hand() -> None:
    assert class_scores(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])) == {"accuracy": 0.75, "macro F1": pytest.approx((2 / 3 + 0.8) / 2)}
    majority = majority_scores(np.array([0] * 60 + [1] * 20), 0.25, runs=2)
    assert majority["accuracy"] == 0.75
    assert majority["macro F1"] == pytest.approx((6 / 7) / 2)


def test_the_acceptable_epsilon_is_the_smallest_from_which_on_all_are_fine() -> None:
    def outcome(at: str, epsilon: float | None, accuracy: float) -> Outcome:
        return Outcome(at=at, epsilon=epsilon, run=1, scores={"accuracy": accuracy}, words={"all": 10}, changed={"all": 0.5})

    def found(*accuracies: float) -> Findings:
        outcomes = [outcome("nowhere", None, 0.9), *(outcome("train", float(e), a) for e, a in enumerate(accuracies, 1))]
        return Findings(points=points_of(outcomes), unchanged={}, majority={"accuracy": 0.5}, acceptable_loss=0.02, about=ABOUT)

    best = found(0.89, 0.7, 0.885, 0.9).smallest_acceptable()
    assert best is not None
    assert best.epsilon == 3.0
    assert found(0.9, 0.8).smallest_acceptable() is None


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (made_rows(10), "has 10 texts"),
        ([("one", text) for _, text in made_rows(40)], "all 40 texts have the same label"),
        ([*made_rows(40), ("rare", "good1"), ("rarer", "good2")], "2 of its 4 labels stand with fewer than 4"),
        ([("", text) for _, text in made_rows(40)], "none of its 40 records has a label in 'y'"),
        ([(label, "  ") for label, _ in made_rows(40)], "none of its 40 records has both"),
    ],
)
def test_data_that_teaches_nothing_is_refused(rows: list[tuple[str, str]], says: str, tmp_path: Path) -> None:
    with pytest.raises(TaskDataError, match=says) as caught:
        read_classified(csv_of(rows, tmp_path / "a.csv"), text_column="t", label_column="y")
    assert "good" not in str(caught.value), "a message shows a text"


def test_a_missing_column_is_named_and_the_same_column_twice_refused(tmp_path: Path) -> None:
    file = csv_of(made_rows(40), tmp_path / "a.csv")
    for text, label in (("body", "y"), ("t", "class")):
        with pytest.raises(InvalidParameter, match="none of that name"):
            read_classified(file, text_column=text, label_column=label)
    with pytest.raises(InvalidParameter, match="another one"):
        read_classified(file, text_column="t", label_column="t")
    with pytest.raises((DeniableError, OSError)):
        read_classified(tmp_path / "nothing.csv", text_column="t", label_column="y")


def test_empty_texts_are_left_out_and_counted_and_a_sample_is_taken(tmp_path: Path) -> None:
    file = csv_of([*made_rows(60), ("yes", ""), ("", "good1")], tmp_path / "a.csv")
    data = read_classified(file, text_column="t", label_column="y")
    assert (len(data.texts), data.classes, data.left_out) == (60, 2, 2)
    assert len(read_classified(file, text_column="t", label_column="y", most=30).texts) == 30
