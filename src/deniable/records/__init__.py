"""Files and streams of records: text, CSV, JSON, Parquet and spreadsheets in and out, with progress, resume
and an atomic finish.

A record goes through here once: ``formats`` turn a source of bytes into batches of texts, and released texts
into bytes again; ``jobs`` release the batches into a partial file beside the output, keep a journal of what
is done, and rename the partial file at the end. ``files`` holds what people call; ``watching`` does the same
for every new file of a folder.
"""

from __future__ import annotations

from deniable.records.files import privatize_file, privatize_stream

__all__ = ["privatize_file", "privatize_stream"]
