"""Columns and tables of texts as scikit-learn hands them on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import Tags

from deniable.errors import InvalidParameter


class TextTable(np.ndarray):
    """A table of texts. One of a single column is read row by row as texts, so that ``CountVectorizer`` takes
    it as a column."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self[:, 0].tolist()) if self.ndim == 2 and self.shape[1] == 1 else super().__iter__()


def table_of(values: Any) -> TextTable:
    """Return the texts of a list, a column or a table as a table, None where one is missing.

    :raises InvalidParameter: if it is a single text, or neither a column nor a table.
    """
    if isinstance(values, str):
        raise InvalidParameter("X", "a single str", "must be a list, a column or a table of texts")
    if hasattr(values, "nnz"):
        raise InvalidParameter(
            "X",
            type(values).__name__,
            "is sparse data of numbers; it must be a list, a column or a table of texts",
        )
    if getattr(values, "ndim", 1) not in (1, 2):
        raise InvalidParameter(
            "X",
            f"{type(values).__name__} of shape {values.shape}",
            "must be a list, a column or a table of texts",
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
        raise InvalidParameter(
            "X", f"{type(values).__name__} of shape {table.shape}", "must be one column of texts"
        )
    return list(table)


def tag_as_taking_texts(tags: Tags, *, tables: bool) -> Tags:
    """Return the tags, changed to say that columns of texts are taken, in which some may be missing; with
    ``tables``, of several."""
    tags.input_tags.one_d_array = True
    tags.input_tags.two_d_array = tables
    tags.input_tags.string = True
    tags.input_tags.allow_nan = True
    return tags
