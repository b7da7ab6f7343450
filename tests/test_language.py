"""The pages and the help avoid the phrases that readers stumble over."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),  # the reference of the command line holds all help
]
AVOIDED = {
    r"whoever": "anybody who",
    r"anew": "again",
    r"mend(?:s|ed|ing)?": "fix",
    r"of now|of before": "current, previous",
    r"as (?:it|they) stands?": "itself, unchanged",
    r"stands? (?:on|in|beside|for|there|where)": "is, is on, replaces",
    r"(?:is|are|be) told(?: apart| by| from)?": "follows from, is recognised",
    r"unless told otherwise": "by default",
    r"for who": "for people who",
    r"the rooms?": "package",
    r"rightly": "correctly",
}
"""What to write instead of a phrase. Add to it what you had to read twice."""


def found_in(text: str) -> list[str]:
    """Return the phrases of a text that are avoided; code does not count."""
    prose = re.sub(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|<!--.*?-->", " ", text, flags=re.DOTALL)
    return [
        f"{match[0]!r}: say {better}"
        for phrase, better in AVOIDED.items()
        for match in re.finditer(rf"\b(?:{phrase})\b", prose, re.IGNORECASE)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_and_help_avoid_phrases_that_are_hard_to_read(page: Path) -> None:
    assert found_in(page.read_text(encoding="utf-8")) == []


def test_a_hard_phrase_is_found_and_code_is_not() -> None:
    assert found_in("Whoever reads `anew` is\n```\nmend it\n```\nfine.") == ["'Whoever': say anybody who"]


def docstrings_of(source: str) -> list[str]:
    return [
        node.value.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    ]


@pytest.mark.parametrize(
    "package", sorted({file.parent for file in (ROOT / "src" / "deniable").rglob("*.py")})
)
def test_docstrings_avoid_the_worst_of_them(package: Path) -> None:
    worst = re.compile(
        r"\b(?:anew|mend(?:s|ed|ing)?|unless told otherwise|told apart|rightly|whoever)\b(?!`)", re.IGNORECASE
    )
    found = [
        f"{file.name}: {match[0]}"
        for file in package.glob("*.py")
        for docstring in docstrings_of(file.read_text(encoding="utf-8"))
        for match in worst.finditer(docstring)
    ]
    assert found == []
