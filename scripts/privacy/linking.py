"""Measure how often released text leads back to its original or its author, for docs/research/privacy.md.

    python -m scripts.privacy.linking enron_pan11.jsonl.xz irc_ubuntu_by_user.jsonl.xz c50.jsonl.xz

The attacker has a file of originals. "The same texts": for each person, the texts that were released.
"Other texts": as much text of the same person again, of which nothing was released. The release is that of
`deniable release` at each level of risk, with listed names held back. Noise is secure, so that a second run
differs within chance.
"""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding, Release
from deniable.audit.linked import linked
from deniable.decoding.decoder import Decoder
from deniable.measures.texts import cut_texts
from deniable.utility.accuracy import decoded_counts, whole_counts
from scripts.pages import EXPERIMENTS, options_of, write_json

LEVELS = ("low", "medium", "high")
PEOPLE, WORDS = 200, 150
"""The most people of a set, and how many words of each are released; as many others are the other texts."""


def main() -> None:
    """Measure each set at each level, and write linking.json."""
    parser = options_of(__doc__)
    parser.add_argument("data", type=Path, nargs="+", help="texts as JSON Lines with `author` or `user`")
    embedding = Embedding.open()
    results = []
    for path in parser.parse_args().data:
        own, others = people_of(path, embedding)
        for level in LEVELS:
            results.append({"data": path.name.split(".")[0], **measure(own, others, embedding, level)})
            print(results[-1], flush=True)
    write_json(EXPERIMENTS / "linking.json", results)


def people_of(path: Path, embedding: Embedding) -> tuple[list[str], list[str]]:
    """Return the released and the other words of each person who wrote enough, as texts."""
    texts: dict[str, list[str]] = defaultdict(list)
    length: dict[str, int] = defaultdict(int)
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            person = row["author"] if "author" in row else row["user"]
            if length[person] < 3 * WORDS:  # more than enough, as spaces count words
                texts[person].append(row["text"])
                length[person] += len(row["text"].split())
    words = {
        person: cut_texts([" ".join(of)], embedding, longest=2 * WORDS).spelled
        for person, of in texts.items()
    }
    enough = sorted(person for person, of in words.items() if len(of) == 2 * WORDS)
    places = np.linspace(0, len(enough) - 1, min(PEOPLE, len(enough))).astype(int)
    chosen = [words[enough[place]] for place in places]
    return [" ".join(of[:WORDS]) for of in chosen], [" ".join(of[WORDS:]) for of in chosen]


def measure(own: list[str], others: list[str], embedding: Embedding, level: str) -> dict[str, Any]:
    """Return how often the best reader links people at one level of risk."""
    private = Release(risk=level, never_release="names").make()
    released = [text or "" for text in private.many(own)]
    decoder = Decoder.learn(private.card, released)
    embedding = decoder.embedding  # without the words that are held back, and so with ids of its own
    decoded = decoded_counts(decoder, released, embedding)[:, : len(embedding)]
    readings = {"words as released": counts_of(released, embedding), "decoded words": decoded}
    found: dict[str, Any] = {
        "level": level,
        "epsilon": private.settings.word_epsilon,
        "people": len(own),
        "words": WORDS,
    }
    for name, originals in (("same", own), ("other", others)):
        before = counts_of(originals, embedding)
        link = linked(before, readings, vectors=embedding.vectors.astype(np.float64))
        unreleased = linked(before, {"original words": counts_of(own, embedding)})
        assert link is not None
        assert unreleased is not None
        found[name] = {**link.to_dict(), "from_original_text": unreleased.first}
    return found


def counts_of(texts: Sequence[str], embedding: Embedding) -> Any:
    """Return how often each known word stands in each text."""
    cut = cut_texts(texts, embedding)
    return whole_counts(cut.ids, cut.offsets, embedding)[:, : len(embedding)]


if __name__ == "__main__":
    main()
