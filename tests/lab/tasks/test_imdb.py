"""IMDb is read from every form in which people have it, and what is missing or cut off is said."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from deniable.errors import TaskDataError
from deniable.lab.tasks.data import imdb
from deniable.lab.tasks.data.imdb import load_imdb


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The published counts, a thousand times smaller."""
    for name, value in {"PER_SPLIT": 24, "TRAINING": 14, "SET_ASIDE": 10, "VALIDATION": 4}.items():
        monkeypatch.setattr(imdb, name, value)


def acl_folder(root: Path) -> Path:
    for split in ("train", "test"):
        for label in ("neg", "pos"):
            folder = root / "aclImdb" / split / label
            folder.mkdir(parents=True)
            for number in range(12):
                (folder / f"{number}_{7 if label == 'pos' else 2}.txt").write_text(
                    f"{split} {label} {number} <br />é", encoding="utf-8"
                )
    return root


def csv_file(root: Path, rows: int = 48) -> Path:
    file = root / "IMDB Dataset.csv"
    lines = [
        f'"review {i}, with ""quotes"" and\nlines",{"positive" if i % 2 else "negative"}' for i in range(rows)
    ]
    file.write_text("review,sentiment\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return file


def json_file(root: Path) -> Path:
    rows = [
        {"split": split, "label": i % 2, "text": f"{split} {i}"}
        for split in ("train", "test")
        for i in range(24)
    ]
    file = root / "imdb_50k.jsonl.xz"
    file.write_bytes(lzma.compress("".join(json.dumps(row) + "\n" for row in rows).encode()))
    return file


def test_the_published_folder(tmp_path: Path) -> None:
    task = load_imdb(acl_folder(tmp_path))
    assert (len(task.train), len(task.validation), len(task.test)) == (14, 4, 24)
    assert sum(task.test.labels) == 12
    assert all(
        ("pos" in text) == bool(label)
        for text, label in zip(task.train.texts, task.train.labels, strict=True)
    )
    assert not set(task.train.texts) & set(task.validation.texts)
    assert load_imdb(tmp_path / "aclImdb").train.texts == task.train.texts
    assert task.majority == 0.5


def test_the_csv_of_fifty_thousand_rows(tmp_path: Path) -> None:
    task = load_imdb(csv_file(tmp_path))
    assert len(task.test) == 24
    assert 'with "quotes" and\nlines' in task.test.texts[0]
    assert task.test.labels[:3] == [0, 1, 0]


def test_json_lines_and_the_folder_that_holds_them(tmp_path: Path) -> None:
    file = json_file(tmp_path)
    assert load_imdb(file).train.texts == load_imdb(tmp_path).train.texts


def test_a_review_too_few_in_the_folder(tmp_path: Path) -> None:
    (acl_folder(tmp_path) / "aclImdb" / "test" / "pos" / "3_7.txt").unlink()
    with pytest.raises(TaskDataError, match="11 reviews where 12 belong"):
        load_imdb(tmp_path)


def test_a_missing_split(tmp_path: Path) -> None:
    (acl_folder(tmp_path) / "aclImdb" / "test").rename(tmp_path / "elsewhere")
    with pytest.raises(TaskDataError, match="0 reviews"):
        load_imdb(tmp_path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("text,label\nx,1\n", "no column 'review'"),
        ("review,sentiment\nfine,good\n", "neither positive nor negative"),
        ("review,sentiment\nfine,positive\n", "1 training reviews where 24 belong"),
        ("review,sentiment\nfine\n", "too few fields"),
    ],
)
def test_a_csv_that_is_something_else_or_cut_off(content: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(content)
    with pytest.raises(TaskDataError, match=says):
        load_imdb(tmp_path / "a.csv")


def test_a_packed_file_that_is_cut_off(tmp_path: Path) -> None:
    file = json_file(tmp_path)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(TaskDataError, match="cut off"):
        load_imdb(file)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"split": "train"', "no JSON"),
        ('{"split": "train", "label": 1}', "no text"),
        ('{"split": "dev", "label": 1, "text": ""}', "dev"),
    ],
)
def test_lines_that_are_no_reviews(line: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "imdb.jsonl").write_text(line + "\n")
    with pytest.raises(TaskDataError, match=says):
        load_imdb(tmp_path / "imdb.jsonl")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(TaskDataError, match="neither aclImdb"):
        load_imdb(tmp_path)
    with pytest.raises(TaskDataError, match="no such file"):
        load_imdb(tmp_path / "imdb.jsonl")
