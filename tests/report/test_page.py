from __future__ import annotations

import threading
from pathlib import Path

import pytest
from markupsafe import Markup
from matplotlib.figure import Figure

from deniable.errors import RecordError
from deniable.report.figure import apply_style, drawable, new_figure
from deniable.report.markup import code, phrase, strong, visible, word
from deniable.report.page import Page
from tests.report.browser import at_width, browser
from tests.report.html_check import Outline, outline

HOSTILE = (
    '<script>alert(1)</script><img src=x onerror="alert(2)">&amp;\'"{{ 7 * 7 }}</style>\u202e\x00\x1b[31m'
)


@apply_style
def labelled(label: str) -> Figure:
    figure, axes = new_figure()
    axes.plot([1, 2, 3], [1, 4, 9], "o-", label=drawable(label))
    axes.set_title(drawable(label))
    axes.legend()
    return figure


def full_page(text: str) -> Page:
    page = Page(text, lead=text, kicker=text)
    page.add_section(text, text, phrase("a ", word(text), strong(text), code(text), text))
    page.add_list([text])
    page.add_note(text, kind="warning")
    page.add_facts([(text, text)])
    page.add_samples([(text, text, [text, text])])
    page.add_figure(labelled(text), caption=text, alt=text)
    page.add_figure(labelled(text), caption=text, alt=text)
    page.add_table([text, text], [[text, 3], [text, text]], caption=text)
    page.add_table([text], [[text]], folded=text)
    page.add_table([text], [[word(text)]], caption=phrase("a ", word(text)))
    return page


def test_whatever_the_words_are_they_are_only_shown() -> None:
    plain, hostile = outline(full_page("plain").html()), outline(full_page(HOSTILE).html())
    assert hostile.tags == plain.tags, "words made an element"
    assert hostile.attributes == plain.attributes, "words made an attribute"
    assert "script" not in hostile.tags
    assert "{{ 7 * 7 }}" in hostile.text
    assert "49" not in hostile.text
    assert "\\u{202e}" in hostile.text
    assert "\\u{0}" in hostile.text
    assert not set(full_page(HOSTILE).html()) & set("\x00\x1b\u202e")


def test_the_page_is_well_formed_accessible_and_loads_nothing() -> None:
    found: Outline = outline(full_page("word").html())
    assert found.problems == []
    assert found.outside == []
    assert "default-src 'none'" in found.policy
    assert found.tags.count("svg") == 2
    assert found.labels.count("word") >= 2, "every figure says in words what it shows"
    assert "http" not in found.raw.replace("http-equiv", "")


def test_ids_are_unique_though_figures_are_alike() -> None:
    found = outline(full_page("same").html())
    assert len(found.ids) == len(set(found.ids)) > 4
    assert set(found.references) <= set(found.ids)


def test_the_checker_itself_finds_what_is_wrong() -> None:
    wrong = outline(
        '<!doctype html><html><body><p id="a"><b>x</p><p id="a"></p><img '
        'src="https://x.example/a.png"></body></html>'
    )
    assert wrong.problems
    assert wrong.outside == ["https://x.example/a.png"]
    assert len(wrong.ids) != len(set(wrong.ids))


def test_markup_escapes_what_it_is_given() -> None:
    assert phrase("<i>", strong("<b>")) == Markup("&lt;i&gt;<strong>&lt;b&gt;</strong>")


def test_what_can_be_read_stays_as_it_is() -> None:
    for text in ("naïve", "日本語", "שלום", "a b", "😀"):
        assert visible(text) == text
    assert visible("a\u2028b\ud800") == "a\\u{2028}b\\u{d800}"


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "page.html"
    Page("one", lead="").write(target)
    before = target.read_bytes()
    monkeypatch.setattr(Path, "replace", _full_disk)
    with pytest.raises(OSError, match="full"):
        Page("two", lead="").write(target)
    assert target.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def _full_disk(*_: object) -> None:
    raise OSError("the disk is full")


@pytest.mark.parametrize(("name", "says"), [("", "is a folder"), ("absent/page.html", "is not there")])
def test_a_place_that_cannot_be_written_is_named(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(RecordError, match=says):
        Page("one", lead="").write(tmp_path / name)


def test_a_row_that_does_not_fit_the_table_is_refused() -> None:
    with pytest.raises(ValueError, match="1 cells and the table 2"):
        Page("one", lead="").add_table(["a", "b"], [["c"]])


def test_pages_can_be_made_in_threads() -> None:
    pages: list[str] = []
    workers = [threading.Thread(target=lambda: pages.append(full_page("same").html())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(pages) == 4
    assert len(set(pages)) == 1


@pytest.mark.parametrize("count", [2, 3, 4, 6])
def test_no_fact_stands_alone_in_the_last_row(count: int, tmp_path: Path) -> None:
    page = Page("Facts", lead="A few.")
    page.add_facts(
        [(f"{number} %", "of the words of the text come out as they went in") for number in range(count)]
    )
    page.write(tmp_path / "page.html")
    with browser(tmp_path / "profile") as opened:
        at_width(opened, 1280)
        opened.get((tmp_path / "page.html").as_uri())
        tops = opened.execute_script(
            "return [...document.querySelectorAll('.facts div')].map(fact => fact.offsetTop)"
        )
    assert len(tops) == count
    assert tops.count(tops[-1]) > 1, "the last fact stands alone"


def test_a_wide_table_has_the_room_of_the_window_and_its_caption_stays_in_sight(tmp_path: Path) -> None:
    page, file = Page("Wide", lead="One."), tmp_path / "wide.html"
    page.add_table(
        [f"a long heading {i}" for i in range(8)],
        [["0.123 to 0.456"] * 8],
        caption="What every column means. " * 9,
    )
    page.add_table(["one", "two"], [["1", "2"]], caption="Few columns.")
    page.write(file)
    boxes = (
        "return [...document.querySelectorAll('.table, caption')].map(e => "
        "e.getBoundingClientRect()).map(b => [b.left, b.right])"
    )
    with browser(tmp_path / "profile") as opened:
        for width in (390, 1400):
            at_width(opened, width)
            opened.get(file.as_uri())
            (left, right), caption, narrow, _ = opened.execute_script(boxes)
            assert opened.execute_script(
                "return document.documentElement.scrollWidth <= window.innerWidth"
            ), f"scrolls at {width}"
            assert 0 <= left < right <= width
            assert left <= caption[0] < caption[1] <= right
            whole = opened.execute_script(
                "const box = document.querySelector('.table'); return box.scrollWidth <= box.clientWidth"
            )
            assert whole == (width > 390)
            assert (left < narrow[0]) == (width > 390), "a table of few columns is as wide as the text"
