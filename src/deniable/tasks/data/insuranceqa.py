"""InsuranceQA (Feng et al. 2015): which answers of a pool answer the question?

Read are the folders V1 and V2 as published by shuzi/insuranceQA (packed by gzip or not), and JSON Lines. In both versions
words are written as numbers, with a vocabulary beside them. The answers are public: only questions are ever perturbed.
"""

from __future__ import annotations

from pathlib import Path

from deniable.errors import TaskDataError
from deniable.tasks.data import insuranceqa_published as published
from deniable.tasks.data.examples import AnswerSelection, Questions
from deniable.tasks.data.reading import expect, json_lines

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
    elif published.find(path, "answers.label.token_idx"):
        task, published_counts = published.read_v1(path), V1_COUNTS
    elif published.find(path, "InsuranceQA.label2answer.raw.encoded"):
        task, published_counts = published.read_v2(path), V2_COUNTS
    else:
        raise TaskDataError(path, "no answers in it: neither answers.label.token_idx (V1), InsuranceQA.label2answer.* (V2) nor v2_*.jsonl")
    found = {"train": len(task.train), "validation": len(task.validation), "test": len(task.test), "answers": len(task.answers)}
    for name, number in (published_counts if counts is None else counts).items():
        expect(path, "answers" if name == "answers" else f"{name} questions", found[name], number)
    return task


def _json(path: Path) -> AnswerSelection:
    answers: dict[int, str] = {}
    for record in json_lines(_file(path, "v2_answers.jsonl"), "label", "text"):
        answers[record["label"]] = record["text"]
    places = {label: place for place, label in enumerate(answers)}
    file = _file(path, "v2_questions.jsonl")
    parts = {name: Questions(texts=[], answers=[], pools={} if name == "train" else {100: [], 500: []}) for name in _SPLITS.values()}
    for number, record in enumerate(json_lines(file, "split", "question", "answers"), 1):
        part = parts.get(_SPLITS.get(record["split"], ""))
        if part is None:
            raise TaskDataError(file, f"a split {record['split']!r}; known are {', '.join(_SPLITS)}", line=number)
        try:
            part.texts.append(record["question"])
            part.answers.append([places[label] for label in record["answers"]])
            for size, pools in part.pools.items():
                pools.append([places[label] for label in record[f"pool{size}"]])
        except KeyError as error:
            raise TaskDataError(file, f"there is no answer or no pool {error}; the file of answers may be cut off", line=number) from error
    return AnswerSelection(name="insuranceqa", answers=list(answers.values()), **parts)


def _file(folder: Path, name: str) -> Path:
    for ending in ("", ".xz", ".gz"):
        if (folder / (name + ending)).is_file():
            return folder / (name + ending)
    raise TaskDataError(folder / name, "there is no such file")
