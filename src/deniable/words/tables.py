"""Which Unicode tables cut text into words: those of the ``regex`` library, by their content.

Another version of the library may know more characters as letters. A text that holds such a character is then
cut otherwise, and in a keyed release all its words after that place are drawn again. So keyed releases name
the tables in their receipt where they are not those of the golden releases, and no job goes on under other
tables than it was begun with.
"""

from __future__ import annotations

import hashlib
from functools import cache

import regex

GOLDEN = "e93c3b5e9c233b65"
"""The tables under which the golden releases were made."""

_CLASSES = (r"\w", r"\s", r"\p{L}", r"\p{N}", r"\p{M}")
_SURROGATES = range(0xD800, 0xE000)


@cache
def unicode_tables() -> str:
    """Return a name of the tables: a digest of which characters are letters, digits, marks, blanks and parts
    of words."""
    every = "".join(chr(code) for code in range(0x110000) if code not in _SURROGATES)
    digest = hashlib.blake2b(digest_size=8)
    for each in _CLASSES:
        digest.update("".join(regex.findall(f"{each}+", every)).encode() + b"\n")
    return digest.hexdigest()


def other_tables() -> dict[str, str]:
    """Return the tables in use, for receipts and journals; nothing where they are those of the golden
    releases."""
    return {} if unicode_tables() == GOLDEN else {"unicode_tables": unicode_tables()}
