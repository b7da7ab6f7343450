"""Text on pages and in figures: what comes from outside made safe to show, and the few ways to mark a part of
a sentence.

``visible`` leaves nothing invisible, nothing that turns its surroundings around or breaks a file. Plain text
is always escaped.

>>> phrase("The word ", word("<b>"), " stays ", strong("always"), ".")
Markup('The word <bdi class="word">&lt;b&gt;</bdi> stays <strong>always</strong>.')
"""

from __future__ import annotations

import unicodedata

from markupsafe import Markup

_HIDDEN = {"Cc", "Cs", "Cn", "Co", "Zl", "Zp"}
_TURNING = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str) -> str:
    """Return the text with control characters, marks of direction and unassigned characters written out as
    ``\\u{1b}``."""
    if text.isprintable() and not any(mark in text for mark in _TURNING):
        return text
    return "".join(
        character_number(c) if unicodedata.category(c) in _HIDDEN or c in _TURNING else c for c in text
    )


def character_number(character: str) -> str:
    """Return what stands for a character that is not shown: its number, as ``\\u{1b}``."""
    return f"\\u{{{ord(character):x}}}"


def phrase(*parts: str) -> Markup:
    """Return the parts put together; those that are plain text are escaped."""
    return Markup().join(part if isinstance(part, Markup) else visible(part) for part in parts)


def strong(text: str) -> Markup:
    """Return text that stands out."""
    return Markup("<strong>{}</strong>").format(visible(text))


def code(text: str) -> Markup:
    """Return text that is typed or read by machines."""
    return Markup("<code>{}</code>").format(visible(text))


def word(text: str) -> Markup:
    """Return a word of a vocabulary, in any script and direction."""
    return Markup('<bdi class="word">{}</bdi>').format(visible(text))


def unchanged_word(text: str) -> Markup:
    """Return a word of a released text that is the original one."""
    return Markup('<u class="stayed">{}</u>').format(visible(text))
