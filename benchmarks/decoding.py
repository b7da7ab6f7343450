"""How long a receiver waits: for the channel of the built-in embedding, and for a million released words to
be decoded and counted.

    python -m benchmarks.decoding

The channel is that of all words at one ε, as ``deniable decode`` makes it; nothing of it is taken from the
disk. Then texts of words as frequent as their rank says are released and read by ``deniable decode`` and
``deniable frequencies`` as functions, and a part of them in context. Every part has its time on the clock and
its processor time: the latter hardly depends on who else uses the machine.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scripts.pages import options_of, table

from benchmarks.machine import machine, texts_by_rank, timed
from deniable import Embedding, Multivariate, Privatizer
from deniable.decoding.decoder import considered_words, open_channel
from deniable.decoding.files import decode_file
from deniable.decoding.word_use import measure_word_use
from deniable.neighbours.threads import threads
from deniable.records import privatize_file
from deniable.release.card import read_card

EPSILON, WORDS_PER_TEXT, GROUPS, DIRECTIONS = 7.0, 20, 10, 1_000


def main() -> None:
    """Measure, and print a table."""
    parser = options_of(__doc__)
    parser.add_argument("--words", type=int, default=1_000_000, help="released words")
    parser.add_argument("--context-words", type=int, default=50_000, help="words that are read in context")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="deniable-") as folder:
        os.environ["DENIABLE_HOME"] = folder
        for name, words, work in parts(Path(folder), options.words, options.context_words):
            rows.append([name, f"{words:,}", *(f"{seconds / 60:.1f}" for seconds in timed(work))])
            print(rows[-1], flush=True)
    print(table(["part", "words", "minutes", "processor minutes"], rows, align="lr"))
    print(f"\nMeasured with {threads()} threads of {machine()}.")


def parts(folder: Path, words: int, few: int) -> list[tuple[str, int, Callable[[], object]]]:
    """Return each part with its number of words, after its files are made."""
    embedding = Embedding.open()
    private = Privatizer(Multivariate(embedding, epsilon=EPSILON))
    released, fewer, public = folder / "released.csv", folder / "fewer.csv", folder / "public.txt"
    for target, number in ((released, words), (fewer, few)):
        source = folder / "texts.csv"
        with source.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["text", "group"])
            texts = texts_by_rank(embedding, -(-number // WORDS_PER_TEXT), WORDS_PER_TEXT)
            writer.writerows([text, f"g{place % GROUPS}"] for place, text in enumerate(texts))
        privatize_file(private, source, target, columns=["text"])
    public.write_text("\n".join(texts_by_rank(embedding, 10_000, WORDS_PER_TEXT, seed=2)), encoding="utf-8")
    card = read_card(Path(f"{released}.card.json"))
    effort: dict[str, Any] = {"support": len(embedding), "effort": DIRECTIONS}

    def channel() -> object:
        words = considered_words(card, embedding, len(embedding))
        return open_channel(card, embedding, words, directions=DIRECTIONS)

    def decode(**how: Any) -> object:
        return decode_file(released, folder / "decoded.csv", card, column="text", **effort, **how)

    def count(**how: Any) -> object:
        return measure_word_use(released, card, column="text", **effort, **how)

    def in_context() -> object:
        return decode_file(fewer, folder / "context.csv", card, column="text", public=public, **effort)

    return [
        ("channel", len(embedding), channel),
        ("decode", words, decode),
        ("decode, 5 candidates", words, lambda: decode(top=5)),
        ("frequencies", words, count),
        (f"frequencies of {GROUPS} groups", words, lambda: count(by="group")),
        ("decode in context", few, in_context),
    ]


if __name__ == "__main__":
    main()
