"""Columns of text through the Arrow interface: pandas, Polars and Arrow without importing the first two."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from deniable.errors import InvalidParameter


def as_text_column(column: Any) -> pa.ChunkedArray:
    """Return anything that has the Arrow interface as a column of text.

    :raises InvalidParameter: if it has not, or does not hold text.
    """
    if isinstance(column, pa.ChunkedArray):
        chunked = column
    elif isinstance(column, pa.Array):
        chunked = pa.chunked_array([column])
    elif hasattr(column, "__arrow_c_stream__"):
        chunked = pa.chunked_array(column)
    elif hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_array__"):
        chunked = pa.chunked_array([pa.array(column)])
    else:
        raise InvalidParameter(
            "column",
            type(column).__name__,
            "does not speak the Arrow interface; pass a list to many() instead",
        )
    kind = chunked.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        chunked = chunked.cast(kind)
    if not is_text(kind):
        raise InvalidParameter("column", str(kind), "does not hold text")
    return chunked


def is_text(kind: pa.DataType) -> bool:
    """Return whether the Arrow type holds text (an all-null column counts)."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or pa.types.is_null(kind)
    )


def map_column(column: Any, release: Callable[[list[str | None]], list[str | None]]) -> pa.ChunkedArray:
    """Return the column with ``release`` applied chunk by chunk; type, order and nulls stay."""
    chunked = as_text_column(column)
    return pa.chunked_array(
        [pa.array(release(_texts(chunk)), type=chunked.type) for chunk in chunked.chunks], type=chunked.type
    )


def _texts(chunk: pa.Array) -> list[str | None]:
    try:
        texts: list[str | None] = chunk.to_pylist()
    except UnicodeDecodeError:
        # The error of the codec carries the text itself.
        raise InvalidParameter("column", "<hidden>", "holds text that is not valid UTF-8") from None
    return texts
