from __future__ import annotations

from typing import Any, cast

import polars
import pytest

import deniable.integrations.polars  # noqa: F401 - registers the namespace
from deniable import Embedding, InvalidParameter, Keyed, Multivariate, Privatizer, Release
from deniable.decoding.decoder import Decoder
from deniable.errors import NotThisRelease
from tests.support.made_release import DIRECTIONS, MadeRelease, release

__all__ = ["release"]

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


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_query_which_could_run_twice_is_refused_unless_it_is_keyed(
    name: str, private: Privatizer, engine: Any
) -> None:
    lazy = polars.LazyFrame({"review": [" ".join(["word1"] * 50)] * 2, "id": ["a", "b"]})
    release = polars.col("review").map_batches(
        lambda series: cast(Any, series).deniable.privatize(private), return_dtype=polars.String
    )
    with pytest.raises(polars.exceptions.PolarsError, match=r"collect\(\) first"):
        lazy.with_columns(release).collect(engine=engine)
    keyed = Privatizer(Multivariate(Embedding.open(name), epsilon=1e-3), randomness=Keyed.new())

    def with_ids(frame: Any) -> Any:
        return frame.with_columns(frame["review"].deniable.privatize(keyed, record_ids=frame["id"]))

    query = lazy.map_batches(with_ids)
    assert query.collect(engine=engine).equals(query.collect(engine=engine))
    assert keyed.receipt().tally.records == 4
    eager: Any = lazy.collect()["review"]
    assert len(eager.deniable.privatize(private)) == 2


def test_a_keyed_release_takes_ids_from_another_column_and_can_be_repeated(name: str) -> None:
    private = Privatizer(Multivariate(Embedding.open(name), epsilon=1e-3), randomness=Keyed.new())
    series: Any = polars.Series("review", [" ".join(["word1"] * 50)] * 2)
    ids = polars.Series(["a", "b"])
    released = series.deniable.privatize(private, record_ids=ids)
    assert list(released) == list(series.deniable.privatize(private, record_ids=ids))
    assert released[0] != released[1]
    with pytest.raises(InvalidParameter, match="needs an id"):
        series.deniable.privatize(private)


def test_the_settings_of_a_release_do_in_place_of_a_privatizer(name: str, private: Privatizer) -> None:
    series: Any = polars.Series("review", TEXTS)
    release = Release(epsilon=1e6, embedding=name)
    for released in (
        series.deniable.privatize(epsilon=1e6, embedding=name),
        series.deniable.privatize(release),
    ):
        assert released.to_list() == ["the soup was cold", None, "best bread", ""]
    with pytest.raises(InvalidParameter, match="holds all settings already; leave out epsilon"):
        series.deniable.privatize(release, epsilon=6)
    with pytest.raises(InvalidParameter, match="has its settings already; leave out epsilon"):
        series.deniable.privatize(private, epsilon=6)


@pytest.mark.parametrize("dtype", [polars.String, polars.Categorical])
def test_a_released_column_is_decoded_by_its_card_and_keeps_name_and_nulls(
    release: MadeRelease, dtype: Any
) -> None:
    texts = [None, *release.texts[1:]]
    series: Any = polars.Series("review", texts, dtype=dtype)
    decoder = Decoder.learn(release.card, texts, effort=DIRECTIONS, every_word=True)
    for given, settings in ((release.card, {"effort": DIRECTIONS}), (decoder, {})):
        decoded = series.deniable.decode(given, **settings)
        assert decoded.to_list() == decoder.decode(texts)
        assert (decoded.name, decoded.dtype) == ("review", polars.String)


def test_expected_counts_are_lists_of_words_which_unfold_to_a_table(release: MadeRelease) -> None:
    texts = [None, *release.texts[1:]]
    series: Any = polars.Series("review", texts)
    decoder = Decoder.learn(release.card, texts, effort=DIRECTIONS, every_word=True)
    found = series.deniable.expected_counts(decoder, least=0.01)
    assert found.name == "review"
    rows = [None if row is None else {each["word"]: each["count"] for each in row} for row in found.to_list()]
    assert rows == list(decoder.expected_words(texts, least=0.01))
    table = found.drop_nulls().explode().struct.unnest()
    assert table.columns == ["word", "count"]
    assert table["count"].min() >= 0.01


def test_a_column_that_was_not_released_is_not_decoded(release: MadeRelease) -> None:
    original: Any = polars.Series("review", release.originals)
    for decode in (original.deniable.decode, original.deniable.expected_counts):
        with pytest.raises(NotThisRelease, match="not as Multivariate"):
            decode(release.card, effort=DIRECTIONS)
    numbers: Any = polars.Series([1, 2])
    with pytest.raises(InvalidParameter, match="does not hold text"):
        numbers.deniable.decode(release.card)
