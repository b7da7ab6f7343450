"""What an adapter hands to the child process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Contestant:
    """A loaded mechanism: how it searches, in words, and its way from texts to private texts."""

    search: str
    release: Callable[[list[str]], list[str]]
