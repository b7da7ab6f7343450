"""Files of records to fuzz: lines, JSON, Parquet, and how each is read."""

from __future__ import annotations

import bz2
import functools
import gzip
import json
import lzma
import random
from collections.abc import Callable
from pathlib import Path

from deniable import Embedding
from deniable.records.formats.layout import Roles
from tests.fuzz.mutation import mutate
from tests.fuzz.target import PRIVATE, WORDS, Files, Target, vectors
from tests.support.made_ods import leaky_ods, ods_parts
from tests.support.made_xlsx import leaky_parts, sheet_parts, unzipped, zipped

_TEXTS = ["the king", f"a {PRIVATE} is here", "", "na\u00efve, \u201cquoted\u201d"]


def line_files() -> list[Files]:
    plain = ("\n".join(_TEXTS) + "\n").encode()
    rows = "".join(f'{i},"{text}",x{i}\n' for i, text in enumerate(_TEXTS))
    objects = "".join(
        json.dumps({"id": f"p{i}", "text": text, "n": [i, None]}) + "\n" for i, text in enumerate(_TEXTS)
    )
    bare: dict[str, bytes] = {
        "in.txt": plain,
        "in.csv": b"id,text,other\n" + rows.encode(),
        "in.jsonl": objects.encode(),
    }
    found: list[Files] = [{name: content} for name, content in bare.items()]
    import pyarrow as pa

    for ending, pack in (
        (".gz", lambda data: gzip.compress(data, mtime=0)),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
        (".zst", lambda data: bytes(pa.compress(data, codec="zstd", asbytes=True))),
    ):
        found += [{name + ending: pack(content)} for name, content in bare.items()]
    return found


@functools.cache
def parquet_files() -> list[Files]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "id": [f"p{i}" for i in range(4)],
            "text": _TEXTS,
            "number": pa.array([1, None, 3, 4]),
            "list": pa.array([["a", None], [], None, ["b"]]),
            "category": pa.array(["a", "b", "a", None]).dictionary_encode(),
        }
    )
    found = []
    for options in (
        {"compression": "none"},
        {"compression": "snappy", "data_page_version": "2.0"},
        {
            "compression": "zstd",
            "use_dictionary": False,
            "column_encoding": {"text": "DELTA_BYTE_ARRAY", "id": "DELTA_LENGTH_BYTE_ARRAY"},
        },
        {"compression": "gzip", "row_group_size": 2},
        {
            "compression": "none",
            "use_dictionary": False,
            "column_encoding": {"text": "DELTA_BYTE_ARRAY"},
            "store_schema": False,
        },
    ):
        out = pa.BufferOutputStream()
        pq.write_table(table, out, **options)
        found.append({"in.parquet": bytes(out.getvalue())})
    return found


def json_files() -> list[Files]:
    records = [{"id": f"p{i}", "text": text, "v": {"n": [text, None]}} for i, text in enumerate(_TEXTS)]
    nested = [
        {"id": f"p{i}", "v": {"text": text}, "l": [{"text": text}, None, {"text": None, "n": i}]}
        for i, text in enumerate(_TEXTS)
    ]
    return [
        {"in.json": json.dumps(records).encode()},
        {"in.json": json.dumps(records, indent=2, ensure_ascii=False).encode()},
        {"in.json": json.dumps(nested).encode()},
        {"in.jsonl": "".join(json.dumps(record) + "\n" for record in nested).encode()},
        {"in.json.gz": gzip.compress(json.dumps(records).encode(), mtime=0)},
    ]


def spreadsheet_files() -> list[Files]:
    rows = [["id", "text"], *[[f"p{i}", text] for i, text in enumerate(_TEXTS)]]
    return [
        {"in.xlsx": zipped(leaky_parts(PRIVATE))},
        {"in.xlsx": zipped(sheet_parts(rows))},
        {"in.ods": zipped(leaky_ods(PRIVATE))},
        {"in.ods": zipped(ods_parts(rows))},
    ]


def rezip_spreadsheet(files: Files, source: random.Random) -> Files:
    """Return an archive whose checksums fit what is in it, most of the time: a part is damaged and not its
    packing."""
    if source.random() < 0.2:
        return files
    name, content = next(iter(source.choice(spreadsheet_files()).items()))
    parts = unzipped(content)
    part = source.choice(sorted(parts))
    return {name: zipped({**parts, part: mutate(parts[part], list(parts.values()), source)})}


def read_spreadsheet(folder: Path, source: random.Random) -> None:
    from deniable.records.reading import rewrite_file

    path = next(folder.iterdir())
    if source.random() < 0.5:
        read_records(folder, source)
    else:
        rewrite_file(path, folder / "out.xlsx", lambda texts: ["fox"] * len(texts), column="text")


def read_json(folder: Path, source: random.Random) -> None:
    path = next(folder.iterdir())
    nested = b'"l"' in path.read_bytes()
    columns = source.choice((("v.text", "l[].text"), ("l[].text",))) if nested else ("text",)
    read_records(folder, source, columns=columns)


def read_records(folder: Path, source: random.Random, columns: tuple[str, ...] = ("text",)) -> None:
    from deniable.records.formats.layout import Layout, format_of
    from deniable.records.formats.naming import Naming
    from deniable.records.formats.opening import open_reader, open_source

    path = next(path for path in folder.iterdir() if path.name.startswith("in."))
    kind = format_of(path) or "text"
    layout = Layout(
        format=kind,
        roles=Roles(text=() if kind == "text" else columns),
        encoding=source.choice(("utf-8", "utf-8", "utf-16", "latin-1")),
        delimiter=",",
    )
    naming = None
    if kind != "text" and source.random() < 0.5:
        naming = Naming(str(path), column="id")
    with open_source(path) as opened:
        reader = open_reader(opened, layout, naming)
        reader.head()
        if source.random() < 0.2:
            reader.skip(source.choice((0, 1, 3, 100)))
        for batch in reader.batches():
            reader.write(batch.payloads, list(batch.texts))
        reader.tail()


def labelled_files() -> list[Files]:
    return [
        files for files in (*line_files(), *parquet_files()) if not next(iter(files)).startswith("in.txt")
    ]


def read_labelled_texts(folder: Path, _source: random.Random) -> None:
    from deniable.records.reading import read_labelled

    read_labelled(
        next(path for path in folder.iterdir() if path.name.startswith("in.")),
        label_column="id",
        text_column="text",
    )


def read_public(folder: Path, _source: random.Random) -> None:
    from deniable.words.public_text import read_lines, read_word_list

    path = next(path for path in folder.iterdir() if path.name.startswith("in."))
    sum(len(line) for line in read_lines(path))
    if path.name == "in.txt":
        read_word_list(path)


def every_file() -> list[Files]:
    return [*line_files(), *json_files(), *parquet_files(), *spreadsheet_files()]


def read_checked(folder: Path, source: random.Random) -> None:
    from deniable.records.check import check_file
    from deniable.records.formats.layout import Layout, format_of

    path = next(path for path in folder.iterdir() if path.name.startswith("in."))
    layout = Layout(
        format=format_of(path) or "text",
        encoding=source.choice(("utf-8", "utf-8", "latin-1")),
        header=source.random() < 0.9,
    )
    check_file(path, layout, Embedding(WORDS, vectors(), name="tiny"))


_READ: dict[str, tuple[Callable[[], list[Files]], Callable[[Path, random.Random], None]]] = {
    "lines": (line_files, read_records),
    "json": (json_files, read_json),
    "parquet": (parquet_files, read_records),
    "labelled": (labelled_files, read_labelled_texts),
    "public": (line_files, read_public),
    "checked": (every_file, read_checked),
}

RECORDS: dict[str, Target] = {
    **{
        name: Target(seeds=seeds, read=read, confined=name == "parquet")
        for name, (seeds, read) in _READ.items()
    },
    "spreadsheets": Target(
        seeds=spreadsheet_files, read=read_spreadsheet, repair=rezip_spreadsheet, confined=True
    ),
}
