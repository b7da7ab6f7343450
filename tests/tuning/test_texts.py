"""Public texts keep their labels and other attributes, and what cannot be learnt from is refused before the
work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from deniable.errors import TaskDataError
from deniable.tuning.texts import PublicAttributes, known_texts, read_attributes
from tests.support.made_purpose import made_embedding, public_texts


def test_attributes_stay_with_their_texts_where_a_label_is_nan(tmp_path: Path) -> None:
    lines = [f"text number {i},{'nan' if i % 10 == 0 else i % 2},author{i}" for i in range(300)]
    (tmp_path / "public.csv").write_text("\n".join(["text,stars,author", *lines]), encoding="utf-8")
    found = read_attributes(
        tmp_path / "public.csv", text_column="text", label_column="stars", also=["author"]
    )
    assert len(found.public.texts) == 270
    assert found.others["author"] == [f"author{text.split()[-1]}" for text in found.public.texts]


def test_a_value_that_is_nan_beside_few_numbers_is_missing(tmp_path: Path) -> None:
    lines = [f"text number {i},{i % 2},{('0.0', '1.0', 'nan')[i % 3]}" for i in range(300)]
    (tmp_path / "public.csv").write_text("\n".join(["text,stars,member", *lines]), encoding="utf-8")
    found = read_attributes(
        tmp_path / "public.csv", text_column="text", label_column="stars", also=["member"]
    )
    assert set(found.others["member"]) == {"0.0", "1.0", ""}


def test_classes_that_are_rare_among_the_texts_drawn_are_refused(tmp_path: Path) -> None:
    texts = [*(f"text number {i},{i % 2}" for i in range(1990)), *(f"a text so rare,{2}" for _ in range(10))]
    (tmp_path / "public.csv").write_text("\n".join(["text,stars", *texts]), encoding="utf-8")
    read_attributes(tmp_path / "public.csv", text_column="text", label_column="stars")
    with pytest.raises(TaskDataError, match=r"1 of its 3 labels have|has the same label"):
        read_attributes(tmp_path / "public.csv", text_column="text", label_column="stars", most=300)


def test_classes_of_which_the_embedding_knows_hardly_a_text_are_refused() -> None:
    known = public_texts(300)
    unknown = replace(
        known, texts=[*known.texts, *["zzz"] * 10, known.texts[0]], labels=[*known.labels, *["rare"] * 11]
    )
    with pytest.raises(TaskDataError, match="1 of its 3 labels have fewer than 4 of the 301 texts"):
        known_texts(PublicAttributes(unknown, {}), made_embedding())
