"""Features of released texts: what the decoder gives, in pipelines and from files, learnt from the release
alone."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from deniable import InvalidParameter, MalformedCard
from deniable.decoding.decoder import Decoder
from deniable.errors import DamagedDecoder, NotThisRelease
from deniable.integrations.sklearn import ExpectedCounts, ExpectedVectors
from tests.support.made_release import DIRECTIONS, MadeRelease, release

__all__ = ["release"]

BOTH = [ExpectedCounts, ExpectedVectors]

# Checks that feed tables of numbers do not apply to texts; scikit-learn says so with a warning.
with pytest.warns(SkipTestWarning):
    checks = parametrize_with_checks([ExpectedCounts(), ExpectedVectors()])


@checks  # type: ignore[untyped-decorator]
def test_they_behave_as_scikit_learn_expects(estimator: Any, check: Any) -> None:
    check(estimator)


def fitted(kind: Any, release: MadeRelease, **parameters: Any) -> Any:
    return kind(card=release.card, effort=DIRECTIONS, **parameters).fit(release.texts)


def dense(values: Any) -> Any:
    return values.toarray() if hasattr(values, "toarray") else values


def test_counts_are_those_of_the_decoder_with_words_in_the_order_of_their_ids(release: MadeRelease) -> None:
    decoder = Decoder.learn(release.card, release.texts, effort=DIRECTIONS, every_word=True)
    made = fitted(ExpectedCounts, release)
    counts = made.transform(release.texts)
    names = made.get_feature_names_out()
    assert (counts.format, counts.dtype, counts.indices.dtype) == ("csr", np.float64, np.int32)
    assert names.tolist() == [*decoder.channel.embedding.words, "[unknown]"]
    assert not np.array_equal(
        decoder.channel.inputs, np.sort(decoder.channel.inputs)
    )  # so the columns had to be put in order
    np.testing.assert_allclose(counts.toarray(), decoder.expected_counts(release.texts).toarray(), rtol=1e-12)
    assert counts[0].sum() == pytest.approx(25, rel=0.1)


def test_vectors_are_those_of_the_decoder(release: MadeRelease) -> None:
    decoder = Decoder.learn(release.card, release.texts, effort=DIRECTIONS, every_word=True)
    made = fitted(ExpectedVectors, release)
    found = made.transform([*release.texts, None, ""])
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found[:-2], decoder.expected_vectors(release.texts))
    assert not found[-2:].any()
    assert made.get_feature_names_out().tolist() == [f"vector{i}" for i in range(6)]
    framed = made.set_output(transform="pandas").transform(release.texts)
    assert list(framed.columns) == made.get_feature_names_out().tolist()


def test_a_public_text_is_where_learning_begins_and_gives_context_unless_told_otherwise(
    release: MadeRelease, tmp_path: Path
) -> None:
    public = tmp_path / "public.txt"
    public.write_text("\n".join(release.originals))
    decoder = Decoder.learn(release.card, release.texts, public=public, effort=DIRECTIONS, every_word=True)
    alone = fitted(ExpectedVectors, release, public=public, context=False).transform(release.texts)
    together = fitted(ExpectedVectors, release, public=str(public)).transform(release.texts)
    np.testing.assert_array_equal(together, decoder.expected_vectors(release.texts))
    without = fitted(ExpectedVectors, release).transform(release.texts)
    assert np.abs(alone - together).max() > 1e-3
    assert np.abs(alone - without).max() > 1e-3


def test_pipelines_and_searches_learn_from_released_text_alone(release: MadeRelease) -> None:
    counts = ExpectedCounts(card=release.card, effort=DIRECTIONS)
    scores = cross_val_score(
        make_pipeline(counts, TfidfTransformer(), LogisticRegression(C=10.0)),
        release.texts,
        release.labels,
        cv=3,
    )
    assert scores.mean() > 0.65
    vectors = ExpectedVectors(card=release.card, effort=DIRECTIONS)
    assert (
        cross_val_score(
            make_pipeline(vectors, LogisticRegression()), release.texts, release.labels, cv=2
        ).mean()
        > 0.5
    )
    pipeline = make_pipeline(counts, LogisticRegression())
    grid = GridSearchCV(pipeline, {"expectedcounts__least": [0.1, 1e-3]}, cv=2).fit(
        pandas.Series(release.texts), release.labels
    )
    assert grid.best_estimator_[0].least in (0.1, 1e-3)
    assert set(grid.predict(release.texts)) == {0, 1}
    assert pipeline.fit(release.texts, release.labels)[:-1].get_feature_names_out()[-1] == "[unknown]"


def test_fewer_words_may_have_gone_in_and_small_counts_can_be_left_out(release: MadeRelease) -> None:
    made = fitted(ExpectedCounts, release, support=50, least=0.2)
    counts = made.transform(release.texts)
    assert counts.shape == (len(release.texts), 51)
    assert counts.data.min() >= 0.2
    assert made.get_feature_names_out()[[0, 49, 50]].tolist() == ["word0", "word49", "[unknown]"]
    assert made.set_params(least=0.0).transform(release.texts).nnz > counts.nnz


@pytest.mark.parametrize("kind", BOTH)
def test_clones_and_pickles_are_small_and_give_the_same(kind: Any, release: MadeRelease) -> None:
    made = fitted(kind, release)
    expected = dense(made.transform(release.texts))
    stored = pickle.dumps(made)
    assert len(stored) < 20_000
    assert b"Channel" not in stored
    assert b"deniable.embeddings" not in stored
    np.testing.assert_allclose(dense(pickle.loads(stored).transform(release.texts)), expected, rtol=1e-6)
    copy = clone(made)
    assert copy.get_params() == made.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(release.texts)
    with pytest.raises(NotFittedError):
        copy.get_feature_names_out()
    with pytest.raises(NotFittedError):
        copy.save("nothing")


@pytest.mark.parametrize("kind", BOTH)
def test_what_was_learnt_is_saved_as_plain_numbers_and_loaded_again(
    kind: Any, release: MadeRelease, tmp_path: Path
) -> None:
    made = fitted(kind, release, support=100)
    made.save(tmp_path / "learnt.npz")
    with np.load(tmp_path / "learnt.npz", allow_pickle=False) as arrays:
        assert sorted(arrays) == ["about", "inputs", "prior"]
        assert json.loads(arrays["about"].tobytes())["directions"] == DIRECTIONS
    loaded = kind.load(tmp_path / "learnt.npz")
    np.testing.assert_allclose(
        dense(loaded.transform(release.texts)), dense(made.transform(release.texts)), rtol=1e-6
    )
    assert loaded.get_feature_names_out().tolist() == made.get_feature_names_out().tolist()
    (tmp_path / "learnt.npz").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(DamagedDecoder, match="is no learnt decoder"):
        kind.load(tmp_path / "learnt.npz")


def test_a_card_is_taken_by_its_path_and_as_data(release: MadeRelease, tmp_path: Path) -> None:
    release.card.write(tmp_path / "out.card.json")
    expected = fitted(ExpectedVectors, release).transform(release.texts)
    for card in (tmp_path / "out.card.json", str(tmp_path / "out.card.json"), release.card.to_dict()):
        found = ExpectedVectors(card=card, effort=DIRECTIONS).fit_transform(release.texts)
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(InvalidParameter, match=r"^card = None: must be the card of the release"):
        ExpectedCounts().fit(release.texts)
    with pytest.raises(MalformedCard, match="is no card"):
        ExpectedCounts(card={"card": 1}).fit(release.texts)
    other = release.card.to_dict()
    other["embedding"] |= {"fingerprint": "0" * 32, "name": "elsewhere"}
    with pytest.raises(MalformedCard, match="no embedding here has the fingerprint"):
        ExpectedCounts(card=other).fit(release.texts)


def test_text_that_was_not_released_is_refused(release: MadeRelease) -> None:
    with pytest.raises(NotThisRelease, match="not as Multivariate at ε = 4 releases them"):
        fitted(ExpectedCounts, MadeRelease(release.card, list(release.originals), release.labels, []))
    made = fitted(ExpectedCounts, release)
    with pytest.raises(NotThisRelease, match="are not in the embedding"):
        made.transform(["The soup was cold!"])
    with pytest.raises(NotThisRelease, match="hold no words"):
        made.fit(["", None])
    assert made.transform(["", None]).nnz == 0
    assert made.transform([]).shape == (0, 301)


@pytest.mark.parametrize(
    "missing",
    [[None, "word1"], np.array([np.nan, "word1"], dtype=object), pandas.Series([pandas.NA, "word1"])],
)
def test_missing_texts_are_empty_rows(release: MadeRelease, missing: Any) -> None:
    counts = fitted(ExpectedCounts, release).transform(missing)
    assert counts[[0]].nnz == 0
    assert counts[[1]].sum() == pytest.approx(1, rel=0.1)


def test_a_table_of_one_column_is_a_column(release: MadeRelease) -> None:
    made = fitted(ExpectedCounts, release)
    frame = pandas.DataFrame({"text": release.texts})
    assert abs(made.transform(frame) - made.transform(release.texts)).max() == 0


@pytest.mark.parametrize(
    "wrong", ["a text", np.array([["a", "b"]]), pandas.DataFrame({"a": ["b"], "b": ["c"]}), [1.5], [b"bytes"]]
)
def test_what_is_not_a_column_of_texts_is_refused(release: MadeRelease, wrong: Any) -> None:
    made = fitted(ExpectedCounts, release)
    for call in (made.transform, made.fit):
        with pytest.raises(InvalidParameter):
            call(wrong)


@pytest.mark.parametrize("wrong", [{"support": 0}, {"effort": 0}, {"least": -1}, {"least": "much"}])
def test_parameters_are_checked_when_fitting(release: MadeRelease, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameter) as refused:
        ExpectedCounts(card=release.card, **wrong).fit(release.texts)
    assert refused.value.value == next(iter(wrong.values()))
