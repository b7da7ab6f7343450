from __future__ import annotations

import pytest

from deniable import InvalidParameter, Keyed
from deniable.records.formats.naming import Naming, name_column, name_text


def test_the_column_is_part_of_a_name_unless_the_ids_are_users() -> None:
    assert name_text(7, "review", consistent=False) == (7, "review")
    assert name_text(("shop", 7), "review", consistent=False) == ("shop", 7, "review")
    assert name_text("user", "review", consistent=True) == "user"


def test_a_column_is_named_as_the_records_of_a_file_are() -> None:
    by_file = Naming("in.csv", column="id")
    assert [
        by_file.names(record, name, ["review"])[0] for record, name in enumerate(["a", "b"], 1)
    ] == name_column(Keyed.new(), ["a", "b"], "review")


def test_without_a_key_ids_stay_as_they_are_for_the_privatizer_to_refuse() -> None:
    assert name_column(None, ["a", "b"], None) == ["a", "b"]
    assert name_column(Keyed.new(), None, None) is None


def test_a_column_without_a_name_is_refused_unless_the_ids_are_users() -> None:
    with pytest.raises(InvalidParameter, match="must have a name"):
        name_column(Keyed.new(), ["a"], "")
    assert name_column(Keyed.new(consistent=True), ["a"], None) == ["a"]
