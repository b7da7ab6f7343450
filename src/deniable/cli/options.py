"""Options that the commands that release text share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Epsilon = Annotated[float | None, typer.Option("--epsilon", "-e", help="The privacy parameter, per word.")]
RecordEpsilon = Annotated[
    float | None,
    typer.Option(
        help="The most to spend on a record, divided equally among its words. Together with --epsilon, a word gets at most --epsilon."
    ),
]
MaxUnchanged = Annotated[
    float | None,
    typer.Option(
        help="Choose ε by the stored calibration instead of --epsilon: at most this share of draws may return the word unchanged."
    ),
]
Quantile = Annotated[
    float,
    typer.Option(help="With --max-unchanged: the share of words for which this must hold; 1 means every word, even the most isolated."),
]
Columns = Annotated[list[str] | None, typer.Option("--column", "-c", help="A column that holds private text. May be repeated.")]
Format = Annotated[
    str | None, typer.Option("--format", metavar="text|csv|tsv|jsonl|parquet", help="The file format, if the file name does not show it.")
]
Delimiter = Annotated[str | None, typer.Option(help="The character between the cells of CSV, such as ';' or tab.")]
Header = Annotated[
    bool,
    typer.Option(
        "--header/--no-header", help="Whether the first row holds the column names. Without a header, columns are numbered from 1."
    ),
]
Encoding = Annotated[str, typer.Option(help="The encoding of the input. The output is always UTF-8.")]
EmbeddingName = Annotated[str, typer.Option(help="The name of an installed embedding.")]
Unknown = Annotated[
    str, typer.Option(metavar="perturb|subwords|redact|drop|error", help="What to do with words the embedding does not know.")
]
Punctuation = Annotated[str, typer.Option(metavar="drop|keep", help="Whether to release punctuation marks.")]
Case = Annotated[str, typer.Option(metavar="drop|keep", help="Whether to release which words were capitalised.")]
KeepWords = Annotated[
    Path | None, typer.Option(help="A file of words, one per line, that are released as they are if the embedding knows them.")
]
KeyFile = Annotated[
    Path | None,
    typer.Option(help="Draw the noise from the secret key in this file: releasing the same records again then spends nothing more."),
]
RecordIdColumn = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With --key-file: the column that identifies each record. Without it, a record is identified by its number in the file.",
    ),
]
ConsistentBy = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="With --key-file: the column that identifies users. The same word of the same user always becomes the same word.",
    ),
]
Threads = Annotated[
    int | None, typer.Option(help="How many threads search for the nearest word. By default, as many as this process may use processors.")
]
Workers = Annotated[int, typer.Option(help="How many processes share the work. Each uses one thread, unless --threads says more.")]
