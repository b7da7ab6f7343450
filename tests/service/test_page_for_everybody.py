"""Everybody can use the page, on a telephone and with a screen reader; it loads nothing, and its figures are
measured ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scripts.service import figures

from tests.service.driving import (
    PRIVATE,
    count,
    load,
    open_file,
    press,
    quiet,
    text_of,
    type_text,
    until,
)
from tests.service.running import Client

ROOT = Path(__file__).resolve().parent.parent.parent


def theme(opened: Any, name: str) -> None:
    opened.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": name}]}
    )


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_everybody_can_use_it(opened: Any, client: Client, width: int, colours: str, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_core_python.selenium").Axe()
    theme(opened, colours)
    load(opened, client, width)
    type_text(opened, f"aspirin {PRIVATE}", "mine")
    open_file(opened, "rows.csv", "id,text\n1,the fox\n2,my doctor\n", rows=2, keep=["id"])
    press(opened, "release-file")
    until(lambda: text_of(opened, "job-says") == "Released.")
    until(lambda: text_of(opened, "fact-attacker") not in ("…", "–"))
    until(lambda: count(opened, "[aria-busy=true]") == 0)
    # What is asked for again meanwhile is dimmed for a moment.
    opened.execute_script("document.styleSheets[0].insertRule('[aria-busy] > * { opacity: 1 !important; }')")
    assert opened.execute_script("return document.documentElement.scrollWidth <= window.innerWidth"), (
        f"it scrolls sideways at {width}"
    )
    found = axe.run(opened)
    serious = [
        (one["id"], one["nodes"][0]["html"])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert serious == []
    assert len(found["passes"]) > 20
    assert quiet(opened) == []


def test_the_check_finds_a_page_that_some_cannot_use(opened: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_core_python.selenium").Axe()
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<!doctype html><html lang="en"><title>x</title><input><p style="color:#ccc;background:#fff">hardly '
        "seen</p>"
    )
    opened.get(bad.as_uri())
    assert {"label", "color-contrast"} <= {one["id"] for one in axe.run(opened)["violations"]}


def test_the_measured_figures_are_those_of_the_results() -> None:
    page = ROOT / "src" / "deniable" / "service" / "page" / "measured.js"
    assert page.read_text(encoding="utf-8") == figures.measured(), "run python -m scripts.service.figures"


def test_the_page_loads_nothing_from_elsewhere() -> None:
    import re

    for path in (ROOT / "src" / "deniable" / "service" / "page").iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.findall(
            r"https?://|//[a-z]+\.[a-z]+/|\bstyle=|<script(?! type=\"module\" "
            r"src=\"/page/)|\bon\w+=\"|innerHTML|eval\(",
            text,
        ), path


def test_no_browser_is_asked_to_translate_the_page() -> None:
    """A browser that translates a page sends the words on it, private ones too, to a service elsewhere."""
    page = (ROOT / "src" / "deniable" / "service" / "page" / "index.html").read_text(encoding="utf-8")
    assert '<html lang="en" translate="no">' in page
    assert '<meta name="google" content="notranslate">' in page
