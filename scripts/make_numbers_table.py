"""Write the table of docs/guarantee.md: what the numbers are for the built-in embedding and the paper's
mechanism, ε = 3 to 7.

python scripts/make_numbers_table.py          # writes the table between its marks python
scripts/make_numbers_table.py --check  # fails if the page has another one; draws come from public seeds
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from deniable import Embedding, InsecureSeededRandomness, Multivariate
from deniable.channel.columns import columns_of
from deniable.decoding.posterior import BayesAdversary
from deniable.measures.accounting import Spent, account
from deniable.measures.bayes_bound import bayes_bound
from deniable.measures.capacity import capacity
from deniable.measures.risk import english_words

PAGE = Path(__file__).parent.parent / "docs" / "guarantee.md"
BEGIN, END = "<!-- numbers: scripts/make_numbers_table.py -->", "<!-- end of numbers -->"
EPSILONS = (3.0, 4.0, 5.0, 6.0, 7.0)
WORDS = (1, 5, 20)
ATTACKED, POINTS = 2_000, 32


def row_of(embedding: Embedding, epsilon: float) -> str:
    """Return the line of the table for one ε."""
    mechanism = Multivariate(embedding, epsilon=epsilon)
    factor, bound = (
        capacity(mechanism, draws=40_000),
        bayes_bound(mechanism, english_words(embedding), draws=40_000),
    )
    assert factor is not None
    assert bound is not None
    spent = {row.words: row for row in account(mechanism, words=WORDS) if row.distance == "median"}
    cells = [
        f"{epsilon:g}",
        f"{factor.high:,.0f}",
        f"{100 * named_by_attack(mechanism):.1f} %",
        f"{100 * bound.high:.1f} %",
        *(_spent(spent[count]) for count in WORDS),
    ]
    return f"| {' | '.join(cells)} |"


def named_by_attack(mechanism: Multivariate) -> float:
    """Return the share of words, drawn as frequent as in English, that Bayes' rule on the channel names."""
    shares = english_words(mechanism.embedding).shares
    words = np.random.Generator(np.random.PCG64(1)).choice(len(shares), ATTACKED, p=shares)
    released = mechanism.perturb(words, InsecureSeededRandomness(insecure_seed=2))
    columns = columns_of(mechanism, np.unique(released), seed=4, points=POINTS)
    adversary = BayesAdversary(columns, shares[:-1] / shares[:-1].sum())
    return float((adversary.guesses(released) == words).mean())


def _spent(row: Spent) -> str:
    assert row.epsilon is not None
    return f"{row.epsilon:.0f} ({row.pure:.0f})"


def table() -> str:
    """Return the whole table."""
    embedding = Embedding.open()
    head = (
        "| ε | capacity F, at most | named by Bayes' rule | by any reader of single words, at most "
        "| 1 word replaced: ε′ (Σε·d) | 5 words | 20 words |"
    )
    return "\n".join(
        [head, "|---|---|---|---|---|---|---|", *(row_of(embedding, epsilon) for epsilon in EPSILONS)]
    )


def main() -> None:
    """Write the table into the page, or compare it."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    written = f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END)[1]}"
    if "--check" in sys.argv:
        sys.exit(written != text)
    PAGE.write_text(written, encoding="utf-8")


if __name__ == "__main__":
    main()
