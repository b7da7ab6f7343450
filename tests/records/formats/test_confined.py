"""Untrusted files are parsed in a process with limits: whatever happens there is one error here."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

import pytest

from deniable.errors import RecordError
from deniable.records.formats.confined_parent import ParserFailed, parse_confined
from deniable.records.formats.source import FileSource

PARSERS = {
    "memory": "taken = [bytes([7]) * (16 << 20) for _ in range(400)]; yield b'qzx'",
    "death": "import os; os.abort(); yield b''",
    "exit": "import os; os._exit(0); yield b''",
    "noise": "import sys; print('qzx', file=sys.stderr); raise ValueError('qzx'); yield b''",
    "refusal": "refuse('holds \\x1b[31m a thing'); yield b''",
}
UNLIMITED = "import resource\nresource.setrlimit = lambda *_: None\n"


@contextmanager
def parsed(folder: Path, body: str, *, before: str = "") -> Iterator[Iterator[bytes]]:
    script, path = folder / "parser.py", folder / "in.bin"
    script.write_text(f"{before}def parse(file, refuse, *, more):\n    {body}\n")
    path.write_bytes(b"first")
    with closing(FileSource(path)) as source:
        with path.open("ab") as file:
            file.write(b" added later")
        path.rename(folder / "elsewhere")
        yield parse_confined(source, script, "do something else", more=1)


def test_the_very_file_that_was_opened_is_parsed_as_far_as_it_went(tmp_path: Path) -> None:
    with parsed(
        tmp_path, "yield file.read(); file.seek(1); yield file.read(2); yield str(more).encode()"
    ) as pieces:
        assert list(pieces) == [b"first", b"ir", b"1"]


@pytest.mark.parametrize("before", ["", UNLIMITED])
def test_more_memory_than_allowed_is_one_error_also_where_the_system_has_no_limit(
    tmp_path: Path, before: str
) -> None:
    with parsed(tmp_path, PARSERS["memory"], before=before) as pieces, pytest.raises(ParserFailed) as failed:
        list(pieces)
    assert failed.value.source == str(tmp_path / "in.bin")
    assert failed.value.problem.endswith("do something else")


@pytest.mark.parametrize("name", ["death", "exit", "noise", "refusal"])
def test_whatever_a_parser_does_is_one_error_that_quotes_nothing(
    tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with parsed(tmp_path, PARSERS[name]) as pieces, pytest.raises(RecordError) as failed:
        list(pieces)
    assert isinstance(failed.value, ParserFailed) == (name in ("death", "exit"))
    assert failed.value.problem.isprintable()
    assert "qzx" not in str(failed.value) + "".join(capfd.readouterr())


def test_the_process_ends_when_nobody_reads_on(tmp_path: Path) -> None:
    with parsed(
        tmp_path, "import os, itertools; yield from (str(os.getpid()).encode() for _ in itertools.count())"
    ) as pieces:
        process = int(next(pieces))
        os.kill(process, 0)
        cast("Generator[bytes, None, None]", pieces).close()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
