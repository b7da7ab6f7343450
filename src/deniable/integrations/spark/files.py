"""Folders of files through Spark, for those who write no Spark code: what ``deniable privatize --engine
spark`` does."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deniable.atomic import beside, check_new, check_place, check_regular, write_whole
from deniable.errors import InvalidParameter, RecordError
from deniable.integrations.spark.frames import check_unique, kept_columns, make_task, receipt_of_task
from deniable.integrations.spark.reading import read_files
from deniable.integrations.spark.session import plain_errors, session
from deniable.integrations.spark.tasks import quoted, ship_embedding
from deniable.records.formats.columns import find_header_columns, find_named_columns
from deniable.records.formats.layout import Roles, format_of
from deniable.release.card import ENDING as CARD
from deniable.release.card import Card
from deniable.release.receipt import Receipt
from deniable.release.release import Release, release_from

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_URI = re.compile(r"[a-z][a-z0-9+.-]+:/", re.IGNORECASE)
_FILE = re.compile(r"^file:(//)?(?=/)")

_CSV: dict[str, Any] = {"escape": '"', "ignoreLeadingWhiteSpace": False, "ignoreTrailingWhiteSpace": False}
_WRITING: dict[str, dict[str, Any]] = {
    "csv": {"format": "csv", "header": True, "sep": ",", **_CSV},
    "tsv": {"format": "csv", "header": True, "sep": "\t", **_CSV},
    "jsonl": {"format": "json", "ignoreNullFields": False},
    "parquet": {"format": "parquet"},
}


def privatize_files(
    source: str,
    target: str,
    *,
    columns: Sequence[str],
    drop: Sequence[str] = (),
    keep: Sequence[str] = (),
    release: Release | None = None,
    format: str | None = None,  # noqa: A002
    master: str | None = None,
    record_id: str | None = None,
    receipt_path: Path | None = None,
    force: bool = False,
    **settings: Any,
) -> Receipt:
    """Release the files of a folder, or one file, into a new folder, and return the receipt; receipt and card
    are written beside it.

    Source and target are paths that every executor sees, or addresses that Spark reads (``hdfs://``,
    ``s3a://``). The part files appear in the target when all are done, and ``_SUCCESS`` last. Records come in
    the order of the files' names and of their places in these, and parts are of equally many: the sizes of
    private files do not show. Every column needs a role: it is privatized, left out (``drop``) or released as
    it is (``keep``). Without a key the noise is fresh: the frame is computed for this one writing, and what a
    failed attempt drew is never published. ``settings`` are those of a ``Release``, which may be given in
    their place.

    :raises InvalidParameter: if a setting is not allowed or a column is not there.
    :raises UndecidedColumns: if a column has no role.
    :raises RecordError: if the target is there already and is not to be replaced (``force``), or it and the
        source lie one in the other.
    :raises ClusterError: if Spark cannot be started or gives up.
    """
    roles = Roles.of(text=columns, drop=drop, keep=keep)
    kind = _format(source, format)
    noted = _receipt_path(target, receipt_path)
    _check_target(source, target, noted, force=force)
    release = release_from(release, settings)
    release.pin()  # whatever is wrong with the settings is said before a cluster is asked for anything
    with session(master) as spark, plain_errors():
        records = read_files(spark, source, kind)
        # What should be a header may be a private record, and the keys of JSON may be private too: they are
        # not shown.
        find_columns = find_named_columns if kind == "parquet" else find_header_columns
        for wanted in (columns, *([[record_id]] if record_id else [])):
            find_columns(wanted, records.columns, source)
        kept = kept_columns(records.columns, roles, source)
        task = make_task(records.schema(*records.columns), tuple(columns), record_id, release)
        if not str(spark.sparkContext.master).startswith("local"):
            ship_embedding(spark, release.embedding)
        if record_id is not None and not release.consistent:
            check_unique(records.select(record_id), record_id)
        places, tally = records.count(task)
        card = release.make().card.for_columns(task.columns)
        receipt = receipt_of_task(task, kept, roles, tally)
        # First the receipt: what is out must not be left without one because it cannot be written in the end.
        before = noted.read_text(encoding="utf-8") if noted.exists() else None
        write_whole(noted, receipt.to_json())
        try:
            released = records.release(task, places, tally, spark).select(*map(quoted, kept))
            released.write.save(target, mode="overwrite" if force else "error", **_WRITING[kind])
        except BaseException:
            if not Path(_FILE.sub("", target), "_SUCCESS").exists():  # else it is out: the receipt is of it
                noted.unlink(missing_ok=True) if before is None else write_whole(noted, before)
            raise
        _write_card(card, target, spark)
    return receipt


def _format(source: str, given: str | None) -> str:
    path = Path(source)
    if given is None and not _URI.match(source):
        if not path.exists():
            raise RecordError(path, "is not there")
        inside = sorted(path.rglob("[!._]*")) if path.is_dir() else [path]
        kinds = {format_of(file) for file in inside if file.is_file()}
        given = kinds.pop() if len(kinds) == 1 else None
    known = ", ".join(_WRITING)
    if given is None:
        problem = f"the names of its files do not say one format; say it: one of {known}"
        raise InvalidParameter("format", source, problem)
    if given not in _WRITING:
        raise InvalidParameter("format", given, f"Spark is given records with columns: one of {known}")
    return given


def _receipt_path(target: str, given: Path | None) -> Path:
    if given is None and _URI.match(target):
        problem = "say where the receipt goes: it is private, and is not written beside an output elsewhere"
        raise InvalidParameter("receipt", None, problem)
    return beside(Path(target), ".receipt.json") if given is None else given


def _check_target(source: str, target: str, noted: Path, *, force: bool) -> None:
    """Check that input, output, receipt and card do not lie one in another: Spark removes what it overwrites
    before it reads.
    """
    begin, end = (Path(_FILE.sub("", each)).resolve() for each in (source, target))
    elsewhere = _URI.match(target)
    if not (_URI.match(source) or elsewhere) and (
        begin == end or begin in end.parents or end in begin.parents
    ):
        raise RecordError(target, f"and the input {source} lie one in the other; name another folder")
    check_place(noted, "name another file for the receipt")
    place = noted.resolve()
    if {begin, end} & {place, *place.parents}:
        raise RecordError(noted, "lies in the input or the output; name another file for the receipt")
    if place == beside(end, CARD):
        raise RecordError(noted, "the card goes there; name another file for the receipt")
    written = [noted]
    if not elsewhere:
        check_regular(beside(Path(target), CARD), "the card goes there; name another output")
        written = [Path(target), noted, beside(Path(target), CARD)]
    check_new(*written, force=force)


def _write_card(card: Card, target: str, spark: SparkSession) -> None:
    """Write the card beside the output, wherever that is: who fetches the one fetches the other."""
    if not _URI.match(target):
        card.write(beside(Path(target), CARD))
        return
    java: Any = spark.sparkContext._jvm
    path = java.org.apache.hadoop.fs.Path(target.rstrip("/") + CARD)
    file = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration()).create(path, True)
    try:
        file.write(card.to_json().encode())
    finally:
        file.close()
