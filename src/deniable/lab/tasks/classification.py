"""The two tasks of the paper in which each text has a class.

IMDb, the Large Movie Review Dataset (Maas et al. 2011): is a review positive? It is read from the ``aclImdb``
folder as published, from the ``IMDB Dataset.csv`` of 50,000 rows (columns review, sentiment), and from JSON
Lines with split, label and text. Of the 25,000 training reviews, in a fixed shuffled order, 15,000 train and
2,500 of the other 10,000 decide when to stop (the paper, after Keras, sets 10,000 aside). The CSV has no
official split: its first 25,000 rows train, the rest test.

Enron: which of ten authors wrote a message? It is read from the ``maildir`` folder as published (sent mail by
user), from the ``emails.csv`` made of it (columns file, message), and from JSON Lines with split, author and
text. The authors are the ten with the most training messages. Mail as published has no split: in a fixed
shuffled order every eleventh message of an author tests, which is the paper's share (850 of 9,367).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from email import message_from_string, policy
from pathlib import Path

import numpy as np

from deniable.errors import TaskDataError
from deniable.lab.tasks.task import Part, Task, csv_rows, expect, only_file, train_and_test

CLASSES = ["negative", "positive"]
PER_SPLIT, TRAINING, SET_ASIDE, VALIDATION = 25_000, 15_000, 10_000, 2_500
_ORDER_OF_REVIEWS = 113

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
    order = np.random.Generator(np.random.PCG64(_ORDER_OF_REVIEWS)).permutation(PER_SPLIT).tolist()
    training = _reviews(train)
    return Task(
        name="imdb",
        classes=CLASSES,
        train=training.take(order[SET_ASIDE : SET_ASIDE + TRAINING]),
        validation=training.take(order[:VALIDATION]),
        test=_reviews(test),
    )


def _reviews(reviews: _Reviews) -> Part:
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


AUTHORS, FEWEST_MESSAGES = 10, 20
_SENT = {"sent", "sent_items", "_sent_mail", "_sent"}
_ONE_IN_TESTS, _ONE_IN_VALIDATES, _ORDER_OF_MESSAGES = 11, 10, 7
_FORWARDED = ("-----Original Message-----", "---------------------- Forwarded by", "----- Forwarded by")

_Messages = list[tuple[str, str]]


def load_enron(path: Path) -> Task:
    """Read Enron from a maildir folder, a CSV file or JSON Lines.

    :raises TaskDataError: if something is missing or cut off, or fewer than ten authors have enough messages.
    """
    if path.is_dir() and not list(path.glob("enron*.jsonl*")):
        train, test = _split(_messages(_maildir(path)))
    elif ".csv" in path.suffixes:
        train, test = _split(_messages(csv_rows(path, "file", "message")))
    else:
        train, test = train_and_test(only_file(path, "enron*.jsonl*") if path.is_dir() else path, "author")
    counts = Counter(author for author, _ in train).most_common(AUTHORS)
    authors = [author for author, count in counts if count >= FEWEST_MESSAGES]
    if len(authors) < AUTHORS:
        problem = f"only {len(authors)} authors have {FEWEST_MESSAGES} messages to train on, not {AUTHORS}"
        raise TaskDataError(path, problem)
    training = _messages_of(train, authors)
    order = np.random.Generator(np.random.PCG64(_ORDER_OF_MESSAGES)).permutation(len(training)).tolist()
    held_out = len(order) // _ONE_IN_VALIDATES
    return Task(
        name="enron",
        classes=authors,
        train=training.take(order[held_out:]),
        validation=training.take(order[:held_out]),
        test=_messages_of(test, authors),
    )


def _messages_of(messages: _Messages, authors: list[str]) -> Part:
    ours = [(text, authors.index(author)) for author, text in messages if author in authors]
    return Part(texts=[text for text, _ in ours], labels=[label for _, label in ours])


def _maildir(path: Path) -> Iterator[tuple[str, str]]:
    root = path / "maildir" if (path / "maildir").is_dir() else path
    folders = sorted(folder for folder in root.glob("*/*") if folder.name in _SENT)
    files = [file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()]
    if not files:
        raise TaskDataError(root, "no sent mail: give the maildir folder, which holds USER/sent_items")
    for file in files:
        yield f"{file.relative_to(root)}", file.read_text(encoding="latin-1")


def _messages(files: Iterable[tuple[str, ...]]) -> _Messages:
    """Return author and text of sent mail, without what was quoted or forwarded, each text once."""
    messages: dict[tuple[str, str], None] = {}
    for name, raw in files:
        user, _, rest = name.replace("\\", "/").partition("/")
        if rest.partition("/")[0] not in _SENT:
            continue
        body = message_from_string(raw, policy=policy.compat32).get_payload()
        text = body if isinstance(body, str) else ""
        for mark in _FORWARDED:
            text = text.partition(mark)[0]
        text = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(">")).strip()
        if text:
            messages[user, text] = None  # sent mail is often filed in several folders
    return list(messages)


def _split(messages: _Messages) -> tuple[_Messages, _Messages]:
    order = np.random.Generator(np.random.PCG64(_ORDER_OF_MESSAGES)).permutation(len(messages)).tolist()
    seen: Counter[str] = Counter()
    train: _Messages = []
    test: _Messages = []
    for place in order:
        author = messages[place][0]
        (test if seen[author] % _ONE_IN_TESTS == 0 else train).append(messages[place])
        seen[author] += 1
    return train, test
