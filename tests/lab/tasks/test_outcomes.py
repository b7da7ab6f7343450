"""Results and models that people have on their disks are recognised: the same JSON in the same order, under
the same names."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.made_cased import made_cased

from deniable import Embedding, Multivariate
from deniable.embeddings import store
from deniable.errors import TaskDataError
from deniable.lab.neural.encoded_task import save_encoded_task
from deniable.lab.perturbation import Perturbations
from deniable.lab.tasks.data.examples import Classification, Labelled, fingerprint
from deniable.lab.tasks.data.registry import training_settings
from deniable.lab.tasks.experiment.outcomes import (
    Setting,
    TaskOutcome,
    keep_outcome,
    kept_outcome,
    read_outcome,
)
from deniable.lab.tasks.experiment.runner import Experiment, SettingRunner, encode_task
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.release.policies import TextPolicy

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


def test_a_kept_result_is_read_and_written_back_byte_for_byte(tmp_path: Path) -> None:
    file = kept_in(tmp_path, KEPT)
    written, outcome = file.read_bytes(), read_outcome(file)
    assert (outcome.scores, outcome.epochs, outcome.identity["embedding"]["words"]) == (
        {"accuracy": 0.87716},
        7,
        33860,
    )
    assert outcome.setting == Setting(at="train", epsilon=5.0, run=1)
    assert kept_outcome(tmp_path, outcome.identity, outcome.setting) == outcome
    assert kept_outcome(tmp_path, outcome.identity, Setting(at="test", epsilon=5.0, run=1)) is None
    keep_outcome(tmp_path, outcome)
    assert file.read_bytes() == written


def test_all_published_results_are_read_and_given_back() -> None:
    published = Path(__file__).resolve().parents[3] / "docs" / "research" / "utility.json"
    results = json.loads(published.read_text(encoding="utf-8"))
    assert len(results) > 300
    assert [json.dumps(TaskOutcome.from_dict(found).to_dict()) for found in results] == [
        json.dumps(found) for found in results
    ]


@pytest.mark.parametrize(
    "name", ["task", "data", "embedding", "mechanism", "policy", "recipe", "epsilon", "run", "at"]
)
def test_a_result_of_another_experiment_is_refused_by_what_differs(name: str, tmp_path: Path) -> None:
    identity = TaskOutcome.from_dict(KEPT).identity
    other: dict[str, Any] = {
        "embedding": {**KEPT["embedding"], "words": 3},
        "epsilon": 6.0,
        "run": 2,
        "at": "test",
    }
    file = kept_in(tmp_path, {**KEPT, name: other.get(name, "another")})
    with pytest.raises(TaskDataError, match=f"made with another {name};"):
        kept_outcome(tmp_path, identity, Setting(at="train", epsilon=5.0, run=1))
    assert file.exists()


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", json.dumps({**KEPT, "scores": None}), json.dumps({**KEPT, "embedding": {}}), "\xff"],
)
def test_a_damaged_result_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(content.encode("latin-1"))
    with pytest.raises(TaskDataError, match="it is no result"):
        read_outcome(tmp_path / "a.json")


def test_models_and_perturbations_keep_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    store.save(made_cased(), "cased")
    embedding = Embedding.open("cased")
    assert embedding.folder is not None
    part = Labelled(texts=["The Bank", "the bank"], labels=[0, 1])
    task = Classification(name="imdb", classes=["a", "b"], train=part, validation=part, test=part)
    imdb = Experiment(
        task="imdb",
        data=fingerprint(task),
        embedding=embedding.folder,
        folder=tmp_path,
        training=training_settings("imdb"),
    )
    encoded = encode_task(task, embedding, TextPolicy())
    save_encoded_task(encoded, imdb.encoded_file)
    assert imdb.encoded_file.name == "material.npz"
    vickrey = dataclasses.replace(imdb, mechanism=ChosenMechanism(name="vickrey", options={"t": 0.5}))
    tan = dataclasses.replace(
        vickrey, task="insuranceqa", data="d", training=training_settings("insuranceqa", after_tan=True)
    )
    # Names that folders on people's disks have: with others, everything kept would be drawn and trained
    # again.
    names = [SettingRunner(experiment).model_file(1).name for experiment in (imdb, vickrey, tan)]
    assert names == ["run1-94c76d7c.safetensors", "run1-ce0145d3.safetensors", "run1-99b2524e.safetensors"]
    perturbation = Perturbations(tmp_path, TextPolicy()).path(
        encoded.passages["train"], Multivariate(embedding, epsilon=2.0), 1
    )
    assert perturbation.name == "d0d30a141bbaa9b7cea5912ccd953d68.npz"
