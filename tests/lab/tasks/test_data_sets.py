"""The data sets are read from every form in which people have them; a file that is missing, cut off or
something else is named."""

from __future__ import annotations

import csv
import gzip
import json
import lzma
from pathlib import Path

import pytest

from deniable.compression import compress
from deniable.errors import TaskDataError
from deniable.lab.tasks import classification
from deniable.lab.tasks.classification import load_enron, load_imdb
from deniable.lab.tasks.insuranceqa import load_insuranceqa
from deniable.lab.tasks.task import lines_of

LINES = [f"line {number}, with é" for number in range(5000)]
PEOPLE = [f"person-{letter}" for letter in "abcdefghijkl"]
COUNTS = {"train": 2, "validation": 1, "test": 2, "answers": 3}


def json_lines(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("kind", [None, "gzip", "bzip2", "xz", "zstd"])
def test_files_are_decompressed_by_what_they_hold(kind: str | None, tmp_path: Path) -> None:
    packed = compress("\r\n".join(LINES).encode(), kind)
    for name in ("a.txt", "a.jsonl.xz"):
        (tmp_path / name).write_bytes(packed)
        assert list(lines_of(tmp_path / name)) == LINES
    damaged = [packed[:-9], packed[: len(packed) // 2], packed[:30] + bytes(40) + packed[70:]]
    for content in [] if kind is None else damaged:
        (tmp_path / "a").write_bytes(content)
        with pytest.raises(TaskDataError):
            list(lines_of(tmp_path / "a"))
    (tmp_path / "b").write_bytes(compress("é\n".encode("latin-1"), kind))
    with pytest.raises(TaskDataError):
        list(lines_of(tmp_path / "b"))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The published counts of IMDb, a thousand times smaller."""
    for name, value in {"PER_SPLIT": 24, "TRAINING": 14, "SET_ASIDE": 10, "VALIDATION": 4}.items():
        monkeypatch.setattr(classification, name, value)


def acl_folder(root: Path) -> Path:
    for place in ("train/neg", "train/pos", "test/neg", "test/pos"):
        folder = root / "aclImdb" / place
        folder.mkdir(parents=True)
        for number in range(12):
            text = f"{place} {number} <br />é"
            (folder / f"{number}_{7 if 'pos' in place else 2}.txt").write_text(text, encoding="utf-8")
    return root


@pytest.mark.usefixtures("small")
def test_imdb_from_the_published_folder(tmp_path: Path) -> None:
    task = load_imdb(acl_folder(tmp_path))
    assert (len(task.train), len(task.validation), len(task.test)) == (14, 4, 24)
    for text, label in zip(task.train.texts, task.train.labels, strict=True):
        assert ("pos" in text) == bool(label)
    assert not set(task.train.texts) & set(task.validation.texts)
    assert (task.majority, sum(task.test.labels)) == (0.5, 12)
    assert load_imdb(tmp_path / "aclImdb").digest == task.digest
    (tmp_path / "aclImdb" / "test" / "pos" / "3_7.txt").unlink()
    with pytest.raises(TaskDataError, match="11 reviews"):
        load_imdb(tmp_path)
    (tmp_path / "aclImdb" / "test").rename(tmp_path / "elsewhere")
    with pytest.raises(TaskDataError, match="0 reviews"):
        load_imdb(tmp_path)


@pytest.mark.usefixtures("small")
def test_imdb_from_csv_and_json_lines(tmp_path: Path) -> None:
    rows = [
        f'"review {i}, with ""quotes"" and\nlines",{"positive" if i % 2 else "negative"}' for i in range(48)
    ]
    file = tmp_path / "IMDB Dataset.csv"
    file.write_text("review,sentiment\n" + "\n".join(rows) + "\n")
    task = load_imdb(file)
    assert len(task.test) == 24
    assert 'with "quotes" and\nlines' in task.test.texts[0]
    assert task.test.labels[:3] == [0, 1, 0]
    with pytest.raises(TaskDataError):
        load_imdb(tmp_path)  # neither folders nor JSON Lines
    split = [{"split": s, "label": i % 2, "text": f"{s} {i}"} for s in ("train", "test") for i in range(24)]
    packed = tmp_path / "imdb_50k.jsonl.xz"
    packed.write_bytes(lzma.compress("".join(json.dumps(row) + "\n" for row in split).encode()))
    assert load_imdb(packed).digest == load_imdb(tmp_path).digest
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(TaskDataError):
        load_imdb(packed)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("a.csv", "text,label\nx,1\n", None),
        ("a.csv", "review,sentiment\nfine,good\n", None),
        ("a.csv", "review,sentiment\nfine,positive\n", None),
        ("a.csv", "review,sentiment\nfine\n", 2),
        ("a.jsonl", '{"split": "train"\n', 1),
        ("a.jsonl", '{"split": "train", "label": 1}\n', 1),
        ("a.jsonl", '{"split": "dev", "label": 1, "text": ""}\n', 1),
        ("a.jsonl", '{"split": "train", "label": 2, "text": ""}\n', 1),
    ],
)
def test_files_that_are_no_reviews(name: str, content: str, line: int | None, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(TaskDataError) as raised:
        load_imdb(tmp_path / name)
    assert (raised.value.source, raised.value.line) == (str(tmp_path / name), line)
    with pytest.raises(TaskDataError):
        load_imdb(tmp_path / f"no-{name}")


def mails() -> dict[str, str]:
    """Sent mail of twelve people, the first of whom wrote most, with what does not count."""

    def message(text: str) -> str:
        return f"Message-ID: <1@x>\nFrom: a@enron.com\nSubject: private\nMime-Version: 1.0\n\n{text}\n"

    found = {}
    for rank, person in enumerate(PEOPLE):
        for number in range(40 - rank):
            found[f"{person}/sent_items/{number}."] = message(f"{person} writes {number}")
        found[f"{person}/_sent_mail/1."] = message(f"{person} writes 1")  # filed twice
        found[f"{person}/inbox/1."] = message("somebody else wrote this")
    found[f"{PEOPLE[0]}/sent/1."] = message("mine\n> yours\n-----Original Message-----\nolder")
    found[f"{PEOPLE[0]}/sent/2."] = message("---------------------- Forwarded by X\nall of it")
    return found


def test_enron_from_the_maildir_and_from_its_csv(tmp_path: Path) -> None:
    for name, content in mails().items():
        file = tmp_path / "maildir" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="latin-1")
    task = load_enron(tmp_path)
    texts = [text for part in task.parts.values() for text in part.texts]
    assert task.classes == PEOPLE[:10]
    assert len(texts) == len(set(texts)) == sum(40 - rank for rank in range(10)) + 1
    assert "mine" in texts
    assert not any("somebody else" in text or "private" in text for text in texts)
    for part in task.parts.values():
        for text, label in zip(part.texts, part.labels, strict=True):
            assert text == "mine" or text.startswith(task.classes[label])
    assert 0.08 < len(task.test) / len(texts) < 0.11
    assert load_enron(tmp_path / "maildir").digest == task.digest
    with (tmp_path / "emails.csv").open("w", newline="", encoding="utf-8") as opened:
        writer = csv.writer(opened, lineterminator="\n")
        writer.writerows([("file", "message"), *sorted(mails().items())])
    from_csv = load_enron(tmp_path / "emails.csv")
    assert from_csv.classes == task.classes
    assert sorted(text for part in from_csv.parts.values() for text in part.texts) == sorted(texts)


def test_enron_from_json_lines_and_what_is_not_enron(tmp_path: Path) -> None:
    rows: list[dict[str, object]]
    rows = [{"split": "train", "author": p, "text": f"{p} {i}"} for p in PEOPLE[:10] for i in range(20)]
    rows += [{"split": "test", "author": p, "text": f"{p} judged"} for p in PEOPLE]
    json_lines(tmp_path / "enron.jsonl", rows)
    task = load_enron(tmp_path)
    assert (len(task.train), len(task.validation), len(task.test)) == (180, 20, 10)
    (tmp_path / "empty").mkdir()
    (tmp_path / "emails.csv").write_text("file,body\nx,y\n")
    json_lines(tmp_path / "few.jsonl", rows[:1])
    json_lines(tmp_path / "bad.jsonl", [{"split": "dev", "author": "a", "text": "b"}])
    for name in ("empty", "emails.csv", "few.jsonl", "bad.jsonl"):
        with pytest.raises(TaskDataError):
            load_enron(tmp_path / name)


def v1(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    files = {
        "vocabulary": "idx_1\tdoes\nidx_2\tinsurance\nidx_3\tpay\nidx_4\tyes\nidx_5\tno\n",
        "answers.label.token_idx": "1\tidx_4 idx_2\n2\tidx_5\n3\tidx_4\n",
        "question.train.token_idx.label": "idx_1 idx_2\t1 3\nidx_2 idx_3\t2\n",
        "question.dev.label.token_idx.pool": "1\tidx_1\t1 2 3\n",
        "question.test1.label.token_idx.pool": "2\tidx_2\t3 2\n",
        "question.test2.label.token_idx.pool": "3 1\tidx_3\t1 2\n",
    }
    for name, content in files.items():
        (folder / name).write_text(content)
    return folder


def v2(folder: Path) -> Path:
    (v1(folder) / "answers.label.token_idx").rename(folder / "InsuranceQA.label2answer.raw.encoded")
    rows = {
        "train": ["idx_1 idx_2\t1 3", "idx_2 idx_3\t2"],
        "valid": ["idx_1\t1"],
        "test": ["idx_2\t2", "idx_3\t3 1"],
    }
    for size, pool in ((100, "1 2"), (500, "1 2 3")):
        for split, questions in rows.items():
            text = "".join(f"life\t{question}\t{pool}\n" for question in questions)
            name = f"InsuranceQA.question.anslabel.raw.{size}.pool.solr.{split}.encoded.gz"
            (folder / name).write_bytes(gzip.compress(text.encode()))
    return folder


def test_insuranceqa_in_both_versions(tmp_path: Path) -> None:
    first, second = (load_insuranceqa(made(tmp_path / made.__name__), counts=COUNTS) for made in (v1, v2))
    for task in (first, second):
        assert task.answers == ["yes insurance", "no", "yes"]
        assert task.train.texts == ["does insurance", "insurance pay"]
        assert task.train.answers == [[0, 2], [1]]
        assert (task.train.pools, task.test.texts) == ({}, ["insurance", "pay"])  # V1: both test sets
        assert task.test.answers == [[1], [2, 0]]
    assert first.test.pools == {500: [[2, 1], [0, 1]]}
    assert second.test.pools == {100: [[0, 1], [0, 1]], 500: [[0, 1, 2], [0, 1, 2]]}
    for name, number in (("v1", "12,887"), ("v2", "12,889")):
        with pytest.raises(TaskDataError, match=number):
            load_insuranceqa(tmp_path / name)


def test_insuranceqa_in_json_lines(tmp_path: Path) -> None:
    json_lines(tmp_path / "v2_answers.jsonl", [{"label": i, "text": f"answer {i}"} for i in (7, 8, 9)])
    rows: list[dict[str, object]] = [
        {"split": "train", "question": "a", "answers": [7]},
        {"split": "train", "question": "b", "answers": [9]},
    ]
    rows += [
        {"split": s, "question": "c", "answers": [8], "pool100": [7, 8], "pool500": [9, 8]}
        for s in ("valid", "test", "test")
    ]
    json_lines(tmp_path / "v2_questions.jsonl", rows)
    task = load_insuranceqa(tmp_path, counts=COUNTS)
    assert (task.train.answers, task.train.pools) == ([[0], [2]], {})
    assert task.test.pools == {100: [[0, 1]] * 2, 500: [[2, 1]] * 2}
    for wrong in ({**rows[2], "split": "dev"}, {**rows[0], "answers": [6]}, {**rows[0], "split": "test"}):
        json_lines(tmp_path / "v2_questions.jsonl", [wrong])
        with pytest.raises(TaskDataError) as raised:
            load_insuranceqa(tmp_path, counts=COUNTS)
        assert raised.value.line == 1


@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        ("question.train.token_idx.label", "idx_1 idx_2\n", 1),
        ("question.train.token_idx.label", "idx_1 idx_99\t1\n", 1),
        ("question.dev.label.token_idx.pool", "1\tidx_1\t1 2 77\n", 1),
        ("answers.label.token_idx", "1\tidx_4\n", 1),
        ("question.test2.label.token_idx.pool", None, None),
        ("answers.label.token_idx", None, None),
    ],
)
def test_a_file_of_insuranceqa_that_is_cut_or_missing(
    name: str, content: str | None, line: int | None, tmp_path: Path
) -> None:
    file = v1(tmp_path) / name
    file.unlink() if content is None else file.write_text(content)
    with pytest.raises(TaskDataError) as raised:
        load_insuranceqa(tmp_path, counts=COUNTS)
    assert raised.value.line == line
    with pytest.raises(TaskDataError):
        load_insuranceqa(tmp_path / "vocabulary")


def test_pools_of_different_lengths_and_a_cut_packed_file(tmp_path: Path) -> None:
    file = v2(tmp_path) / "InsuranceQA.question.anslabel.raw.500.pool.solr.test.encoded.gz"
    for content in (gzip.compress(b"life\tidx_2\t2\t1 2 3\n"), file.read_bytes()[:-9]):
        file.write_bytes(content)
        with pytest.raises(TaskDataError):
            load_insuranceqa(tmp_path, counts=COUNTS)
