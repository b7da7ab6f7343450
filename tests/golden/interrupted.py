"""Work that was cut off by a kill, as today's code left it: the commands, and where its files lie."""

from __future__ import annotations

INTERRUPTED: dict[str, tuple[str, str, str]] = {
    "csv": (
        "records.csv",
        "out.csv",
        "-c text -c more --record-id id -e 3 --embedding plain --punctuation keep --case keep --keep-words "
        "keep.txt",
    ),
    "jsonl": (
        "records.jsonl",
        "out.jsonl",
        "-c text -e 4 --record-epsilon 20 --embedding plain -m vickrey -O t=0.4",
    ),
    "text": ("records.txt", "out.txt.gz", "-e 2 --embedding cased --unknown redact"),
    "parquet": ("records.parquet", "out.parquet", "-c text --consistent-by user -e 3 --embedding guarded"),
}
"""The input, the output and the options of ``deniable privatize``, run in a folder that
``materials.laid_out`` made."""

WATCHED = (
    "watch inbox --out released -c text --record-id id -e 3 --embedding plain --key-file golden.key "
    "--once --settle 0"
)
"""In ``frozen/watched`` and ``frozen/noise-2/watched``, early.csv was released and late.csv was cut off."""
