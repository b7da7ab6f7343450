"""What came of one file: the verdict, what it rests on, and where everything lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deniable.decision.rehearsal import Rehearsal
from deniable.decision.verdict import Verdict
from deniable.records.formats.layout import Roles
from deniable.release.proved import ProvedNumbers
from deniable.release.receipt import Receipt
from deniable.release.release import Release
from deniable.utility.findings import Findings

_FORMAT = 1


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The verdict on a release, what it rests on, and where everything lies. It shows itself in a notebook.

    ``receipt`` is None where the verdict was not to release, and where an earlier run had finished.
    """

    source: Path
    output: Path
    release: Release
    roles: Roles
    public: tuple[str, ...]
    """The columns that are released as they are though nobody named them."""
    limit: float
    verdict: Verdict
    rehearsal: Rehearsal
    numbers: ProvedNumbers
    use: Mapping[str, Findings] = field(repr=False)
    not_measured: Mapping[str, str] = field(repr=False)
    """Label columns whose use was not measured, and why."""
    created: str
    guarantee: str
    """What the mechanism promises, in words."""
    released: bool
    """Whether the file was released: not where the verdict forbids it, or changes were not accepted."""
    receipt: Receipt | None = field(default=None, repr=False)
    html: str = field(default="", repr=False)
    """The page."""

    @property
    def page(self) -> Path:
        """Where the page for the person who signs lies."""
        return self.output / "keep" / "decision.html"

    @property
    def hand_over(self) -> Path:
        """The folder of what may leave."""
        return self.output / "hand-over"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-ready data; it is private, as the file is."""
        return {
            "format": _FORMAT,
            "created": self.created,
            "source": self.source.name,
            "verdict": self.verdict.to_dict(),
            "released": self.released,
            "limit": self.limit,
            "release": {
                "epsilon": self.release.epsilon,
                "risk": self.release.risk,
                "mechanism": str(self.release.mechanism),
                "embedding": str(self.release.embedding),
            },
            "columns": {
                "text": list(self.roles.text),
                "drop": list(self.roles.drop),
                "keep": list(self.roles.keep),
                "released_as_they_are": list(self.public),
            },
            "proved": self.numbers.to_dict(),
            "rehearsal": self.rehearsal.to_dict(),
            "use": {label: found.to_dict() for label, found in self.use.items()},
            "not_measured": dict(self.not_measured),
        }

    def _repr_html_(self) -> str:
        return self.html
