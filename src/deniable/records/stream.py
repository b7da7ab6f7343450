"""Records from a stream to a stream: released as they arrive."""

from __future__ import annotations

import time
from typing import BinaryIO

from deniable.errors import InvalidParameter
from deniable.records.formats.batch import BatchSize
from deniable.records.formats.layout import Layout
from deniable.records.formats.naming import naming_for
from deniable.records.formats.opening import open_reader
from deniable.records.formats.source import Source
from deniable.records.jobs.receipts import check_budget, receipt_of
from deniable.text.privatizer import Privatizer
from deniable.text.receipt import Receipt
from deniable.text.tally import Tally


def privatize_stream(private: Privatizer, source: Source, sink: BinaryIO, layout: Layout) -> Receipt:
    """Release every record of the source into the sink and return the receipt.

    What has arrived is released at once when the producer is slow, and in large batches when it is fast. A sink that
    was closed by its reader ends the work without an error. The privatizer's own counts start from zero.

    :raises RecordError: if the source cannot be read; the batches before that are released.
    :raises InvalidParameter: if the layout does not fit the source.
    """
    if layout.format == "parquet":
        raise InvalidParameter("format", "parquet", "cannot be written to a stream; name an output file (-o)")
    check_budget(private, layout)
    private.take_tally()
    tally, size = Tally(), BatchSize(fixed=private.keyed is not None)
    reader = open_reader(source, layout, naming_for(private, source, layout))
    try:
        sink.write(b"".join(reader.head()))
        sink.flush()
        for batch in reader.batches(size):
            started = time.monotonic()
            data = batch.release(private)
            size.took(time.monotonic() - started)
            tally.add(private.take_tally())
            sink.write(data)
            sink.flush()
    except BrokenPipeError:
        pass
    return receipt_of(private, reader, layout, tally)
