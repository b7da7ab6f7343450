"""Small made data with known answers, and a made result."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from deniable.audit.results import EmbeddingSummary
from deniable.embeddings.embedding import Embedding
from deniable.lab.comparison.readings import Sample, Target, make_sample
from deniable.lab.comparison.results import ComparisonResult, MeanAndSpread, PrivacyReadings, Row
from deniable.measures.texts import Texts
from deniable.records.reading import LabelledTexts

SHARES = np.array([0.4, 0.2, 0.2, 0.1, 0.1])


def ring(words: int = 40) -> Embedding:
    """Words on a circle, so that all are alike to a mechanism."""
    angles = 2 * np.pi * np.arange(words) / words
    vectors = 10 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return Embedding([f"w{i}" for i in range(words)], vectors, name="ring")


def ring_without(known: list[int]) -> Embedding:
    """The circle with some of its words only."""
    whole = ring()
    return Embedding([whole.words[i] for i in known], whole.vectors[known], name="half")


def sample_of(embedding: Embedding) -> Sample:
    """Words of a text that holds the first five in these shares."""
    text = np.repeat(np.arange(len(SHARES)), np.round(SHARES * 1000).astype(int))
    return make_sample(embedding, text, words=4000, seed=0)


def task(embedding: Embedding, texts: int = 60, seed: int = 0) -> Texts:
    """Two labels whose words lie on opposite sides of the circle."""
    generator = np.random.default_rng(seed)
    labels = [str(i % 2) for i in range(texts)]
    ids = np.concatenate([generator.integers(0, 5, 6) + 20 * int(label) for label in labels])
    offsets = np.arange(0, 6 * texts + 1, 6)
    return Texts(ids=ids, offsets=offsets, spelled=[f"w{i}" for i in ids.tolist()], labels=labels)


def labelled(texts: int = 80) -> LabelledTexts:
    made = task(ring(), texts=texts)
    words = [" ".join(each) for each in made.words]
    return LabelledTexts(source="made", labels=list(made.labels), texts=words)


def json_lines(data: LabelledTexts, path: Path) -> Path:
    rows = [{"label": label, "text": text} for label, text in zip(data.labels, data.texts, strict=True)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def share(mean: float, spread: float | None = 0.01) -> MeanAndSpread:
    return MeanAndSpread(mean=mean, spread=spread)


def made_row(mechanism: str, adversary: float, accuracy: float, spread: float | None = 0.01) -> Row:
    return Row(
        mechanism=mechanism,
        reading="average",
        target=0.3,
        epsilon=2.0,
        reached=PrivacyReadings(epsilon=2.0, average=0.301, worst=0.6, adversary=adversary, errors={}),
        accuracy=share(accuracy, spread),
        unchanged=share(0.3),
        distance=share(0.5),
        words_per_second=1234.5,
    )


def made_result(*rows: Row) -> ComparisonResult:
    return ComparisonResult(
        version="0",
        embedding=EmbeddingSummary(name="<tiny>", fingerprint="f" * 32, protected=0),
        seed=0,
        runs=2,
        tolerance={"average": 0.01},
        targets=(Target(reading="average", value=0.3),),
        mechanisms=("a", "b", "<c>"),
        texts={"learn": 10, "test": 5, "words": 100},
        sample={"words": 20, "distinct": 9, "guess": 0.2},
        original=0.9,
        guess=0.5,
        left_out={"d": "which needs an option"},
        rows=rows,
    )
