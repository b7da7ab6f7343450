"""Enron: which of ten authors wrote a message?

Read are the ``maildir`` folder as published (sent mail by user), the ``emails.csv`` made of it (columns file,
message), and JSON Lines with split, author and text. The authors are the ten with the most training messages.
Mail as published has no split: in a fixed shuffled order every eleventh message of an author tests, which is
the paper's share (850 of 9,367).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from email import message_from_string, policy
from pathlib import Path

import numpy as np

from deniable.errors import TaskDataError
from deniable.lab.tasks.data.examples import Classification, Labelled
from deniable.lab.tasks.data.reading import csv_rows, json_lines

AUTHORS, FEWEST_MESSAGES = 10, 20
_SENT = {"sent", "sent_items", "_sent_mail", "_sent"}
_ONE_IN_TESTS, _ONE_IN_VALIDATES, _ORDER = 11, 10, 7
_FORWARDED = ("-----Original Message-----", "---------------------- Forwarded by", "----- Forwarded by")


def load_enron(path: Path) -> Classification:
    """Read Enron from a maildir folder, a CSV file or JSON Lines.

    :raises TaskDataError: if something is missing or cut off, or fewer than ten authors have enough messages.
    """
    if path.is_dir() and not list(path.glob("enron*.jsonl*")):
        train, test = _split(_messages(_maildir(path)))
    elif ".csv" in path.suffixes:
        train, test = _split(
            _messages((row["file"], row["message"]) for row in csv_rows(path, "file", "message"))
        )
    else:
        train, test = _json(next(iter(sorted(path.glob("enron*.jsonl*")))) if path.is_dir() else path)
    authors = [
        author
        for author, count in Counter(author for author, _ in train).most_common(AUTHORS)
        if count >= FEWEST_MESSAGES
    ]
    if len(authors) < AUTHORS:
        raise TaskDataError(
            path,
            f"only {len(authors)} authors have {FEWEST_MESSAGES} messages to train on; {AUTHORS} are needed",
        )
    training = _labelled(train, authors)
    order = np.random.Generator(np.random.PCG64(_ORDER)).permutation(len(training)).tolist()
    held_out = len(order) // _ONE_IN_VALIDATES
    return Classification(
        name="enron",
        classes=authors,
        train=training.take(order[held_out:]),
        validation=training.take(order[:held_out]),
        test=_labelled(test, authors),
    )


def _labelled(messages: list[tuple[str, str]], authors: list[str]) -> Labelled:
    ours = [(text, authors.index(author)) for author, text in messages if author in authors]
    return Labelled(texts=[text for text, _ in ours], labels=[label for _, label in ours])


def _json(path: Path) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    parts: dict[str, list[tuple[str, str]]] = {"train": [], "test": []}
    for record in json_lines(path, "split", "author", "text"):
        if record["split"] not in parts:
            raise TaskDataError(path, f"a split {record['split']!r}; known are train and test")
        parts[record["split"]].append((record["author"], record["text"]))
    return parts["train"], parts["test"]


def _maildir(path: Path) -> Iterator[tuple[str, str]]:
    root = path / "maildir" if (path / "maildir").is_dir() else path
    found = False
    for folder in sorted(
        folder
        for user in sorted(root.iterdir())
        if user.is_dir()
        for folder in user.iterdir()
        if folder.name in _SENT
    ):
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                found = True
                yield f"{file.relative_to(root)}", file.read_text(encoding="latin-1")
    if not found:
        raise TaskDataError(
            root, "no sent mail in it: give the maildir folder, with USER/sent_items and the like in it"
        )


def _messages(files: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
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


def _split(messages: list[tuple[str, str]]) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    order = np.random.Generator(np.random.PCG64(_ORDER)).permutation(len(messages)).tolist()
    seen: Counter[str] = Counter()
    train: list[tuple[str, str]] = []
    test: list[tuple[str, str]] = []
    for place in order:
        author = messages[place][0]
        (test if seen[author] % _ONE_IN_TESTS == 0 else train).append(messages[place])
        seen[author] += 1
    return train, test
