"""Every promise that the pages make names a test that holds it.

A sentence that promises something is marked with ``<!-- promise: name -->`` in its paragraph, item or row.
docs/research/how-it-is-tested.md has one row for each name, with the tests. A block that speaks in absolute
words ("never", "cannot", "always" …) is marked, or says ``<!-- no promise -->``: advice and definitions
promise nothing. So a new sentence of that kind is noticed here.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import COLLECTED

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "research" / "how-it-is-tested.md"
PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    ROOT / "docs" / "guarantee.md",
    *sorted((ROOT / "docs" / "guide").glob("*.md")),
]

MARK = re.compile(r"<!--\s*promise:\s*([a-z0-9 -]+?)\s*-->")
NO_PROMISE = re.compile(r"<!--\s*no promise\s*-->")
ABSOLUTE = re.compile(
    r"\b(never|cannot|always|nothing|exactly|byte for byte|whatever|no other)\b", re.IGNORECASE
)
_ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s")
_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def blocks_of(page: str) -> list[str]:
    """Return the paragraphs, items and table rows of a page; what stands in fences is left out."""
    blocks, fenced, current = list[str](), False, list[str]()
    for line in [*page.splitlines(), ""]:
        if line.lstrip().startswith("```"):
            fenced = not fenced
        starts = fenced or not line.strip() or _ITEM.match(line) or line.startswith(("|", "#"))
        if starts and current:
            blocks.append("\n".join(current))
            current = []
        if not fenced and line.strip() and not line.lstrip().startswith("```"):
            current.append(line)
    return blocks


def promises_of(page: str) -> set[str]:
    """Return the names that a page marks; one mark may hold several."""
    return {name for names in MARK.findall(page) for name in names.split()}


def rows() -> dict[str, set[tuple[str, str]]]:
    """Return the tests of every promise in the table."""
    found: dict[str, set[tuple[str, str]]] = {}
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| `") and len(cells) == 3 and "tests/" in cells[2]:
            name = cells[0].strip("`")
            assert name not in found, f"{name} has two rows"
            found[name] = set(_TEST.findall(cells[2]))
    return found


def test_every_promise_has_a_row_and_every_row_a_promise() -> None:
    marked = {name: page.name for page in PAGES for name in promises_of(page.read_text(encoding="utf-8"))}
    table = rows()
    assert len(table) >= 40
    assert {name: page for name, page in marked.items() if name not in table} == {}, (
        "no test is named for these"
    )
    assert [name for name in table if name not in marked] == [], "no page promises these any more"
    assert [name for name, tests in table.items() if not tests] == []


def test_every_test_that_is_named_is_collected(pytestconfig: pytest.Config) -> None:
    named = {test for tests in rows().values() for test in tests}
    files = sorted({file for file, _ in named})
    assert [file for file in files if not (ROOT / file).is_file()] == []
    collected = pytestconfig.stash[COLLECTED]
    if missing := named - collected:  # not all tests are run
        others = sorted({file for file, _ in missing})
        command = [
            sys.executable,
            "-m",
            "pytest",
            "--collect-only",
            "-q",
            "-o",
            "addopts=",
            "-p",
            "no:cacheprovider",
            *others,
        ]
        made = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
        collected |= {
            tuple(line.partition("[")[0].split("::", 1)) for line in made.stdout.splitlines() if "::" in line
        }
    assert sorted(named - collected) == []


def test_no_test_that_is_named_is_skipped_for_good() -> None:
    named = {test for tests in rows().values() for test in tests}
    trees = {file: ast.parse((ROOT / file).read_text(encoding="utf-8")) for file, _ in named}
    for file, name in sorted(named):
        test = next(
            node for node in trees[file].body if isinstance(node, ast.FunctionDef) and node.name == name
        )
        marks = [ast.unparse(mark) for mark in test.decorator_list]
        assert not [mark for mark in marks if re.search(r"mark\.(skip|xfail)\b", mark)], f"{file}::{name}"
        assert any(isinstance(node, ast.Assert | ast.With | ast.Call) for node in ast.walk(test)), (
            f"{file}::{name} asks nothing"
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_absolute_words_are_promises_or_say_that_they_are_none(page: Path) -> None:
    unmarked = []
    for block in blocks_of(page.read_text(encoding="utf-8")):
        bare = re.sub(r"<!--.*?-->|`[^`]*`", "", block, flags=re.DOTALL)
        if (
            ABSOLUTE.search(bare)
            and not MARK.search(block)
            and not NO_PROMISE.search(block)
            and not block.startswith("#")
        ):
            unmarked.append(block)
    assert unmarked == []


def test_a_page_that_promises_without_a_mark_is_caught() -> None:
    page = (
        "# Never\n\nIt never\nfails.\n\n- <!-- promise: a b --> It cannot fail.\n- It always "
        "works.\n\n```text\nnever\n```\n| never | x |\n"
    )
    found = blocks_of(page)
    assert found == [
        "# Never",
        "It never\nfails.",
        "- <!-- promise: a b --> It cannot fail.",
        "- It always works.",
        "| never | x |",
    ]
    assert promises_of(page) == {"a", "b"}
    assert [bool(MARK.search(block)) for block in found] == [False, False, True, False, False]
