from __future__ import annotations

from typing import Any

import pandas
import pytest

import deniable.integrations.pandas  # noqa: F401 - registers the accessor
from deniable import Embedding, InvalidParameter, Keyed, Multivariate, Privatizer, Recipe

TEXTS = ["The soup was cold!", None, "best bread", ""]
RELEASED = ["the soup was cold", None, "best bread", ""]


@pytest.mark.parametrize("dtype", [object, "string", "str", "category"])
def test_a_column_keeps_index_name_nulls_and_length(private: Privatizer, dtype: Any) -> None:
    series = pandas.Series(TEXTS, index=[7, 7, 8, 9], name="review", dtype=dtype)
    before = series.copy()
    released = series.deniable.privatize(private)
    pandas.testing.assert_series_equal(series, before)
    assert [None if pandas.isna(text) else text for text in released] == RELEASED
    assert released.name == "review"
    assert released.index.equals(series.index)
    if dtype != "category":
        assert released.dtype == series.dtype


def test_an_empty_column_stays_one(private: Privatizer) -> None:
    assert len(pandas.Series([], dtype=object).deniable.privatize(private)) == 0


def test_what_is_not_text_is_refused(private: Privatizer) -> None:
    with pytest.raises(InvalidParameter, match="record 1 is not text"):
        pandas.Series([1, 2]).deniable.privatize(private)
    assert private.receipt().tally.records == 0


def test_a_keyed_release_takes_ids_from_another_column_and_can_be_repeated(name: str) -> None:
    private = Privatizer(Multivariate(Embedding.open(name), epsilon=1e-3), randomness=Keyed.new())
    series: Any = pandas.Series([" ".join(["word1"] * 50)] * 2, name="review")
    ids = pandas.Series(["a", "b"])
    released = series.deniable.privatize(private, record_ids=ids)
    assert list(released) == list(series.deniable.privatize(private, record_ids=ids))
    assert released[0] != released[1]
    assert list(series.rename("title").deniable.privatize(private, record_ids=ids)) != list(released)  # columns share no noise
    with pytest.raises(InvalidParameter, match="must have a name"):
        series.rename(None).deniable.privatize(private, record_ids=ids)
    with pytest.raises(InvalidParameter, match="names two texts"):
        series.deniable.privatize(private, record_ids=["a", "a"])
    with pytest.raises(InvalidParameter, match="needs an id"):
        series.deniable.privatize(private)


def test_the_settings_of_a_recipe_do_in_place_of_a_privatizer(name: str, private: Privatizer) -> None:
    series: Any = pandas.Series(TEXTS, name="review")
    recipe = Recipe(epsilon=1e6, embedding=name)
    for released in (series.deniable.privatize(epsilon=1e6, embedding=name), series.deniable.privatize(recipe)):
        assert [None if pandas.isna(text) else text for text in released] == RELEASED
    with pytest.raises(InvalidParameter, match=r"^unknown = 'keep'"):
        series.deniable.privatize(epsilon=6, unknown="keep")
    with pytest.raises(InvalidParameter, match="has its settings already; leave out epsilon"):
        series.deniable.privatize(private, epsilon=6)
    with pytest.raises(InvalidParameter, match="give epsilon"):
        series.deniable.privatize()
