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
from deniable.errors import UndecidedColumns
from deniable.records import deciding
from tests.test_nothing_unnamed import SUSPICIOUS, rows_with

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
    rows = len(next(iter(data.values())))
    return pandas.DataFrame(data, index=[7, 7, 9, *range(10, 7 + rows)])


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


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("suspicious", SUSPICIOUS)
def test_what_looks_like_people_or_texts_leaves_only_by_name(
    private: Privatizer, make: Any, suspicious: str
) -> None:
    frame = make({key: [row[key] for row in rows_with(suspicious)] for key in rows_with(suspicious)[0]})
    with pytest.raises(UndecidedColumns) as raised:
        deniable.privatize(frame, "note", private)
    assert raised.value.columns.keys() == {suspicious}
    assert private.receipt().tally.records == 0
    dropped = deniable.privatize(frame, "note", private, drop=[suspicious])
    assert list(rows_of(dropped)) == ["nr", "note", "stars"]
    kept = deniable.privatize(frame, "note", private, keep=[suspicious])
    assert rows_of(kept)[suspicious] == rows_of(frame)[suspicious]


def test_a_column_that_the_first_rows_do_not_hold_is_refused(
    private: Privatizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding, "JUDGED", 10)
    for late, why in (
        ([None] * 11 + ["j@x.org"], "empty in the first 10 records"),
        ([[]] * 11 + [["j@x.org"]], "empty in the first 10 records"),
        ([{"a": 1}] * 11 + [{"b": "j@x.org"}], "objects or lists in more than 10 rows"),
    ):
        frame = pandas.DataFrame({"note": ["the fox"] * 12, "late": late})
        with pytest.raises(UndecidedColumns) as raised:
            deniable.privatize(frame, "note", private)
        assert raised.value.columns == {"late": why}


def test_parts_of_values_and_the_index_of_pandas_are_judged(private: Privatizer) -> None:
    visits = [{"day": 1, "by": "Anna Kowalska"}, {"day": 2, "by": "John Smith"}]
    for frame in (
        polars.DataFrame({"note": ["the fox", "it"], "visit": visits}),
        pandas.DataFrame({"note": ["the fox", "it"], "visit": visits}),
        pandas.DataFrame(
            {"note": ["the fox", "it"]}, index=pandas.Index(["a@x.org", "b@x.org"], name="visit")
        ),
    ):
        with pytest.raises(UndecidedColumns) as raised:
            deniable.privatize(frame, "note", private)
        assert raised.value.columns.keys() == {"visit"}
        deniable.privatize(frame, "note", private, keep=["visit"])
    filtered = pandas.DataFrame({"note": ["the fox"] * 90}, index=[i * 7919 % 1000 for i in range(90)])
    deniable.privatize(filtered, "note", private)


def test_short_texts_of_a_frame_pass_with_a_warning(private: Privatizer) -> None:
    towns = [f"old {['north', 'south', 'west'][i % 3]} {i}" for i in range(9)]
    with pytest.warns(UserWarning, match=r"town \(short texts\)"):
        deniable.privatize(polars.DataFrame({"note": ["the fox"] * 9, "town": towns}), "note", private)


@pytest.mark.parametrize(
    ("roles", "wrong"),
    [
        ({"drop": ["title", "title"]}, "drop"),
        ({"keep": ["no-such"]}, "keep"),
        ({"drop": ["review"]}, "drop"),
        ({"drop": ["title"], "keep": ["title"]}, "drop"),
        ({"keep": "title"}, "keep"),
    ],
)
@pytest.mark.parametrize("make", MAKERS)
def test_roles_that_do_not_fit_a_frame_are_refused(
    private: Privatizer, make: Any, roles: dict[str, Any], wrong: str
) -> None:
    with pytest.raises(InvalidParameter) as caught:
        deniable.privatize(make(DATA), "review", private, **roles)
    assert caught.value.name == wrong
    assert private.receipt().tally.records == 0
