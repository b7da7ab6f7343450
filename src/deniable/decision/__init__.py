"""From a private file to a decision: look at its columns, rehearse attacks and use, release once, and say
what a person who signs has to know."""

from __future__ import annotations

from deniable.decision.decision import Decision
from deniable.decision.flow import release_file

__all__ = ["Decision", "release_file"]
