"""What of a golden release is compared: text where it is short and tells something by itself, and a digest of
it otherwise.

Releases are made of what users can rely on only: the command line, the public names of ``deniable`` and of
its integrations, and files.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq

from tests.golden.command import Ended

Golden = dict[str, Any]


def digest(content: object) -> str:
    """Return a digest of bytes, of text, or of JSON-ready data."""
    if not isinstance(content, bytes):
        content = (
            content if isinstance(content, str) else json.dumps(content, ensure_ascii=True, sort_keys=True)
        ).encode()
    return hashlib.sha256(content).hexdigest()[:32]


def content_of(path: Path) -> bytes:
    """Return the bytes of a file, decompressed by the ending of its name."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        content: bytes = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
        return content
    unpack: Callable[[bytes], bytes] = {
        ".gz": gzip.decompress,
        ".bz2": bz2.decompress,
        ".xz": lzma.decompress,
    }.get(path.suffix, bytes)
    return unpack(data)


def table_of(path: Path) -> dict[str, Any]:
    """Return what a Parquet file holds, whatever library wrote it."""
    file = pq.ParquetFile(path)
    schema = file.schema_arrow
    said = {key.decode(): value.decode() for key, value in (schema.metadata or {}).items()}
    return {
        "schema": schema.remove_metadata().to_string(),
        "metadata": said,
        "row groups": [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)],
        "rows": file.read().to_pylist(),
    }


def receipt_beside(target: Path) -> dict[str, Any]:
    """Return the receipt beside an output without its time and the version."""
    receipt: dict[str, Any] = json.loads(
        target.with_name(target.name + ".receipt.json").read_text(encoding="utf-8")
    )
    assert receipt.pop("created")
    receipt.pop("job", None)  # where the input lies is part of it
    receipt.pop("files", None)  # what the libraries wrote that made the input is part of it
    assert receipt.pop("deniable")
    (receipt["calibration"] or {}).pop("capacity", None)  # an estimate, made again with more draws
    return receipt


class Beside(NamedTuple):
    """What lies beside an output: the receipt, which stays, and the card, which goes with it; both without
    time and version."""

    receipt: dict[str, Any]
    card: dict[str, Any]


def card_beside(target: Path) -> dict[str, Any]:
    """Return the card beside an output without the version."""
    card: dict[str, Any] = json.loads(
        target.with_name(target.name + ".card.json").read_text(encoding="utf-8")
    )
    assert card.pop("deniable")
    return card


def released(ended: Ended, target: Path) -> Any:
    """Return the text in an output, the content of Parquet, the cells of a spreadsheet; or the exit status if
    the command failed."""
    if ended.status:
        return {"status": ended.status}
    if target.suffix == ".xlsx":
        return {
            sheet.title: [[cell.value for cell in row] for row in sheet.iter_rows()]
            for sheet in openpyxl.load_workbook(target)
        }
    return table_of(target) if target.suffix == ".parquet" else content_of(target).decode()
