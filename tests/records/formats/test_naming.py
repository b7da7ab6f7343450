from __future__ import annotations

from typing import Any

import pytest

from deniable import InvalidParameter
from deniable.records.formats.naming import Naming, name_column, name_text


def test_the_column_is_part_of_a_name_unless_the_ids_are_users() -> None:
    assert name_text(7, "review", consistent=False) == (7, "review")
    assert name_text(("shop", 7), "review", consistent=False) == ("shop", 7, "review")
    assert name_text("user", "review", consistent=True) == "user"


def test_a_column_is_named_as_the_records_of_a_file_are() -> None:
    by_file = Naming("in.csv", column="id")
    assert [
        by_file.names(record, name, ["review"])[0] for record, name in enumerate(["a", "b"], 1)
    ] == name_column(["a", "b"], "review", consistent=False)


@pytest.mark.parametrize("missing", [None, ""])
@pytest.mark.parametrize("consistent", [True, False])
def test_a_record_without_an_id_is_refused(missing: Any, consistent: bool) -> None:
    with pytest.raises(InvalidParameter) as refused:
        name_column(["a", missing], "review", consistent=consistent)
    assert refused.value.name == "record_id"


def test_a_column_without_a_name_is_refused_unless_the_ids_are_users() -> None:
    with pytest.raises(InvalidParameter, match="must have a name"):
        name_column(["a"], "", consistent=False)
    assert name_column(["a"], None, consistent=True) == ["a"]
