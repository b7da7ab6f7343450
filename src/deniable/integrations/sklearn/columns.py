"""Columns of texts as scikit-learn hands them on."""

from __future__ import annotations

from typing import Any

from sklearn.utils import Tags

from deniable.errors import InvalidParameter


def texts_of(values: Any) -> list[str | None]:
    """Return the texts of a list, an array or a column, None where one is missing.

    :raises InvalidParameter: if it is a single text, or not one column.
    """
    if isinstance(values, str):
        raise InvalidParameter("X", "a single str", "must be a list or a column of texts")
    if getattr(values, "ndim", 1) != 1:
        raise InvalidParameter("X", f"array of shape {values.shape}", "must be one column of texts; name a single column")
    if hasattr(values, "notna"):  # a pandas column says itself what is missing
        values = values.astype(object).where(values.notna(), None)
    # In arrays a missing text is NaN, which alone is not equal to itself.
    return [None if isinstance(value, float) and value != value else value for value in values]


def tag_as_taking_texts(tags: Tags) -> Tags:
    """Return the tags, changed to say that one column of texts is taken, in which some may be missing."""
    tags.input_tags.one_d_array = True
    tags.input_tags.two_d_array = False
    tags.input_tags.string = True
    tags.input_tags.allow_nan = True
    return tags
