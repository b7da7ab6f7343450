"""Texts with a label each, from a file of records: who wrote it, or which class it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from deniable.errors import InvalidParameter
from deniable.keyed.encoding import RecordId
from deniable.records.files import open_source
from deniable.records.formats.batch import BatchSize
from deniable.records.formats.layout import make_layout
from deniable.records.formats.naming import Naming
from deniable.records.formats.opening import open_reader


class Reading(TypedDict, total=False):
    """How a file is read where its name does not say; for those who hand it on to ``labelled_records``."""

    format: str | None
    delimiter: str | None
    header: bool
    encoding: str


def labelled_records(
    path: Path,
    *,
    label_column: str,
    text_column: str,
    format: str | None = None,  # noqa: A002
    delimiter: str | None = None,
    header: bool = True,
    encoding: str = "utf-8",
) -> Iterator[tuple[str, str]]:
    """Yield label and text of the records of a CSV, TSV, JSON Lines or Parquet file; what is missing is empty.

    A label is text or a whole number. ``format``, ``delimiter``, ``header`` and ``encoding`` are as for ``privatize_file``.

    :raises InvalidParameter: if a column is not there or cannot be what it should be.
    :raises RecordError: if the file cannot be read.
    """
    if label_column == text_column:
        raise InvalidParameter("label", label_column, "is the column of texts as well; name another one")
    layout = make_layout(path, format=format, columns=(text_column,), delimiter=delimiter, header=header, encoding=encoding)
    if layout.format == "text":
        raise InvalidParameter(
            "format", layout.format, "has no columns; give CSV, TSV, JSON Lines or Parquet, or say with --format that it is"
        )
    with open_source(path) as source:
        try:
            reader = open_reader(source, layout, _Labels(source.name, column=label_column))
        except InvalidParameter as error:
            if error.name != "record_id":
                raise
            raise InvalidParameter("label", label_column, error.problem.replace("ids are", "labels are")) from None
        for batch in reader.batches(BatchSize()):
            for text, label in zip(batch.texts, batch.names or (), strict=True):
                yield str(label), text or ""


class _Labels(Naming):
    """Names a record by its label: readers take the label along as they would an id, but many records may share one."""

    def names(self, record: int, given: object, columns: Sequence[str]) -> tuple[RecordId, ...]:  # noqa: ARG002 - as a naming has it
        return ("" if given is None else str(given),) * len(columns)
