"""What ``make demo`` runs: a few sentences before and after, the receipt, and what one word may become."""

from __future__ import annotations

import sys

from deniable import Embedding, Multivariate, Privatizer
from deniable.channel.explanation import explain_word

SENTENCES = (
    "My doctor said the results will arrive on Tuesday.",
    "The hockey team lost the final in Toronto.",
    "Please ask Zorblatt7 for the encryption keys.",
)
EPSILONS = (4.0, 7.0)


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
    print(
        "\nNext:\n\n"
        '  echo "any text you like" | .venv/bin/deniable privatize --epsilon 6\n'
        "  .venv/bin/deniable privatize examples/reviews.csv --column review --epsilon 6 -o private.csv\n"
        "  .venv/bin/deniable explain hockey --epsilon 6\n"
        "  .venv/bin/deniable --help"
    )


if __name__ == "__main__":
    main()
