"""What is measured and what came out: settings, their results, and one small JSON file for each, so that
nothing is done twice."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

import msgspec

from deniable.atomic import put
from deniable.errors import TaskDataError
from deniable.utility.summary import MeasuredEmbedding, Outcome

Place = Literal["nowhere", "train", "test"]
IDENTITY = ("task", "data", "embedding", "mechanism", "policy", "recipe")
"""What all results of an experiment depend on; ``data`` is a digest, ``recipe`` how models are trained."""
_MEASURED = (
    "at",
    "epsilon",
    "run",
    "scores",
    "epochs",
    "words",
    "changed",
    "unknown",
    "seconds",
    "made_with",
)


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One training or one evaluation: where text is perturbed, at which ε, and in which run.

    ``run`` counts from 1; it numbers the noise and seeds the model, never the noise.
    """

    at: Place
    epsilon: float | None
    run: int

    @property
    def name(self) -> str:
        """The name of its result."""
        if self.epsilon is None:
            return f"unperturbed-run{self.run}"
        # all digits: no two ε share a name
        return f"{self.at}-{repr(float(self.epsilon)).removesuffix('.0')}-run{self.run}"


@dataclass(frozen=True, kw_only=True)
class TaskOutcome(Outcome):
    """The result of one setting of an experiment.

    ``epochs`` is None where nothing was trained, ``unknown`` the share of unknown words in each part,
    ``made_with`` names the versions, the device and the source of the noise.
    """

    task: str
    data: str
    embedding: MeasuredEmbedding
    mechanism: str | dict[str, Any]
    policy: dict[str, Any]
    recipe: dict[str, Any]
    epochs: int | None
    unknown: dict[str, float]
    seconds: dict[str, float]
    made_with: dict[str, str | int]

    @property
    def setting(self) -> Setting:
        """The setting whose result it is."""
        return msgspec.convert({name: getattr(self, name) for name in ("at", "epsilon", "run")}, Setting)

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-ready data, in the order in which files hold it."""
        data = asdict(self)
        return {name: data[name] for name in (*IDENTITY, *_MEASURED)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the result that ``to_dict`` gave.

        :raises ValueError: if something is missing or has another form.
        """
        return msgspec.convert(data, type=cls)


def settings_of(epsilons: Sequence[float], places: Sequence[Place], runs: int) -> list[Setting]:
    """Return all settings, run by run: an interrupted experiment has whole curves of few runs."""
    settings = []
    for run in range(1, runs + 1):
        settings.append(Setting(at="nowhere", epsilon=None, run=run))
        settings += [Setting(at=place, epsilon=epsilon, run=run) for epsilon in epsilons for place in places]
    return settings


def kept_outcome(folder: Path, identity: Mapping[str, Any], setting: Setting) -> TaskOutcome | None:
    """Return the result of a setting in a folder, or None if it is not finished.

    :raises TaskDataError: if the file is damaged or belongs to another experiment.
    """
    path = folder / f"{setting.name}.json"
    if not path.exists():
        return None
    outcome = read_outcome(path)
    found = outcome.to_dict()
    for name, value in (json.loads(json.dumps(identity)) | asdict(setting)).items():
        if found[name] != value:
            problem = f"this result was made with another {name}; choose another folder, or remove it"
            raise TaskDataError(path, problem)
    return outcome


def keep_outcome(folder: Path, outcome: TaskOutcome) -> None:
    """Keep a result, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(outcome.to_dict(), indent=1, ensure_ascii=False) + "\n"
    put(folder / f"{outcome.setting.name}.json", text.encode())


def read_outcome(path: Path) -> TaskOutcome:
    """Return one result.

    :raises TaskDataError: if the file is damaged.
    """
    try:
        return TaskOutcome.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except ValueError as error:
        problem = f"it is no result ({error}); remove it and run the command again"
        raise TaskDataError(path, problem) from error
