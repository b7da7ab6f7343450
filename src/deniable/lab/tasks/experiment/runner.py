"""Runs one setting of an experiment: perturbs what is to be perturbed, trains or loads the model, and
evaluates it."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load, save

from deniable.atomic import whole_file
from deniable.embeddings.embedding import Embedding
from deniable.errors import TaskDataError
from deniable.interfaces import Mechanism
from deniable.lab.neural.batches import DeviceTexts
from deniable.lab.neural.classifier import Classifier, ClassifierSettings, predict_classes, train_classifier
from deniable.lab.neural.encoded_task import EncodedTask, load_encoded_task
from deniable.lab.neural.encoder import vectors_for_models
from deniable.lab.neural.ranker import Ranker, RankerSettings, evaluate_ranker, train_ranker
from deniable.lab.passages import Passages, passages_of
from deniable.lab.perturbation import Perturbations, changed_share
from deniable.lab.tasks.data.examples import Classification, Task
from deniable.lab.tasks.experiment.outcomes import Setting, TaskOutcome, keep_outcome, kept_outcome
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.release.policies import TextPolicy
from deniable.utility.scores import accuracy
from deniable.utility.summary import MeasuredEmbedding
from deniable.version import __version__

TrainingSettings = ClassifierSettings | RankerSettings
SPLITS = ("train", "validation", "test")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """What is measured, with what, and where it is kept; small, and sent to worker processes. ``embedding``
    is a name or a folder."""

    task: str
    data: str
    embedding: str | Path
    folder: Path
    training: TrainingSettings
    policy: TextPolicy = field(default_factory=TextPolicy)
    mechanism: ChosenMechanism = field(default_factory=ChosenMechanism)
    device: str = "cpu"
    threads: int = 1

    @property
    def encoded_file(self) -> Path:
        """The file that holds the task as ids; its name is the one that folders on people's disks have."""
        return self.folder / "material.npz"


def encode_task(task: Task, embedding: Embedding, policy: TextPolicy) -> EncodedTask:
    """Return the task as ids of an embedding, cut as a release cuts text. Answers are public: no policy
    changes them."""
    passages = {split: passages_of(getattr(task, split).texts, embedding, policy) for split in SPLITS}
    arrays: dict[str, NDArray[np.int64]] = {}
    if isinstance(task, Classification):
        arrays["classes"] = np.array(len(task.classes))
        for split in SPLITS:
            arrays[f"labels/{split}"] = np.array(getattr(task, split).labels, dtype=np.int64)
        return EncodedTask(passages=passages, arrays=arrays)
    passages["answers"] = passages_of(task.answers, embedding, TextPolicy())
    for split in SPLITS:
        questions = getattr(task, split)
        arrays[f"right/{split}"] = np.array(
            [answer for answers in questions.answers for answer in answers], dtype=np.int64
        )
        arrays[f"right_offsets/{split}"] = np.cumsum([0, *map(len, questions.answers)], dtype=np.int64)
        for size, pools in questions.pools.items():
            arrays[f"pool{size}/{split}"] = np.array(pools, dtype=np.int64)
    return EncodedTask(passages=passages, arrays=arrays)


class SettingRunner:
    """The encoded task, the embedding and the kept perturbations of an experiment, and the models made from
    them."""

    def __init__(self, experiment: Experiment) -> None:
        """Open the encoded task.

        :raises TaskDataError: if it is damaged.
        """
        self.experiment = experiment
        self._embedding = Embedding.open(experiment.embedding)
        self._task = load_encoded_task(experiment.encoded_file)
        self._perturbations = Perturbations(
            experiment.folder / "perturbed", experiment.policy, threads=experiment.threads
        )
        self._mechanisms: dict[float, Mechanism] = {}

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What all results of this experiment depend on."""
        experiment, papers = self.experiment, self.experiment.mechanism.is_papers
        return {
            "task": experiment.task,
            "data": experiment.data,
            "embedding": asdict(MeasuredEmbedding.of(self._embedding)),
            "mechanism": "Multivariate" if papers else experiment.mechanism.identity(self._embedding),
            "policy": {**asdict(experiment.policy), "keep_words": sorted(experiment.policy.keep_words)},
            "recipe": asdict(experiment.training),
        }

    def perturb(self, setting: Setting) -> dict[str, Passages]:
        """Return what this setting changes, drawing it if it was never drawn."""
        if setting.epsilon is None:
            return {}
        if setting.epsilon not in self._mechanisms:
            self._mechanisms[setting.epsilon] = self.experiment.mechanism(
                self._embedding, epsilon=setting.epsilon
            )
        mechanism = self._mechanisms[setting.epsilon]
        splits = ("train", "validation") if setting.at == "train" else ("test",)
        return {
            split: self._perturbations.get(self._task.passages[split], mechanism, setting.run)
            for split in splits
        }

    def model_file(self, run: int) -> Path:
        """Return where the model trained on unperturbed text in this run is kept: a place of its own for each
        way of training."""
        made = hashlib.blake2b(json.dumps(self.identity, sort_keys=True).encode(), digest_size=4).hexdigest()
        return self.experiment.folder / "models" / f"run{run}-{made}.safetensors"

    def run(self, setting: Setting) -> TaskOutcome:
        """Return the result of a setting.

        :raises TaskDataError: if the unperturbed model of this run, which a test-time setting needs, is not
            there.
        """
        started = time.monotonic()
        perturbed = self.perturb(setting)
        clean = self._task.passages
        passages = {**clean, **perturbed}
        began = time.monotonic()
        model_file, epochs = self.model_file(setting.run), None
        if setting.at == "test":
            model = self._new_model(setting.run)
            if not model_file.exists():
                raise TaskDataError(model_file, "the model trained on unperturbed text is missing")
            model.load_state_dict(load(model_file.read_bytes()))
        else:
            model, epochs = self._train(passages, setting.run)
            if setting.at == "nowhere":
                model_file.parent.mkdir(parents=True, exist_ok=True)
                with whole_file(model_file) as file:
                    file.write(
                        save({name: tensor.contiguous() for name, tensor in model.state_dict().items()})
                    )
        scores = self._evaluate(model, passages["test"])
        return TaskOutcome(
            identity=self.identity,
            at=setting.at,
            epsilon=setting.epsilon,
            run=setting.run,
            scores=scores,
            epochs=epochs,
            words={split: len(clean[split].ids) for split in perturbed},
            changed={split: changed_share(clean[split], changed) for split, changed in perturbed.items()},
            unknown={
                s: float((clean[s].ids == self._embedding.unknown_id).mean()) for s in ("train", "test")
            },
            seconds={
                "perturbing": round(began - started, 2),
                "training_and_testing": round(time.monotonic() - began, 2),
            },
            made_with={
                "deniable": __version__,
                "python": sys.version.split()[0],
                "numpy": np.__version__,
                "torch": torch.__version__,
                "device": torch.cuda.get_device_name() if self._device.type == "cuda" else "cpu",
                "noise": "secure (AES-128 counter mode, keyed by the operating system)",
                "model_seed": setting.run,
            },
        )

    @cached_property
    def _device(self) -> torch.device:
        return torch.device(self.experiment.device)

    @cached_property
    def _vectors(self) -> torch.Tensor:
        return vectors_for_models(self._embedding)

    def _texts(self, passages: Passages) -> DeviceTexts:
        return DeviceTexts(
            passages,
            longest=self.experiment.training.longest,
            padding=len(self._embedding) + 1,
            device=self._device,
        )

    @cached_property
    def _answers(self) -> DeviceTexts:
        return self._texts(self._task.passages["answers"])

    def _new_model(self, seed: int) -> Classifier | Ranker:
        torch.manual_seed(seed)
        training = self.experiment.training
        if isinstance(training, RankerSettings):
            return Ranker(self._vectors, training).to(self._device)
        return Classifier(self._vectors, int(self._task.arrays["classes"]), training).to(self._device)

    def _train(self, passages: dict[str, Passages], seed: int) -> tuple[Classifier | Ranker, int]:
        model, training = self._new_model(seed), self.experiment.training
        train, validation = self._texts(passages["train"]), self._texts(passages["validation"])
        if isinstance(model, Ranker) and isinstance(training, RankerSettings):
            return model, train_ranker(model, train, validation, self._answers, self._task, training, seed)
        assert isinstance(model, Classifier) and isinstance(training, ClassifierSettings)  # noqa: S101, PT018 - tells mypy what _new_model does
        labels = self._task.arrays
        epochs = train_classifier(
            model, train, labels["labels/train"], validation, labels["labels/validation"], training, seed
        )
        return model, epochs

    def _evaluate(self, model: Classifier | Ranker, test: Passages) -> dict[str, float]:
        if isinstance(model, Ranker):
            return evaluate_ranker(model, self._texts(test), self._answers, self._task, "test")
        return {
            "accuracy": accuracy(predict_classes(model, self._texts(test)), self._task.arrays["labels/test"])
        }


def run_settings(
    experiment: Experiment,
    settings: Sequence[Setting],
    *,
    on_result: Callable[[TaskOutcome], None] | None = None,
) -> list[TaskOutcome]:
    """Return the results of the settings in order; those that were finished before are not run again.

    ``on_result`` is called with each new result.

    :raises TaskDataError: if a kept file is damaged or belongs to another experiment.
    """
    runner, folder = SettingRunner(experiment), experiment.folder / "results"
    pending = [setting for setting in settings if kept_outcome(folder, runner.identity, setting) is None]
    # Results may have been carried here from another machine without the models that were made there.
    trained = {setting.run for setting in pending if setting.at == "nowhere"}
    needed = {setting.run for setting in pending if setting.at == "test"} - trained
    missing = sorted(run for run in needed if not runner.model_file(run).exists())
    for setting in [*(Setting(at="nowhere", epsilon=None, run=run) for run in missing), *pending]:
        outcome = runner.run(setting)
        keep_outcome(folder, outcome)
        if on_result is not None:
            on_result(outcome)
    kept = (kept_outcome(folder, runner.identity, setting) for setting in settings)
    return [outcome for outcome in kept if outcome is not None]
