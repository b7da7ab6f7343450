"""Numbers that were measured, kept under everything they depend on: a comparison that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deniable.atomic import write_whole


class Kept:
    """Measurements in a folder, one small file each; in memory only without a folder. No text is kept, only numbers."""

    def __init__(self, folder: Path | None) -> None:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def get(self, key: dict[str, Any], measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return what was measured for exactly this key; measure it if it was not, or if the file cannot be read."""
        if self._folder is None:
            return measure()
        written = json.dumps(key, sort_keys=True, ensure_ascii=False)
        path = self._folder / f"{hashlib.blake2b(written.encode(), digest_size=16).hexdigest()}.json"
        try:
            kept = json.loads(path.read_text("utf-8"))
            if kept["key"] == json.loads(written):
                found: dict[str, Any] = kept["measured"]
                return found
        except (OSError, ValueError, KeyError, TypeError):
            pass
        measured = measure()
        write_whole(path, json.dumps({"key": key, "measured": measured}, ensure_ascii=False))
        return measured
