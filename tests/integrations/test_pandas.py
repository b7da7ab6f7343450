from __future__ import annotations

from typing import Any

import pandas
import pytest

import deniable.integrations.pandas  # noqa: F401 - registers the accessor
from deniable import Embedding, InvalidParameter, Keyed, Multivariate, Privatizer, Release
from deniable.decoding.decoder import Decoder
from deniable.errors import NotThisRelease
from tests.support.made_release import DIRECTIONS, MadeRelease, release

__all__ = ["release"]

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
    assert list(series.rename("title").deniable.privatize(private, record_ids=ids)) != list(
        released
    )  # columns share no noise
    with pytest.raises(InvalidParameter, match="must have a name"):
        series.rename(None).deniable.privatize(private, record_ids=ids)
    with pytest.raises(InvalidParameter, match="names two texts"):
        series.deniable.privatize(private, record_ids=["a", "a"])
    with pytest.raises(InvalidParameter, match="needs an id"):
        series.deniable.privatize(private)


def test_the_settings_of_a_release_do_in_place_of_a_privatizer(name: str, private: Privatizer) -> None:
    series: Any = pandas.Series(TEXTS, name="review")
    release = Release(epsilon=1e6, embedding=name)
    for released in (
        series.deniable.privatize(epsilon=1e6, embedding=name),
        series.deniable.privatize(release),
    ):
        assert [None if pandas.isna(text) else text for text in released] == RELEASED
    with pytest.raises(InvalidParameter, match=r"^unknown = 'keep'"):
        series.deniable.privatize(epsilon=6, unknown="keep")
    with pytest.raises(InvalidParameter, match="has its settings already; leave out epsilon"):
        series.deniable.privatize(private, epsilon=6)
    with pytest.raises(InvalidParameter, match="give epsilon"):
        series.deniable.privatize()


@pytest.mark.parametrize("dtype", [object, "string", "str", "category"])
def test_a_released_column_is_decoded_by_its_card_and_keeps_index_name_and_nulls(
    release: MadeRelease, dtype: Any
) -> None:
    texts = [None, *release.texts[1:]]
    index = [7, *range(len(texts) - 1)]
    series: Any = pandas.Series(texts, index=index, name="review", dtype=dtype)
    decoder = Decoder.learn(release.card, texts, effort=DIRECTIONS, every_word=True)
    expected = decoder.decode(texts)
    for given, settings in ((release.card, {"effort": DIRECTIONS}), (decoder, {})):
        decoded = series.deniable.decode(given, **settings)
        assert [None if pandas.isna(text) else text for text in decoded] == expected
        assert decoded.name == "review"
        assert decoded.index.equals(series.index)
    assert series.tolist()[1:] == texts[1:]


def test_expected_counts_are_a_sparse_frame_of_words(release: MadeRelease) -> None:
    texts = [None, *release.texts[1:]]
    series: Any = pandas.Series(texts, index=range(100, 100 + len(texts)), name="review")
    decoder = Decoder.learn(release.card, texts, effort=DIRECTIONS, every_word=True)
    found = series.deniable.expected_counts(decoder, least=0.01)
    assert found.index.equals(series.index)
    assert list(found.columns) == decoder.input_words
    assert (found.sparse.to_coo() != decoder.expected_counts(texts, least=0.01)).nnz == 0
    assert found.loc[100].sum() == 0.0


def test_a_column_that_was_not_released_is_not_decoded(release: MadeRelease) -> None:
    original: Any = pandas.Series(release.originals)
    for decode in (original.deniable.decode, original.deniable.expected_counts):
        with pytest.raises(NotThisRelease, match="not as Multivariate"):
            decode(release.card, effort=DIRECTIONS)
    numbers: Any = pandas.Series([1, 2])
    with pytest.raises(InvalidParameter, match="record 1 is not text"):
        numbers.deniable.decode(release.card)
    with pytest.raises(InvalidParameter, match="must be the card of the release"):
        original.deniable.decode(None)
