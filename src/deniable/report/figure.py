"""Figures in one style, without pyplot: nothing global is changed, no window is opened, every figure is an
object.

A function that draws is marked ``@apply_style`` and begins with ``new_figure``. Words from a vocabulary go
through ``drawable`` first: the figure's font does not know every script, and ``$`` is only a character. A
figure is saved as files, or becomes part of a page: no ids that clash, colours that follow the page, text in
the page's font, and words for those who cannot see it.
"""

from __future__ import annotations

import functools
import io
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar
from xml.etree import ElementTree

import matplotlib
from cycler import cycler
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, get_font

from deniable.atomic import put
from deniable.report.markup import character_number, visible

INK = "#20303c"
MUTED = "#5d6b76"
RULE = "#d9dfe4"
PAPER = "#fdfdfc"

BLUE = "#2a6592"
RUST = "#b8512f"
GREEN = "#3f7d5c"
VIOLET = "#7a5c9e"
OCHRE = "#96701c"

SERIES = (BLUE, RUST, GREEN, VIOLET, OCHRE)
"""Colours of lines that are compared. They differ in lightness too, so that they can be distinguished without
colour."""

SHADES = ("#7fb2d6", "#5b9bc6", "#2a6592", "#173f61", "#b8512f")
"""From light to dark, for percentiles of one thing; the last one stands for the worst."""

VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    RULE: "rule",
    PAPER: "paper",
    BLUE: "blue",
    RUST: "rust",
    GREEN: "green",
    VIOLET: "violet",
    OCHRE: "ochre",
    SHADES[0]: "shade-1",
    SHADES[1]: "shade-2",
    SHADES[3]: "shade-4",
}
"""The style sheet's name of each colour."""


WIDTH, HEIGHT = 5.2, 3.2
"""Inches. Narrow on purpose: scaled to the width of a telephone the text is still read."""

P = ParamSpec("P")
R = TypeVar("R")

_DRAWING = threading.RLock()
_FONT = "DejaVu Sans"  # comes with matplotlib, so figures look the same everywhere
_COLOUR = re.compile("|".join(VARIABLES))
_FAMILY = re.compile(r"font-family:[^;]*;?\s*")
_UNSEEN = {"metadata", "style"}
_STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.prop_cycle": cycler(color=SERIES),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 9.5,
    "axes.titlecolor": INK,
    "figure.facecolor": PAPER,
    "font.family": "sans-serif",
    "font.sans-serif": [_FONT],
    "font.size": 9,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "lines.linewidth": 1.8,
    "savefig.facecolor": PAPER,
    "svg.fonttype": "none",
    "svg.hashsalt": "deniable",
    "text.color": INK,
    "text.parse_math": False,
    "text.usetex": False,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "xtick.labelsize": 8.5,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "ytick.labelsize": 8.5,
}


def apply_style(draw: Callable[P, R]) -> Callable[P, R]:
    """Let a function draw in our style."""

    @functools.wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        # The style is matplotlib's global one while a figure is drawn and what it was afterwards: one thread
        # at a time.
        with _DRAWING, matplotlib.rc_context(_STYLE):
            return draw(*args, **kwargs)

    return drawn


def new_figure(
    rows: int = 1, columns: int = 1, *, width: float = WIDTH, height: float = HEIGHT, **subplots: Any
) -> tuple[Figure, Any]:
    """Return a figure and its axes, as ``Figure.subplots`` gives them. For ``@apply_style`` functions."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **subplots)


def drawable(text: str, *, longest: int = 40) -> str:
    """Return text that a figure has room for; characters its font does not know are written as
    ``\\u{4e2d}``."""
    known = _known()
    shown = "".join(c if ord(c) in known else character_number(c) for c in visible(text[:longest]))
    return shown if len(shown) <= longest and len(text) <= longest else shown[: longest - 1] + "…"


@apply_style
def svg(figure: Figure) -> str:
    """Return the figure as an SVG document; the same figure gives the same text."""
    buffer = io.StringIO()
    figure.savefig(
        buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
    )
    figure.set_layout_engine(
        "none"
    )  # its parts have their places now: to find them takes longer than to draw
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


@apply_style
def png(figure: Figure, *, dpi: int = 200) -> bytes:
    """Return the figure as a PNG file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def save(figure: Figure, folder: Path, name: str) -> tuple[Path, Path]:
    """Write the figure as ``name.svg`` and ``name.png`` into a folder, each whole or not at all."""
    vector, raster = folder / f"{name}.svg", folder / f"{name}.png"
    put(vector, svg(figure).encode())
    put(raster, png(figure))
    return vector, raster


def inline_svg(figure: Figure, *, alt: str, prefix: str) -> Markup:
    """Return the figure as an ``<svg>`` element whose ids begin with ``prefix``."""
    root = ElementTree.fromstring(svg(figure))  # noqa: S314 - written by ourselves, a line above
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {
            _local(name): _attribute(_local(name), value, prefix) for name, value in element.attrib.items()
        }
    for parent in list(root.iter()):
        for child in [
            child for child in parent if child.tag in _UNSEEN or (child.tag == "defs" and not len(child))
        ]:
            parent.remove(child)
    wanted = _ids_in_use(root)
    for element in root.iter():
        element.text, element.tail = (element.text if element.tag == "text" else None), None
        if element.get("id") not in wanted:
            element.attrib.pop("id", None)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {
        "role": "img",
        "aria-label": visible(alt),
        "style": "stroke-linejoin: round; stroke-linecap: butt",
    }
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704 - the serialiser has escaped all text in it


@functools.cache
def _known() -> frozenset[int]:
    return frozenset(get_font(findfont(_FONT)).get_charmap())


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _attribute(name: str, value: str, prefix: str) -> str:
    if name == "id":
        return prefix + value
    if name == "href" and value.startswith("#"):
        return f"#{prefix}{value[1:]}"
    value = value.replace("url(#", f"url(#{prefix}")
    if name == "style":
        value = _COLOUR.sub(lambda found: f"var(--{VARIABLES[found[0]]})", _FAMILY.sub("", value))
    return re.sub(r"\s+", " ", value).strip()


def _ids_in_use(root: ElementTree.Element) -> set[str]:
    values = [value for element in root.iter() for value in element.attrib.values()]
    return {
        name
        for value in values
        for name in re.findall(r"^#(.+)$|url\(#([^)]+)\)", value)
        for name in name
        if name
    }
