"""InsuranceQA V1 and V2 are read from the published files; a file that is missing or cut off is named."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from deniable.errors import TaskDataError
from deniable.lab.tasks.data.insuranceqa import load_insuranceqa

COUNTS = {"train": 2, "validation": 1, "test": 2, "answers": 3}
WORDS = "idx_1\tdoes\nidx_2\tinsurance\nidx_3\tpay\nidx_4\tyes\nidx_5\tno\n"


def v1(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "vocabulary").write_text(WORDS)
    (folder / "answers.label.token_idx").write_text("1\tidx_4 idx_2\n2\tidx_5\n3\tidx_4\n")
    (folder / "question.train.token_idx.label").write_text("idx_1 idx_2\t1 3\nidx_2 idx_3\t2\n")
    (folder / "question.dev.label.token_idx.pool").write_text("1\tidx_1\t1 2 3\n")
    (folder / "question.test1.label.token_idx.pool").write_text("2\tidx_2\t3 2\n")
    (folder / "question.test2.label.token_idx.pool").write_text("3 1\tidx_3\t1 2\n")
    return folder


def v2(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "vocabulary").write_text(WORDS)
    (folder / "InsuranceQA.label2answer.raw.encoded.gz").write_bytes(
        gzip.compress(b"1\tidx_4 idx_2\n2\tidx_5\n3\tidx_4\n")
    )
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


def test_the_files_of_v1(tmp_path: Path) -> None:
    task = load_insuranceqa(v1(tmp_path), counts=COUNTS)
    assert task.answers == ["yes insurance", "no", "yes"]
    assert task.train.texts == ["does insurance", "insurance pay"]
    assert task.train.answers == [[0, 2], [1]]
    assert task.test.texts == ["insurance", "pay"], "both test sets"
    assert task.test.pools == {500: [[2, 1], [0, 1]]}


def test_the_files_of_v2(tmp_path: Path) -> None:
    task = load_insuranceqa(v2(tmp_path), counts=COUNTS)
    assert task.answers == ["yes insurance", "no", "yes"]
    assert task.train.texts == ["does insurance", "insurance pay"]
    assert task.train.pools == {}
    assert task.test.answers == [[1], [2, 0]]
    assert task.test.pools == {100: [[0, 1], [0, 1]], 500: [[0, 1, 2], [0, 1, 2]]}


def test_json_lines(tmp_path: Path) -> None:
    (tmp_path / "v2_answers.jsonl").write_text(
        "".join(json.dumps({"label": i, "text": f"answer {i}"}) + "\n" for i in (7, 8, 9))
    )
    rows = [
        {"split": "train", "question": "a", "answers": [7]},
        {"split": "train", "question": "b", "answers": [9]},
    ]
    rows += [
        {"split": s, "question": "c", "answers": [8], "pool100": [7, 8], "pool500": [9, 8]}
        for s in ("valid", "test", "test")
    ]
    (tmp_path / "v2_questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = load_insuranceqa(tmp_path, counts=COUNTS)
    assert task.train.answers == [[0], [2]]
    assert task.test.pools == {100: [[0, 1]] * 2, 500: [[2, 1]] * 2}


def test_the_published_counts_are_checked(tmp_path: Path) -> None:
    with pytest.raises(TaskDataError, match="2 train questions where 12,887 belong"):
        load_insuranceqa(v1(tmp_path / "1"))
    with pytest.raises(TaskDataError, match="2 train questions where 12,889 belong"):
        load_insuranceqa(v2(tmp_path / "2"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (v1(tmp_path) / "question.test2.label.token_idx.pool").unlink()
    with pytest.raises(TaskDataError, match=r"test2.*no such file"):
        load_insuranceqa(tmp_path, counts=COUNTS)
    (tmp_path / "answers.label.token_idx").unlink()
    with pytest.raises(TaskDataError, match="no answers in it"):
        load_insuranceqa(tmp_path, counts=COUNTS)
    with pytest.raises(TaskDataError, match="give the folder"):
        load_insuranceqa(tmp_path / "vocabulary")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("question.train.token_idx.label", "idx_1 idx_2\n", "line 1: 1 fields where 2 belong"),
        ("question.train.token_idx.label", "idx_1 idx_99\t1\n", "no word 'idx_99'"),
        ("question.dev.label.token_idx.pool", "1\tidx_1\t1 2 77\n", "no answer '77'"),
        ("answers.label.token_idx", "1\tidx_4\n", "no answer"),
    ],
)
def test_a_cut_file_is_refused(name: str, content: str, says: str, tmp_path: Path) -> None:
    (v1(tmp_path) / name).write_text(content)
    with pytest.raises(TaskDataError, match=says):
        load_insuranceqa(tmp_path, counts=COUNTS)


def test_pools_of_different_lengths_and_a_cut_packed_file_are_refused(tmp_path: Path) -> None:
    file = v2(tmp_path) / "InsuranceQA.question.anslabel.raw.500.pool.solr.test.encoded.gz"
    whole = file.read_bytes()
    file.write_bytes(gzip.compress(b"life\tidx_2\t2\t1 2 3\n"))
    with pytest.raises(TaskDataError, match="different numbers of questions"):
        load_insuranceqa(tmp_path, counts=COUNTS)
    file.write_bytes(whole[:-9])
    with pytest.raises(TaskDataError, match="cut off or damaged"):
        load_insuranceqa(tmp_path, counts=COUNTS)
