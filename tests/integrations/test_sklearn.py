from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.exceptions import SkipTestWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from deniable import InvalidParameter
from deniable.integrations.sklearn import TextPrivatizer
from deniable.mechanisms.catalogue import ChosenMechanism

TEXTS = ["The soup was cold!", "best bread", "word1 word2", "word3 word4"]


# Checks that feed tables of numbers do not apply to texts; scikit-learn says so with a warning.
with pytest.warns(SkipTestWarning):
    checks = parametrize_with_checks([TextPrivatizer(epsilon=6.0)])


@checks  # type: ignore[untyped-decorator]
def test_it_behaves_as_scikit_learn_expects(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("make", [list, np.array, pandas.Series, tuple, lambda texts: pandas.Series(texts, dtype="category")])
def test_columns_of_all_kinds_become_an_array_of_texts(name: str, make: Any) -> None:
    released = TextPrivatizer(epsilon=1e6, embedding=name).fit_transform(make(TEXTS))
    assert isinstance(released, np.ndarray)
    assert released.tolist() == ["the soup was cold", "best bread", "word1 word2", "word3 word4"]


@pytest.mark.parametrize("missing", [[None, "best"], np.array([np.nan, "best"], dtype=object), pandas.Series([pandas.NA, "best"])])
def test_missing_texts_stay_missing(name: str, missing: Any) -> None:
    assert TextPrivatizer(epsilon=1e6, embedding=name).transform(missing).tolist() == [None, "best"]


@pytest.mark.parametrize("wrong", ["a text", np.array([["a", "b"]]), pandas.DataFrame({"a": ["b"]}), [1.5], [b"bytes"]])
def test_what_is_not_a_column_of_texts_is_refused(name: str, wrong: Any) -> None:
    with pytest.raises(InvalidParameter):
        TextPrivatizer(epsilon=6, embedding=name).transform(wrong)


def test_parameters_are_checked_when_fitting() -> None:
    for wrong in ({}, {"epsilon": -1}, {"epsilon": 6, "unknown": "keep"}):
        with pytest.raises(InvalidParameter):
            TextPrivatizer(**wrong).fit(TEXTS)


def test_a_changed_parameter_counts_from_the_next_call(name: str) -> None:
    transformer = TextPrivatizer(epsilon=1e6, embedding=name)
    assert transformer.transform(["zzz", "best"]).tolist()[1] == "best"
    transformer.set_params(unknown="redact")
    assert transformer.transform(["zzz best"]).tolist() == ["[redacted] best"]
    assert transformer.receipt().tally.records == 1
    assert clone(transformer).get_params() == transformer.get_params()


def test_a_mechanism_is_chosen_by_name(name: str) -> None:
    transformer = TextPrivatizer(epsilon=1e6, embedding=name, mechanism="custext", mechanism_options={"k": 5})
    assert transformer.transform(["best bread"]).tolist() == ["best bread"]
    assert transformer.receipt().mechanism == "CusText"
    assert transformer.card.mechanism == ChosenMechanism(name="custext", options={"k": 5})
    assert clone(transformer).get_params()["mechanism_options"] == {"k": 5}
    with pytest.raises(InvalidParameter, match="no option"):
        transformer.set_params(mechanism="tem").fit(TEXTS)


def test_a_pickle_holds_no_noise_and_its_copies_draw_their_own(name: str) -> None:
    transformer = TextPrivatizer(epsilon=1e-3, embedding=name)
    transformer.transform(TEXTS)
    stored = pickle.dumps(transformer)
    assert b"Randomness" not in stored
    assert b"Privatizer(" not in stored
    assert len(stored) < 1000
    text = " ".join(["word1"] * 100)
    released = [copy.transform([text])[0] for copy in (transformer, pickle.loads(stored), pickle.loads(stored), clone(transformer))]
    assert len(set(released)) == 4


def test_it_stands_in_pipelines_grids_and_column_transformers(name: str) -> None:
    frame = pandas.DataFrame({"text": TEXTS * 3, "stars": range(12)})
    labels = [0, 1] * 6
    release = TextPrivatizer(epsilon=1e6, embedding=name)
    pipeline = make_pipeline(release, CountVectorizer(), LogisticRegression())
    grid = GridSearchCV(pipeline, {"textprivatizer__epsilon": [1e6, 1e5]}, cv=2).fit(frame["text"], labels)
    assert set(grid.predict(frame["text"])) <= {0, 1}
    columns = make_column_transformer((make_pipeline(release, CountVectorizer()), "text"), remainder="passthrough")
    assert columns.fit_transform(frame).shape[0] == 12
