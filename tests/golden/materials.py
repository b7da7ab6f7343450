"""What the golden releases are made of: a fixed key, nasty texts, and frozen files that today's code wrote.

``frozen/home`` holds stored embeddings, ``frozen/inputs`` records in every format, ``frozen/interrupted`` and
``frozen/watched`` work that was cut off under keyed noise 1 and rules 1 for words, which later code refuses,
``frozen/noise-2`` the same under version 2 of both (``cut_off`` made it). They were written once and are
never made anew: that later code reads them is what is tested.
"""

from __future__ import annotations

import json
import os
import shutil
import zlib
from pathlib import Path

import deniable

FROZEN = Path(__file__).with_name("frozen")
KEY = bytes(range(32))
FROZEN_TIME = 1_700_000_000_123_456_789
"""When the inputs of interrupted work last changed, by their journals."""

TEXTS: list[str | None] = [
    "My doctor said the encryption keys were stolen.",
    "",
    "   ",
    None,
    "The quick brown fox doesn't jump over John's lazy dog at 5 o'clock in the U.S., e-mail me!",
    "unheardof Xyzzy plugh, the qwertz FOX",
    "7 and 42; ssn:555-12-3456, call (555)123-4567 or 3.14159 … 1,000",
    "Visit https://example.org/a?b=c#d or write to john.doe+spam@example.com today",
    "Ελληνικά και русский текст 東京 と café naïve ﬁne Straße",
    "\u202eright to left\u202c زائد the zero\u200bwidth e\u0301 cafe\u0301",
    "🦊 quick 🦊🏽 fox 👩‍👩‍👧 !!! ??? —",
    "THE SOUP WAS COLD and the Bread was WARM; Apple pie in the US, not us",
    "the the the the THE The tHe",
    "tab\there \"quoted, text\" 'single' back\\slash; semi-colon well-known",
    "'90s rock 'n' roll isn't what I'd call \u2018new\u2019 \u00adsoft",
    "a",
    "!",
    "fox " * 30,
    "null NaN None NA -1e9 true",
    "the doctor has my keys and the fox has the soup in the village",
]
IDS: list[str | int] = [
    1,
    2,
    "c",
    4,
    "five",
    6,
    7,
    "8",
    9,
    "ten",
    11,
    12,
    "user 13",
    14,
    15,
    16,
    "17",
    18,
    19,
    "twenty",
]


def write_key(folder: Path) -> Path:
    """Write the fixed key as a key file, and return its path."""
    path = folder / "golden.key"
    if not path.exists():
        path.write_text(f"deniable key 1\n{KEY.hex()}\n", encoding="ascii")
        path.chmod(0o600)
    return path


def laid_out(folder: Path) -> Path:
    """Return a copy of the frozen store, which may be written to, with the key and the lists of words beside
    it."""
    home = folder / "home"
    shutil.copytree(FROZEN / "home", home)
    write_key(folder)
    (folder / "keep.txt").write_text("the\nFox\ncafé\nxyzzy\n", encoding="utf-8")
    (folder / "never.txt").write_text("Doctor\nnew keys\nfox's\nnobody-here\n", encoding="utf-8")
    (folder / "sensitive.txt").write_text("doctor\nkeys\nsoup\nApple\n", encoding="utf-8")
    return home


def begun_elsewhere(journal: Path, source: Path) -> None:
    """Let the journal of interrupted work speak of the input where it lies now, of its time, and of this
    version.

    A journal names the input by its path, and the version of deniable, which another version refuses; nothing
    else is changed.
    """
    os.utime(source, ns=(FROZEN_TIME, FROZEN_TIME))
    first, rest = journal.read_bytes().split(b"\n", 1)
    entry = json.loads(first.partition(b" ")[2])
    entry["job"] |= {"input": str(source.resolve()), "deniable": deniable.__version__}
    text = json.dumps(entry).encode()
    journal.write_bytes(b"%08x %s\n" % (zlib.crc32(text), text) + rest)
