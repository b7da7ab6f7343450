from __future__ import annotations

import bz2
import contextlib
import gzip
import json
import os
import pty
import select
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.privatize_command import Command, make_command, without_warning


@pytest.fixture
def command(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Command:
    return make_command(tmp_path_factory.getbasetemp() / "home", tmp_path)


def next_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], 600)
    assert ready, "nothing came out"
    return os.read(process.stdout.fileno(), 1000)


def test_lines_in_lines_out_and_not_a_word_more(command: Command) -> None:
    status, out, err = command.run(data=b"The quick, brown\n\nfox\r\nthe\xe2\x80\xa8fox")
    assert (status, out, err) == (0, b"the quick brown\n\nfox\nthe fox\n", "")


def test_nothing_in_nothing_out(command: Command) -> None:
    assert command.run("-") == (0, b"", "")


def test_a_slow_producer_gets_each_line_back_at_once(command: Command) -> None:
    with command.start() as process:
        assert process.stdin is not None
        for word in (b"fox", b"the", b"quick"):
            process.stdin.write(word + b"\n")
            process.stdin.flush()
            assert next_line(process) == word + b"\n"
        process.stdin.close()
        assert process.wait(600) == 0


def test_a_slow_producer_of_csv_and_json_gets_each_record_back_at_once(command: Command) -> None:
    for format_, header, row, released in (
        ("csv", b"id,text\n", b'1,"the,\nfox"\n', b"1,the fox\n"),
        ("jsonl", b"", b'{"id": 1, "text": "fox!"}\n', b'{"id":1,"text":"fox"}\n'),
    ):
        with command.start("--format", format_, "--column", "text", "--keep", "id") as process:
            assert process.stdin is not None
            process.stdin.write(header + row)
            process.stdin.flush()
            out = next_line(process)
            if out == header:  # the header may come by itself or with the row
                out += next_line(process)
            assert out == header + released
            process.stdin.write(row)
            process.stdin.flush()
            assert next_line(process) == released
            process.stdin.close()


def test_json_that_pauses_before_the_first_record_with_the_key_is_not_refused(command: Command) -> None:
    with command.start("--format", "jsonl", "--column", "text", "--keep", "id") as process:
        assert process.stdin is not None
        process.stdin.write(b'{"id": 1}\n')
        process.stdin.flush()
        time.sleep(2)  # longer than the command takes to read it
        assert process.poll() is None
        out, _ = process.communicate(b'{"id": 2, "text": "fox"}\n', timeout=600)
        assert (process.returncode, out) == (0, b'{"id":1}\n{"id":2,"text":"fox"}\n')


def test_many_lines_go_through_in_order(command: Command) -> None:
    data = b"".join(b"word%d the\n" % (i % 100) for i in range(20_000))
    assert command.run(data=data) == (0, data, "")


def test_a_closed_pipe_ends_the_work_quietly(command: Command) -> None:
    with command.start() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"the fox\n" * 1_000)
        process.stdin.flush()
        assert process.stdout.read(4) == b"the "
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            for _ in range(2_000):
                process.stdin.write(b"the fox\n" * 1_000)
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        assert process.wait(600) == 0
        assert without_warning(process.stderr.read()) == b""


def test_ctrl_c_ends_the_work_quietly(command: Command) -> None:
    with command.start() as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"fox\n")
        process.stdin.flush()
        assert next_line(process) == b"fox\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(600) == 130
        assert without_warning(process.stderr.read()) == b""


def test_a_terminal_gets_each_line_back_at_once(command: Command) -> None:
    ours, theirs = pty.openpty()
    with command.start(stdin=theirs) as process:
        os.close(theirs)
        os.write(ours, b"fox\n")
        assert next_line(process) == b"fox\n"
        os.write(ours, b"\x04")
        assert process.wait(600) == 0
    os.close(ours)


def test_compressed_input_is_recognised(command: Command) -> None:
    assert command.run(data=gzip.compress(b"fox\n" * 3)) == (0, b"fox\n" * 3, "")
    status, _, err = command.run(data=gzip.compress(os.urandom(50_000).hex().encode())[:-100])
    assert status == 1
    assert err == "deniable: standard input: the gzip data is damaged or cut short\n"


def test_text_that_begins_like_bzip2_is_text_even_byte_by_byte(command: Command) -> None:
    assert command.run("--unknown", "redact", data=b"BZh my fox\n")[:2] == (0, b"[redacted] [redacted] fox\n")
    packed = bz2.compress(b"fox\n")
    with command.start() as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for i in range(len(packed)):
            process.stdin.write(packed[i : i + 1])
            process.stdin.flush()
            time.sleep(0.01)
        process.stdin.close()
        assert process.stdout.read() == b"fox\n"
        assert process.wait(600) == 0


def test_wrong_utf8_is_one_line_on_standard_error(command: Command) -> None:
    status, _, err = command.run(data=b"fox\nsecret \xff\n")
    assert status == 1
    advice = "say the encoding of the file with --encoding, such as cp1252 (Windows) or latin-1"
    assert err == f"deniable: standard input, line 2: not valid UTF-8; {advice}\n"
    assert command.run("--encoding", "latin-1", data=b"fox \xff\n")[0] == 0


def test_a_text_file_without_output_goes_to_standard_output(command: Command) -> None:
    (command.folder / "in.txt").write_text("fox, the\n")
    assert command.run("in.txt") == (0, b"fox the\n", "")


def test_the_receipt_is_written_when_asked_for(command: Command) -> None:
    status, out, err = command.run("--receipt", "r.json", "--json", data=b"fox the\n")
    assert (status, out) == (0, b"fox the\n")
    assert json.loads(err) == json.loads((command.folder / "r.json").read_text())
    assert json.loads(err)["counts"]["words"] == 2
    status, out, err = command.run("--receipt", "r.json", data=b"fox the\n")
    assert (status, out) == (1, b"")
    assert "--force" in err


def test_a_full_device_is_one_line_on_standard_error(command: Command) -> None:
    with Path("/dev/full").open("wb") as full:
        process = command.start(stdout=full)
        _, err = process.communicate(b"fox\n" * 10)
    assert process.returncode == 1
    assert err.decode().startswith("deniable: ")
    assert "No space left" in err.decode()
    assert without_warning(err).count(b"\n") == 1


_COUNTING = """
import atexit, sys
import deniable.records.files as files
write, writes = files._write, []
files._write = lambda *given, **options: writes.append(1) or write(*given, **options)
atexit.register(lambda: print("writes:", len(writes), file=sys.stderr))
"""


def test_output_comes_in_large_batches_when_input_is_fast(command: Command) -> None:
    (command.folder / "in").write_bytes(b"fox\n" * 50_000)
    with (
        (command.folder / "in").open("rb") as lines,
        command.start(prelude=_COUNTING, stdin=lines) as process,
    ):
        out, said = process.communicate(timeout=600)
    assert (process.returncode, out) == (0, b"fox\n" * 50_000)
    assert 0 < int(said.decode().rpartition("writes: ")[2]) < 500


def test_what_lists_relax_is_said_before_they_go_to_standard_output(command: Command) -> None:
    status, _, said = command.run("--format", "jsonl", "-c", "l[]", data=b'{"l": ["the fox", "fox"]}\n')
    assert status == 0
    assert "relaxed: a column holds lists of texts" in said
