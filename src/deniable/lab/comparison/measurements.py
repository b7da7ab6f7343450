"""Numbers that were measured, saved under everything they depend on: a comparison that was stopped goes on
where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from deniable.atomic import read_plain_file, write_whole
from deniable.errors import RecordError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

M = TypeVar("M", bound="DataclassInstance")

_LONGEST = 1 << 24
_FORMAT = 2
"""To be raised when a measurement comes out differently than before: what was saved then is measured
again."""


class SavedMeasurements:
    """Measurements in a folder, one small file each; without a folder nothing is saved. No text is saved,
    only numbers."""

    def __init__(self, folder: Path | None) -> None:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder

    def get(self, key: dict[str, object], kind: type[M], measure: Callable[[], M]) -> M:
        """Return what was measured for exactly this key; measure it if it was not, or if the file cannot be
        read."""
        if self._folder is None:
            return measure()
        key = {"format": _FORMAT, **key}
        written = json.dumps(key, sort_keys=True, ensure_ascii=False)
        path = self._folder / f"{hashlib.blake2b(written.encode(), digest_size=16).hexdigest()}.json"
        try:
            saved = json.loads(read_plain_file(path, longest=_LONGEST, what="measurement", error=RecordError))
            if saved["key"] == json.loads(written):
                return msgspec.convert(saved["measured"], type=kind)
        except (RecordError, ValueError, KeyError, TypeError, RecursionError):
            pass
        measured = measure()
        write_whole(path, json.dumps({"key": key, "measured": asdict(measured)}, ensure_ascii=False))
        return measured


NOTHING_SAVED = SavedMeasurements(None)
"""Measures everything anew."""
