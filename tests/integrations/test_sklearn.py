from __future__ import annotations

import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from deniable import InvalidParameter, Release
from deniable.integrations.sklearn import TextPrivatizer

TEXTS = ["The soup was cold!", "best bread", "word1 word2", "word3 word4"]


class OfNumbers(TextPrivatizer):
    """Takes the tables of numbers of scikit-learn's checks as texts, and gives the lengths of what is
    released."""

    def fit(self, X: Any, y: Any = None) -> Any:  # noqa: N803 - the name scikit-learn calls by
        return super().fit(as_texts(X), y)

    def transform(self, X: Any) -> Any:  # noqa: N803
        return np.array(
            [[len(text) for text in row] for row in np.asarray(super().transform(as_texts(X)))], dtype=float
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = False  # the checks would give it nothing else
        tags.non_deterministic = False  # what is redacted is
        return tags


def as_texts(values: Any) -> Any:
    if hasattr(values, "nnz"):
        return values
    unknown = np.vectorize(
        lambda number: f"number{number}".translate(str.maketrans(".-+() ", "abcdef")), otypes=[object]
    )
    return values.map(unknown) if hasattr(values, "map") else unknown(np.asarray(values))


def expected_to_fail(estimator: Any) -> dict[str, str]:
    return {
        "check_complex_data": "as text they are texts",
        "check_estimators_empty_data_messages": "no text is a release of nothing",
        "check_fit1d": "a column is taken as well as a table",
        "check_fit2d_predict1d": "a column is taken as well as a table",
    }


checks = parametrize_with_checks(
    [OfNumbers(epsilon=6.0, unknown="redact")], expected_failed_checks=expected_to_fail
)


@pytest.mark.filterwarnings("ignore")
@checks  # type: ignore[untyped-decorator]
def test_it_behaves_as_scikit_learn_expects(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "make", [np.array, pandas.Series, lambda texts: pandas.Series(texts, dtype="category"), polars.Series]
)
def test_columns_become_tables_of_one_column_which_are_read_as_texts(name: str, make: Any) -> None:
    released = TextPrivatizer(epsilon=1e6, embedding=name).fit_transform(make(TEXTS))
    assert (released.shape, released.dtype) == ((4, 1), object)
    assert list(released) == ["the soup was cold", "best bread", "word1 word2", "word3 word4"]


@pytest.mark.parametrize("make", [list, tuple])
def test_lists_become_arrays_of_texts(name: str, make: Any) -> None:
    released = TextPrivatizer(epsilon=1e6, embedding=name).fit_transform(make(TEXTS))
    assert type(released) is np.ndarray
    assert released.tolist() == ["the soup was cold", "best bread", "word1 word2", "word3 word4"]


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame])
def test_tables_are_released_column_by_column_and_counted_row_by_row(name: str, make: Any) -> None:
    transformer = TextPrivatizer(epsilon=1e6, embedding=name)
    frame = make({"title": ["best", None], "text": ["the soup was cold", "bread"]})
    assert transformer.fit_transform(frame).tolist() == [["best", "the soup was cold"], [None, "bread"]]
    assert transformer.get_feature_names_out().tolist() == ["title", "text"]
    assert transformer.receipt().to_dict()["budget"]["longest_row"]["words"] == 5
    with pytest.raises(ValueError, match="in the same order"):
        transformer.transform(make({"text": ["best"], "title": ["bread"]}))


@pytest.mark.parametrize(
    "missing", [[None, "best"], np.array([np.nan, "best"], dtype=object), pandas.Series([pandas.NA, "best"])]
)
def test_missing_texts_stay_missing(name: str, missing: Any) -> None:
    assert list(TextPrivatizer(epsilon=1e6, embedding=name).transform(missing)) == [None, "best"]


@pytest.mark.parametrize(
    "wrong", ["a text", np.array([[["a"]]]), pandas.DataFrame({"a": ["b"], "b": [1]}), [1.5], [b"bytes"]]
)
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
    assert transformer.receipt().settings.mechanism_name == "CusText"
    assert transformer.card.to_dict()["mechanism"]["options"] == {"k": 5}
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
    released = [
        copy.transform([text])[0]
        for copy in (transformer, pickle.loads(stored), pickle.loads(stored), clone(transformer))
    ]
    assert len(set(released)) == 4


def test_it_stands_in_pipelines_grids_and_column_transformers(name: str) -> None:
    frame = pandas.DataFrame({"text": TEXTS * 3, "stars": range(12)})
    labels = [0, 1] * 6
    release = TextPrivatizer(epsilon=1e6, embedding=name)
    pipeline = make_pipeline(release, CountVectorizer(), LogisticRegression())
    grid = GridSearchCV(pipeline, {"textprivatizer__epsilon": [1e6, 1e5]}, cv=2).fit(frame["text"], labels)
    assert set(grid.predict(frame["text"])) <= {0, 1}
    columns = make_column_transformer(
        (make_pipeline(release, CountVectorizer()), "text"), remainder="passthrough"
    )
    assert columns.fit_transform(frame).shape[0] == 12


@pytest.mark.parametrize("column", ["review", ["review"]])
def test_a_column_transformer_takes_it_by_itself(name: str, column: Any) -> None:
    frame = pandas.DataFrame({"review": [*TEXTS, None], "stars": range(5)}, index=list("abcde"))
    columns = ColumnTransformer(
        [("t", TextPrivatizer(epsilon=1e6, embedding=name), column)], remainder="passthrough"
    )
    assert columns.fit_transform(frame)[[1, 4]].tolist() == [["best bread", 1], [None, 4]]
    assert columns.get_feature_names_out().tolist() == ["t__review", "remainder__stars"]
    assert columns.transform(frame).shape == (5, 2)
    framed = columns.set_output(transform="pandas").fit_transform(frame)
    assert framed["t__review"].dropna().tolist() == [
        "the soup was cold",
        "best bread",
        "word1 word2",
        "word3 word4",
    ]
    assert (framed["remainder__stars"].tolist(), framed.index.tolist()) == ([0, 1, 2, 3, 4], list("abcde"))
    polarised = columns.set_output(transform="polars").fit_transform(polars.from_pandas(frame))
    assert polarised.schema == {"t__review": polars.String, "remainder__stars": polars.Int64}


@pytest.mark.parametrize("make", [lambda frame: frame["review"], lambda frame: frame[["review"]]])
def test_what_follows_in_a_pipeline_reads_texts(name: str, make: Any) -> None:
    column = make(pandas.DataFrame({"review": TEXTS}))
    for following in (CountVectorizer(), TfidfVectorizer()):
        features = make_pipeline(TextPrivatizer(epsilon=1e6, embedding=name), following).fit(column)
        assert features[-1].vocabulary_.keys() == {
            "the",
            "soup",
            "was",
            "cold",
            "best",
            "bread",
            "word1",
            "word2",
            "word3",
            "word4",
        }


def test_set_output_names_the_column(name: str) -> None:
    release = TextPrivatizer(epsilon=1e6, embedding=name).set_output(transform="pandas")
    framed = release.fit_transform(pandas.Series(TEXTS, name="review", index=list("abcd")))
    assert (framed.columns.tolist(), framed["review"]["b"]) == (["review"], "best bread")
    assert release.fit(TEXTS).get_feature_names_out().tolist() == ["x0"]


def test_the_parameters_are_those_of_a_release() -> None:
    parameters = TextPrivatizer(epsilon=6).get_params()
    assert Release(**parameters) == Release(epsilon=6)
    assert {each.name for each in fields(Release)} - set(parameters) == {
        "key_file",
        "consistent",
        "key",
        "fingerprint",
    }
    with pytest.raises(TypeError, match="epsilom"):
        TextPrivatizer(epsilom=6)
