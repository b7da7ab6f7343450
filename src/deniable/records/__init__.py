"""Files and streams of records: text, CSV, JSON Lines and Parquet in and out, with progress, resume and an atomic finish.

A record goes through here once. Readers (``plain``, ``delimited``, ``jsonlines``, ``parquet``) turn a ``source`` into
batches of texts; ``job`` releases the batches into a partial file beside the output, keeps a ``journal`` of what is done,
and renames the partial file at the end. ``stream`` is the same without a file: standard input to standard output.
"""

from __future__ import annotations

from deniable.records.files import privatize_file
from deniable.records.stream import privatize_stream

__all__ = ["privatize_file", "privatize_stream"]
