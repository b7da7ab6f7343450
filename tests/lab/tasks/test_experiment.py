"""Tiny experiments from end to end: models learn what is there and nothing else; finished work is never done
twice."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from deniable import Embedding
from deniable.errors import TaskDataError
from deniable.lab.neural.classifier import ClassifierSettings
from deniable.lab.neural.encoded_task import load_encoded_task, save_encoded_task
from deniable.lab.neural.ranker import HardestOfSome, RankerSettings, gesd
from deniable.lab.tasks.data.examples import AnswerSelection, Classification, Labelled, Task, fingerprint
from deniable.lab.tasks.experiment.outcomes import Setting, TaskOutcome, settings_of
from deniable.lab.tasks.experiment.runner import (
    Experiment,
    SettingRunner,
    TrainingSettings,
    encode_task,
    run_settings,
)
from deniable.release.policies import TextPolicy

FEW = ClassifierSettings(units=8, dropout=0.1, batch=20, epochs=8, learning_rate=0.02)
FEW_PAIRS = RankerSettings(units=8, dropout=0.0, batch=20, near=4, epochs=10, learning_rate=0.02)
HARDEST = dataclasses.replace(FEW_PAIRS, near=0, loss=HardestOfSome(negatives=10))


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def experiment_with(task: Task, embedding: Embedding, folder: Path, training: TrainingSettings) -> Experiment:
    assert embedding.folder is not None
    experiment = Experiment(
        task=task.name, data=fingerprint(task), embedding=embedding.folder, folder=folder, training=training
    )
    save_encoded_task(encode_task(task, embedding, TextPolicy()), experiment.encoded_file)
    return experiment


def test_a_classifier_learns_and_noise_takes_away_what_it_learnt(
    reviews: Classification, installed: Embedding, tmp_path: Path
) -> None:
    experiment = experiment_with(reviews, installed, tmp_path, FEW)
    clean, *noisy = run_settings(experiment, settings_of([0.05, 50.0], ["train", "test"], 1))
    found = {(outcome.at, outcome.epsilon): outcome.scores["accuracy"] for outcome in noisy}
    assert clean.scores["accuracy"] > 0.95
    assert found["test", 0.05] < 0.7
    assert found["test", 50.0] > 0.95
    assert found["train", 50.0] > 0.95
    assert {o.at: list(o.changed) for o in noisy} == {"train": ["train", "validation"], "test": ["test"]}
    assert all(o.changed["test"] > 0.9 for o in noisy if o.at == "test" and o.epsilon == 0.05)


def test_a_classifier_on_shuffled_labels_does_not_learn(
    reviews: Classification, installed: Embedding, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)

    def shuffled(part: Labelled) -> Labelled:
        return dataclasses.replace(part, labels=rng.permutation(part.labels).tolist())

    task = dataclasses.replace(
        reviews, train=shuffled(reviews.train), validation=shuffled(reviews.validation)
    )
    (clean,) = run_settings(experiment_with(task, installed, tmp_path, FEW), settings_of([], [], 1))
    # 200 coin flips lie above 0.68 once in ten million times; a model that saw the true labels has 0.95 and
    # more.
    assert clean.scores["accuracy"] < 0.68


@pytest.mark.parametrize(
    "training", [FEW_PAIRS, HARDEST], ids=["softmax over alike questions", "the hardest of some"]
)
def test_a_ranker_learns_to_find_answers(
    questions: AnswerSelection, installed: Embedding, tmp_path: Path, training: RankerSettings
) -> None:
    clean, noisy = run_settings(
        experiment_with(questions, installed, tmp_path, training), settings_of([0.01], ["test"], 1)
    )
    assert clean.scores["MRR@10"] > 0.45  # a random ranking of ten has 0.29
    assert noisy.scores["MRR@10"] < clean.scores["MRR@10"]


def test_gesd_by_hand() -> None:
    first, second = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    distance = torch.linalg.vector_norm(first - second).item()
    assert gesd(first @ second).item() == pytest.approx(1 / (1 + distance) / (1 + np.exp(-1.0)))
    assert gesd(first @ first).item() == pytest.approx(1 / (1 + np.exp(-2.0)))
    assert gesd(first @ -first).item() == pytest.approx(1 / (1 + 2.0) / (1 + np.exp(0.0)))


def test_an_interrupted_experiment_goes_on_and_repeats_nothing(
    reviews: Classification, installed: Embedding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    experiment = experiment_with(reviews, installed, tmp_path, dataclasses.replace(FEW, epochs=1))
    settings = settings_of([5.0], ["train", "test"], 1)
    ran: list[str] = []
    really_run = SettingRunner.run

    def interrupted(self: SettingRunner, setting: Setting) -> TaskOutcome:
        if len(ran) == 1 and setting.at == "train":
            raise KeyboardInterrupt
        ran.append(setting.name)
        return really_run(self, setting)

    monkeypatch.setattr(SettingRunner, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_settings(experiment, settings)
    ran.append("second call")
    assert len(run_settings(experiment, settings)) == 3
    assert ran == ["unperturbed-run1", "second call", "train-5-run1", "test-5-run1"]
    run_settings(experiment, settings)
    assert len(ran) == 4


def test_a_model_that_was_lost_is_trained_again_for_the_settings_that_need_it(
    reviews: Classification, installed: Embedding, tmp_path: Path
) -> None:
    experiment = experiment_with(reviews, installed, tmp_path, dataclasses.replace(FEW, epochs=1))
    run_settings(experiment, settings_of([], [], 1))
    SettingRunner(experiment).model_file(1).unlink()
    assert len(run_settings(experiment, settings_of([5.0], ["test"], 1))) == 2


def test_the_model_of_another_recipe_is_never_taken(
    reviews: Classification, installed: Embedding, tmp_path: Path
) -> None:
    experiment = experiment_with(reviews, installed, tmp_path, FEW)
    other = dataclasses.replace(experiment, training=dataclasses.replace(FEW, epochs=2))
    assert SettingRunner(experiment).model_file(1) != SettingRunner(other).model_file(1)


def test_two_values_of_epsilon_never_share_a_name() -> None:
    names = [Setting(at="test", epsilon=epsilon, run=1).name for epsilon in (5.0, 5.000000001, 5.82)]
    assert names == ["test-5-run1", "test-5.000000001-run1", "test-5.82-run1"]


def test_results_of_another_recipe_are_refused(
    reviews: Classification, installed: Embedding, tmp_path: Path
) -> None:
    experiment = experiment_with(reviews, installed, tmp_path, dataclasses.replace(FEW, epochs=1))
    run_settings(experiment, settings_of([], [], 1))
    with pytest.raises(TaskDataError, match="another recipe"):
        run_settings(
            dataclasses.replace(experiment, training=dataclasses.replace(FEW, epochs=2)),
            settings_of([], [], 1),
        )


def test_an_encoded_task_comes_back_as_it_was(
    questions: AnswerSelection, two_kinds: Embedding, tmp_path: Path
) -> None:
    task = encode_task(questions, two_kinds, TextPolicy())
    save_encoded_task(task, tmp_path / "material.npz")
    back = load_encoded_task(tmp_path / "material.npz")
    assert {name: p.digest for name, p in back.passages.items()} == {
        name: p.digest for name, p in task.passages.items()
    }
    assert back.right("test", 3).tolist() == questions.test.answers[3]
    assert back.pools("test")[10].tolist() == questions.test.pools[10]
    (tmp_path / "material.npz").write_bytes(b"no archive")
    with pytest.raises(TaskDataError, match="cannot be read"):
        load_encoded_task(tmp_path / "material.npz")
