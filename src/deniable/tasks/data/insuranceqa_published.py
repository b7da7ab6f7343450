"""The files of InsuranceQA as published: words are numbers ``idx_17``, a vocabulary tells their spelling.

V1, tab-separated: answers ``label, words``; training questions ``words, right labels``; development and test questions
``right labels, words, pool of 500``. V2: answers ``label, words``; questions ``domain, words, right labels, pool``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from deniable.errors import TaskDataError
from deniable.tasks.data.examples import AnswerSelection, Questions
from deniable.tasks.data.reading import lines_of


def find(folder: Path, name: str) -> Path | None:
    """Return the file under this name, packed or not, also as one of V2's tokenised variants; None if there is none."""
    found = [file for file in sorted(folder.glob(f"{name}*")) if file.name.removeprefix(name) in ("", ".gz", ".xz")]
    return found[0] if found else None


def read_v1(folder: Path) -> AnswerSelection:
    """Read the files of V1; the two test sets are taken together."""
    spell = _Vocabulary(_needed(folder, "vocabulary"))
    answers, places = _answers(_needed(folder, "answers.label.token_idx"), spell)
    train = Questions(texts=[], answers=[])
    file = _needed(folder, "question.train.token_idx.label")
    for number, (words, right) in _rows(file, 2):
        train.texts.append(spell(words, file, number))
        train.answers.append(_labels(right, places, file, number))
    parts = {}
    for name, files in {
        "validation": ["question.dev.label.token_idx.pool"],
        "test": ["question.test1.label.token_idx.pool", "question.test2.label.token_idx.pool"],
    }.items():
        part = Questions(texts=[], answers=[], pools={500: []})
        for file in (_needed(folder, published) for published in files):
            for number, (right, words, pool) in _rows(file, 3):
                part.texts.append(spell(words, file, number))
                part.answers.append(_labels(right, places, file, number))
                part.pools[500].append(_labels(pool, places, file, number))
        parts[name] = part
    return AnswerSelection(name="insuranceqa", answers=answers, train=train, **parts)


def read_v2(folder: Path) -> AnswerSelection:
    """Read the files of V2 with pools of 100 and 500."""
    spell = _Vocabulary(_needed(folder, "vocabulary"))
    answers, places = _answers(_needed(folder, "InsuranceQA.label2answer.raw.encoded"), spell)
    parts = {}
    for name, published in {"train": "train", "validation": "valid", "test": "test"}.items():
        part = Questions(texts=[], answers=[], pools={} if name == "train" else {100: [], 500: []})
        for size in (100,) if name == "train" else (100, 500):
            file = _needed(folder, f"InsuranceQA.question.anslabel.raw.{size}.pool.solr.{published}.encoded")
            for number, (_, words, right, pool) in _rows(file, 4):
                if size == 100:
                    part.texts.append(spell(words, file, number))
                    part.answers.append(_labels(right, places, file, number))
                if size in part.pools:
                    part.pools[size].append(_labels(pool, places, file, number))
        if len({len(part.texts), *map(len, part.pools.values())}) != 1:
            raise TaskDataError(folder, f"the {name} files with pools of 100 and of 500 hold different numbers of questions")
        parts[name] = part
    return AnswerSelection(name="insuranceqa", answers=answers, **parts)


class _Vocabulary:
    """The spelling of the words."""

    def __init__(self, file: Path) -> None:
        self._words = dict(fields for _, fields in _rows(file, 2))

    def __call__(self, numbers: str, file: Path, line: int) -> str:
        try:
            return " ".join(self._words[number] for number in numbers.split())
        except KeyError as error:
            raise TaskDataError(file, f"the vocabulary has no word {error}", line=line) from None


def _answers(file: Path, spell: _Vocabulary) -> tuple[list[str], dict[str, int]]:
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
        raise TaskDataError(file, f"there is no answer {error}; the file of answers may be cut off", line=line) from None


def _rows(file: Path, fields: int) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines_of(file), 1):
        row = line.split("\t")
        if len(row) != fields:
            raise TaskDataError(file, f"{len(row)} fields where {fields} belong; the file may be cut off", line=number)
        yield number, row


def _needed(folder: Path, name: str) -> Path:
    file = find(folder, name)
    if file is None:
        raise TaskDataError(folder / name, "there is no such file")
    return file
