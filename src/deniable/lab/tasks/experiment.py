"""One experiment: it perturbs what is to be perturbed, trains a model, and evaluates it, setting by
setting."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch

from deniable.embeddings.embedding import Embedding
from deniable.lab.neural.classifier import Classifier, ClassifierSettings, predict_classes, train_classifier
from deniable.lab.neural.encoder import DeviceTexts, vectors_for_models
from deniable.lab.neural.ranker import Ranker, RankerSettings, evaluate_ranker, train_ranker
from deniable.lab.tasks.outcomes import Setting, TaskOutcome, keep_outcome, kept_outcome
from deniable.lab.tasks.task import Task
from deniable.measures.texts import Texts, cut_texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.release.policies import TextPolicy
from deniable.utility.accuracy import draw_words
from deniable.utility.classifiers import accuracy
from deniable.utility.summary import MeasuredEmbedding
from deniable.version import __version__


class Experiment:
    """A task in an embedding, released by a mechanism, and the models that learn from it.

    Results are kept in a folder. The model that learnt from unperturbed text is held while its run lasts.
    """

    def __init__(
        self,
        task: Task,
        embedding: Embedding,
        training: ClassifierSettings | RankerSettings,
        *,
        folder: Path,
        mechanism: ChosenMechanism | None = None,
        device: str = "cpu",
        threads: int = 1,
    ) -> None:
        """Take a task and how its model is trained; several ``threads`` pay where the search runs on a
        GPU."""
        self._task, self._embedding, self._training, self._threads = task, embedding, training, threads
        self._mechanism = ChosenMechanism() if mechanism is None else mechanism
        self._device, self._results = torch.device(device), folder / "results"
        self._clean: tuple[int, Classifier | Ranker] | None = None

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What all results of this experiment depend on."""
        chosen, policy = self._mechanism, TextPolicy()
        return {
            "task": self._task.name,
            "data": self._task.digest,
            "embedding": asdict(MeasuredEmbedding.of(self._embedding)),
            "mechanism": "Multivariate" if chosen.is_papers else chosen.identity(self._embedding),
            "policy": {**asdict(policy), "keep_words": sorted(policy.keep_words)},
            "recipe": asdict(self._training),
        }

    @cached_property
    def texts(self) -> dict[str, Texts]:
        """The texts of each part, and the answers, as a release cuts them."""
        parts = {name: part.texts for name, part in self._task.parts.items()} | {
            "answers": self._task.answers
        }
        return {name: replace(cut_texts(texts, self._embedding), spelled=()) for name, texts in parts.items()}

    def run(
        self, settings: Sequence[Setting], *, on_result: Callable[[TaskOutcome], None] | None = None
    ) -> list[TaskOutcome]:
        """Return the results of the settings in order; those that were finished before are not run again.

        ``on_result`` is called with each new result.

        :raises TaskDataError: if a kept file is damaged or belongs to another experiment.
        """

        def kept(setting: Setting) -> TaskOutcome | None:
            return kept_outcome(self._results, self.identity, setting)

        def run_and_keep(setting: Setting) -> None:
            outcome = self._run(setting)
            keep_outcome(self._results, outcome)
            if on_result is not None:
                on_result(outcome)

        for setting in [setting for setting in settings if kept(setting) is None]:
            # The model on unperturbed text may have been trained by an earlier call, or on another machine.
            if setting.at == "test" and (self._clean is None or self._clean[0] != setting.run):
                run_and_keep(Setting(at="nowhere", epsilon=None, run=setting.run))
            run_and_keep(setting)
        return [outcome for setting in settings if (outcome := kept(setting)) is not None]

    def _run(self, setting: Setting) -> TaskOutcome:
        started = time.monotonic()
        perturbed = self._perturb(setting)
        texts = {**self.texts, **perturbed}
        began = time.monotonic()
        epochs = None
        if setting.at == "test" and self._clean is not None:
            model = self._clean[1]
        else:
            model, epochs = self._train(texts, setting.run)
            if setting.at == "nowhere":
                self._clean = setting.run, model
        scores = self._evaluate(model, texts["test"])
        unknown = self._embedding.unknown_id
        return TaskOutcome(
            **{**self.identity, "embedding": MeasuredEmbedding.of(self._embedding)},
            at=setting.at,
            epsilon=setting.epsilon,
            run=setting.run,
            scores=scores,
            epochs=epochs,
            words={name: len(texts[name].ids) for name in perturbed},
            changed={
                name: float((self.texts[name].ids != each.ids).mean()) if len(each.ids) else 0.0
                for name, each in perturbed.items()
            },
            unknown={name: float((self.texts[name].ids == unknown).mean()) for name in ("train", "test")},
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

    def _perturb(self, setting: Setting) -> dict[str, Texts]:
        """Return the parts that a setting releases, with secure noise."""
        if setting.epsilon is None:
            return {}
        mechanism = self._mechanism(self._embedding, epsilon=setting.epsilon)
        texts = {
            name: self.texts[name]
            for name in (("test",) if setting.at == "test" else ("train", "validation"))
        }
        return {
            name: replace(each, ids=draw_words(each.ids, mechanism, threads=self._threads))
            for name, each in texts.items()
        }

    @cached_property
    def _vectors(self) -> torch.Tensor:
        return vectors_for_models(self._embedding)

    def _on_device(self, texts: Texts) -> DeviceTexts:
        padding = len(self._embedding) + 1
        return DeviceTexts(texts, longest=self._training.longest, padding=padding, device=self._device)

    @cached_property
    def _answers(self) -> DeviceTexts:
        return self._on_device(self.texts["answers"])

    def _train(self, texts: dict[str, Texts], seed: int) -> tuple[Classifier | Ranker, int]:
        torch.manual_seed(seed)
        training, task = self._training, self._task
        train, validation = self._on_device(texts["train"]), self._on_device(texts["validation"])
        if isinstance(training, RankerSettings):
            ranker = Ranker(self._vectors, training).to(self._device)
            return ranker, train_ranker(ranker, train, validation, self._answers, task, training, seed)
        classifier = Classifier(self._vectors, len(task.classes), training).to(self._device)
        labels = np.array(task.train.labels), np.array(task.validation.labels)
        return classifier, train_classifier(
            classifier, train, labels[0], validation, labels[1], training, seed
        )

    def _evaluate(self, model: Classifier | Ranker, test: Texts) -> dict[str, float]:
        if isinstance(model, Ranker):
            return evaluate_ranker(model, self._on_device(test), self._answers, self._task.test)
        predicted = predict_classes(model, self._on_device(test))
        return {"accuracy": accuracy(predicted, np.array(self._task.test.labels))}
