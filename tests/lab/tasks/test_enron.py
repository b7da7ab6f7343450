"""Enron is read from the maildir, from the CSV made of it and from JSON Lines; quoted and forwarded text is
not the author's."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from deniable.errors import TaskDataError
from deniable.lab.tasks.data.enron import load_enron

PEOPLE = [f"person-{letter}" for letter in "abcdefghijkl"]


def message(text: str) -> str:
    return f"Message-ID: <1@x>\nFrom: a@enron.com\nSubject: private\nMime-Version: 1.0\n\n{text}\n"


def mails() -> dict[str, str]:
    """Sent mail of twelve people, the first of whom wrote most, with what does not count."""
    found = {}
    for rank, person in enumerate(PEOPLE):
        for number in range(40 - rank):
            found[f"{person}/sent_items/{number}."] = message(f"{person} writes {number}")
        found[f"{person}/_sent_mail/1."] = message(f"{person} writes 1")  # filed twice
        found[f"{person}/inbox/1."] = message("somebody else wrote this")
    found[f"{PEOPLE[0]}/sent/1."] = message("mine\n> yours\n-----Original Message-----\nolder")
    found[f"{PEOPLE[0]}/sent/2."] = message("---------------------- Forwarded by X\nall of it")
    return found


def maildir(root: Path) -> Path:
    for name, content in mails().items():
        file = root / "maildir" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="latin-1")
    return root


def test_the_maildir(tmp_path: Path) -> None:
    task = load_enron(maildir(tmp_path))
    assert task.classes == PEOPLE[:10]
    texts = [text for part in (task.train, task.validation, task.test) for text in part.texts]
    assert len(texts) == len(set(texts)) == sum(40 - rank for rank in range(10)) + 1
    assert "mine" in texts
    assert not any("somebody else" in text or "private" in text for text in texts)
    for part in (task.train, task.validation, task.test):
        assert all(
            text == "mine" or text.startswith(task.classes[label])
            for text, label in zip(part.texts, part.labels, strict=True)
        )
    assert 0.08 < len(task.test) / len(texts) < 0.11
    assert load_enron(tmp_path / "maildir").test.texts == task.test.texts


def test_the_csv_gives_the_same_as_the_maildir(tmp_path: Path) -> None:
    file = tmp_path / "emails.csv"
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerow(["file", "message"])
        writer.writerows(sorted(mails().items()))
    from_csv, from_folder = load_enron(file), load_enron(maildir(tmp_path / "folder"))
    assert sorted(from_csv.train.texts + from_csv.validation.texts + from_csv.test.texts) == sorted(
        from_folder.train.texts + from_folder.validation.texts + from_folder.test.texts
    )
    assert from_csv.classes == from_folder.classes


def test_json_lines_keep_their_split(tmp_path: Path) -> None:
    rows = [{"split": "train", "author": p, "text": f"{p} {i}"} for p in PEOPLE[:10] for i in range(20)]
    rows += [{"split": "test", "author": p, "text": f"{p} judged"} for p in PEOPLE]
    (tmp_path / "enron.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = load_enron(tmp_path)
    assert (len(task.train), len(task.validation), len(task.test)) == (180, 20, 10)


def test_too_few_authors_no_mail_and_cut_files_are_told(tmp_path: Path) -> None:
    (tmp_path / "few.jsonl").write_text('{"split": "train", "author": "a", "text": "b"}\n')
    with pytest.raises(TaskDataError, match="only 0 authors have 20 messages"):
        load_enron(tmp_path / "few.jsonl")
    (tmp_path / "empty").mkdir()
    with pytest.raises(TaskDataError, match="no sent mail"):
        load_enron(tmp_path / "empty")
    (tmp_path / "emails.csv").write_text("file,body\nx,y\n")
    with pytest.raises(TaskDataError, match="no column 'message'"):
        load_enron(tmp_path / "emails.csv")
    (tmp_path / "bad.jsonl").write_text('{"split": "dev", "author": "a", "text": "b"}\n')
    with pytest.raises(TaskDataError, match="dev"):
        load_enron(tmp_path / "bad.jsonl")
