"""Measure from how many words on a receiver notices text that was not released as its card says, and how far
good releases stay below.

Each kind of wrong text is received with the card of the paper's mechanism at some ε. It prints a Markdown
table: the share of texts that are refused, by the number of words; for good releases also the largest
evidence that was found, in nats.

    python -m scripts.decoding.likeness TEXT.txt --seeds 5

TEXT.txt holds ordinary public text, one document a line, with far more words than the largest size.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from deniable import Embedding
from deniable.arrays import Ids
from deniable.channel.draws import Draws
from deniable.channel.making import DIRECTIONS
from deniable.decoding.likeness import MOST_EVIDENCE, evidence_against
from deniable.decoding.priors import SUPPORT
from deniable.decoding.received import open_channel
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.release.release import Release
from deniable.words.cutter import Cutter, Lookup

_GOOD = "a good release"


def kinds(epsilon: float) -> Iterator[tuple[str, ChosenMechanism | None, float]]:
    """Yield what is received: its name, the mechanism that released it, if one did, and at which ε."""
    paper = ChosenMechanism()
    yield _GOOD, paper, epsilon
    yield f"{_GOOD} of ten words, again and again", paper, epsilon
    yield "the original", None, 0.0
    yield "released at twice the ε", paper, 2.0 * epsilon
    yield "released at half the ε", paper, 0.5 * epsilon
    yield "randomised response, half of the words kept", ChosenMechanism(name="randomized-response"), 10.8
    yield "SanText at ε = 3", ChosenMechanism(name="santext"), 3.0


def read_words(embedding: Embedding, path: Path, words: int) -> Ids:
    """Return the first known words of a text file."""
    cutter, lookup = Cutter(embedding), Lookup(embedding)
    ids: list[int] = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            ids += [i for i in lookup.ids(cutter.words(line)) if i != embedding.unknown_id]
            if len(ids) >= words:
                break
    return np.array(ids[:words], dtype=np.int64)


def main() -> None:
    """Read the options, measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", type=Path)
    parser.add_argument("--epsilons", type=float, nargs="+", default=[3.0, 6.0, 9.0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[250, 1_000, 2_500, 10_000])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--words", type=int, default=SUPPORT, help="how many words are considered")
    parser.add_argument("--directions", type=int, default=DIRECTIONS)
    given = parser.parse_args()
    embedding = Embedding.open("default")
    most = max(given.sizes)
    original = read_words(embedding, given.text, given.seeds * most)
    if len(original) < given.seeds * most:
        parser.error(f"the text has {len(original):,} known words; {given.seeds * most:,} are needed")
    few = np.concatenate([np.resize(part[:10], most) for part in original.reshape(given.seeds, most)])
    print(
        f"| ε of the card | received | {' | '.join(f'{size:,} words' for size in given.sizes)} "
        f"|\n|--:|---|{'--:|' * len(given.sizes)}"
    )
    card = Release(epsilon=1.0).make().card
    for epsilon in given.epsilons:
        channel = open_channel(
            replace(card, epsilon=epsilon), embedding, support=given.words, directions=given.directions
        )
        for name, mechanism, its_epsilon in kinds(epsilon):
            text = few if "ten words" in name else original
            if mechanism is not None:
                text = Draws(mechanism(embedding, epsilon=its_epsilon), seed=1).of_each(text)
            cells = []
            for size in given.sizes:
                parts = text.reshape(given.seeds, most)[:, :size]
                found = [
                    evidence_against(channel, np.bincount(part, minlength=len(embedding)).astype(np.float64))
                    for part in parts
                ]
                refused = f"{100 * np.mean([evidence > MOST_EVIDENCE for evidence in found]):.0f} %"
                cells.append(f"{refused} (at most {max(found):.0f})" if name.startswith(_GOOD) else refused)
            print(f"| {epsilon:g} | {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
