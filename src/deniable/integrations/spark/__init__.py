"""Spark: columns of data frames and streams, on as many machines as there are.

>>> from deniable.integrations.spark import privatize
>>> released = privatize(frame, "text", epsilon=6, key_file="release.key", record_id="id")  # doctest: +SKIP

Spark may compute a data frame more than once: a failed task is tried again, an evicted partition or a lost
executor's part is made again, and every action on a frame that is not stored begins at the source. With fresh
noise each time is another release of the same text. So the noise is a function of a secret key and the record
(``key_file`` and ``record_id``), and whatever is computed again comes out the same; fresh noise has to be
asked for.

Who receives a release decodes it with its card:

>>> from deniable.integrations.spark import decoded, learn_decoder
>>> learnt = learn_decoder(frame, "text", "released.card.json")  # doctest: +SKIP
>>> frame.select("id", decoded("text", learnt).alias("decoded"))  # doctest: +SKIP
"""

from __future__ import annotations

from deniable.errors import MissingExtra

try:
    import pandas  # noqa: F401 - PySpark asks for it when it meets Arrow
    import pyspark  # noqa: F401
except ImportError as error:
    raise MissingExtra("Spark", "spark") from error

from deniable.integrations.spark.decoding import decoded, expected_counts, expected_vectors, learn_decoder
from deniable.integrations.spark.files import privatize_files
from deniable.integrations.spark.frames import check_unique, privatize, privatized, receipt
from deniable.integrations.spark.tasks import ship_embedding

__all__ = [
    "check_unique",
    "decoded",
    "expected_counts",
    "expected_vectors",
    "learn_decoder",
    "privatize",
    "privatize_files",
    "privatized",
    "receipt",
    "ship_embedding",
]
