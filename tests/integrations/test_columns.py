"""The accessors of columns: ``series.deniable`` of pandas and of Polars."""

from __future__ import annotations

from typing import Any, cast

import pandas
import polars
import pytest

import deniable.integrations.pandas
import deniable.integrations.polars  # noqa: F401 - both register their accessor
from deniable import Embedding, InvalidParameter, Keyed, Multivariate, Privatizer, Release
from deniable.decoding.decoder import Decoder
from deniable.errors import NotThisRelease
from tests.support.made_release import DIRECTIONS, MadeRelease, release

__all__ = ["release"]

TEXTS = ["The soup was cold!", None, "best bread", ""]
RELEASED = ["the soup was cold", None, "best bread", ""]
KINDS = [*((pandas, each) for each in (object, "string", "str", "category"))]
KINDS += [(polars, each) for each in (polars.String, polars.Categorical)]
BOTH = [(pandas, object), (polars, polars.String)]


def column(kind: Any, texts: list[Any], name: str | None = "review") -> Any:
    library, dtype = kind
    if library is polars:
        return polars.Series(name, texts, dtype=dtype)
    return pandas.Series(texts, index=[7, *range(7, 6 + len(texts))], name=name, dtype=dtype)


def texts_of(series: Any) -> list[str | None]:
    return [None if pandas.isna(text) else text for text in series.to_list()]


def check_like(made: Any, series: Any) -> None:
    """Check that a column has the name, the index and the type of another."""
    assert made.name == series.name
    if isinstance(series, polars.Series):
        assert made.dtype == polars.String
    else:
        assert made.index.equals(series.index)
        assert made.dtype == (object if hasattr(series.dtype, "categories") else series.dtype)


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_keeps_index_name_nulls_and_length(private: Privatizer, kind: Any) -> None:
    series = column(kind, TEXTS)
    released = series.deniable.privatize(private)
    assert texts_of(released) == RELEASED
    assert texts_of(series) == TEXTS, "the given column is not changed"
    check_like(released, series)
    assert len(series[:0].deniable.privatize(private)) == 0


@pytest.mark.parametrize(
    ("numbers", "said"),
    [(pandas.Series([1, 2]), "record 1 is not text"), (polars.Series([1, 2]), "hold text")],
)
def test_what_is_not_text_is_refused(
    private: Privatizer, release: MadeRelease, numbers: Any, said: str
) -> None:
    with pytest.raises(InvalidParameter, match=said):
        numbers.deniable.privatize(private)
    assert private.receipt().tally.records == 0
    with pytest.raises(InvalidParameter, match=said):
        numbers.deniable.decode(release.card)


@pytest.mark.parametrize("kind", BOTH)
def test_a_keyed_release_takes_ids_from_another_column_and_can_be_repeated(name: str, kind: Any) -> None:
    private = Privatizer(Multivariate(Embedding.open(name), epsilon=1e-3), randomness=Keyed.new())
    series, ids = column(kind, [" ".join(["word1"] * 50)] * 2), column(kind, ["a", "b"], "id")
    released = list(series.deniable.privatize(private, record_ids=ids))
    assert released == list(series.deniable.privatize(private, record_ids=ids))
    assert released[0] != released[1]
    other = series.rename("title").deniable.privatize(private, record_ids=ids)
    assert list(other) != released, "columns share no noise"
    for given, said in ((["a", "a"], "names two texts"), (None, "needs an id")):
        with pytest.raises(InvalidParameter, match=said):
            series.deniable.privatize(private, record_ids=given)


def test_a_keyed_column_must_have_a_name(name: str) -> None:
    private = Privatizer(Multivariate(Embedding.open(name), epsilon=1e-3), randomness=Keyed.new())
    series: Any = pandas.Series(["word1"])
    with pytest.raises(InvalidParameter, match="must have a name"):
        series.deniable.privatize(private, record_ids=["a"])


@pytest.mark.parametrize("kind", BOTH)
def test_the_settings_of_a_release_do_in_place_of_a_privatizer(
    name: str, private: Privatizer, kind: Any
) -> None:
    series, release = column(kind, TEXTS), Release(epsilon=1e6, embedding=name)
    for released in (
        series.deniable.privatize(epsilon=1e6, embedding=name),
        series.deniable.privatize(release),
    ):
        assert texts_of(released) == RELEASED
    for given, settings, wrong in (
        (None, {"epsilon": 6, "unknown": "keep"}, "unknown"),
        (private, {"epsilon": 6}, "private"),
        (None, {}, "epsilon"),
    ):
        with pytest.raises(InvalidParameter) as refused:
            series.deniable.privatize(given, **settings)
        assert refused.value.name == wrong


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


@pytest.mark.parametrize("kind", KINDS)
def test_a_released_column_is_decoded_by_its_card_and_keeps_index_name_and_nulls(
    release: MadeRelease, kind: Any
) -> None:
    texts = [None, *release.texts[1:]]
    series = column(kind, texts)
    decoder = Decoder.learn(release.card, texts, effort=DIRECTIONS, every_word=True)
    for given, settings in ((release.card, {"effort": DIRECTIONS}), (decoder, {})):
        decoded = series.deniable.decode(given, **settings)
        assert texts_of(decoded) == decoder.decode(texts)
        check_like(decoded, series)


def test_expected_counts_are_a_sparse_frame_of_words_or_lists_that_unfold(release: MadeRelease) -> None:
    texts = [None, *release.texts[1:]]
    in_pandas, in_polars = (column(kind, texts) for kind in BOTH)
    decoder = Decoder.learn(release.card, texts, effort=DIRECTIONS, every_word=True)
    found = in_pandas.deniable.expected_counts(decoder, least=0.01)
    assert found.index.equals(in_pandas.index)
    assert list(found.columns) == decoder.input_words
    assert (found.sparse.to_coo() != decoder.expected_counts(texts, least=0.01)).nnz == 0
    found = in_polars.deniable.expected_counts(decoder, least=0.01)
    assert found.name == "review"
    rows = [None if row is None else {each["word"]: each["count"] for each in row} for row in found.to_list()]
    assert rows == list(decoder.expected_words(texts, least=0.01))
    table = found.drop_nulls().explode().struct.unnest()
    assert table.columns == ["word", "count"]
    assert table["count"].min() >= 0.01


@pytest.mark.parametrize("kind", BOTH)
def test_a_column_that_was_not_released_is_not_decoded(release: MadeRelease, kind: Any) -> None:
    original = column(kind, [*release.originals])
    for decode in (original.deniable.decode, original.deniable.expected_counts):
        with pytest.raises(NotThisRelease, match="not as Multivariate"):
            decode(release.card, effort=DIRECTIONS)
    with pytest.raises(InvalidParameter, match="must be the card of the release"):
        original.deniable.decode(None)
