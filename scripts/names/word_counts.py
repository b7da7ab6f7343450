"""Write the built-in counts of English words, ``src/deniable/words/data/english-counts.txt.xz``, from two
lists of Google Books.

The lists are ``ngrams/more/english/1grams_english_1a_no_pos.csv`` and
``ngrams/more/english-fiction/1grams_english-fiction_1a_no_pos.csv`` of the repository
orgtre/google-books-ngram-frequency (CC BY 3.0), commit 8e16017 or later: the 10,000 most frequent tokens of
English books and of English fiction of the years 2010 to 2019. Each list counts half. Tokens without a letter
are left out, case is folded.

    python -m scripts.names.word_counts ENGLISH.csv FICTION.csv
"""

from __future__ import annotations

import csv
import lzma
import sys
from collections import Counter
from pathlib import Path

from scripts.pages import ROOT

TARGET = ROOT / "src" / "deniable" / "words" / "data" / "english-counts.txt.xz"
_PER = 1_000_000_000


def read_list(path: Path) -> dict[str, float]:
    """Return the share of each word in one list."""
    counts: Counter[str] = Counter()
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if any(character.isalpha() for character in row["ngram"]):
                counts[row["ngram"].lower()] += int(row["freq"])
    total = sum(counts.values())
    return {word: count / total for word, count in counts.items()}


def merge(lists: list[dict[str, float]]) -> list[tuple[str, int]]:
    """Return each word with its count among a billion words, the lists weighing the same; frequent words
    first."""
    words = {word for each in lists for word in each}
    counts = {word: round(_PER * sum(each.get(word, 0.0) for each in lists) / len(lists)) for word in words}
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def main() -> None:
    """Write the file."""
    lines = [f"{word}\t{count}\n" for word, count in merge([read_list(Path(path)) for path in sys.argv[1:]])]
    TARGET.write_bytes(lzma.compress("".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{TARGET.name}: {len(lines):,} words, {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
