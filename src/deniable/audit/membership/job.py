"""The work of a membership audit: one job is one language model to train, and the users it is then asked about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Job:
    """A model trained on the text of ``members`` in one condition, asked for the text of ``users`` in some conditions."""

    name: str
    trained_on: str
    members: tuple[int, ...]
    asked: tuple[str, ...]
    users: tuple[int, ...]
