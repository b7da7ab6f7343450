"""The colours of figures and pages. Each has a name that the page's style sheet knows, so that figures follow
light and dark."""

from __future__ import annotations

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
"""Colours of lines that are compared. They differ in lightness too, so that they can be told apart without
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
