"""How results show themselves in a notebook: text and tables as HTML, with everything in them escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def text_html(text: str) -> str:
    """Return lines of text as HTML."""
    from deniable.report.markup import phrase

    return f"<pre>{'<br>'.join(phrase(line) for line in text.splitlines())}</pre>"


def table_html(columns: Sequence[str], rows: Iterable[Sequence[str]], *, caption: str = "") -> str:
    """Return a table as HTML."""
    from deniable.report.markup import phrase

    def line(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{phrase(cell)}</{tag}>' for cell in cells)}</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><caption>{phrase(caption)}</caption>{line(columns, 'th')}{body}</table>"
