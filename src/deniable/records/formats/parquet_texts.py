"""The texts in columns of Parquet: whole columns, fields of structs and elements of lists, out of Arrow
arrays and into them again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from deniable.errors import InvalidParameter, RecordError
from deniable.records.formats.columns import EVERY, find_named_columns, parse_path
from deniable.records.formats.naming import Place
from deniable.release.columns import is_text


@dataclass(frozen=True, kw_only=True)
class TextColumn:
    """Texts by the name that they were asked for: the place of their column in the schema, and the steps to
    them inside it.

    ``label`` names them to a key: a list of texts is named alike whether the list or its elements were asked
    for.
    """

    name: str
    place: int
    steps: tuple[str | None, ...] = ()
    label: str = ""
    kind: pa.DataType = None

    @property
    def has_lists(self) -> bool:
        """Whether a row may have any number of texts in it."""
        return EVERY in self.steps

    def texts(self, column: pa.Array) -> pa.Array:
        """Return the texts of a column, one after the other."""
        for step in self.steps:
            column = column.flatten() if step is EVERY else _field(column, step)
        return column

    def positions(self, column: pa.Array) -> list[list[tuple[int, ...]]]:
        """Return for each row its texts, by their numbers in the lists on the way."""
        return _positions(column, self.steps)

    def empty(self, column: pa.Array) -> pa.Array | None:
        """Return what ``put`` takes to leave no private text in a column; whole columns are not kept at
        all."""
        return pa.nulls(len(self.texts(column)), self.kind) if self.steps else None

    def places(self, positions: Sequence[tuple[int, ...]]) -> list[Place]:
        """Return what names the texts of a row to a key."""
        return [(self.label, ".", *numbers) if self.steps else self.label for numbers in positions]

    def put(self, column: pa.Array, texts: pa.Array) -> pa.Array:
        """Return the column with other texts in it."""
        return _put(column, self.steps, texts)


def find_text_columns(wanted: Sequence[str], schema: pa.Schema, source: str) -> list[TextColumn]:
    """Return where the texts stand that are asked for: a column of just that name, and one that the path of
    the name leads to.

    :raises InvalidParameter: if there is none, one is there twice, or does not hold text.
    """
    if not wanted:
        find_named_columns(wanted, schema.names, source)
    found = []
    for name in wanted:
        path = parse_path(name)
        nested = path.steps and path.steps[0] in schema.names and name not in schema.names
        asked = str(path.steps[0]) if nested else name
        place = find_named_columns([asked], schema.names, source)[0]
        found.append(_resolve(name, place, path.steps[1:] if nested else (), schema.field(place).type))
        if not nested and path.steps and path.steps[0] in schema.names:  # the file has both
            place = find_named_columns([str(path.steps[0])], schema.names, source)[0]
            found.append(_resolve(name, place, path.steps[1:], schema.field(place).type))
    if len({(column.place, column.steps) for column in found}) != len(found):
        raise InvalidParameter("columns", list(wanted), "a column is named twice")
    return found


def _resolve(name: str, place: int, steps: tuple[str | None, ...], kind: pa.DataType) -> TextColumn:
    whole = kind
    for step in steps:
        if step is EVERY and _is_list(kind):
            kind = kind.value_type
        elif step is not EVERY and pa.types.is_struct(kind) and len(kind.get_all_field_indices(step)) == 1:
            kind = kind.field(step).type
        else:
            raise InvalidParameter(
                "columns",
                name,
                f"leads nowhere in {whole}; a field of a struct is named .field, elements of a list []",
            )
    if not steps and _is_list(kind) and is_text(kind.value_type):
        return TextColumn(name=name, place=place, steps=(EVERY,), label=f"{name}[]", kind=kind.value_type)
    texts = kind.value_type if pa.types.is_dictionary(kind) and not steps else kind
    if not is_text(texts):
        advice = "; name what is text in it, as in visit.note or visits[].note" if kind.num_fields else ""
        raise InvalidParameter("columns", name, f"holds {kind}, not text{advice}")
    return TextColumn(name=name, place=place, steps=steps, label=name, kind=kind)


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _field(column: pa.Array, name: str | None) -> pa.Array:
    """Return a field of a struct, null where the struct is."""
    return column.flatten()[column.type.get_field_index(name)]


def _positions(column: pa.Array, steps: tuple[str | None, ...]) -> list[list[tuple[int, ...]]]:
    if not steps:
        return [[()]] * len(column)
    if steps[0] is not EVERY:
        return _positions(_field(column, steps[0]), steps[1:])
    inner = iter(_positions(column.flatten(), steps[1:]))
    return [
        [(number, *rest) for number in range(length or 0) for rest in next(inner)]
        for length in pc.list_value_length(column).to_pylist()
    ]


def _put(
    column: pa.Array, steps: tuple[str | None, ...], texts: pa.Array, *, nullable: bool = True
) -> pa.Array:
    """Return the column with other texts in it; one that is not ``nullable`` is null only under a null, and
    filled there."""
    if not steps:
        return (
            texts
            if nullable or not texts.null_count
            else pa.array([text or "" for text in texts.to_pylist()], type=texts.type)
        )
    kind = column.type
    if steps[0] is EVERY:
        values = _put(column.flatten(), steps[1:], texts, nullable=kind.value_field.nullable)
        lengths = pc.fill_null(pc.list_value_length(column), 0)
        ends = pc.cumulative_sum(lengths.cast(pa.int64()))
        offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
        make, width = (
            (pa.LargeListArray, pa.int64()) if pa.types.is_large_list(kind) else (pa.ListArray, pa.int32())
        )
        return make.from_arrays(
            offsets.cast(width), values, type=kind, mask=pc.is_null(column) if nullable else None
        )
    place = kind.get_field_index(steps[0])
    inner = column.flatten()  # null where the struct is, which a field that is never null must not be
    children = [inner[i] if field.nullable else column.field(i) for i, field in enumerate(kind)]
    children[place] = _put(inner[place], steps[1:], texts, nullable=kind.field(place).nullable)
    return pa.StructArray.from_arrays(
        children, fields=list(kind), mask=pc.is_null(column) if nullable else None
    )


def check_lengths(column: pa.Array, done: int, source: str, longest: int) -> None:
    """Do nothing if no text of a column is too long; ``done`` rows came before it.

    :raises RecordError: if one is, with the row if the column is one of texts alone.
    """
    texts = column.dictionary if isinstance(column, pa.DictionaryArray) else column
    if texts.nbytes <= longest:
        return
    lengths = pc.utf8_length(texts.cast(pa.large_string()))  # not every type of text can be measured as it is
    if texts is not column:
        lengths = lengths.take(column.indices)
    too_long = pc.index(pc.greater(lengths, longest), True).as_py()
    if too_long >= 0:
        problem = f"a text is longer than {longest:,} characters; split it"
        raise RecordError(source, problem, record=done + too_long + 1)


def split_by(counts: Sequence[int], texts: Sequence[str | None]) -> Iterator[list[str | None]]:
    """Yield as many texts as each count says, one after the other."""
    start = 0
    for count in counts:
        yield list(texts[start : start + count])
        start += count
