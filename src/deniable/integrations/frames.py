"""Text columns of data frames, released and decoded: pandas, Polars, Arrow tables and DuckDB relations by one
path."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Hashable, Iterable, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from deniable.errors import InvalidParameter
from deniable.release.privatizer import Privatizer
from deniable.release.release import Release, privatizer_from

if TYPE_CHECKING:
    from deniable.decoding.decoder import Decoder
    from deniable.noise.encoding import RecordId
    from deniable.release.card import GivenCard

Frame = TypeVar("Frame")
Column = TypeVar("Column")
GivenDecoder: TypeAlias = "Decoder | GivenCard"


def privatize(
    frame: Frame,
    columns: Hashable | Sequence[Hashable],
    private: Privatizer | Release | None = None,
    *,
    drop: Sequence[Hashable] = (),
    keep: Sequence[Hashable] = (),
    record_ids: Iterable[RecordId] | None = None,
    **settings: Any,
) -> Frame:
    """Return a frame of the same type with every word of its text columns replaced, and without those to
    ``drop``; what is missing stays.

    Takes a pandas or Polars data frame, an Arrow table or a DuckDB relation, which becomes one of the default
    connection. ``private`` is a privatizer or a ``Release``; or give its settings as keywords, such as
    ``epsilon=6``. With a key it needs ``record_ids``, one for each row. Other columns, and the index of
    pandas, are judged as ``deniable privatize`` judges those of a file: what looks private is in ``drop`` or
    ``keep``, and an index is only kept.

    :raises UndecidedColumns: if a column looks private and has no role; nothing is released then.
    :raises InvalidParameter: if a setting is not allowed, a column is not there or does not hold text, or ids
        are wanted or not; nothing is released then.
    """
    kinds = ("isna", "with_columns", "set_column", "to_arrow_table")
    if hasattr(frame, "collect") or not any(hasattr(frame, name) for name in kinds):
        problem = "must be a pandas or Polars data frame, an Arrow table or a DuckDB relation"
        raise InvalidParameter("frame", type(frame).__name__, f"{problem}; collect() a lazy frame first")
    table: Any = frame.to_arrow_table() if hasattr(frame, "to_arrow_table") else frame
    names = [columns] if isinstance(columns, str) or not isinstance(columns, Sequence) else list(columns)
    present = list(table.column_names if hasattr(table, "set_column") else table.columns)
    for name in names or [None]:
        if present.count(name) != 1 or names.count(name) != 1:
            problem = f"must name text columns, each once; there are {', '.join(map(str, present))}"
            raise InvalidParameter("columns", name, problem)
    opened = privatizer_from(private, settings)
    if opened.record_epsilon is not None:
        from deniable.records.describing import check_budget

        check_budget(opened.record_epsilon, [str(name) for name in names])
    _decide(table, present, {"columns": names, "drop": drop, "keep": keep}, opened)
    released = _release([table[name] for name in names], names, opened, record_ids)
    for name, column in zip(names, released, strict=True):
        if hasattr(table, "with_columns"):
            table = table.with_columns(column)
        elif hasattr(table, "set_column"):
            place = present.index(name)
            table = table.set_column(place, table.schema.field(place).with_type(column.type), column)
        else:
            table = table.copy(deep=False)
            table[name] = column
    if drop:
        table = table.drop(columns=list(drop)) if hasattr(table, "isna") else table.drop(list(drop))
    return sys.modules["duckdb"].from_arrow(table) if hasattr(frame, "to_arrow_table") else table  # type: ignore[no-any-return]


def _decide(
    table: Any, present: list[Hashable], roles: dict[str, Sequence[Hashable]], private: Privatizer
) -> None:
    """Check that what stays as it is was named or looks harmless, and warn of what may be private."""
    from deniable.records.deciding import JUDGED, judge_table

    first = table.slice(0, JUDGED) if hasattr(table, "set_column") else table.head(JUDGED)
    index = () if not hasattr(table, "isna") else _index_of(first)
    named = [name for names in roles.values() for name in names]
    for role in ("drop", "keep"):
        if isinstance(roles[role], str):
            raise InvalidParameter(role, roles[role], "must be a list of columns")
        for name in roles[role]:
            there = present.count(name) + (role == "keep") * [label for label, _ in index].count(str(name))
            if there != 1 or named.count(name) != 1:
                problem = f"must name other columns, each once; there are {', '.join(map(str, present))}"
                raise InvalidParameter(role, name, problem)
    others = [
        (str(name), _values(first.iloc[:, place] if hasattr(first, "iloc") else first[name]))
        for place, name in enumerate(present)
        if name not in named
    ]
    others += [(label, values) for label, values in index if label not in map(str, roles["keep"])]
    for warning in judge_table(others, private.mechanism.embedding, rows=len(table)):
        warnings.warn(warning, stacklevel=3)


def _index_of(frame: Any) -> list[tuple[str, list[Any]]]:
    """Return the levels of an index of pandas with their values, but for one that numbers the rows."""
    if type(frame.index).__name__ == "RangeIndex":
        return []
    levels = [frame.index.get_level_values(place) for place in range(frame.index.nlevels)]
    return [("index" if each.name is None else str(each.name), _values(each.to_series())) for each in levels]


def _values(column: Any) -> list[Any]:
    """Return the values of any column as Python has them, None where one is missing."""
    if not hasattr(column, "isna"):
        return list(column.to_list() if hasattr(column, "to_list") else column.to_pylist())
    given = [each.tolist() if hasattr(each, "tolist") else each for each in column.tolist()]
    return [None if gone else each for each, gone in zip(given, column.isna().tolist(), strict=True)]


class TextColumn(Generic[Column]):
    """What ``.deniable`` offers on a column of text."""

    def __init__(self, series: Column) -> None:
        self._series = series

    def privatize(
        self,
        private: Privatizer | Release | None = None,
        *,
        record_ids: Iterable[RecordId] | None = None,
        **settings: Any,
    ) -> Column:
        """Return a new column with every word replaced; it takes what ``deniable.privatize`` takes, and
        raises what it raises."""
        name = getattr(self._series, "name", None)
        released: Column = _release([self._series], [name], privatizer_from(private, settings), record_ids)[0]
        return released

    def decode(self, decoder: GivenDecoder, **settings: Any) -> Column:
        """Return a new column with the likeliest word behind each word of a released column; what is missing
        stays so.

        It is an estimate. Takes a decoder, or the card of the release (its path, a ``Card``, or the data of
        its JSON) with the settings of ``Decoder.learn`` as keywords: how frequent words are is then
        learnt from this column.

        :raises InvalidParameter: if a setting is not allowed, or a value is neither text nor missing.
        :raises NotThisRelease: if the column was not released as the card says.
        """
        opened, texts = self._open(decoder, settings)
        decoded: Column = _like(self._series, opened.decode(texts))
        return decoded

    def _open(self, decoder: GivenDecoder, settings: dict[str, Any]) -> tuple[Decoder, list[str | None]]:
        """Return the decoder that is meant, perhaps learnt from this column, and the texts of the column."""
        from deniable.decoding.decoder import Decoder
        from deniable.words.released import texts_in

        texts = list(texts_in(_texts(self._series)))
        if not isinstance(decoder, Decoder):
            return Decoder.learn(decoder, texts, **settings), texts
        if settings:
            problem = f"has its settings already; leave out {', '.join(sorted(settings))}"
            raise InvalidParameter("decoder", repr(decoder), problem)
        decoder.check(texts)
        return decoder, texts


def _release(
    columns: list[Any], names: list[Any], private: Privatizer, record_ids: Iterable[RecordId] | None
) -> list[Any]:
    """Return the columns with every word replaced, all of them in one release."""
    from deniable.records.formats.naming import name_column

    if private.keyed is None and _inside_a_query():
        problem = "a query runs again each time it is collected, and each run would be another release"
        # Of errors that it does not know Polars would lose the message.
        error = sys.modules["polars"].exceptions.InvalidOperationError
        raise error(f"{problem}: collect() first, then release")
    ids = None if record_ids is None else list(record_ids)
    by_text = None
    if ids is not None:
        keyed = private.keyed
        named = [
            ids if keyed is None else name_column(ids, name, consistent=keyed.consistent) for name in names
        ]
        by_text = [each for row in zip(*named, strict=True) for each in row]
    texts = [text for row in zip(*map(_texts, columns), strict=True) for text in row]
    released = private.many(texts, record_ids=by_text, rows=[len(names)] * (len(texts) // len(names)))
    return [_like(column, released[place :: len(names)]) for place, column in enumerate(columns)]


def _texts(column: Any) -> list[Any]:
    """Return the values of a column, None where one is missing."""
    if hasattr(column, "isna"):
        return [
            None if gone else text for text, gone in zip(column.tolist(), column.isna().tolist(), strict=True)
        ]
    from deniable.release.columns import as_text_column

    return list(as_text_column(column.to_arrow() if hasattr(column, "to_arrow") else column).to_pylist())


def _like(column: Any, texts: Sequence[str | None]) -> Any:
    """Return a column like this one with other texts; what is missing stays as it is."""
    if hasattr(column, "isna"):
        kept = [new if new is not None else old for old, new in zip(column.tolist(), texts, strict=True)]
        # A categorical column would not admit words that are none of its categories.
        dtype = object if hasattr(column.dtype, "categories") else column.dtype
        return type(column)(kept, index=column.index, name=column.name, dtype=dtype)
    if hasattr(column, "to_arrow"):
        return type(column)(column.name, texts, dtype=sys.modules["polars"].String)
    import pyarrow

    from deniable.release.columns import as_text_column

    return pyarrow.chunked_array([pyarrow.array(texts, type=as_text_column(column).type)])


def _inside_a_query() -> bool:
    """Return whether a query of Polars is what calls, as ``map_batches`` does."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and not frame.f_globals.get("__name__", "").startswith("polars."):
        frame = frame.f_back
    return frame is not None
