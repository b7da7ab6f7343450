"""There is one ε to begin with: in the code, in the guides, on the page and in every example with the
built-in embedding."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deniable.parameters import STARTING_EPSILON
from deniable.service.settings import Allowed

ROOT = Path(__file__).resolve().parent.parent
GUIDES = [
    ROOT / "README.md",
    ROOT / "examples" / "demo.py",
    *sorted(set((ROOT / "docs").rglob("*.md")) - set((ROOT / "docs" / "research").glob("*"))),
]
_OTHER_EMBEDDING_OR_MECHANISM = re.compile(r"--embedding|--mechanism|--max-unchanged")


def recommended(text: str) -> set[float]:
    """Return every ε that a text tells its reader to begin with."""
    return {
        float(each)
        for each in re.findall(
            r"(?i)(?:start|begin)(?:ing)? (?:low|at|with)[^.\d]{0,20}?(\d+(?:\.\d+)?)", text
        )
    }


def privatized_at(text: str) -> set[float]:
    """Return every ε at which a text releases something with the built-in embedding and the default
    mechanism."""
    commands = re.findall(r"deniable (?:privatize|watch)\b(?:[^\n`]|\\\n)*", text)
    plain = [command for command in commands if not _OTHER_EMBEDDING_OR_MECHANISM.search(command)]
    return {
        float(each)
        for command in plain
        for each in re.findall(r"(?<!record-)(?:--epsilon|-e)[ =](\d+(?:\.\d+)?)", command)
    }


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_no_other_epsilon_to_begin_with(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert recommended(text) <= {STARTING_EPSILON}
    assert privatized_at(text) <= {STARTING_EPSILON}
    assert not re.search(r"(?i)useful values|from 3 to about 7|between 3 and", text)


@pytest.mark.parametrize("name", ["README.md", "docs/faq.md", "docs/guide/choosing-epsilon.md"])
def test_whoever_asks_for_an_epsilon_is_given_it(name: str) -> None:
    assert recommended((ROOT / name).read_text(encoding="utf-8")) == {STARTING_EPSILON}


def test_the_service_and_its_page_begin_there() -> None:
    assert Allowed().epsilon == STARTING_EPSILON
    page = (ROOT / "src/deniable/service/page/index.html").read_text(encoding="utf-8")
    assert f'id="epsilon" type="range" min="1" max="10" step="0.1" value="{STARTING_EPSILON:g}"' in page


def test_other_starting_points_are_found() -> None:
    assert recommended("For text about health begin at 3 or 4.") == {3.0}
    assert recommended("**Start at ε = 8**") == {8.0}
    assert privatized_at("$ deniable privatize a.csv --epsilon 8 -o b.csv") == {8.0}
    assert (
        privatized_at("$ deniable privatize a.csv --record-epsilon 60 --embedding mine --epsilon 8") == set()
    )
