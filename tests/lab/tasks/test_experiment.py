"""Tiny experiments from end to end: models learn what is there and nothing else; finished work is never done
twice, and results that people have on their disks are recognised."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.support.made_cased import cased_rows, made_cased

from deniable import Embedding, Multivariate
from deniable.errors import TaskDataError
from deniable.lab.neural.classifier import ClassifierSettings
from deniable.lab.neural.ranker import HardestOfSome, RankerSettings, gesd
from deniable.lab.tasks.experiment import Experiment
from deniable.lab.tasks.outcomes import (
    Setting,
    TaskOutcome,
    keep_outcome,
    kept_outcome,
    read_outcome,
    settings_of,
)
from deniable.lab.tasks.task import Part, Task
from deniable.utility.accuracy import draw_words

FEW = ClassifierSettings(units=8, dropout=0.1, batch=20, epochs=8, learning_rate=0.02)
ONE_EPOCH = dataclasses.replace(FEW, epochs=1)
FEW_PAIRS = RankerSettings(units=8, dropout=0.0, batch=20, near=4, epochs=10, learning_rate=0.02)
HARDEST = dataclasses.replace(FEW_PAIRS, near=0, loss=HardestOfSome(negatives=10))


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_a_classifier_learns_and_noise_takes_away_what_it_learnt(
    reviews: Task, two_kinds: Embedding, tmp_path: Path
) -> None:
    experiment = Experiment(reviews, two_kinds, FEW, folder=tmp_path)
    clean, *noisy = experiment.run(settings_of([0.05, 50.0], ["train", "test"], 1))
    found = {(outcome.at, outcome.epsilon): outcome.scores["accuracy"] for outcome in noisy}
    assert clean.scores["accuracy"] > 0.95
    assert found["test", 0.05] < 0.7
    assert found["test", 50.0] > 0.95
    assert found["train", 50.0] > 0.95
    assert {o.at: list(o.changed) for o in noisy} == {"train": ["train", "validation"], "test": ["test"]}
    assert all(o.changed["test"] > 0.9 for o in noisy if o.at == "test" and o.epsilon == 0.05)


def test_a_classifier_on_shuffled_labels_does_not_learn(
    reviews: Task, two_kinds: Embedding, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    train, validation = (
        dataclasses.replace(part, labels=rng.permutation(part.labels).tolist())
        for part in (reviews.train, reviews.validation)
    )
    task = dataclasses.replace(reviews, train=train, validation=validation)
    (clean,) = Experiment(task, two_kinds, FEW, folder=tmp_path).run(settings_of([], [], 1))
    # 200 coin flips lie above 0.68 once in ten million times; a model that saw the true labels has 0.95.
    assert clean.scores["accuracy"] < 0.68


@pytest.mark.parametrize("training", [FEW_PAIRS, HARDEST], ids=["softmax over alike", "hardest of some"])
def test_a_ranker_learns_to_find_answers(
    questions: Task, two_kinds: Embedding, tmp_path: Path, training: RankerSettings
) -> None:
    experiment = Experiment(questions, two_kinds, training, folder=tmp_path)
    clean, noisy = experiment.run(settings_of([0.01], ["test"], 1))
    assert clean.scores["MRR@10"] > 0.45  # a random ranking of ten has 0.29
    assert noisy.scores["MRR@10"] < clean.scores["MRR@10"]


def test_gesd_by_hand() -> None:
    first, second = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    distance = torch.linalg.vector_norm(first - second).item()
    assert gesd(first @ second).item() == pytest.approx(1 / (1 + distance) / (1 + np.exp(-1.0)))
    assert gesd(first @ first).item() == pytest.approx(1 / (1 + np.exp(-2.0)))
    assert gesd(first @ -first).item() == pytest.approx(1 / (1 + 2.0) / (1 + np.exp(0.0)))


def test_an_interrupted_experiment_goes_on_and_repeats_nothing(
    reviews: Task, two_kinds: Embedding, tmp_path: Path
) -> None:
    settings, ran = settings_of([5.0], ["train", "test"], 1), list[str]()

    def interrupt(outcome: TaskOutcome) -> None:
        ran.append(outcome.setting.name)
        if len(ran) == 1:
            raise KeyboardInterrupt

    def run() -> list[TaskOutcome]:
        return Experiment(reviews, two_kinds, ONE_EPOCH, folder=tmp_path).run(settings, on_result=interrupt)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert len(run()) == 3
    # The model of the first call is gone, so it is trained again for the setting that needs it.
    assert ran == ["unperturbed-run1", "train-5-run1", "unperturbed-run1", "test-5-run1"]
    run()
    assert len(ran) == 4


def test_results_of_another_recipe_are_refused(reviews: Task, two_kinds: Embedding, tmp_path: Path) -> None:
    Experiment(reviews, two_kinds, ONE_EPOCH, folder=tmp_path).run(settings_of([], [], 1))
    with pytest.raises(TaskDataError, match="another recipe"):
        Experiment(reviews, two_kinds, FEW, folder=tmp_path).run(settings_of([], [], 1))


def test_texts_are_cut_as_a_release_cuts_them(tmp_path: Path) -> None:
    embedding = made_cased()
    parts = []
    for count in (40, 20, 30):
        rows = cased_rows(count)
        labels = [int(label == "names") for label, _ in rows]
        parts.append(Part(texts=[text for _, text in rows], labels=labels))
    train, validation, test = parts
    task = Task(name="imdb", classes=["nouns", "names"], train=train, validation=validation, test=test)
    experiment = Experiment(task, embedding, FEW, folder=tmp_path)
    mechanism = Multivariate(embedding, epsilon=1e6)
    for name, part in task.parts.items():
        texts = experiment.texts[name]
        assert [embedding.words[i] for i in texts.ids] == [
            word for text in part.texts for word in text.split()
        ]
        assert np.array_equal(draw_words(texts.ids, mechanism), texts.ids)


def test_threads_draw_every_word(two_kinds: Embedding) -> None:
    ids = np.zeros(40_000, dtype=np.int64)
    parts = draw_words(ids, Multivariate(two_kinds, epsilon=0.01), threads=4).reshape(8, 5000)
    assert all(len(np.unique(part)) > 20 for part in parts)
    assert len({part.tobytes() for part in parts}) == 8


def test_two_values_of_epsilon_never_share_a_name() -> None:
    names = [Setting(at="test", epsilon=epsilon, run=1).name for epsilon in (5.0, 5.000000001, 5.82)]
    assert names == ["test-5-run1", "test-5.000000001-run1", "test-5.82-run1"]


KEPT: dict[str, Any] = {
    "task": "imdb",
    "data": "4767c7a3d07e7c799e057ed4d533d92a",
    "embedding": {
        "name": "glove",
        "fingerprint": "4630da5375860552253cd55662a45c69",
        "words": 33860,
        "dimension": 300,
    },
    "mechanism": {
        "mechanism": "deniable.mechanisms.vickrey.Vickrey",
        "parameters": {"t": 0.5, "noise": "multivariate"},
    },
    "policy": {"unknown": "perturb", "punctuation": "drop", "case": "drop", "keep_words": []},
    "recipe": {"units": 141, "loss": {"margin": 0.2, "negatives": 50}},
    "at": "train",
    "epsilon": 5.0,
    "run": 1,
    "scores": {"accuracy": 0.87716},
    "epochs": 7,
    "words": {"train": 90, "validation": 10},
    "changed": {"train": 0.5, "validation": 0.2},
    "unknown": {"train": 0.03, "test": 0.02},
    "seconds": {"perturbing": 0.0, "training_and_testing": 56.08},
    "made_with": {"deniable": "0.1.0", "python": "3.12.3", "model_seed": 1},
}
"""A result as files hold it."""


def kept_in(folder: Path, content: dict[str, Any]) -> Path:
    file = folder / "train-5-run1.json"
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return file


def identity_of(outcome: TaskOutcome) -> dict[str, Any]:
    data = outcome.to_dict()
    return {name: data[name] for name in ("task", "data", "embedding", "mechanism", "policy", "recipe")}


def test_a_kept_result_is_read_and_written_back_byte_for_byte(tmp_path: Path) -> None:
    file = kept_in(tmp_path, KEPT)
    written, outcome = file.read_bytes(), read_outcome(file)
    assert (outcome.scores, outcome.epochs, outcome.embedding.words) == ({"accuracy": 0.87716}, 7, 33860)
    assert outcome.setting == Setting(at="train", epsilon=5.0, run=1)
    assert kept_outcome(tmp_path, identity_of(outcome), outcome.setting) == outcome
    assert kept_outcome(tmp_path, identity_of(outcome), Setting(at="test", epsilon=5.0, run=1)) is None
    keep_outcome(tmp_path, outcome)
    assert file.read_bytes() == written


def test_all_published_results_are_read_and_given_back() -> None:
    published = Path(__file__).resolve().parents[3] / "docs" / "research" / "utility.json"
    results = json.loads(published.read_text(encoding="utf-8"))
    assert len(results) > 300
    for found in results:
        assert json.dumps(TaskOutcome.from_dict(found).to_dict()) == json.dumps(found)


@pytest.mark.parametrize(
    "name", ["task", "data", "embedding", "mechanism", "policy", "recipe", "epsilon", "run", "at"]
)
def test_a_result_of_another_experiment_is_refused_by_what_differs(name: str, tmp_path: Path) -> None:
    identity = identity_of(TaskOutcome.from_dict(KEPT))
    others: dict[str, Any] = {
        "embedding": {**KEPT["embedding"], "words": 3},
        "epsilon": 6.0,
        "run": 2,
        "at": "test",
        "policy": {"unknown": "drop"},
        "recipe": {"units": 1},
    }
    file = kept_in(tmp_path, {**KEPT, name: others.get(name, "another")})
    with pytest.raises(TaskDataError, match=f"another {name};"):
        kept_outcome(tmp_path, identity, Setting(at="train", epsilon=5.0, run=1))
    assert file.exists()


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", json.dumps({**KEPT, "scores": None}), json.dumps({**KEPT, "embedding": {}}), "\xff"],
)
def test_a_damaged_result_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(TaskDataError) as raised:
        read_outcome(tmp_path / "a.json")
    assert raised.value.source == str(tmp_path / "a.json")
