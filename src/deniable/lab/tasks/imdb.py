"""IMDb, the Large Movie Review Dataset (Maas et al. 2011): is a review positive?

It is read from the ``aclImdb`` folder as published, from the ``IMDB Dataset.csv`` of 50,000 rows (columns
review, sentiment), and from JSON Lines with split, label and text. Of the 25,000 training reviews, in a fixed
shuffled order, 15,000 train and 2,500 of the other 10,000 decide when to stop (the paper, after Keras, sets
10,000 aside). The CSV has no official split: its first 25,000 rows train, the rest test.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from deniable.errors import TaskDataError
from deniable.lab.tasks.reading import csv_rows, expect, only_file, train_and_test
from deniable.lab.tasks.task import Part, Task

CLASSES = ["negative", "positive"]
PER_SPLIT, TRAINING, SET_ASIDE, VALIDATION = 25_000, 15_000, 10_000, 2_500
_ORDER = 113

_Reviews = list[tuple[int, str]]


def load_imdb(path: Path) -> Task:
    """Read IMDb from a folder that holds ``aclImdb`` or is it, a CSV file, or JSON Lines.

    :raises TaskDataError: if something is missing, cut off, or not in the published number.
    """
    folder = path / "aclImdb" if (path / "aclImdb").is_dir() else path
    balanced = True
    if (folder / "train").is_dir() or (folder / "test").is_dir():
        train, test = _folder(folder / "train"), _folder(folder / "test")
    elif ".csv" in path.suffixes:
        reviews, balanced = _csv(path), False
        train, test = reviews[:PER_SPLIT], reviews[PER_SPLIT:]
    else:
        file = only_file(path, "imdb*.jsonl*") if path.is_dir() else path
        train, test = train_and_test(file, "label", (0, 1))
    for part, name in ((train, "training"), (test, "test")):
        expect(path, f"{name} reviews", len(part), PER_SPLIT)
        if balanced:
            expect(path, f"positive {name} reviews", sum(label for label, _ in part), PER_SPLIT // 2)
    order = np.random.Generator(np.random.PCG64(_ORDER)).permutation(PER_SPLIT).tolist()
    training = _part(train)
    return Task(
        name="imdb",
        classes=CLASSES,
        train=training.take(order[SET_ASIDE : SET_ASIDE + TRAINING]),
        validation=training.take(order[:VALIDATION]),
        test=_part(test),
    )


def _part(reviews: _Reviews) -> Part:
    return Part(texts=[text for _, text in reviews], labels=[label for label, _ in reviews])


def _folder(folder: Path) -> _Reviews:
    reviews: _Reviews = []
    for label, name in ((0, "neg"), (1, "pos")):
        files = sorted((folder / name).glob("*.txt"), key=lambda file: int(file.name.partition("_")[0]))
        expect(folder / name, "reviews", len(files), PER_SPLIT // 2)
        reviews += [(label, file.read_text(encoding="utf-8")) for file in files]
    return reviews


def _csv(path: Path) -> _Reviews:
    reviews: _Reviews = []
    for text, sentiment in csv_rows(path, "review", "sentiment"):
        if sentiment not in CLASSES:
            problem = f"review {len(reviews) + 1:,}: the sentiment is neither positive nor negative"
            raise TaskDataError(path, problem)
        reviews.append((CLASSES.index(sentiment), text))
    return reviews
