"""InsuranceQA (Feng et al. 2015): which answers of a pool answer the question?

It is read from the folders V1 and V2 as published by shuzi/insuranceQA (compressed or not), and from JSON
Lines. In both versions words are written as numbers ``idx_17``, and a vocabulary beside them gives their
spelling. V1, tab-separated: answers ``label, words``; training questions ``words, right labels``; development
and test questions ``right labels, words, pool of 500``. V2: answers ``label, words``; questions ``domain,
words, right labels, pool``. The answers are public: only questions are ever perturbed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from deniable.compression import ENDINGS
from deniable.errors import TaskDataError
from deniable.lab.tasks.task import Part, Task, expect, json_lines, lines_of

V1_COUNTS = {"train": 12_887, "validation": 1_000, "test": 1_800, "answers": 24_981}
V2_COUNTS = {"train": 12_889, "validation": 2_000, "test": 2_000, "answers": 27_413}
_SPLITS = {"train": "train", "valid": "validation", "test": "test"}
_V1_FILES = {
    "question.train.token_idx.label": "train",
    "question.dev.label.token_idx.pool": "validation",
    "question.test1.label.token_idx.pool": "test",
    "question.test2.label.token_idx.pool": "test",
}


class _Question(NamedTuple):
    """A question where it stands in a file; answers are named by their labels."""

    split: str
    file: Path
    line: int
    text: str
    right: Iterable[Any]
    pools: Mapping[int, Iterable[Any]]


def load_insuranceqa(path: Path, *, counts: dict[str, int] | None = None) -> Task:
    """Read InsuranceQA from a folder with the files of one version, or with ``v2_*.jsonl`` files.

    ``counts`` replaces the published numbers of questions and answers that the files are checked against.

    :raises TaskDataError: if a file is missing or cut off, or an answer that is named does not exist.
    """
    if not path.is_dir():
        raise TaskDataError(path, "give the folder with the files of InsuranceQA V1 or V2")
    published = V2_COUNTS
    if list(path.glob("v2_questions.jsonl*")):
        records = json_lines(_require(path, "v2_answers.jsonl"), "label", "text")
        task = _task({record["label"]: record["text"] for record in records}, _questions_in_json(path))
    elif _find(path, "answers.label.token_idx"):
        vocabulary, published = _vocabulary(path), V1_COUNTS
        task = _task(
            _answers(path, "answers.label.token_idx", vocabulary), _questions_of_v1(path, vocabulary)
        )
    elif _find(path, name := "InsuranceQA.label2answer.raw.encoded"):
        vocabulary = _vocabulary(path)
        task = _task(_answers(path, name, vocabulary), _questions_of_v2(path, vocabulary))
    else:
        problem = (
            "no answers: neither answers.label.token_idx (V1), InsuranceQA.label2answer.* nor v2_*.jsonl"
        )
        raise TaskDataError(path, problem)
    for name, number in (published if counts is None else counts).items():
        found = len(task.answers if name == "answers" else task.parts[name])
        expect(path, "answers" if name == "answers" else f"{name} questions", found, number)
    return task


def _task(answers: Mapping[Any, str], questions: Iterable[_Question]) -> Task:
    places = {label: place for place, label in enumerate(answers)}
    parts = {name: Part(texts=[]) for name in _SPLITS.values()}
    for split, file, line, text, right, pools in questions:
        part = parts[split]
        try:
            part.texts.append(text)
            part.answers.append([places[label] for label in right])
            for size, pool in pools.items():
                part.pools.setdefault(size, []).append([places[label] for label in pool])
        except KeyError as error:
            problem = f"there is no answer {error}; the file of answers may be cut off"
            raise TaskDataError(file, problem, line=line) from None
    train, validation, test = parts.values()
    return Task(
        name="insuranceqa", answers=list(answers.values()), train=train, validation=validation, test=test
    )


def _questions_in_json(folder: Path) -> Iterator[_Question]:
    file = _require(folder, "v2_questions.jsonl")
    for line, record in enumerate(json_lines(file, "split", "question", "answers"), 1):
        split = _SPLITS.get(record["split"])
        if split is None:
            problem = f"a split {record['split']!r}; known are {', '.join(_SPLITS)}"
            raise TaskDataError(file, problem, line=line)
        sizes = () if split == "train" else (100, 500)
        missing = [f"pool{size}" for size in sizes if f"pool{size}" not in record]
        if missing:
            raise TaskDataError(file, f"no {' and no '.join(missing)} in this line", line=line)
        pools = {size: record[f"pool{size}"] for size in sizes}
        yield _Question(split, file, line, record["question"], record["answers"], pools)


def _questions_of_v1(folder: Path, vocabulary: Mapping[str, str]) -> Iterator[_Question]:
    """Yield the questions of V1; the two test sets are taken together."""
    for name, split in _V1_FILES.items():
        file = _require(folder, name)
        for line, row in _rows(file, 2 if split == "train" else 3):
            words, right, pool = (*row, "") if split == "train" else (row[1], row[0], row[2])
            pools = {} if split == "train" else {500: pool.split()}
            yield _Question(split, file, line, _spell(vocabulary, words, file, line), right.split(), pools)


def _questions_of_v2(folder: Path, vocabulary: Mapping[str, str]) -> Iterator[_Question]:
    """Yield the questions of V2 with pools of 100 and 500."""
    for published, split in _SPLITS.items():
        sizes = (100,) if split == "train" else (100, 500)
        files = [
            _require(folder, f"InsuranceQA.question.anslabel.raw.{size}.pool.solr.{published}.encoded")
            for size in sizes
        ]
        rows = [list(_rows(file, 4)) for file in files]
        if len({len(each) for each in rows}) != 1:
            problem = f"the {split} files with pools of 100 and of 500 hold different numbers of questions"
            raise TaskDataError(folder, problem)
        for (line, (_, words, right, _)), *same in zip(rows[0], *rows, strict=True):
            pools = {size: row[3].split() for size, (_, row) in zip(sizes, same, strict=True)}
            text = _spell(vocabulary, words, files[0], line)
            yield _Question(split, files[0], line, text, right.split(), {} if split == "train" else pools)


def _vocabulary(folder: Path) -> dict[str, str]:
    """Return the words by their numbers."""
    return {number: word for _, (number, word) in _rows(_require(folder, "vocabulary"), 2)}


def _spell(words: Mapping[str, str], numbers: str, file: Path, line: int) -> str:
    """Return words of the vocabulary for numbers, which stand in this line of a file."""
    try:
        return " ".join(words[number] for number in numbers.split())
    except KeyError as error:
        raise TaskDataError(file, f"the vocabulary has no word {error}", line=line) from None


def _answers(folder: Path, name: str, vocabulary: Mapping[str, str]) -> dict[str, str]:
    file = _require(folder, name)
    return {label: _spell(vocabulary, words, file, line) for line, (label, words) in _rows(file, 2)}


def _rows(file: Path, fields: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines_of(file), 1):
        row = line.split("\t")
        if len(row) != fields:
            problem = f"{len(row)} fields, not {fields}; the file may be cut off"
            raise TaskDataError(file, problem, line=number)
        yield number, row


def _find(folder: Path, name: str) -> Path | None:
    """Return the file under this name, compressed or not; None if there is none."""
    for file in sorted(folder.glob(f"{name}*")):
        if file.name.removeprefix(name) in ("", *ENDINGS):
            return file
    return None


def _require(folder: Path, name: str) -> Path:
    file = _find(folder, name)
    if file is None:
        raise TaskDataError(folder / name, "there is no such file")
    return file
