"""One call releases columns of every kind of frame, and gives a frame of the same kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas
import polars
import pyarrow
import pytest

import deniable
from deniable import Embedding, InvalidParameter, Keyed, Multivariate, Privatizer

DATA = {
    "stars": [5, 1, 3],
    "title": ["Best", "Cold!", None],
    "review": ["best bread", None, "The soup was cold"],
}
RELEASED = {
    "stars": [5, 1, 3],
    "title": ["best", "cold", None],
    "review": ["best bread", None, "the soup was cold"],
}


def pandas_frame(data: dict[str, Any]) -> Any:
    return pandas.DataFrame(data, index=[7, 7, 9])


def relation(data: dict[str, Any]) -> Any:
    return pytest.importorskip("duckdb").from_arrow(pyarrow.table(data))


def rows_of(frame: Any) -> dict[str, list[Any]]:
    table = pyarrow.table(frame.reset_index(drop=True) if isinstance(frame, pandas.DataFrame) else frame)
    return {name: table[name].to_pylist() for name in table.column_names}


MAKERS: list[Callable[[dict[str, Any]], Any]] = [pandas_frame, polars.DataFrame, pyarrow.table, relation]


@pytest.mark.parametrize("make", MAKERS)
def test_a_frame_comes_back_as_one_of_its_kind_with_other_columns_as_they_were(
    private: Privatizer, make: Any
) -> None:
    frame = make(DATA)
    released = deniable.privatize(frame, ["title", "review"], private)
    assert type(released) is type(frame)
    assert rows_of(released) == RELEASED
    assert rows_of(frame) == DATA, "the frame that is given is not changed"
    assert private.receipt().to_dict()["budget"]["longest_row"]["words"] == 4
    one = deniable.privatize(frame, "review", private)
    assert rows_of(one) == {**DATA, "review": RELEASED["review"]}


def test_the_index_and_the_types_of_pandas_stay(private: Privatizer) -> None:
    frame = pandas_frame(DATA).astype({"title": "category"})
    released = deniable.privatize(frame, ["review"], private)
    assert released.index.tolist() == [7, 7, 9]
    assert released.dtypes.tolist() == frame.dtypes.tolist()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("columns", ["stars", "no-such", [], ["review", "review"], ["review", "stars"]])
def test_nothing_is_released_where_a_column_is_wrong(private: Privatizer, make: Any, columns: Any) -> None:
    with pytest.raises(InvalidParameter):
        deniable.privatize(make(DATA), columns, private)
    assert private.receipt().tally.records == 0


@pytest.mark.parametrize("frame", [DATA, [1], polars.LazyFrame(DATA), "review"])
def test_what_is_no_frame_is_refused(private: Privatizer, frame: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        deniable.privatize(frame, "review", private)
    assert (caught.value.name, caught.value.value) == ("frame", type(frame).__name__)


@pytest.mark.parametrize("make", MAKERS)
def test_a_keyed_release_is_the_same_in_every_kind_of_frame(name: str, make: Any) -> None:
    keyed = Privatizer(Multivariate(Embedding.open(name), epsilon=1e-3), randomness=Keyed(bytes(range(32))))
    ids = ["a", "b", "c"]
    released = rows_of(deniable.privatize(make(DATA), ["title", "review"], keyed, record_ids=ids))
    by_column = pandas.Series(DATA["review"], name="review")
    assert (
        released["review"]
        == rows_of(deniable.privatize(by_column.to_frame(), "review", keyed, record_ids=ids))["review"]
    )
    with pytest.raises(InvalidParameter, match="needs an id"):
        deniable.privatize(make(DATA), "review", keyed)
    with pytest.raises(InvalidParameter, match="one for each"):
        deniable.privatize(make(DATA), ["title", "review"], keyed, record_ids=["a"])


def test_settings_do_in_place_of_a_privatizer(name: str) -> None:
    released = deniable.privatize(polars.DataFrame(DATA), "review", epsilon=1e6, embedding=name)
    assert released["review"].to_list() == RELEASED["review"]


def test_a_budget_per_record_is_not_spent_once_per_column() -> None:
    frame = pandas.DataFrame({"a": ["the fox"], "b": ["the dog"]})
    with pytest.raises(InvalidParameter) as caught:
        deniable.privatize(frame, columns=["a", "b"], record_epsilon=5)
    assert caught.value.name == "record_epsilon"
