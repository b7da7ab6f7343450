"""Pieces of a sentence on a page. Plain text is always escaped; these are the few ways to mark a part of it.

>>> phrase("The word ", word("<b>"), " stays ", strong("always"), ".")
Markup('The word <bdi class="word">&lt;b&gt;</bdi> stays <strong>always</strong>.')
"""

from __future__ import annotations

from markupsafe import Markup

from deniable.report.visible import visible


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


def stayed(text: str) -> Markup:
    """Return a word of a released text that is the original one."""
    return Markup('<u class="stayed">{}</u>').format(visible(text))
