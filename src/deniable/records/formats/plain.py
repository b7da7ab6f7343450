"""Plain text: one record a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from deniable.records.formats.batch import Row
from deniable.records.formats.lines import Lines
from deniable.records.formats.naming import Naming
from deniable.records.formats.reader import LineReader
from deniable.records.formats.source import Source


class PlainReader(LineReader):
    """Reads lines; one carriage return before the line feed is part of the line's end, not of the text."""

    def __init__(self, source: Source, naming: Naming | None = None, *, encoding: str) -> None:
        super().__init__(source, Lines(source, encoding), naming)

    def rows(self) -> Iterator[Row]:
        """Yield the lines one by one."""
        for record, line in enumerate(self._lines, 1):
            text = line.removesuffix("\r")
            names = () if self._naming is None else self._naming.names(record, None, ("",))
            yield Row(None, (text,), len(text), names)

    def write(self, rows: list[Row], released: list[str | None]) -> bytes:  # noqa: ARG002
        """Return the released lines."""
        return "\n".join([*cast(list[str], released), ""]).encode()
