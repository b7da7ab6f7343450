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

from tests.support.commands import Command, without_warning


def next_line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], 600)
    assert ready, "nothing came out"
    return os.read(process.stdout.fileno(), 1000)


def feed(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(data)
    process.stdin.flush()


def end(process: subprocess.Popen[bytes]) -> int:
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    return process.wait(600)


def test_lines_in_lines_out_in_order_and_not_a_word_more(command: Command) -> None:
    released = command.run(data=b"The quick, brown\n\nfox\r\nthe\xe2\x80\xa8fox")
    assert released == (0, b"the quick brown\n\nfox\nthe fox\n", "")
    assert command.run("-") == (0, b"", "")
    (command.folder / "in.txt").write_text("fox, the\n")
    assert command.run("in.txt") == (0, b"fox the\n", "")
    data = b"".join(b"word%d the\n" % (i % 100) for i in range(20_000))
    assert command.run(data=data) == (0, data, "")


def test_a_slow_producer_gets_each_line_back_at_once(command: Command) -> None:
    with command.start() as process:
        for word in (b"fox\n", b"the\n", b"quick\n"):
            feed(process, word)
            assert next_line(process) == word
        assert end(process) == 0


def test_a_slow_producer_of_csv_and_json_gets_each_record_back_at_once(command: Command) -> None:
    for format_, header, row, released in (
        ("csv", b"id,text\n", b'1,"the,\nfox"\n', b"1,the fox\n"),
        ("jsonl", b"", b'{"id": 1, "text": "fox!"}\n', b'{"id":1,"text":"fox"}\n'),
    ):
        with command.start(f"--format {format_} --column text --keep id") as process:
            feed(process, header + row)
            out = next_line(process)
            if out == header:  # the header may come by itself or with the row
                out += next_line(process)
            assert out == header + released
            feed(process, row)
            assert next_line(process) == released
            end(process)


def test_json_that_pauses_before_the_first_record_with_the_key_is_not_refused(command: Command) -> None:
    with command.start("--format jsonl --column text --keep id") as process:
        feed(process, b'{"id": 1}\n')
        time.sleep(2)  # longer than the command takes to read it
        assert process.poll() is None
        out, _ = process.communicate(b'{"id": 2, "text": "fox"}\n', timeout=600)
        assert (process.returncode, out) == (0, b'{"id":1}\n{"id":2,"text":"fox"}\n')


def test_a_closed_pipe_ends_the_work_quietly(command: Command) -> None:
    with command.start() as process:
        assert process.stdout is not None
        assert process.stderr is not None
        feed(process, b"the fox\n" * 1_000)
        assert process.stdout.read(4) == b"the "
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            for _ in range(2_000):
                feed(process, b"the fox\n" * 1_000)
        assert end(process) == 0
        assert without_warning(process.stderr.read()) == b""


def test_ctrl_c_ends_the_work_quietly(command: Command) -> None:
    with command.start() as process:
        assert process.stderr is not None
        feed(process, b"fox\n")
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


def test_compressed_input_is_recognised_even_byte_by_byte_and_text_like_it_is_text(command: Command) -> None:
    assert command.run(data=gzip.compress(b"fox\n" * 3)) == (0, b"fox\n" * 3, "")
    status, _, err = command.run(data=gzip.compress(os.urandom(50_000).hex().encode())[:-100])
    assert (status, err.count("\n"), "gzip" in err) == (1, 1, True)
    assert command.run("--unknown redact", data=b"BZh my fox\n")[:2] == (0, b"[redacted] [redacted] fox\n")
    packed = bz2.compress(b"fox\n")
    with command.start() as process:
        assert process.stdout is not None
        for i in range(len(packed)):
            feed(process, packed[i : i + 1])
            time.sleep(0.01)
        assert end(process) == 0
        assert process.stdout.read() == b"fox\n"


def test_wrong_utf8_is_one_line_on_standard_error(command: Command) -> None:
    status, _, err = command.run(data=b"fox\nsecret \xff\n")
    assert (status, err.count("\n")) == (1, 1)
    assert "line 2" in err
    assert "--encoding" in err
    assert command.run("--encoding latin-1", data=b"fox \xff\n")[0] == 0


def test_the_receipt_is_written_when_asked_for(command: Command) -> None:
    status, out, err = command.run("--receipt r.json --json", data=b"fox the\n")
    assert (status, out) == (0, b"fox the\n")
    assert json.loads(err) == json.loads((command.folder / "r.json").read_text())
    assert json.loads(err)["counts"]["words"] == 2
    status, out, err = command.run("--receipt r.json", data=b"fox the\n")
    assert (status, out, "--force" in err) == (1, b"", True)


def test_a_full_device_is_one_line_on_standard_error(command: Command) -> None:
    with Path("/dev/full").open("wb") as full:
        process = command.start(stdout=full)
        _, err = process.communicate(b"fox\n" * 10)
    assert (process.returncode, without_warning(err).count(b"\n")) == (1, 1)
    assert b"No space left" in err


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
