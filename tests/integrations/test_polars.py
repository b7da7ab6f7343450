from __future__ import annotations

from typing import Any

import polars
import pytest

import deniable.integrations.polars  # noqa: F401 - registers the namespace
from deniable import Embedding, InvalidParameter, Keyed, Multivariate, Privatizer, Recipe

TEXTS = ["The soup was cold!", None, "best bread", ""]


@pytest.mark.parametrize("dtype", [polars.String, polars.Categorical])
def test_a_column_keeps_name_nulls_and_length(private: Privatizer, dtype: Any) -> None:
    series: Any = polars.Series("review", TEXTS, dtype=dtype)
    released = series.deniable.privatize(private)
    assert released.to_list() == ["the soup was cold", None, "best bread", ""]
    assert (released.name, released.dtype) == ("review", polars.String)
    assert series.to_list() == TEXTS


def test_what_is_not_text_is_refused(private: Privatizer) -> None:
    numbers: Any = polars.Series([1, 2])
    with pytest.raises(InvalidParameter, match="does not hold text"):
        numbers.deniable.privatize(private)


def test_a_lazy_column_has_no_such_namespace() -> None:
    assert not hasattr(polars.col("review"), "deniable")


def test_a_keyed_release_takes_ids_from_another_column_and_can_be_repeated(name: str) -> None:
    private = Privatizer(Multivariate(Embedding.open(name), epsilon=1e-3), randomness=Keyed.new())
    series: Any = polars.Series("review", [" ".join(["word1"] * 50)] * 2)
    ids = polars.Series(["a", "b"])
    released = series.deniable.privatize(private, record_ids=ids)
    assert list(released) == list(series.deniable.privatize(private, record_ids=ids))
    assert released[0] != released[1]
    with pytest.raises(InvalidParameter, match="needs an id"):
        series.deniable.privatize(private)


def test_the_settings_of_a_recipe_do_in_place_of_a_privatizer(name: str, private: Privatizer) -> None:
    series: Any = polars.Series("review", TEXTS)
    recipe = Recipe(epsilon=1e6, embedding=name)
    for released in (series.deniable.privatize(epsilon=1e6, embedding=name), series.deniable.privatize(recipe)):
        assert released.to_list() == ["the soup was cold", None, "best bread", ""]
    with pytest.raises(InvalidParameter, match="holds all settings already; leave out epsilon"):
        series.deniable.privatize(recipe, epsilon=6)
    with pytest.raises(InvalidParameter, match="has its settings already; leave out epsilon"):
        series.deniable.privatize(private, epsilon=6)
