from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.figure import Figure

from deniable.report.figure import apply_style, drawable, inline_svg, new_figure, png, save, svg


@apply_style
def picture(label: str) -> Figure:
    figure, axes = new_figure()
    axes.bar([label, "b"], [1, 2])
    axes.set_xlabel(label)
    return figure


@pytest.mark.parametrize(
    "word",
    ["plain", "$x^2", "a$b$c", "日本語", "😀", "שלום", "</svg><script>", "&lt;", "\\frac", "_{", "\x00\x1b"],
)
def test_any_word_can_be_drawn_without_a_warning(word: str) -> None:
    made = svg(picture(drawable(word)))
    texts = [
        element.text for element in ElementTree.fromstring(made).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert drawable(word) in texts
    assert png(picture(drawable(word))).startswith(b"\x89PNG")


def test_characters_that_the_font_lacks_are_written_out() -> None:
    assert drawable("a日") == "a\\u{65e5}"


def test_long_words_are_cut() -> None:
    assert drawable("x" * 100, longest=5) == "xxxx…"
    assert len(drawable("日" * 30)) == 40


def test_the_same_figure_gives_the_same_files(tmp_path: Path) -> None:
    first, second = tmp_path / "1", tmp_path / "2"
    for folder in (first, second):
        folder.mkdir()
        save(picture("a"), folder, "picture")
    for name in ("picture.svg", "picture.png"):
        assert (first / name).read_bytes() == (second / name).read_bytes()


def test_inline_figures_follow_the_colours_of_the_page() -> None:
    inline = inline_svg(picture("a"), alt='says "so" <b>', prefix="x-")
    assert "var(--ink)" in inline
    assert "#20303c" not in inline
    assert "font-family" not in inline
    assert "&lt;b" in inline
    assert "<style" not in inline
    assert "xmlns" not in inline


def test_drawing_leaves_the_settings_of_matplotlib_as_they_were() -> None:
    before = dict(matplotlib.rcParams)
    svg(picture("a"))
    assert dict(matplotlib.rcParams) == before


def test_no_window_system_and_no_pyplot_is_loaded() -> None:
    draw = "import sys, deniable.report.figure as f; f.apply_style(f.new_figure)(); "
    code = draw + "print(*({'matplotlib.pyplot', 'tkinter'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
