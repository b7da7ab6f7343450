"""What ``make demo`` runs: a few sentences before and after, the receipt, what one word may become, and what
a release for a purpose is good for."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from statistics import mean, median

import numpy as np

from deniable import Embedding, Multivariate, Privatizer, Release
from deniable.channel.explanation import explain_word
from deniable.words.cutter import Cutter

SENTENCES = (
    "My doctor said the results will arrive on Tuesday.",
    "The hockey team lost the final in Toronto.",
    "Please ask Zorblatt7 for the encryption keys.",
)
EPSILONS = (4.0, 7.0)
REVIEWS = Path(__file__).with_name("reviews.csv")
DRAWS = 20


def main() -> None:
    """Print the demonstration."""
    # A terminal that cannot show ε gets a question mark, not a crash.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    embedding = Embedding.open()
    print(
        f"Built-in embedding: {len(embedding):,} words, {embedding.dimension} dimensions. No download, no "
        "network."
    )
    print("Every word is replaced by a word drawn around it. Smaller ε: more noise. Each run draws anew.\n")
    privatizers = [Privatizer(Multivariate(embedding, epsilon=epsilon)) for epsilon in EPSILONS]
    for sentence in SENTENCES:
        print(f"  before   {sentence}")
        for private, epsilon in zip(privatizers, EPSILONS, strict=True):
            print(f"  ε = {epsilon:g}    {private(sentence)}")
        print()
    print(
        "Zorblatt7 is in no dictionary. It becomes the one public unknown word and is drawn like any other.\n"
    )
    print("The receipt of the three sentences at ε = 7:\n")
    for line in privatizers[-1].receipt().summary().split("\n"):
        print(f"  {line}")
    print("\nWhat “hockey” may become (500 draws each):\n")
    for epsilon in EPSILONS:
        said = explain_word(Multivariate(embedding, epsilon=epsilon), "hockey", draws=500, top=6)
        others = ", ".join(outcome.word for outcome in said.outcomes if outcome.word != "hockey")
        stays = said.unchanged.probability if said.unchanged else 0.0
        print(
            f"  ε = {epsilon:g}    stays in {stays:.0%} of the draws, {said.distinct} distinct words; also "
            f"{others}"
        )
    show_purpose()
    print(
        "\nNext:\n\n"
        '  echo "any text you like" | .venv/bin/deniable privatize --epsilon 6\n'
        "  .venv/bin/deniable privatize examples/reviews.csv --column review --for sentiment --risk low "
        "-o out.csv\n"
        "  .venv/bin/deniable explain hockey --epsilon 6\n"
        "  .venv/bin/deniable --help"
    )


def show_purpose() -> None:
    """Print how many reviews are told good or bad by somebody who has nothing but released text."""
    with REVIEWS.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["stars"] != "3"]
    texts, good = [row["review"] for row in rows], [int(row["stars"]) > 3 for row in rows]
    space = Embedding.open("for-sentiment")
    cutter = Cutter(space)

    def right(released: list[str]) -> float:
        # The better half by the place of their words in the space is called good: no label is looked at.
        scores = [float(space.rows(ids_of(cutter, text))[:, 0].mean()) for text in released]
        middle = median(scores)
        return mean((score > middle) == label for score, label in zip(scores, good, strict=True))

    print(f"\nWhat a release is good for: {len(rows)} reviews of examples/reviews.csv, told good or bad\n")
    print(f"  always the same answer    {max(mean(good), 1.0 - mean(good)):.0%} right")
    for risk, named in (("low", "8 %"), ("medium", "17 %")):
        private = Release(purpose="sentiment", risk=risk).make()
        shares = [right([str(each) for each in private.many(texts)]) for _ in range(DRAWS)]
        print(
            f"  --for sentiment, {risk:<9}{mean(shares):.0%} right; a reader of single words names at most "
            f"{named}"
        )
    print(f"  the original reviews      {right(texts):.0%} right\n")
    print(
        f"  Means of {DRAWS} releases, by a rule without labels. Measured on larger sets: "
        "docs/research/purpose.md"
    )


def ids_of(cutter: Cutter, text: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the ids of the words of a text."""
    return np.array(cutter.ids(cutter.words(text)), dtype=np.int64)


if __name__ == "__main__":
    main()
