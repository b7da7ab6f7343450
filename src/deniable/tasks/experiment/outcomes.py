"""Results on the disk: one small JSON file for each finished setting, so that nothing is done twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from deniable.atomic import whole_file
from deniable.errors import TaskDataError
from deniable.tasks.experiment.setting import Setting


class Outcomes:
    """The finished settings of one experiment, in a folder."""

    def __init__(self, folder: Path, identity: dict[str, Any]) -> None:
        """Look at a folder of results, which must all come from the same data, embedding, mechanism, policy and recipe."""
        self._folder, self._identity = folder, json.loads(json.dumps(identity))
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, setting: Setting) -> dict[str, Any] | None:
        """Return the result of a setting, or None if it is not finished.

        :raises TaskDataError: if the file is damaged or belongs to another experiment.
        """
        path = self._path(setting)
        if not path.exists():
            return None
        outcome = read_outcome(path)
        for name, value in (*self._identity.items(), ("epsilon", setting.epsilon), ("at", setting.at), ("run", setting.run)):
            if outcome.get(name) != value:
                raise TaskDataError(path, f"this result was made with another {name}; choose another folder, or remove it")
        return outcome

    def put(self, setting: Setting, outcome: dict[str, Any]) -> None:
        """Keep a result, whole or not at all."""
        with whole_file(self._path(setting)) as file:
            file.write((json.dumps(outcome, indent=1, ensure_ascii=False) + "\n").encode())

    def _path(self, setting: Setting) -> Path:
        return self._folder / f"{setting.name}.json"


def read_outcome(path: Path) -> dict[str, Any]:
    """Return one result.

    :raises TaskDataError: if the file is damaged.
    """
    try:
        outcome: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(outcome["scores"], dict):
            raise TypeError("no scores")
    except (json.JSONDecodeError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise TaskDataError(path, f"it is no result ({error}); remove it and run the command again") from error
    return outcome
