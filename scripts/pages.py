"""Write the tables and data files of pages from the results; every sentence of a page is written by hand.

    python -m scripts.pages attackers purpose        # or without names: all of them

A page has its tables between two marks, ``<!-- table: NAME -->`` and ``<!-- /table -->``. The module of a
page has its path (``PAGE``), its tables (``tables()``), the CSV files beside it (``data()``) and its figures
(``draw()``); the last two are optional. Read the sentences again when tables changed.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import lzma
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
EXPERIMENTS, FIGURES, DATA = DOCS / "research", DOCS / "figures", DOCS / "data"
_OWN = ("attackers", "calibration", "channels", "comparison", "decoding", "languages")
PAGES = {
    **{name: f"scripts.{name}.page" for name in (*_OWN, "privacy", "purpose", "utility")},
    "prompts": "benchmarks.prompts",
    "search": "benchmarks.search.page",
    "service": "benchmarks.service",
    "sizing": "benchmarks.sizing.page",
}
_MARKED = re.compile(r"(<!-- table: (.+?) -->\n).*?(<!-- /table -->)", re.DOTALL)


def fill(page: str, tables: Mapping[str, str]) -> str:
    """Return a page with these tables between its marks.

    :raises ValueError: if the page lacks the marks of a table, or has marks of a table that is not there.
    """
    marked = [name for _, name, _ in _MARKED.findall(page)]
    if sorted(marked) != sorted(tables):
        raise ValueError(
            f"the page has marks for {sorted(marked)}, and there are tables for {sorted(tables)}"
        )
    return _MARKED.sub(lambda match: f"{match[1]}\n{tables[match[2]].strip()}\n\n{match[3]}", page)


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, align: str = "l") -> str:
    """Return a table; ``align`` has "l" or "r" for each column, and its last letter stands for all further
    ones."""
    edges = ["--:" if each == "r" else "---" for each in align.ljust(len(head), align[-1])]
    first, *others = ("| " + " | ".join(map(str, row)) + " |" for row in [head, *rows])
    return "\n".join([first, "|" + "|".join(edges) + "|", *others])


def csv_text(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as the text of a CSV file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([head, *rows])
    return text.getvalue()


def percent(share: float) -> str:
    """Return a share in per cent, to one decimal."""
    return f"{100 * share:.1f} %"


def points(difference: float) -> str:
    """Return a difference of shares in points, with its sign."""
    return f"{100 * difference:+.1f}".replace("-", "−").replace("+0.0", "0.0").replace("−0.0", "0.0")


def spread(values: Sequence[float], form: str = ",.1f") -> str:
    """Return a median with its range."""
    return f"{median(values):{form}} [{min(values):{form}}–{max(values):{form}}]"


def read_json(path: Path) -> Any:
    """Return a result as it was written."""
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, content: Any) -> None:
    """Write a result, whole or not at all: a run that is stopped leaves what there was."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    part.replace(path)


def write_rows(path: Path, rows: Iterable[Any]) -> None:
    """Write a list of results, one a line."""
    path.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n", encoding="utf-8")


def json_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a data set: JSON lines, packed by xz."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def options_of(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser of options that shows what a script says of itself."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def page_of(name: str) -> Any:
    """Return the module of a page."""
    return import_module(PAGES[name])


def data_files(page: Any) -> dict[Path, str]:
    """Return the text of every CSV file beside a page."""
    named = page.data() if hasattr(page, "data") else {}
    return {page.PAGE.parent / name: content for name, content in named.items()}


def main() -> None:
    """Write the pages that are named, or all."""
    for name in sys.argv[1:] or PAGES:
        page = page_of(name)
        page.PAGE.write_text(fill(page.PAGE.read_text(encoding="utf-8"), page.tables()), encoding="utf-8")
        for file, content in data_files(page).items():
            file.write_text(content, encoding="utf-8")
        if hasattr(page, "draw"):
            page.draw()


if __name__ == "__main__":
    main()
