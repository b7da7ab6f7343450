"""How long a receiver waits: for the channel of the built-in embedding, and for a million released words to
be decoded and counted.

    python -m benchmarks.decoding --page docs/guide/received.md

The channel is that of all words at one ε, as ``deniable decode`` makes it; nothing of it is taken from the
disk unless ``--home`` says so. Then texts of words as frequent as their rank says are released and read by
``deniable decode`` and ``deniable frequencies`` as functions, and a part of them in context. Every part has
its time on the clock and its processor time: the latter hardly depends on who else uses the machine.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.machine import busy, machine, processor_seconds
from deniable import Embedding, Multivariate, Privatizer
from deniable.decoding.files import decode_file
from deniable.decoding.received import open_channel
from deniable.decoding.word_use import measure_word_use
from deniable.neighbours.threads import set_threads
from deniable.records import privatize_file
from deniable.release.card import read_card

_EPSILON = 7.0
_WORDS_PER_TEXT = 20
_GROUPS = 10


def main() -> None:
    """Measure, print a table, and write it where it was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--support", type=int, help="words whose channel is made; all without it")
    parser.add_argument(
        "--directions", type=int, default=1_000, help="at most so many points are drawn around each word"
    )
    parser.add_argument("--words", type=int, default=1_000_000, help="released words")
    parser.add_argument(
        "--context-words", type=int, default=50_000, help="words of these that are read in context"
    )
    parser.add_argument(
        "--parts",
        nargs="+",
        metavar="PART",
        help="the parts that are measured, as the table names them; all without it",
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--home", type=Path, help="a DENIABLE_HOME that has the channel: it is not made here, and not timed"
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--page", type=Path, help="a page to write the table into, between its marks")
    options = parser.parse_args()
    set_threads(options.threads)
    now, where = busy(), machine()
    with tempfile.TemporaryDirectory(prefix="deniable-") as folder:
        os.environ["DENIABLE_HOME"] = str(
            options.home or folder
        )  # without a home no channel that was made before is found
        rows = measure(Path(folder), options)
    found = {"setting": f"{options.threads} threads of {where}", **now, "epsilon": _EPSILON, "rows": rows}
    shown = table(found)
    print(shown)
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if options.page is not None:
        page = options.page.read_text(encoding="utf-8")
        before, after = page.partition("<!-- measured -->")[0], page.partition("<!-- /measured -->")[2]
        options.page.write_text(
            f"{before}<!-- measured -->\n{shown}\n<!-- /measured -->{after}", encoding="utf-8"
        )


def measure(folder: Path, options: argparse.Namespace) -> list[dict[str, float | str]]:
    """Return how long each part took."""
    embedding = Embedding.open("default")
    support = options.support or len(embedding)
    released, few = folder / "released.csv", folder / "few.csv"
    write_texts(embedding, folder / "texts.csv", options.words)
    write_texts(embedding, folder / "fewer.csv", options.context_words)
    private = Privatizer(Multivariate(embedding, epsilon=_EPSILON))
    for source, target in ((folder / "texts.csv", released), (folder / "fewer.csv", few)):
        privatize_file(private, source, target, columns=["text"])
    public = folder / "public.txt"
    public.write_text(
        "".join(" ".join(line) + "\n" for line in texts_of(embedding, 200_000, seed=2)), encoding="utf-8"
    )
    card = read_card(Path(f"{released}.card.json"))
    effort = {"support": support, "directions": options.directions}
    rows: list[dict[str, float | str]] = []

    def timed(name: str, words: int, call: Callable[[], object]) -> None:
        if options.parts is not None and name not in options.parts:
            return
        started, spent = time.perf_counter(), processor_seconds()
        call()
        rows.append(
            {
                "part": name,
                "words": words,
                "seconds": time.perf_counter() - started,
                "processor": processor_seconds() - spent,
            }
        )
        print(rows[-1], flush=True)

    if options.home is None:
        timed("channel", support, lambda: open_channel(card, embedding, **effort))
    timed(
        "decode",
        options.words,
        lambda: decode_file(released, folder / "decoded.csv", card, column="text", **effort),
    )
    timed(
        "decode, 5 candidates",
        options.words,
        lambda: decode_file(released, folder / "top.csv", card, column="text", top=5, **effort),
    )
    timed("frequencies", options.words, lambda: measure_word_use(released, card, column="text", **effort))
    timed(
        f"frequencies of {_GROUPS} groups",
        options.words,
        lambda: measure_word_use(released, card, column="text", by="group", **effort),
    )
    timed(
        "decode in context",
        options.context_words,
        lambda: decode_file(few, folder / "c.csv", card, column="text", public=public, **effort),
    )
    return rows


def texts_of(embedding: Embedding, words: int, *, seed: int) -> list[list[str]]:
    """Return texts of words as frequent as their rank says."""
    shares = 1.0 / (np.arange(len(embedding)) + 2.7)
    ids = np.random.default_rng(seed).choice(
        len(embedding), (-(-words // _WORDS_PER_TEXT), _WORDS_PER_TEXT), p=shares / shares.sum()
    )
    return [[embedding.words[i] for i in row] for row in ids.tolist()]


def write_texts(embedding: Embedding, path: Path, words: int) -> None:
    """Write a CSV file of texts in groups."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "group"])
        writer.writerows(
            [" ".join(text), f"g{number % _GROUPS}"]
            for number, text in enumerate(texts_of(embedding, words, seed=1))
        )


def table(found: dict[str, object]) -> str:
    """Return the parts as a table, and on what it was measured."""
    lines = ["| part | words | minutes | processor minutes |", "|---|--:|--:|--:|"]
    rows = found["rows"]
    assert isinstance(rows, list)
    lines += [
        f"| {row['part']} | {row['words']:,} | {row['seconds'] / 60:.1f} | {row['processor'] / 60:.1f} |"
        for row in rows
    ]
    return "\n".join([*lines, "", f"Measured with {found['setting']}."])


if __name__ == "__main__":
    main()
