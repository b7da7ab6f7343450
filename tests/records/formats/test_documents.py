"""Documents that are no text are refused in one line, whatever encoding is said: nothing of them is
released."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from deniable.cli.app import app
from deniable.records.formats.layout import WITH_COLUMNS

ENCODINGS = ("utf-8", "latin-1", "cp1252", "mac-roman")


def released(source: Path, *options: str) -> tuple[int, str]:
    target = source.with_name("out.txt")
    done = CliRunner().invoke(
        app, ["privatize", str(source), "-e", "6", "-o", str(target), "--quiet", *options]
    )
    assert not target.exists()
    return done.exit_code, f"{done.output} {done.exception}"


@pytest.fixture(params=["a.pdf", "a.docx", "a.doc", "a.bin"])
def document(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path: Path = tmp_path / request.param
    if path.suffix == ".docx":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("word/document.xml", "<w:t>my doctor said</w:t>")
    elif path.suffix == ".pdf":
        path.write_bytes(b"%PDF-1.7\n1 0 obj << >> stream\nmy doctor said\nendstream\n")
    elif path.suffix == ".doc":
        path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1 my doctor said")
    else:
        path.write_bytes(b"my doctor\x00\x01\x02\xff said\n")
    return path


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_wrong_hint_does_not_lead_to_garbage(document: Path, encoding: str) -> None:
    code, said = released(document, "--format", "text", "--encoding", encoding)
    assert code != 0
    assert "doctor" not in said


@pytest.mark.parametrize("encoding", ["latin-1", "cp437", "cp037", "mac-roman", "koi8-r"])
def test_bytes_that_are_no_text_are_refused_without_a_zero_among_them(tmp_path: Path, encoding: str) -> None:
    noise = hashlib.shake_256(b"as compressed or encrypted").digest(4000).replace(b"\0", b"z")
    (tmp_path / "in.txt").write_bytes(noise)
    code, said = released(tmp_path / "in.txt", "--encoding", encoding)
    assert code != 0
    assert "is no text, or text in another encoding: it holds control characters" in said


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_text_without_a_mark_is_not_taken_for_utf_8(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "in.txt").write_bytes("my doctor said so\n".encode(encoding))
    code, said = released(tmp_path / "in.txt")
    assert code != 0
    assert "text in another encoding" in said


def test_logs_of_terminals_and_separators_of_ascii_are_text(tmp_path: Path) -> None:
    (tmp_path / "in.log").write_text("\x1b[31mmy doctor\x1b[0m s\bsaid\x1ffox\x01hen\n" * 20)
    target = tmp_path / "out.log"
    done = CliRunner().invoke(
        app, ["privatize", str(tmp_path / "in.log"), "-e", "6", "-o", str(target), "--quiet"]
    )
    assert done.exit_code == 0, done.output
    assert len(target.read_text().splitlines()) == 20


@pytest.mark.parametrize("name", ["letter.PDF", "letter.docx", "table.xls", "table.xlsb"])
def test_the_name_of_a_document_gets_one_clear_line(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"anything")
    code, said = released(tmp_path / name)
    assert code != 0
    assert (
        f"documents of this kind are not read; save it as one of {', '.join(('text', *WITH_COLUMNS))} first"
        in said
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_wide_encodings_hold_zero_bytes_and_are_read(tmp_path: Path, encoding: str) -> None:
    released_texts = []
    for each in (encoding, "utf-8"):
        source, target = tmp_path / f"in-{each}.txt", tmp_path / f"out-{each}.txt"
        source.write_bytes("my doctor said\n".encode(each))
        options = ["-e", "6", "-o", str(target), "--quiet", "--insecure-seed", "1", "--encoding", each]
        done = CliRunner().invoke(app, ["privatize", str(source), *options])
        assert done.exit_code == 0, done.output
        released_texts.append(target.read_text(encoding="utf-8"))
    assert released_texts[0] == released_texts[1] != ""
