from __future__ import annotations

import codecs
import contextlib
import csv
import encodings.aliases
import io
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from deniable import InvalidParameter, Privatizer, RecordError, UnknownWord
from deniable.compression import compress, compression_of
from deniable.records.formats.layout import make_layout
from deniable.records.formats.lines import _FEW_NEVER_TYPED, _NEVER_TYPED, Lines
from deniable.records.formats.source import Source
from tests.support.keeping import keep_all as privatize_file

odd_texts = ["a\x85b", "a\u2028b", "\x00", "\r", '"', "\ufeff"]
any_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.sampled_from(odd_texts)
few = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


def release(private: Privatizer, folder: Path, name: str, data: bytes, **options: object) -> bytes:
    source, target = folder / name, folder / f"out-{name}"
    source.write_bytes(data)
    privatize_file(private, source, target, force=True, **options)
    return target.read_bytes()


def is_typed(text: str) -> bool:
    """Return whether so few control characters stand there that it is taken for text."""
    return len(_NEVER_TYPED.findall(text)) <= _FEW_NEVER_TYPED


@few
@given(st.lists(any_text.filter(lambda text: "\n" not in text), max_size=8))
def test_one_line_out_per_line_in_whatever_the_line_holds(
    private: Privatizer, tmp_path: Path, lines: list[str]
) -> None:
    assume(is_typed("".join(lines)))
    released = release(private, tmp_path, "in.txt", "".join(line + "\n" for line in lines).encode())
    assert released.decode().split("\n") == [*(private(line) for line in lines), ""]


@few
@given(st.lists(st.tuples(any_text, any_text, any_text), max_size=6))
def test_any_cell_of_csv_comes_through(
    private: Privatizer, tmp_path: Path, rows: list[tuple[str, str, str]]
) -> None:
    written = io.StringIO(newline="")
    csv.writer(written).writerows([["a", "b", "c"], *rows])  # its line ends \r\n make it quote both
    assume(is_typed(written.getvalue()))
    released = release(private, tmp_path, "in.csv", written.getvalue().encode(), columns=["b"]).decode()
    read = list(csv.reader(io.StringIO(released, newline=""), strict=True))
    assert read == [["a", "b", "c"], *([a, private(b), c] for a, b, c in rows)]


@few
@given(st.lists(st.tuples(any_text | st.none(), any_text), max_size=6), st.booleans())
def test_any_string_of_json_comes_through(
    private: Privatizer, tmp_path: Path, rows: list[tuple[str | None, str]], ascii_only: bool
) -> None:
    records = [{"t": text} | ({other: other} if other != "t" else {}) for text, other in rows]
    data = "".join(json.dumps(record, ensure_ascii=ascii_only) + "\n" for record in records)
    released = release(private, tmp_path, "in.jsonl", data.encode(), columns=["t"]).decode()
    expected = [
        {"t": None if text is None else private(text)} | ({other: other} if other != "t" else {})
        for text, other in rows
    ]
    assert [json.loads(line) for line in released.split("\n")[:-1]] == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", b""),
        (b"\n", b"\n"),
        (b"the", b"the\n"),
        (b"the\r\nfox\r\n", b"the\nfox\n"),
        (b"the\n\n\nfox", b"the\n\n\nfox\n"),
        (b"\xef\xbb\xbfthe\n", b"the\n"),
        (b"the\rfox\x0bfox\x0cfox\n", b"the fox fox fox\n"),
    ],
)
def test_line_ends_of_text(private: Privatizer, tmp_path: Path, data: bytes, expected: bytes) -> None:
    assert release(private, tmp_path, "in.txt", data) == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", b""),
        (b"id,t\n", b"id,t\n"),
        (b"id,t", b"id,t\n"),
        (b"id,t\r\n1,fox.\r\n", b"id,t\r\n1,fox\r\n"),
        (b"\xef\xbb\xbft,id\nfox.,1", b"\xef\xbb\xbft,id\nfox,1\n"),
        (b"x,t,x\n1,fox,2\n", b"x,t,x\n1,fox,2\n"),
        (b't\nfox.\n""\n\nthe\n\n', b't\nfox\n""\n\nthe\n\n'),
    ],
)
def test_shapes_of_csv(private: Privatizer, tmp_path: Path, data: bytes, expected: bytes) -> None:
    assert release(private, tmp_path, "in.csv", data, columns=["t"]) == expected


@pytest.mark.parametrize("data", [b"id,t\n", b"id,t", b"\xef\xbb\xbfid,t\r\n", b"\n", b"\n\n"])
@pytest.mark.parametrize("wanted", ["missing", "T "])
def test_a_missing_column_is_refused_where_there_are_no_rows_too(
    private: Privatizer, tmp_path: Path, data: bytes, wanted: str
) -> None:
    with pytest.raises(InvalidParameter, match=r"in\.csv has no such column") as error:
        release(private, tmp_path, "in.csv", data, columns=[wanted])
    assert error.value.exit_code == 2
    assert not (tmp_path / "out-in.csv").exists()
    with pytest.raises(InvalidParameter, match="no such column"):
        release(private, tmp_path, "in.tsv", data.replace(b",", b"\t"), columns=[wanted])


@pytest.mark.parametrize("name", ["in.csv", "in.tsv", "in.jsonl"])
def test_a_file_of_nothing_has_no_columns_to_miss(private: Privatizer, tmp_path: Path, name: str) -> None:
    assert release(private, tmp_path, name, b"", columns=["missing"]) == b""


def test_csv_without_header_counts_columns_from_one(private: Privatizer, tmp_path: Path) -> None:
    assert (
        release(private, tmp_path, "in.csv", b"a;fox!\n", columns=["2"], header=False, delimiter=";")
        == b"a;fox\n"
    )


def test_blank_lines_of_json_lines_stay(private: Privatizer, tmp_path: Path) -> None:
    assert (
        release(private, tmp_path, "in.jsonl", b'{"t":"fox."}\r\n\n  \n{"t":null}', columns=["t"])
        == b'{"t":"fox"}\n\n\n{"t":null}\n'
    )


def test_an_empty_parquet_file_stays_empty_with_its_schema(private: Privatizer, tmp_path: Path) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({"t": pa.array([], pa.string()), "n": pa.array([], pa.int8())}), source)
    privatize_file(private, source, target, columns=["t"])
    assert pq.read_table(target).schema == pq.read_table(source).schema
    assert pq.read_table(target).num_rows == 0


def test_another_encoding_can_be_named(private: Privatizer, tmp_path: Path) -> None:
    assert (
        release(private, tmp_path, "in.txt", "caf\u00e9\nfox".encode("latin-1"), encoding="latin-1")
        == "caf\u00e9\nfox\n".encode()
    )
    assert (
        release(private, tmp_path, "in.txt", "caf\u00e9\nfox".encode("utf-16"), encoding="utf-16")
        == "caf\u00e9\nfox\n".encode()
    )


def test_a_line_of_many_megabytes_goes_through(private: Privatizer, tmp_path: Path) -> None:
    released = release(private, tmp_path, "in.txt", b"fox\nthe" + b" " * 3_000_000 + b"fox\nfox")
    assert released == b"fox\nthe fox\nfox\n"


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "in.txt",
            b"fox\nfox\nsecret \xff word\n",
            "line 3: not valid UTF-8; say the encoding of the file with --encoding",
        ),
        ("in.txt", b"fox\nsecret \xc3", "line 2: not valid UTF-8"),
        ("in.csv", b"id,t\n1,secret\n2,secret,secret\n", "line 3: 3 cells where the first row has 2"),
        ("in.csv", b'id,t\n1,"a\nb"\n2\n', "line 4: 1 cells"),
        ("in.csv", b'id,t\n1,fox\n2,"secret\n', "line 3: a quote is opened"),
        ("in.csv", b'id,t\n1,"secret"x\n', "line 2: "),
        ("in.csv", b"id,t\n1,secret\rsecret\n", "line 2: a carriage return"),
        ("in.jsonl", b'{"t":"fox"}\n{"t":"secret"\n', "line 2: not a JSON object"),
        ("in.jsonl", b'{"t":"fox"}\n["secret"]\n', "line 2: not a JSON object"),
        ("in.jsonl", b'{"t":"fox"}\n\n{"t":"secret","t":"secret"}\n', "line 3: a key stands twice"),
        ("in.jsonl", b'{"t":"fox"}\n{"t":{"secret":1}}\n', "line 2: the value of t is not text or null"),
        ("in.jsonl", b'{"t":"fox"}\n{"t":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", "line 2: "),
        ("in.txt.gz", b"\x1f\x8b\x08\x00secret", "the gzip data is damaged or cut short"),
        ("in.txt.zst", b"\x28\xb5\x2f\xfdsecretsecret", "the zstd data is damaged or cut short"),
        ("in.txt.xz", b"\xfd7zXZ\x00secretsecret", "the xz data is damaged or cut short"),
        ("in.txt.bz2", b"BZh91AY&SYsecretsecret", "the bzip2 data is damaged or cut short"),
        ("in.parquet", b"secret" * 100, "not a Parquet file"),
        ("in.parquet", b"", "not a Parquet file"),
    ],
)
def test_bad_input_is_refused_where_it_is_without_quoting_it(
    private: Privatizer, tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    source, target = tmp_path / name, tmp_path / f"out-{name}"
    source.write_bytes(data)
    with pytest.raises(RecordError) as raised:
        privatize_file(private, source, target, columns=[] if "txt" in name else ["t"])
    assert message in str(raised.value)
    assert "secret" not in str(raised.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == [name]


@pytest.mark.parametrize(
    ("name", "there"),
    [
        (
            "in.csv",
            "has no such column .it has 2 columns.; if the file has no header use --no-header; `deniable "
            "check FILE` shows the names",
        ),
        (
            "in.jsonl",
            "none of the first 1 records of .* has it; they have 2 other keys; `deniable check FILE` shows "
            "the names",
        ),
        ("in.parquet", "has no such column .it has the columns secret, t."),
    ],
)
def test_an_unknown_column_is_refused_and_only_a_schema_is_quoted(
    private: Privatizer, tmp_path: Path, name: str, there: str
) -> None:
    source = tmp_path / name
    if name == "in.parquet":
        pq.write_table(pa.table({"secret": [1], "t": ["fox"]}), source)
    else:
        source.write_text("secret,t\n1,fox\n" if name == "in.csv" else '{"secret":1,"t":"fox"}\n')
    with pytest.raises(InvalidParameter, match=there) as raised:
        privatize_file(private, source, tmp_path / f"out-{name}", columns=["txt"])
    assert ("secret" in str(raised.value)) == (name == "in.parquet")
    with pytest.raises(InvalidParameter, match="--column") as raised:
        privatize_file(private, source, tmp_path / f"out-{name}")
    assert ("secret" in str(raised.value)) == (name == "in.parquet")
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "header", "advice"),
    [
        ("in.csv", "secret;t;stars", "try --delimiter ';'"),
        ("in.csv", "secret\tt", "try --delimiter tab"),
        ("in.csv", "secret|t", "try --delimiter '|'"),
        ("in.csv", "secret;t,a;stars", "try --delimiter ';'"),
        ("in.tsv", "secret,t", "try --delimiter ','"),
        (
            "in.csv",
            "secret",
            "try another --delimiter, such as ';'; if the file has no header use --no-header",
        ),
        (
            "in.csv",
            "secret;tt,a",
            "no such column (it has 2 columns); if the file has no header use --no-header",
        ),
    ],
)
def test_a_wrong_delimiter_gets_the_right_advice(
    private: Privatizer, tmp_path: Path, name: str, header: str, advice: str
) -> None:
    with pytest.raises(InvalidParameter) as raised:
        release(private, tmp_path, name, f"{header}\n".encode(), columns=["t"])
    assert advice in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF16_LE, "utf-16"),
        (codecs.BOM_UTF16_BE, "utf-16"),
        (codecs.BOM_UTF32_LE, "utf-32"),
        (codecs.BOM_UTF32_BE, "utf-32"),
    ],
)
def test_a_byte_order_mark_says_the_encoding(
    private: Privatizer, tmp_path: Path, mark: bytes, encoding: str
) -> None:
    order = "le" if mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF32_LE) else "be"
    data = mark + "id\tt\n1\tfox\n".encode(f"{encoding}-{order}")
    with pytest.raises(RecordError) as raised:
        release(private, tmp_path, "in.csv", data, columns=["t"])
    assert (
        f"line 1: not valid UTF-8; say the encoding of the file with --encoding, which is {encoding}"
        in str(raised.value)
    )
    assert release(
        private, tmp_path, "in.csv", data, columns=["t"], encoding=encoding, delimiter="tab"
    ).endswith(b"1\tfox\n")


def test_a_column_number_that_is_not_there_is_refused(private: Privatizer, tmp_path: Path) -> None:
    with pytest.raises(
        InvalidParameter,
        match=r"no such column .it has \d columns?.; without a header, columns are numbers from 1",
    ):
        release(private, tmp_path, "in.csv", b"fox,the\n", columns=["3"], header=False)


@pytest.mark.parametrize("start", [b"BZh my doctor said", b"BZh9secret", b"BZh"])
def test_text_that_begins_like_bzip2_is_text(private: Privatizer, tmp_path: Path, start: bytes) -> None:
    assert release(private, tmp_path, "in.txt", start + b"\nfox\n").endswith(b"\nfox\n")


@pytest.mark.parametrize("kind", ["gzip", "bzip2", "xz", "zstd"])
@pytest.mark.parametrize("text", [b"", b"fox\n"])
def test_compression_is_told_by_content(private: Privatizer, tmp_path: Path, kind: str, text: bytes) -> None:
    assert compression_of(compress(text, kind)) == kind
    assert release(private, tmp_path, "in.txt", compress(text, kind)) == text


@pytest.mark.parametrize(
    "encoding",
    sorted(set(encodings.aliases.aliases.values()) | {"idna", "punycode", "undefined", "unicode_escape"}),
)
def test_every_encoding_of_python_reads_lines_or_is_refused(encoding: str) -> None:
    try:
        layout = make_layout(None, format="text", encoding=encoding)
    except InvalidParameter:
        assert encoding in {
            *("base64_codec", "bz2_codec", "hex_codec", "quopri_codec", "rot_13", "uu_codec", "zlib_codec"),
            *(
                "idna",
                "punycode",
                "undefined",
                "unicode_escape",
                "raw_unicode_escape",
                "utf_7",
                "mbcs",
                "oem",
            ),
        }
        return
    assert list(Lines(_Bytes("fox\nthe\n\n".encode(encoding)), layout.encoding)) == ["fox", "the", ""]
    for junk in (bytes(range(256)), b"\xff" * 7, b"+", b"\\x", b"~{", b"\x1b$B"):
        with contextlib.suppress(RecordError):
            list(Lines(_Bytes(junk), layout.encoding))


@pytest.mark.parametrize("encoding", ["utf-7", "UTF7", "punycode", "undefined", "idna", "hex", "a\0b", ""])
def test_an_encoding_that_is_not_for_lines_is_refused(
    private: Privatizer, tmp_path: Path, encoding: str
) -> None:
    with pytest.raises(InvalidParameter, match="encoding = "):
        release(private, tmp_path, "in.txt", b"fox", encoding=encoding)


def test_utf_16_without_a_mark_is_refused_with_what_to_say_instead(
    private: Privatizer, tmp_path: Path
) -> None:
    with pytest.raises(
        RecordError,
        match="no byte order mark, so it is not utf-16; say the order with --encoding, such as utf-16-le",
    ):
        release(private, tmp_path, "in.txt", "fox\n".encode("utf-16-le"), encoding="utf-16")
    assert release(private, tmp_path, "in.txt", "fox\n".encode("utf-16-le"), encoding="utf-16-le") == b"fox\n"


class _Bytes(Source):
    name = "bytes"
    size: int | None = None

    def __init__(self, data: bytes) -> None:
        self._data = data

    def chunks(self) -> Iterator[bytes]:
        return (self._data[i : i + 1] for i in range(len(self._data)))


def test_a_json_key_may_be_absent_from_the_first_records(private: Privatizer, tmp_path: Path) -> None:
    data = b'{"id":1}\n' * 500 + b'{"t":"fox."}\n'
    assert (
        release(private, tmp_path, "in.jsonl", data, columns=["t"]) == b'{"id":1}\n' * 500 + b'{"t":"fox"}\n'
    )


def test_a_column_of_numbers_is_not_text(private: Privatizer, tmp_path: Path) -> None:
    pq.write_table(pa.table({"t": [1]}), tmp_path / "in.parquet")
    with pytest.raises(InvalidParameter, match="holds int64, not text"):
        privatize_file(private, tmp_path / "in.parquet", tmp_path / "out.parquet", columns=["t"])


def test_a_doubled_column_cannot_be_privatized_by_name(private: Privatizer, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="2 columns of that name"):
        release(private, tmp_path, "in.csv", b"t,t\nfox,fox\n", columns=["t"])


def test_a_budget_per_record_is_not_spent_twice(private: Privatizer, tmp_path: Path) -> None:
    budget = Privatizer(private.mechanism, record_epsilon=5.0)
    with pytest.raises(InvalidParameter, match="2 times"):
        release(budget, tmp_path, "in.csv", b"a,b\nfox,fox\n", columns=["a", "b"])


def test_an_unknown_word_is_reported_with_its_record_in_the_file(private: Privatizer, tmp_path: Path) -> None:
    strict = Privatizer(private.mechanism, unknown="error")
    data = b"a,b\n" + b"fox,fox\n" * 5_000 + b"fox,fox secret\n"
    with pytest.raises(UnknownWord, match=r"record 5,001, word 2") as raised:
        release(strict, tmp_path, "in.csv", data, columns=["a", "b"])
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("name", ["in.xml", "in.dat", "in.feather"])
def test_a_name_that_does_not_say_the_format_is_not_guessed(
    private: Privatizer, tmp_path: Path, name: str
) -> None:
    with pytest.raises(InvalidParameter, match="say it: one of text, csv"):
        release(private, tmp_path, name, b"fox")
