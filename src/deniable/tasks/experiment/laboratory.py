"""Runs one setting: perturbs what is to be perturbed, trains or takes the trained model, and evaluates it."""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load, save

from deniable.atomic import whole_file
from deniable.embeddings.embedding import Embedding
from deniable.errors import TaskDataError
from deniable.interfaces import Mechanism
from deniable.learning.batches import DeviceTexts
from deniable.learning.classifier import Classifier, ClassifierRecipe, predicted, train_classifier
from deniable.learning.encoded_task import load_encoded_task
from deniable.learning.metrics import accuracy
from deniable.learning.passages import Passages
from deniable.learning.perturbation import Perturbations, changed_share
from deniable.learning.ranker import Ranker, RankerRecipe, evaluate_ranker
from deniable.learning.ranker_training import train_ranker
from deniable.learning.vectors import vectors_for_models
from deniable.mechanisms.chosen import ChosenMechanism
from deniable.tasks.experiment.setting import Setting
from deniable.text.policies import TextPolicy
from deniable.version import __version__

Recipe = ClassifierRecipe | RankerRecipe
Report = Callable[[int], None]


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a laboratory works with; small, and sent to worker processes. ``embedding`` is a name or a folder."""

    task: str
    data: str
    embedding: str | Path
    folder: Path
    recipe: Recipe
    policy: TextPolicy = field(default_factory=TextPolicy)
    mechanism: ChosenMechanism = field(default_factory=ChosenMechanism)
    device: str = "cpu"
    threads: int = 1

    @property
    def material(self) -> Path:
        """The file that holds the task's passages."""
        return self.folder / "material.npz"


class Laboratory:
    """EncodedTask, embedding and kept perturbations in one place, and the models made from them."""

    def __init__(self, bench: Bench) -> None:
        """Open the material.

        :raises TaskDataError: if it is damaged.
        """
        self.bench = bench
        self._embedding = Embedding.open(bench.embedding)
        self._material = load_encoded_task(bench.material)
        self._perturbations = Perturbations(bench.folder / "perturbed", bench.policy, threads=bench.threads)
        self._mechanisms: dict[float, Mechanism] = {}

    @property
    def identity(self) -> dict[str, Any]:
        """What all results of this laboratory depend on."""
        policy = self.bench.policy
        return {
            "task": self.bench.task,
            "data": self.bench.data,
            "embedding": {
                "name": self._embedding.name,
                "fingerprint": self._embedding.fingerprint,
                "words": len(self._embedding),
                "dimension": self._embedding.dimension,
            },
            "mechanism": "Multivariate" if self.bench.mechanism.is_papers else self.bench.mechanism.identity(self._embedding),
            "policy": {**asdict(policy), "keep_words": sorted(policy.keep_words)},
            "recipe": asdict(self.bench.recipe),
        }

    def perturb(self, setting: Setting, report: Report | None = None) -> dict[str, Passages]:
        """Return what this setting changes, drawing it if it was never drawn."""
        if setting.epsilon is None:
            return {}
        if setting.epsilon not in self._mechanisms:
            self._mechanisms[setting.epsilon] = self.bench.mechanism(self._embedding, epsilon=setting.epsilon)
        mechanism = self._mechanisms[setting.epsilon]
        splits = ("train", "validation") if setting.at == "train" else ("test",)
        return {split: self._perturbations.get(self._material.passages[split], mechanism, setting.run, report) for split in splits}

    def model_file(self, run: int) -> Path:
        """Return where the model trained on unperturbed text in this run is kept: a place of its own for each recipe."""
        made = hashlib.blake2b(json.dumps(self.identity, sort_keys=True).encode(), digest_size=4).hexdigest()
        return self.bench.folder / "models" / f"run{run}-{made}.safetensors"

    def run(self, setting: Setting) -> dict[str, Any]:
        """Return the result of a setting as JSON-ready data.

        :raises TaskDataError: if the unperturbed model of this run, which a test-time setting needs, is not there.
        """
        started = time.monotonic()
        perturbed = self.perturb(setting)
        passages = {**self._material.passages, **perturbed}
        began = time.monotonic()
        kept, epochs = self.model_file(setting.run), None
        if setting.at == "test":
            model = self._model(setting.run)
            if not kept.exists():
                raise TaskDataError(kept, "the model trained on unperturbed text is missing")
            model.load_state_dict(load(kept.read_bytes()))
        else:
            model, epochs = self._trained(passages, setting.run)
            if setting.at == "nowhere":
                kept.parent.mkdir(parents=True, exist_ok=True)
                with whole_file(kept) as file:
                    file.write(save({name: tensor.contiguous() for name, tensor in model.state_dict().items()}))
        scores = self._evaluated(model, passages["test"])
        clean = self._material.passages
        return {
            **self.identity,
            "at": setting.at,
            "epsilon": setting.epsilon,
            "run": setting.run,
            "scores": scores,
            "epochs": epochs,
            "words": {split: len(clean[split].ids) for split in perturbed},
            "changed": {split: changed_share(clean[split], changed) for split, changed in perturbed.items()},
            "unknown": {s: float((clean[s].ids == self._embedding.unknown_id).mean()) for s in ("train", "test")},
            "seconds": {"perturbing": round(began - started, 2), "training_and_testing": round(time.monotonic() - began, 2)},
            "made_with": {
                "deniable": __version__,
                "python": sys.version.split()[0],
                "numpy": np.__version__,
                "torch": torch.__version__,
                "device": torch.cuda.get_device_name() if self._device.type == "cuda" else "cpu",
                "noise": "secure (AES-128 counter mode, keyed by the operating system)",
                "model_seed": setting.run,
            },
        }

    @cached_property
    def _device(self) -> torch.device:
        return torch.device(self.bench.device)

    @cached_property
    def _vectors(self) -> torch.Tensor:
        return vectors_for_models(self._embedding)

    def _texts(self, passages: Passages) -> DeviceTexts:
        return DeviceTexts(passages, longest=self.bench.recipe.longest, padding=len(self._embedding) + 1, device=self._device)

    @cached_property
    def _answers(self) -> DeviceTexts:
        return self._texts(self._material.passages["answers"])

    def _model(self, seed: int) -> Classifier | Ranker:
        torch.manual_seed(seed)
        recipe = self.bench.recipe
        if isinstance(recipe, RankerRecipe):
            return Ranker(self._vectors, recipe).to(self._device)
        return Classifier(self._vectors, int(self._material.arrays["classes"]), recipe).to(self._device)

    def _trained(self, passages: dict[str, Passages], seed: int) -> tuple[Classifier | Ranker, int]:
        model, recipe = self._model(seed), self.bench.recipe
        train, validation = self._texts(passages["train"]), self._texts(passages["validation"])
        if isinstance(model, Ranker) and isinstance(recipe, RankerRecipe):
            return model, train_ranker(model, train, validation, self._answers, self._material, recipe, seed)
        assert isinstance(model, Classifier) and isinstance(recipe, ClassifierRecipe)  # noqa: S101, PT018 - tells mypy what _model does
        labels = self._material.arrays
        epochs = train_classifier(model, train, labels["labels/train"], validation, labels["labels/validation"], recipe, seed)
        return model, epochs

    def _evaluated(self, model: Classifier | Ranker, test: Passages) -> dict[str, float]:
        if isinstance(model, Ranker):
            return evaluate_ranker(model, self._texts(test), self._answers, self._material, "test")
        return {"accuracy": accuracy(predicted(model, self._texts(test)), self._material.arrays["labels/test"])}
