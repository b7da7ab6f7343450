"""One page that a person reads: a single HTML file that loads nothing, runs nothing and prints well.

Everything that is handed in is escaped. Parts of a sentence can be marked with ``deniable.report.markup``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from deniable.atomic import put
from deniable.report.markup import visible
from deniable.report.wording import in_words, no_curve
from deniable.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from deniable.report.wording import Lines


class Page:
    """A page with a title and the answer first, then sections in the order they are added."""

    def __init__(self, title: str, *, lead: str, kicker: str = "", on_one_sheet: bool = False) -> None:
        """Begin a page; ``lead`` is the answer, ``kicker`` a few words above the title; ``on_one_sheet``
        prints it small."""
        self.title, self.lead, self.kicker, self.on_one_sheet = title, lead, kicker, on_one_sheet
        self._blocks: list[dict[str, Any]] = []
        """Each with the ``kind`` by which the template shows it."""
        self._figures = 0

    def add_section(self, heading: str, *paragraphs: str) -> None:
        """Begin a section."""
        self._add("section", heading=heading)
        self.add_text(*paragraphs)

    def add_text(self, *paragraphs: str) -> None:
        """Add paragraphs."""
        if paragraphs:
            self._add("text", paragraphs=paragraphs)

    def add_list(self, items: Iterable[str]) -> None:
        """Add a list of short paragraphs."""
        self._add("list", items=list(items))

    def add_note(self, text: str, *, kind: Literal["note", "warning"] = "note") -> None:
        """Add a paragraph that must not be missed."""
        self._add("note", text=text, style=kind)

    def add_facts(self, facts: Iterable[tuple[str, str]]) -> None:
        """Add a few large numbers, each with the words that say what it is."""
        self._add("facts", facts=list(facts))

    def add_samples(self, samples: Iterable[tuple[str, str, Sequence[str]]]) -> None:
        """Add texts to compare: a label, what it means, and the texts under it."""
        self._add("samples", samples=list(samples))

    def add_figure(self, figure: Figure, *, caption: str, alt: str) -> None:
        """Add a figure; ``alt`` says what it shows to those who cannot see it."""
        from deniable.report.figure import inline_svg

        self._figures += 1
        self._add(
            "figure",
            svg=inline_svg(figure, alt=alt, prefix=f"f{self._figures}-"),
            caption=caption,
            number=self._figures,
        )

    def add_curves(
        self, lines: Lines, *, x: str, y: str, caption: str, shares: bool = True, **options: Any
    ) -> None:
        """Add the figure of some measurements (``report.curves``), or a sentence where there is one setting
        only."""
        settings = {point.x for points in lines.values() for point in points}
        if len(settings) == 1:
            self.add_text(no_curve(x, settings.pop()))
        elif settings:
            from deniable.report.curves import curves

            alt = in_words(lines, x=x, shares=shares)
            self.add_figure(curves(lines, x=x, y=y, shares=shares, **options), caption=caption, alt=alt)

    def add_table(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[object]],
        *,
        caption: str = "",
        folded: str = "",
        text_columns: int = 1,
        quotes: bool = False,
    ) -> None:
        """Add a table, hidden behind the words ``folded`` if there are any; columns after ``text_columns``
        hold numbers.

        :raises ValueError: if a row has more or fewer cells than there are columns.
        """
        cells = [[cell if isinstance(cell, str) else str(cell) for cell in row] for row in rows]
        for row in cells:
            if len(row) != len(columns):
                raise ValueError(f"a row has {len(row)} cells and the table {len(columns)} columns")
        self._add(
            "table",
            columns=list(columns),
            rows=cells,
            caption=caption,
            folded=folded,
            text_columns=text_columns,
            quotes=quotes,
        )

    def html(self) -> str:
        """Return the page."""
        folder = resources.files("deniable.report")
        environment = Environment(
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=_make_visible,
        )
        template = environment.from_string((folder / "page.html.jinja").read_text(encoding="utf-8"))
        style = (folder / "page.css").read_text(encoding="utf-8")
        return template.render(page=self, blocks=self._blocks, style=Markup(style), version=__version__)  # noqa: S704 - our own file

    def write(self, path: Path) -> None:
        """Write the page, whole or not at all."""
        put(path, self.html().encode())

    def _add(self, kind: str, **content: Any) -> None:
        self._blocks.append({"kind": kind, **content})


def _make_visible(value: object) -> object:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
