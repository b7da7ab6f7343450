"""A watched folder and its output, as tests use them."""

from __future__ import annotations

from pathlib import Path

from deniable import Privatizer
from deniable.records.formats.layout import Layout, Roles, make_layout
from deniable.records.watch import SameContent, Watch

KEPT = ("id", "note", "more", "user", "n", "list", "name")
"""Columns of the files that tests put into watched folders."""


class Folders:
    """A watched folder, its output, and what was said."""

    def __init__(self, private: Privatizer, root: Path) -> None:
        self.private = private
        self.inbox, self.out = root / "in", root / "out"
        self.inbox.mkdir()
        self.out.mkdir()
        self.lines: list[str] = []
        self.columns: tuple[str, ...] = ("text",)
        self.failed = 0

    def look(
        self,
        private: Privatizer | None = None,
        *,
        settle: float = 0.0,
        record_id: str | None = None,
        same_content: SameContent = "skip",
    ) -> int:
        """Look once, as a new process would."""

        def layout_of(path: Path) -> Layout:
            columns = () if path.suffix == ".txt" else self.columns
            by = None if path.suffix == ".txt" else record_id
            roles = (
                Roles()
                if path.suffix == ".txt"
                else Roles(text=columns, keep=tuple(set(KEPT).difference(columns)))
            )
            return make_layout(path, roles=roles, record_id=by)

        watch = Watch(
            private or self.private,
            self.inbox,
            self.out,
            layout_of,
            settle=settle,
            same_content=same_content,
            say=self.lines.append,
        )
        try:
            return watch.look()
        finally:
            self.failed = watch.failed
            watch.close()

    def released(self, name: str) -> str:
        return (self.out / name).read_text()
