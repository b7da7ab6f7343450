"""Data frames, at rest and streaming, and a column expression for those who write ``select``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas

from deniable.errors import InvalidParameter, UndecidedColumns, printable
from deniable.integrations.spark.tasks import (
    TALLY,
    Task,
    collect_tally,
    privatizer_here,
    quoted,
)
from deniable.records.describing import check_budget, relaxations_of
from deniable.records.formats.columns import find_named_columns, untouched_columns
from deniable.records.formats.layout import Roles
from deniable.records.formats.naming import name_column
from deniable.release.receipt import Receipt
from deniable.release.release import Release, release_from
from deniable.release.tally import Tally

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

_AGAIN = "Spark may compute it more than once, and each time would be another release"


def privatize(
    frame: DataFrame,
    *columns: str,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    release: Release | None = None,
    record_id: str | None = None,
    fresh_noise: bool = False,
    **settings: Any,
) -> DataFrame:
    """Return the data frame with every word of the columns replaced, and without those to ``drop``; types
    stay. Every other column is in ``keep``: nothing is looked at before it is computed.

    ``settings`` are those of a ``Release``, which may be given in their place: ``epsilon`` and/or
    ``record_epsilon``, ``embedding``, ``mechanism`` (a name) and ``mechanism_options``, ``unknown``,
    ``punctuation``, ``case``, ``keep_words``, ``never_release``, ``key_file`` and ``consistent``. With a
    ``key_file``, ``record_id`` is the column that names each record and no other (``check_unique``); the same
    record then gives the same words however often Spark computes it. The executors open the key file
    themselves, under the same path. Without a key, ``fresh_noise=True`` says that this frame will be computed
    once: write it, and read it back from there.

    :raises UndecidedColumns: if a column has no role.
    :raises InvalidParameter: if a column is not there or does not hold text, neither key nor fresh noise is
        chosen, or a setting is not allowed.
    :raises KeyFileError: if the key file cannot be read.
    """
    task = make_task(frame.schema, columns, record_id, release_from(release, settings))
    problem = None
    if fresh_noise and task.release.key_file is not None:
        problem = "with a key_file the noise is not fresh; leave one of the two out"
    elif not fresh_noise and task.release.key_file is None:
        problem = f"{_AGAIN}: give key_file= and record_id=, or fresh_noise=True and write the result once"
    elif fresh_noise and frame.isStreaming:
        problem = "a stream replays its last batch after every failure: give key_file= and record_id="
    if problem is not None:
        raise InvalidParameter("fresh_noise", fresh_noise, problem)
    kept = kept_columns(frame.columns, Roles.of(text=columns, drop=drop, keep=keep), "the data frame")
    released = frame.mapInArrow(task.privatize, frame.schema)
    return released.select(*map(quoted, kept)) if drop else released


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
    pinned = release_from(release, settings).pin()
    if pinned.key_file is None:
        raise InvalidParameter("key_file", None, _AGAIN)

    def released(texts: list[str | None], ids: pandas.Series) -> list[str | None]:
        names = name_column(ids.tolist(), column, consistent=pinned.consistent)
        return privatizer_here(pinned).many(texts, record_ids=names)

    return expression("string", released, column, record_id)


def expression(kind: str, compute: Callable[..., list[Any]], text: str, *more: str) -> Column:
    """Return a column of this type, computed from a column of text, None where one is missing, and others."""
    from pyspark.sql.pandas import functions

    def computed(texts: pandas.Series, *others: pandas.Series) -> pandas.Series:
        given = texts.astype(object).where(texts.notna(), None).tolist()
        return pandas.Series(compute(given, *others), dtype=object)

    pandas_udf: Any = functions.pandas_udf  # its overloads know no pandas without stubs
    column: Column = pandas_udf(computed, kind)(*map(quoted, (text, *more)))
    return column


def receipt(
    frame: DataFrame,
    *columns: str,
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    release: Release | None = None,
    record_id: str | None = None,
    fresh_noise: bool = False,  # noqa: ARG001 - so that it takes what privatize takes
    **settings: Any,
) -> Receipt:
    """Return the receipt of releasing these columns of the data frame, given what ``privatize`` was given.

    The counts come from a pass of their own over the private text, which draws and releases nothing. They are
    exact whatever Spark had to try again, where a counter kept while releasing would count lost attempts too.

    :raises UndecidedColumns: if a column has no role.
    :raises InvalidParameter: if a column is not there, the frame is a stream, or a setting is not allowed.
    """
    task = make_task(frame.schema, columns, record_id, release_from(release, settings))
    roles = Roles.of(text=columns, drop=drop, keep=keep)
    kept = kept_columns(frame.columns, roles, "the data frame")
    if frame.isStreaming:
        problem = "never ends; count its batches, or the files that were read"
        raise InvalidParameter("frame", "a stream", problem)
    named = [record_id] if record_id is not None and task.release.consistent else []
    counted = frame.select(*map(quoted, [*columns, *named])).mapInArrow(task.count, f"{TALLY} string")
    return receipt_of_task(task, kept, roles, collect_tally(counted))


def kept_columns(present: Sequence[str], roles: Roles, source: str) -> list[str]:
    """Return the columns that are not left out.

    :raises UndecidedColumns: if one has no role.
    :raises InvalidParameter: if a role names a column that is not there.
    """
    for role, names in (("drop", roles.drop), ("keep", roles.keep)):
        for name in names:
            if name not in present:
                raise InvalidParameter(role, name, f"{printable(source)} has no such column")
    if undecided := [name for name in present if name not in roles.named]:
        judged = " With Spark every column needs a role."
        raise UndecidedColumns(source, dict.fromkeys(undecided, "no role"), judged=judged)
    return [name for name in present if name not in roles.drop]


def receipt_of_task(task: Task, names: Sequence[str], roles: Roles, tally: Tally) -> Receipt:
    """Return the receipt of a task for the records counted in the tally; ``names`` are those of all columns
    of its records that are not left out."""
    receipt = task.release.make().receipt_for(tally)
    untouched = untouched_columns([name for name in names if name not in task.columns])
    public = [] if untouched is None else [f"released exactly as it is: {untouched}"]
    relaxations = tuple(relaxations_of(receipt.relaxations, task.columns))
    return replace(receipt, public=(*receipt.public, *public, *roles.left_out()), relaxations=relaxations)


def check_unique(frame: DataFrame, record_id: str) -> None:
    """Check that no two records have one id: under a key, their equal words would be released as equal.

    :raises InvalidParameter: otherwise, with how many ids are repeated.
    """
    repeated = frame.groupBy(quoted(record_id)).count().filter("`count` > 1").count()
    if repeated:
        problem = (
            f"{repeated:,} of its values name more than one record, whose equal words would come out equal"
        )
        raise InvalidParameter("record_id", record_id, problem)


def make_task(schema: StructType, columns: tuple[str, ...], record_id: str | None, release: Release) -> Task:
    """Return what a task is told about records of this schema.

    :raises InvalidParameter: if a column is not there or does not hold text, or a setting is not allowed.
    """
    from pyspark.sql.types import IntegralType, StringType

    check_text_columns(schema, columns)
    check_budget(release.record_epsilon, columns)
    if (release.key_file is None) != (record_id is None):
        problem = "key_file= and record_id= go together: the noise is a function of the key and of the id"
        raise InvalidParameter("record_id", record_id, problem)
    if record_id is not None:
        find_named_columns([record_id], schema.names, "the data frame")
        if not isinstance(schema[record_id].dataType, StringType | IntegralType):
            raise InvalidParameter("record_id", record_id, "must be a column of text or whole numbers")
        if record_id in columns:
            problem = "is itself released as other words; a record is named by something that stays"
            raise InvalidParameter("record_id", record_id, problem)
    return Task(release=release.pin(), columns=columns, record_id=record_id)


def check_text_columns(schema: StructType, columns: Sequence[str]) -> None:
    """Check that there are columns of these names, and that they hold text.

    :raises InvalidParameter: otherwise.
    """
    from pyspark.sql.types import StringType

    find_named_columns(columns, schema.names, "the data frame")
    for name in columns:
        if not isinstance(schema[name].dataType, StringType):
            raise InvalidParameter("columns", name, f"holds {schema[name].dataType.simpleString()}, not text")
