"""Files and streams of records: text, CSV, JSON, Parquet and spreadsheets in and out, with progress, resume
and an atomic finish.

A record goes through here once: ``formats`` turn a source of bytes into batches of texts, and released texts
into bytes again. ``deciding`` refuses what nobody named; ``releasing`` draws the batches, in this process or
several; ``job`` appends them to a partial file beside the output, keeps a ``journal`` of what is done, and
renames the partial file at the end. ``files`` holds what people call; ``watch`` does the same for every new
file of a folder, ``check`` looks at a file before, and ``reading`` reads released files.
"""

from __future__ import annotations

from deniable.records.files import privatize_file, privatize_stream

__all__ = ["privatize_file", "privatize_stream"]
