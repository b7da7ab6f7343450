"""A transformer that releases texts, and columns and tables of texts as scikit-learn hands them on."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import Parameter, Signature
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from deniable.errors import InvalidParameter
from deniable.release.card import Card
from deniable.release.fields import FIELDS
from deniable.release.privatizer import Privatizer
from deniable.release.receipt import Receipt
from deniable.release.release import Release


class TextTable(np.ndarray):
    """A table of texts. One of a single column is read row by row as texts, so that ``CountVectorizer`` takes
    it as a column."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:, 0].tolist()) if self.ndim == 2 and self.shape[1] == 1 else super().__iter__()


def table_of(values: Any) -> TextTable:
    """Return the texts of a list, a column or a table as a table, None where one is missing.

    :raises InvalidParameter: if it is a single text, or neither a column nor a table.
    """
    is_sparse = hasattr(values, "nnz")
    if isinstance(values, str) or is_sparse or getattr(values, "ndim", 1) not in (1, 2):
        raise InvalidParameter(
            "X", _shown(values), "must be a list, a column or a table of texts, not sparse"
        )
    if hasattr(values, "notna"):  # pandas says itself what is missing
        values = values.astype(object).where(values.notna(), None)
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    if getattr(values, "ndim", 1) == 1:
        cells = np.empty((len(values), 1), dtype=object)
        cells[:, 0] = list(values)
    else:
        cells = np.array(values, dtype=object)
    cells[cells != cells] = None  # in arrays a missing text is NaN, which alone is not equal to itself
    return cells.view(TextTable)


def texts_of(values: Any) -> list[str | None]:
    """Return the texts of a list, a column, or a table of one column, None where one is missing.

    :raises InvalidParameter: if it is something else.
    """
    table = table_of(values)
    if table.shape[1] != 1:
        raise InvalidParameter("X", _shown(values), "must be one column of texts")
    return list(table)


def _shown(values: Any) -> str:
    shape = getattr(values, "shape", None)
    return type(values).__name__ if shape is None else f"{type(values).__name__} of shape {shape}"


def tag_as_taking_texts(tags: Tags, *, tables: bool) -> Tags:
    """Return the tags, changed to say that columns of texts are taken, in which some may be missing; with
    ``tables``, of several."""
    tags.input_tags.one_d_array = True
    tags.input_tags.two_d_array = tables
    tags.input_tags.string = True
    tags.input_tags.allow_nan = True
    return tags


_PARAMETERS = Signature(
    [
        Parameter("self", Parameter.POSITIONAL_OR_KEYWORD),
        *(
            Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default)
            for each in FIELDS.values()
            if not each.keyed
        ),
    ]
)


class TextPrivatizer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Replaces every word of every text. Takes a list, a column or a table of texts.

    Nothing is learnt from the texts. Every call of ``transform`` is a release of its own and spends ε again,
    so transform private text once, and search for parameters on what was released. Pickles and clones hold
    the parameters only: neither noise nor a state of the noise source.
    """

    def __init__(self, **parameters: Any) -> None:
        """Hold the parameters, unchecked as scikit-learn wants it: ``epsilon``, ``embedding``, ``unknown``
        and other fields of ``Release``.

        :raises TypeError: if one is not known.
        """
        given = _PARAMETERS.bind(self, **parameters)
        given.apply_defaults()
        for name, value in given.arguments.items():
            if name != "self":
                setattr(self, name, value)

    __init__.__signature__ = _PARAMETERS  # type: ignore[attr-defined]  # scikit-learn reads the names of parameters from it

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002, N803 - the names scikit-learn calls by
        """Check the parameters and note the names of the columns; the texts are not looked at.

        :raises InvalidParameter: if a parameter is not allowed, or texts are not in a list, a column or a
            table.
        """
        self._privatizer()
        named = X.to_frame() if hasattr(X, "to_frame") else X
        validate_data(self, named, skip_check_array=True)
        self.n_features_in_ = table_of(X).shape[1]
        return self

    def transform(self, X: Any) -> NDArray[np.object_]:  # noqa: N803
        """Return the texts with every word replaced; None and NaN become None.

        A list becomes an array of texts. A column or a table becomes a table, which ``ColumnTransformer``
        takes; a table of one column yields its texts one by one, so that ``CountVectorizer`` takes it too.

        :raises InvalidParameter: if a parameter is not allowed, or something is neither text nor missing.
        :raises ValueError: if a table has other columns than in ``fit``.
        """
        if len(getattr(X, "shape", ())) == 2 and hasattr(self, "n_features_in_"):
            validate_data(self, X, reset=False, skip_check_array=True)
        table = table_of(X)
        rows, columns = table.shape
        released = self._privatizer().many(table.ravel().tolist(), rows=[columns] * rows)
        table[:] = np.array([None, *released], dtype=object)[1:].reshape(
            rows, columns
        )  # the first value keeps it an array of objects
        return np.asarray(table[:, 0]) if isinstance(X, (list, tuple)) and columns == 1 else table

    @property
    def card(self) -> Card:
        """What is public about the release and needed to decode it."""
        return self._privatizer().card

    def receipt(self) -> Receipt:
        """Return what was promised, and spent by this object."""
        return self._privatizer().receipt()

    def _privatizer(self) -> Privatizer:
        release = Release(**self.get_params(deep=False))
        made: tuple[Release, Privatizer] | None = self.__dict__.get("_made")
        if made is None or made[0] != release:
            made = self._made = (release, release.make())
        return made[1]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_made"}

    def __sklearn_tags__(self) -> Tags:
        tags = tag_as_taking_texts(super().__sklearn_tags__(), tables=True)
        tags.requires_fit = False
        tags.non_deterministic = True
        tags.transformer_tags.preserves_dtype = []
        return tags
