"""InsuranceQA (Feng et al. 2015): which answers of a pool answer the question?

Read are the folders V1 and V2 as published by shuzi/insuranceQA (compressed or not), and JSON Lines. In both
versions words are written as numbers ``idx_17``, and a vocabulary beside them gives their spelling. V1,
tab-separated: answers ``label, words``; training questions ``words, right labels``; development and test
questions ``right labels, words, pool of 500``. V2: answers ``label, words``; questions ``domain, words, right
labels, pool``. The answers are public: only questions are ever perturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from deniable.compression import ENDINGS
from deniable.errors import TaskDataError
from deniable.lab.tasks.data.examples import AnswerSelection, Questions
from deniable.lab.tasks.data.reading import expect, json_lines, lines_of

V1_COUNTS = {"train": 12_887, "validation": 1_000, "test": 1_800, "answers": 24_981}
V2_COUNTS = {"train": 12_889, "validation": 2_000, "test": 2_000, "answers": 27_413}
_SPLITS = {"train": "train", "valid": "validation", "test": "test"}


def load_insuranceqa(path: Path, *, counts: dict[str, int] | None = None) -> AnswerSelection:
    """Read InsuranceQA from a folder with the files of one version, or with ``v2_*.jsonl`` files.

    ``counts`` replaces the published numbers of questions and answers that the files are checked against.

    :raises TaskDataError: if a file is missing or cut off, or an answer that is named does not exist.
    """
    if not path.is_dir():
        raise TaskDataError(path, "give the folder with the files of InsuranceQA V1 or V2")
    if list(path.glob("v2_questions.jsonl*")):
        task, published_counts = _json(path), V2_COUNTS
    elif _find(path, "answers.label.token_idx"):
        task, published_counts = _read_v1(path), V1_COUNTS
    elif _find(path, "InsuranceQA.label2answer.raw.encoded"):
        task, published_counts = _read_v2(path), V2_COUNTS
    else:
        raise TaskDataError(
            path,
            "no answers in it: neither answers.label.token_idx (V1), InsuranceQA.label2answer.* (V2) nor "
            "v2_*.jsonl",
        )
    found = {
        "train": len(task.train),
        "validation": len(task.validation),
        "test": len(task.test),
        "answers": len(task.answers),
    }
    for name, number in (published_counts if counts is None else counts).items():
        expect(path, "answers" if name == "answers" else f"{name} questions", found[name], number)
    return task


def _json(path: Path) -> AnswerSelection:
    answers: dict[int, str] = {}
    for record in json_lines(_require(path, "v2_answers.jsonl"), "label", "text"):
        answers[record["label"]] = record["text"]
    places = {label: place for place, label in enumerate(answers)}
    file = _require(path, "v2_questions.jsonl")
    parts = {
        name: Questions(texts=[], answers=[], pools={} if name == "train" else {100: [], 500: []})
        for name in _SPLITS.values()
    }
    for number, record in enumerate(json_lines(file, "split", "question", "answers"), 1):
        part = parts.get(_SPLITS.get(record["split"], ""))
        if part is None:
            raise TaskDataError(
                file, f"a split {record['split']!r}; known are {', '.join(_SPLITS)}", line=number
            )
        try:
            part.texts.append(record["question"])
            part.answers.append([places[label] for label in record["answers"]])
            for size, pools in part.pools.items():
                pools.append([places[label] for label in record[f"pool{size}"]])
        except KeyError as error:
            raise TaskDataError(
                file,
                f"there is no answer or no pool {error}; the file of answers may be cut off",
                line=number,
            ) from error
    return AnswerSelection(name="insuranceqa", answers=list(answers.values()), **parts)


def _find(folder: Path, name: str) -> Path | None:
    """Return the file under this name, compressed or not; None if there is none."""
    found = [
        file for file in sorted(folder.glob(f"{name}*")) if file.name.removeprefix(name) in ("", *ENDINGS)
    ]
    return found[0] if found else None


def _read_v1(folder: Path) -> AnswerSelection:
    """Read the files of V1; the two test sets are taken together."""
    spell = _speller(_require(folder, "vocabulary"))
    answers, places = _answers(_require(folder, "answers.label.token_idx"), spell)
    train = Questions(texts=[], answers=[])
    file = _require(folder, "question.train.token_idx.label")
    for number, (words, right) in _rows(file, 2):
        train.texts.append(spell(words, file, number))
        train.answers.append(_labels(right, places, file, number))
    parts = {}
    for name, files in {
        "validation": ["question.dev.label.token_idx.pool"],
        "test": ["question.test1.label.token_idx.pool", "question.test2.label.token_idx.pool"],
    }.items():
        part = Questions(texts=[], answers=[], pools={500: []})
        for file in (_require(folder, published) for published in files):
            for number, (right, words, pool) in _rows(file, 3):
                part.texts.append(spell(words, file, number))
                part.answers.append(_labels(right, places, file, number))
                part.pools[500].append(_labels(pool, places, file, number))
        parts[name] = part
    return AnswerSelection(name="insuranceqa", answers=answers, train=train, **parts)


def _read_v2(folder: Path) -> AnswerSelection:
    """Read the files of V2 with pools of 100 and 500."""
    spell = _speller(_require(folder, "vocabulary"))
    answers, places = _answers(_require(folder, "InsuranceQA.label2answer.raw.encoded"), spell)
    parts = {}
    for name, published in {"train": "train", "validation": "valid", "test": "test"}.items():
        part = Questions(texts=[], answers=[], pools={} if name == "train" else {100: [], 500: []})
        for size in (100,) if name == "train" else (100, 500):
            file = _require(folder, f"InsuranceQA.question.anslabel.raw.{size}.pool.solr.{published}.encoded")
            for number, (_, words, right, pool) in _rows(file, 4):
                if size == 100:
                    part.texts.append(spell(words, file, number))
                    part.answers.append(_labels(right, places, file, number))
                if size in part.pools:
                    part.pools[size].append(_labels(pool, places, file, number))
        if len({len(part.texts), *map(len, part.pools.values())}) != 1:
            raise TaskDataError(
                folder, f"the {name} files with pools of 100 and of 500 hold different numbers of questions"
            )
        parts[name] = part
    return AnswerSelection(name="insuranceqa", answers=answers, **parts)


Spell = Callable[[str, Path, int], str]
"""From numbers of words, the file and the line where they stand, to the words."""


def _speller(vocabulary: Path) -> Spell:
    words = dict(fields for _, fields in _rows(vocabulary, 2))

    def spell(numbers: str, file: Path, line: int) -> str:
        try:
            return " ".join(words[number] for number in numbers.split())
        except KeyError as error:
            raise TaskDataError(file, f"the vocabulary has no word {error}", line=line) from None

    return spell


def _answers(file: Path, spell: Spell) -> tuple[list[str], dict[str, int]]:
    answers: list[str] = []
    places: dict[str, int] = {}
    for number, (label, words) in _rows(file, 2):
        places[label] = len(answers)
        answers.append(spell(words, file, number))
    return answers, places


def _labels(labels: str, places: dict[str, int], file: Path, line: int) -> list[int]:
    try:
        return [places[label] for label in labels.split()]
    except KeyError as error:
        raise TaskDataError(
            file, f"there is no answer {error}; the file of answers may be cut off", line=line
        ) from None


def _rows(file: Path, fields: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines_of(file), 1):
        row = line.split("\t")
        if len(row) != fields:
            raise TaskDataError(
                file, f"{len(row)} fields where {fields} belong; the file may be cut off", line=number
            )
        yield number, row


def _require(folder: Path, name: str) -> Path:
    file = _find(folder, name)
    if file is None:
        raise TaskDataError(folder / name, "there is no such file")
    return file
