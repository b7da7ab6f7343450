"""A column expression, for those who write ``select``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas

from deniable.errors import InvalidParameter
from deniable.integrations.spark.executor import name_records, privatizer_here
from deniable.release.release import Release, release_from

if TYPE_CHECKING:
    from pyspark.sql import Column


def privatized(column: str, record_id: str, *, release: Release | None = None, **settings: Any) -> Column:
    """Return a text column with every word replaced, as an expression; ``record_id`` is the column that names
    the records.

    >>> released = privatized("text", "id", epsilon=6, key_file="release.key")  # doctest: +SKIP
    >>> frame.select("id", released.alias("text"))  # doctest: +SKIP

    ``settings`` are those of a ``Release``, which may be given in their place. There is no form without a
    key: how often an expression is computed is up to the optimiser.

    :raises InvalidParameter: if there is no ``key_file``, or a setting is not allowed.
    :raises KeyFileError: if the key file cannot be read.
    """
    from pyspark.sql.pandas import functions

    release = release_from(release, settings).pin()
    if release.key_file is None:
        raise InvalidParameter(
            "key_file",
            None,
            "an expression may be computed more than once, and each time would be another release",
        )

    pandas_udf: Any = functions.pandas_udf  # its overloads know no pandas without stubs

    @pandas_udf("string")  # type: ignore[untyped-decorator]
    def released(texts: pandas.Series, ids: pandas.Series) -> pandas.Series:
        names = name_records(ids.tolist(), column, consistent=release.consistent)
        given = texts.astype(object).where(texts.notna(), None).tolist()
        return pandas.Series(privatizer_here(release).many(given, record_ids=names), dtype=object)

    made: Column = released(column, record_id)
    return made
