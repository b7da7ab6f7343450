"""Texts whose words depend on their class."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.support.made_reviews import BAD, GOOD

KINDS = (GOOD, BAD)


def made_rows(count: int, *, seed: int = 1, shuffled: bool = False) -> list[tuple[str, str]]:
    """Return labels and texts of six words, five of them of the kind that the label says; or labels that say
    nothing."""
    rng = np.random.default_rng(seed)
    kinds = [i % 2 for i in range(count)]
    texts = [
        " ".join(str(rng.choice(KINDS[kind if place else 1 - kind])) for place in range(6)) for kind in kinds
    ]
    labels = rng.permutation(kinds) if shuffled else kinds
    return [("yes" if label else "no", text) for label, text in zip(labels, texts, strict=True)]


def csv_of(rows: list[tuple[str, str]], file: Path) -> Path:
    """Write the rows as CSV with the columns y and t."""
    file.write_text("y,t\n" + "".join(f"{label},{text}\n" for label, text in rows))
    return file
