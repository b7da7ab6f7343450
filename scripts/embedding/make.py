"""Make the embedded default: the 50,000 most frequent usable words of GloVe 6B, 50 dimensions, as float16.

    npm pack cuss@2.2.0 --pack-destination build
    python -m scripts.embedding.make glove.6B.50d.txt build/cuss-2.2.0.tgz

Both inputs are checked against a pinned sha256, and the same inputs give the same bytes on every machine.
GloVe may be the text as published, the same text as .bz2 or .gz, or a .zip that holds it.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import math
import sys
import tarfile
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
import regex

from deniable.embeddings.content import content_fingerprint, shadowed_rows
from scripts.pages import ROOT, options_of

WORDS = 50_000
DIMENSION = 50
GLOVE = "glove.6B.50d.txt"
GLOVE_SHA256 = "d8f717f8dd4b545cb7f418ef9f3d0c3e6e68a6f48b97d32f8b7aae40cb31f96f"
LISTING = "package/index.js"
LISTING_SHA256 = "1d18ada207c6551513c767492b9441619ceea0dfe0895552410040ee0c937223"
SUREST = 1
"""Listed words rated 1 (perhaps profane) and 2 (surely) are left out; those rated 0 (hardly) are not."""

OUTPUT = ROOT / "src" / "deniable" / "embeddings" / "data"
BY_HAND = Path(__file__).resolve().parent

# The rule in one place. A word is what a careful tokeniser returns as one piece of lower-case text.
_LETTERS = r"\p{Latin}[\p{Latin}\p{M}]*"
_NUMBER = r"(?:0|[1-9][0-9]{0,3})"
_ORDINAL_OR_DECADE = rf"{_NUMBER}(?:st|nd|rd|th|s)"
_CODE = r"(?=[a-z0-9]{2,4}(?![a-z0-9]))(?=[a-z]*[0-9])(?=[0-9]*[a-z])(?![a-z]+0)[a-z1-9][a-z0-9]+"
_PART = rf"(?:{_LETTERS}|{_ORDINAL_OR_DECADE}|{_CODE}|{_NUMBER})"
_COMPOUND = rf"{_PART}(?:[-'&]{_PART})*"
_INITIALS = r"\p{Latin}{1,2}(?:\.\p{Latin}{1,2})+|(?:\p{Latin}{1,2}\.)+\p{Latin}\."
CLITICS = ("'s", "n't", "'re", "'ve", "'ll", "'d", "'m")
WORD = regex.compile(rf"{_COMPOUND}|{_INITIALS}|{'|'.join(CLITICS)}")
NUMBER = regex.compile(_NUMBER)
LETTER = regex.compile(r"\p{L}")
ENDINGS = ("s", "es", "ed", "ing", "er", "ers", "y")


def unusable(word: str) -> str | None:
    """Return the kind of thing that ``word`` is if people do not type it as one word, else None."""
    if not any(character.isalnum() for character in word):
        return "punctuation"
    if not LETTER.search(word):
        return None if NUMBER.fullmatch(word) else "numbers other than whole ones of 1 to 4 digits"
    if unicodedata.normalize("NFKC", word).lower() != word:
        return "not in normal form"
    if WORD.fullmatch(word):
        return None
    if regex.fullmatch(r"\p{L}+\.", word):
        return "abbreviations whose only full stop ends them"
    if regex.search(r"//|@|\.\p{L}{3}|www", word):
        return "addresses"
    if regex.search("[0-9]", word):
        return "letters with digits that are no ordinal, decade, compound or code of at most 4 characters"
    if regex.search(r"[^\p{Latin}\p{Common}\p{Inherited}]", word):
        return "scripts other than Latin"
    return "pieces joined or bounded by other marks"


def lines_by_hand(name: str) -> frozenset[str]:
    """Return the entries of a list beside this script, comments taken away."""
    lines = (BY_HAND / name).read_text(encoding="utf-8").splitlines()
    return frozenset(line.strip() for line in lines if line.strip() and not line.startswith("#"))


def checked(content: bytes, sha256: str, what: str) -> bytes:
    """Return the content if it is the pinned one; stop otherwise."""
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        sys.exit(f"{what}: sha256 is {found}, not {sha256}: this is another version")
    return content


def read_listed(package: Path) -> frozenset[str]:
    """Return the words that the npm package ``cuss`` lists as perhaps or surely profane."""
    with tarfile.open(package) as archive:
        member = archive.extractfile(LISTING)
        source = checked(member.read() if member else b"", LISTING_SHA256, f"{package}, {LISTING}").decode()
    entries = regex.findall(
        r"""^  (?:'([^']+)'|"([^"]+)"|(\w+)): ([0-2]),?$""", source, flags=regex.MULTILINE
    )
    return frozenset(a or b or c for a, b, c, rating in entries if int(rating) >= SUREST)


def open_glove(path: Path) -> IO[bytes] | gzip.GzipFile:
    """Open the GloVe text, unpacking it on the way."""
    if path.suffix == ".zip":
        return zipfile.ZipFile(path).open(GLOVE)
    if path.suffix == ".bz2":
        return bz2.open(path)
    if path.suffix == ".gz":
        return gzip.open(path)
    return path.open("rb")


def read_glove(path: Path) -> Iterator[tuple[str, str]]:
    """Yield each word with its numbers still as text, most frequent first; stop the script if the file is not
    the pinned one."""
    digest = hashlib.sha256()
    with open_glove(path) as lines:
        for line in lines:
            digest.update(line)
            word, _, numbers = line.rstrip(b"\n").decode().partition(" ")
            yield word, numbers
    if digest.hexdigest() != GLOVE_SHA256:
        sys.exit(
            f"{path}: sha256 of the text is {digest.hexdigest()}, not {GLOVE_SHA256}: this is another version"
        )


class Chooser:
    """Decides word by word, and counts what is left out and why."""

    def __init__(self, listed: frozenset[str]) -> None:
        self.listed = listed
        self.kept = lines_by_hand("kept.txt")
        self.artefacts = lines_by_hand("artefacts.txt")
        self.left_out: Counter[str] = Counter()

    def offends(self, word: str) -> bool:
        """Whether the word, one of its hyphened parts, or its stem without a common ending is listed and not
        kept."""
        if word in self.kept:
            return False
        parts = [word, *word.split("-")] if "-" in word else [word]
        stems = [part.removesuffix(ending) for part in parts for ending in ENDINGS if part.endswith(ending)]
        return any(
            form in self.listed and form not in self.kept
            for form in parts + [stem for stem in stems if len(stem) > 2]
        )

    def wants(self, word: str) -> bool:
        """Whether the word belongs into the embedding."""
        reason = unusable(word)
        if reason is None and word in self.artefacts:
            reason = "artefacts of the corpus, by hand"
        if reason is None and self.offends(word):
            reason = "slurs and obscenities, by the list"
        if reason is not None:
            self.left_out[reason] += 1
        return reason is None


def mean_of(vectors: np.ndarray) -> np.ndarray:
    """Return the mean of the rows, summed without rounding so that no library's order of summation
    matters."""
    columns = vectors.astype(np.float64).T.tolist()
    return np.array([math.fsum(column) / len(column) for column in columns], dtype="<f4")


def make(glove: Path, package: Path, output: Path) -> None:
    """Write words.txt, vectors.npy, unknown.npy and provenance.json into ``output``."""
    chooser = Chooser(read_listed(package))
    words: list[str] = []
    rows: list[list[float]] = []
    looked_at = 0
    for word, numbers in read_glove(glove):  # to the end, for the digest
        if len(words) == WORDS:
            continue
        looked_at += 1
        if chooser.wants(word):
            words.append(word)
            rows.append([float(number) for number in numbers.split(" ")])
    vectors = np.array(rows, dtype=np.float64).astype("<f2")
    unknown = mean_of(vectors)
    wide = vectors.astype("<f4")
    if vectors.shape != (WORDS, DIMENSION) or not np.isfinite(wide).all() or len(set(words)) != WORDS:
        sys.exit(
            f"expected {WORDS:,} different words with {DIMENSION} finite numbers each, found {vectors.shape}"
        )

    output.mkdir(parents=True, exist_ok=True)
    (output / "words.txt").write_bytes(("\n".join(words) + "\n").encode())
    np.save(output / "vectors.npy", vectors, allow_pickle=False)
    np.save(output / "unknown.npy", unknown, allow_pickle=False)
    provenance = {
        "name": "default",
        "title": "GloVe 6B 50d, the 50,000 most frequent usable words, float16",
        "source": {
            "file": GLOVE,
            "sha256": GLOVE_SHA256,
            "url": "https://nlp.stanford.edu/data/glove.6B.zip",
            "licence": "PDDL-1.0",
            "cite": "Pennington, Socher and Manning (2014), GloVe: Global Vectors for Word Representation, "
            "EMNLP",
        },
        "made_with": "python -m scripts.embedding.make glove.6B.50d.txt build/cuss-2.2.0.tgz",
        "profanity_list": {
            "package": "npm cuss 2.2.0",
            "licence": "MIT",
            "file": LISTING,
            "sha256": LISTING_SHA256,
            "ratings_left_out": [1, 2],
        },
        "words": WORDS,
        "dimension": DIMENSION,
        "entries_looked_at": looked_at,
        "left_out": dict(sorted(chooser.left_out.items())),
        "by_hand_sha256": {
            name: hashlib.sha256((BY_HAND / name).read_bytes()).hexdigest()
            for name in ("artefacts.txt", "kept.txt")
        },
        "cased": any(word != word.lower() for word in words),
        "shadowed": shadowed_rows(wide).tolist(),
        "fingerprint": content_fingerprint(words, wide, unknown),
        "files_sha256": {
            name: hashlib.sha256((output / name).read_bytes()).hexdigest()
            for name in ("words.txt", "vectors.npy", "unknown.npy")
        },
    }
    (output / "provenance.json").write_text(
        json.dumps(provenance, indent=2, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n"
    )
    print(
        f"{output}: {WORDS:,} words from the first {looked_at:,} entries, fingerprint "
        f"{provenance['fingerprint']}"
    )


def main() -> None:
    """Read the command line."""
    parser = options_of(__doc__)
    parser.add_argument("glove", type=Path, help="glove.6B.50d.txt, or it packed as .bz2, .gz or .zip")
    parser.add_argument("package", type=Path, help="cuss-2.2.0.tgz as npm pack fetches it")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    make(arguments.glove, arguments.package, arguments.output)


if __name__ == "__main__":
    main()
