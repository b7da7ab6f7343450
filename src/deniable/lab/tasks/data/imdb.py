"""IMDb, the Large Movie Review Dataset (Maas et al. 2011): is a review positive?

Read are the ``aclImdb`` folder as published, the ``IMDB Dataset.csv`` of 50,000 rows (columns review,
sentiment), and JSON Lines with split, label and text. Of the 25,000 training reviews, in a fixed shuffled
order, 15,000 train and 2,500 of the other 10,000 decide when to stop (the paper, after Keras, sets 10,000
aside). The CSV has no official split: its first 25,000 rows train, the rest test, as most who use it do.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deniable.errors import TaskDataError
from deniable.lab.tasks.data.examples import Classification, Labelled
from deniable.lab.tasks.data.reading import csv_rows, expect, json_lines

CLASSES = ["negative", "positive"]
PER_SPLIT, TRAINING, SET_ASIDE, VALIDATION = 25_000, 15_000, 10_000, 2_500
_ORDER = 113


def load_imdb(path: Path) -> Classification:
    """Read IMDb from a folder that holds ``aclImdb`` or is it, a CSV file, or JSON Lines.

    :raises TaskDataError: if something is missing, cut off, or not in the published number.
    """
    folder = path / "aclImdb" if (path / "aclImdb").is_dir() else path
    if (folder / "train").is_dir() or (folder / "test").is_dir():
        train, test = _folder(folder / "train"), _folder(folder / "test")
    elif path.is_dir():
        train, test = _json(_only(path, "imdb*.jsonl*"))
    elif ".csv" in path.suffixes:
        train, test = _csv(path)
    else:
        train, test = _json(path)
    for part, name in ((train, "training"), (test, "test")):
        expect(path, f"{name} reviews", len(part), PER_SPLIT)
        if folder != path or ".csv" not in path.suffixes:
            expect(path, f"positive {name} reviews", sum(part.labels), PER_SPLIT // 2)
    order = np.random.Generator(np.random.PCG64(_ORDER)).permutation(PER_SPLIT).tolist()
    return Classification(
        name="imdb",
        classes=CLASSES,
        train=train.take(order[SET_ASIDE : SET_ASIDE + TRAINING]),
        validation=train.take(order[:VALIDATION]),
        test=test,
    )


def _folder(folder: Path) -> Labelled:
    texts: list[str] = []
    labels: list[int] = []
    for label, name in ((0, "neg"), (1, "pos")):
        files = sorted((folder / name).glob("*.txt"), key=lambda file: int(file.name.partition("_")[0]))
        expect(folder / name, "reviews", len(files), PER_SPLIT // 2)
        texts += [file.read_text(encoding="utf-8") for file in files]
        labels += [label] * len(files)
    return Labelled(texts=texts, labels=labels)


def _csv(path: Path) -> tuple[Labelled, Labelled]:
    texts: list[str] = []
    labels: list[int] = []
    for row in csv_rows(path, "review", "sentiment"):
        if row["sentiment"] not in CLASSES:
            raise TaskDataError(
                path, f"review {len(texts) + 1:,}: the sentiment is neither positive nor negative"
            )
        texts.append(row["review"])
        labels.append(CLASSES.index(row["sentiment"]))
    every = Labelled(texts=texts, labels=labels)
    return every.take(range(min(PER_SPLIT, len(texts)))), every.take(range(PER_SPLIT, len(texts)))


def _json(path: Path) -> tuple[Labelled, Labelled]:
    parts: dict[str, tuple[list[str], list[int]]] = {"train": ([], []), "test": ([], [])}
    for record in json_lines(path, "split", "label", "text"):
        if record["split"] not in parts or record["label"] not in (0, 1):
            raise TaskDataError(
                path,
                f"a split {record['split']!r} with label {record['label']!r}; known are train and test, 0 "
                "and 1",
            )
        parts[record["split"]][0].append(record["text"])
        parts[record["split"]][1].append(record["label"])
    train, test = (Labelled(texts=texts, labels=labels) for texts, labels in parts.values())
    return train, test


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise TaskDataError(folder, f"it holds neither aclImdb (with train and test) nor one file {pattern}")
    return found[0]
