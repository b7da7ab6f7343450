"""Small vocabularies that make cutting go wrong where it can."""

from __future__ import annotations

PIECES = {
    "ssn",
    "tel",
    "born",
    "555",
    "12",
    "04",
    "123",
    "1987",
    "anna",
    "smith",
    "news",
    "example",
    "com",
    "de",
    "x",
    "see",
    "localhost",
}
HELD = frozenset({"the", "n't", "'s", "u.s.", "do", "...", ".", "'", "-", ")...(", "com", "555"})
