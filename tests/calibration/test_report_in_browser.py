from __future__ import annotations

from pathlib import Path

import pytest

from deniable.calibration.page import calibration_page
from tests.calibration.reported import found
from tests.report.browser import at_width, browser, requests_of

SIZES = (
    "return [...document.querySelectorAll('figure svg')].map(f => [f.getBoundingClientRect().width, "
    "f.getBoundingClientRect().height])"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "page.html"
    calibration_page(found(epsilon=3.0)).write(path)
    return path


def test_the_page_is_seen_and_asks_for_nothing(page: Path, tmp_path: Path) -> None:
    with browser(tmp_path) as opened:
        for width in (390, 1280):
            at_width(opened, width)
            opened.get(page.as_uri())
            assert requests_of(opened, page.as_uri()) == [page.as_uri()]
            assert opened.get_log("browser") == []
            assert opened.execute_script(
                "return document.documentElement.scrollWidth <= window.innerWidth"
            ), f"scrolls at {width}"
            sizes = opened.execute_script(SIZES)
            assert len(sizes) == 2
            assert all(300 <= wide <= width and high > 100 for wide, high in sizes), sizes
            assert opened.execute_script("return document.scripts.length") == 0
            assert "<script>alert(1)</script>" in opened.execute_script("return document.body.innerText")


def test_the_check_finds_a_page_that_loads_scrolls_or_speaks(tmp_path: Path) -> None:
    bad = tmp_path / "bad.html"
    bad.write_text(
        '<!doctype html><img src="absent.png"><div style="width: '
        '3000px">x</div><script>console.error("so")</script>'
    )
    with browser(tmp_path / "profile") as opened:
        at_width(opened, 390)
        opened.get(bad.as_uri())
        assert len(requests_of(opened, bad.as_uri())) == 2
        assert opened.get_log("browser") != []
        assert opened.execute_script("return document.documentElement.scrollWidth > 390")
