"""Measures by which penalty the directions of a purpose are learnt best, on public texts alone.

    python -m scripts.purpose.directions --data DATA -o docs/experiments/purpose-directions.json

DATA is made by ``scripts.purpose.measure prepare``. Directions are learnt from one half of public texts, and
the labels of the other half told from mean vectors in the shaped space, with noise twice as wide as words are
spread along the first principal axis: about what a private ε makes of each word. No text that is released
anywhere on the page has a part in that.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from deniable import Embedding
from deniable.arrays import Floats
from deniable.purposes import directions
from deniable.purposes.directions import learn_directions
from deniable.purposes.features import mean_vectors
from deniable.purposes.public_texts import PublicTexts, read_public
from deniable.purposes.shaping import map_of_directions
from scripts.purpose.settings import PUBLIC, SOURCE

PENALTIES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 1.0, 3.0, 10.0)
PUBLIC_SETS = ("topic", "sentiment", "newsgroups", "insurance", "negation", "questions")
NOISE, DIMENSION, STRENGTH, MOST_TEXTS = 2.0, 16, 2.0, 4_000


def main() -> None:
    """Measure, and write after each public set."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("-o", "--output", type=Path, required=True)
    given = parser.parse_args()
    for found in choices(Embedding.open(SOURCE), given.data):
        given.output.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def choices(source: Embedding, data: Path) -> Iterator[list[dict[str, Any]]]:
    """Yield, after each public set, how well labels of the other half are told by each penalty."""
    found: list[dict[str, Any]] = []
    for name in PUBLIC_SETS:
        texts = _public(data, name)
        chosen = np.random.default_rng(1).permutation(len(texts.texts))[:MOST_TEXTS]
        half = len(chosen) // 2
        learn, judge = (
            PublicTexts.of([texts.labels[i] for i in part], [texts.texts[i] for i in part], kind="classes")
            for part in (chosen[:half], chosen[half:])
        )
        means, _ = mean_vectors(source, judge.texts)
        lengths = np.array([max(1, len(text.split())) for text in judge.texts])
        accuracy = {}
        for penalty in PENALTIES:
            with _penalty(penalty):
                learnt = learn_directions(source, learn)
            made = map_of_directions(source, [learn], [learnt], dimension=DIMENSION, strength=STRENGTH)
            matrix = made.matrix
            first = float((source.vectors @ matrix[0]).std())
            accuracy[f"{penalty:g}"] = _told_in_noise(means @ matrix.T, lengths, judge.labels, NOISE * first)
        found.append({"name": name, "texts": len(chosen), "accuracy": accuracy})
        print(json.dumps(found[-1]), flush=True)
        yield found


def _told_in_noise(features: Floats, lengths: Floats, labels: list[str], noise: float) -> float:
    """Return how many labels are told from means of noisy words, by a model that learnt from such means; five
    times."""
    told = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        noisy = features + rng.standard_normal(features.shape) * noise / np.sqrt(lengths)[:, None]
        order = rng.permutation(len(labels))
        learnt, judged = np.split(order, [3 * len(order) // 4])
        scaled, answers = StandardScaler().fit(noisy[learnt]).transform(noisy), np.array(labels)
        model = LogisticRegression(C=0.1, max_iter=500).fit(scaled[learnt], answers[learnt])
        told.append(float(model.score(scaled[judged], answers[judged])))
    return float(np.mean(told))


def _public(data: Path, purpose: str) -> PublicTexts:
    return read_public(
        data / f"{PUBLIC[purpose][0]}.jsonl.xz", text_column="text", label_column="label", kind="classes"
    )


@contextmanager
def _penalty(value: float) -> Iterator[None]:
    with mock.patch.object(directions, "PENALTY", value):
        yield


if __name__ == "__main__":
    main()
