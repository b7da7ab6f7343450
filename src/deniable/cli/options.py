"""Options that the commands that release text share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Epsilon = Annotated[float | None, typer.Option("--epsilon", "-e", help="The privacy parameter, per word.")]
RecordEpsilon = Annotated[
    float | None,
    typer.Option(help="A budget per record, divided by its words. With --epsilon too, that is the most a word gets."),
]
MaxUnchanged = Annotated[
    float | None,
    typer.Option(help="Instead of --epsilon: the largest ε noted by the calibration at which words stay themselves at most so often."),
]
Quantile = Annotated[
    float, typer.Option(help="With --max-unchanged: the share of the words that must; 1 asks it of the most isolated too.")
]
Columns = Annotated[list[str] | None, typer.Option("--column", "-c", help="A column that holds private text. May be repeated.")]
Format = Annotated[str | None, typer.Option("--format", metavar="text|csv|tsv|jsonl|parquet", help="If not as the name says.")]
Delimiter = Annotated[str | None, typer.Option(help="What separates the cells of CSV, such as ';' or tab.")]
Header = Annotated[bool, typer.Option("--header/--no-header", help="Without a header, columns are numbers from 1.")]
Encoding = Annotated[str, typer.Option(help="The encoding of the input. Output is UTF-8 always.")]
EmbeddingName = Annotated[str, typer.Option(help="The name of an installed embedding.")]
Unknown = Annotated[
    str, typer.Option(metavar="perturb|subwords|redact|drop|error", help="What to do with words the embedding does not know.")
]
Punctuation = Annotated[str, typer.Option(metavar="drop|keep", help="Whether to release punctuation marks.")]
Case = Annotated[str, typer.Option(metavar="drop|keep", help="Whether to release which words were capitalised.")]
KeepWords = Annotated[
    Path | None, typer.Option(help="A file of single words, one a line, to release as they are if the embedding knows them.")
]
KeyFile = Annotated[
    Path | None, typer.Option(help="Draw by the secret key in this file: releasing the same records again spends nothing more.")
]
RecordIdColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="With --key-file: the column that names each record; without it, its number."),
]
ConsistentBy = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="With --key-file: a word of the user that this column names always becomes the same word."),
]
Threads = Annotated[int | None, typer.Option(help="Threads for the search; all processors this process may use without it.")]
Workers = Annotated[int, typer.Option(help="Processes that share the work, with one thread each unless --threads says more.")]
