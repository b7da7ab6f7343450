from __future__ import annotations

from pathlib import Path

import pytest

from deniable.errors import RecordError
from deniable.records.formats.layout import FORMATS, WITH_COLUMNS, format_of
from deniable.words.public_text import NOT_PLAIN_TEXT, read_documents


@pytest.mark.parametrize(
    "name", ["reviews.csv", "reviews.CSV.gz", "reviews.tsv", "reviews.jsonl", "reviews.parquet"]
)
def test_a_table_is_not_read_as_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"id,review\n17,the soup was cold\n")
    with pytest.raises(RecordError, match="--public") as caught:
        list(read_documents(path))
    assert caught.value.source == str(path)


def test_every_format_with_columns_is_refused_and_no_other() -> None:
    endings = [*NOT_PLAIN_TEXT, ".txt", ".text", ".log", "", ".md"]
    for ending in endings:
        assert (format_of(Path(f"public{ending}")) in WITH_COLUMNS) == (ending in NOT_PLAIN_TEXT)
    assert (
        {format_of(Path(f"public{ending}")) for ending in NOT_PLAIN_TEXT} == set(WITH_COLUMNS) <= set(FORMATS)
    )


def test_text_is_read_by_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "public.txt"
    path.write_text("one document\nanother\n", encoding="utf-8")
    assert list(read_documents(path)) == ["one document", "another"]
