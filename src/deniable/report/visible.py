"""Text that comes from outside, made safe to show: nothing in it is invisible, turns its surroundings around or breaks a file."""

from __future__ import annotations

import unicodedata

_HIDDEN = {"Cc", "Cs", "Cn", "Co", "Zl", "Zp"}
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str) -> str:
    """Return the text with control characters, marks of direction and unassigned characters written out as ``\\u{1b}``."""
    if text.isprintable() and not any(mark in text for mark in _TURNING):
        return text
    return "".join(written_out(c) if unicodedata.category(c) in _HIDDEN or c in _TURNING else c for c in text)


def written_out(character: str) -> str:
    """Return the number of a character in place of its shape."""
    return f"\\u{{{ord(character):x}}}"
