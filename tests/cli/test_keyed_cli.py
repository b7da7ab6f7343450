"""``deniable key``, ``--key-file``, ``--workers`` and ``deniable watch`` as their users start them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.privatize_command import Command, make_command, without_warning

MAIN = [sys.executable, "-c", "from deniable.cli.app import main; main()"]

KEPT = ["--keep", "id"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def command(home: Path, tmp_path: Path) -> Command:
    return make_command(home, tmp_path)


def run(command: Command, *arguments: str) -> subprocess.CompletedProcess[str]:
    status, out, err = command.deniable(*arguments)
    return subprocess.CompletedProcess(arguments, status, out.decode(), err.decode())


def test_a_key_is_made_used_named_in_the_receipt_and_never_shown(command: Command) -> None:
    made = run(command, "key", "new", "my.key")
    assert made.returncode == 0
    fingerprint = made.stdout.strip()
    assert "Receipts name it by its fingerprint, which is no secret" in made.stderr
    assert (command.folder / "my.key").stat().st_mode & 0o777 == 0o600
    assert run(command, "key", "show", "my.key").stdout.strip() == fingerprint
    secret = (command.folder / "my.key").read_text().split()[-1]
    (command.folder / "in.csv").write_text(
        "id,text\n" + "".join(f"{i},the quick brown fox\n" for i in range(50))
    )
    outputs = []
    for name, more in (("a.csv", []), ("b.csv", ["--workers", "2"])):
        options = [
            "in.csv",
            "-c",
            "text",
            "--epsilon",
            "1",
            "--key-file",
            "my.key",
            "--record-id",
            "id",
            "-o",
            name,
            *more,
        ]
        code, _, said = command.run(*options)
        assert code == 0, said
        assert secret not in said
        outputs.append((command.folder / name).read_bytes())
        receipt = (command.folder / f"{name}.receipt.json").read_text()
        assert json.loads(receipt)["randomness"]["key"] == fingerprint
        assert secret not in receipt
    assert outputs[0] == outputs[1]
    code, released, _ = command.run("--epsilon", "1", "--key-file", "my.key", "--format", "csv", "-c", "text", *KEPT, "--record-id", "id",  # noqa: E501
                                    data=(command.folder / "in.csv").read_bytes())  # fmt: skip
    assert (code, released) == (0, outputs[0])


def test_wrong_uses_of_a_key_give_one_line_and_exit_code_2(command: Command) -> None:
    run(command, "key", "new", "my.key")
    (command.folder / "open.key").write_bytes((command.folder / "my.key").read_bytes())
    (command.folder / "open.key").chmod(0o644)
    (command.folder / "in.csv").write_text("id,text\n1,fox\n")
    file = ["in.csv", "-c", "text", "-o", "out.csv"]
    cases: list[tuple[list[str], str]] = [
        (
            [*file, "--key-file", "absent.key"],
            "key file absent.key: is not there; make it with `deniable key new FILE`",
        ),
        ([*file, "--key-file", "open.key"], "others than its owner have access to it (mode 0644)"),
        ([*file, "--key-file", "in.csv"], "others than its owner"),
        ([*file, "--key-file", "my.key", "--record-id", "absent"], "none of that name"),
        ([*file, "--record-id", "id"], "only with a key (--key-file)"),
        (
            [*file, "--key-file", "my.key", "--record-id", "id", "--consistent-by", "id"],
            "one of --record-id and --consistent-by",
        ),
        ([*file, "--key-file", "my.key", "--insecure-seed", "1"], "the noise comes from the key"),
        (["--key-file", "my.key"], "standard input is a stream"),
        (["in.csv", "-c", "text", "--workers", "2"], "--workers needs an --output"),
    ]
    for arguments, problem in cases:
        code, output, said = command.run(*arguments)
        assert (code, output) == (2, b""), arguments
        assert problem in " ".join(said.replace("│", "").split()), said
        assert "Traceback" not in said
    assert not (command.folder / "out.csv").exists()
    again = run(command, "key", "new", "my.key")
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr.count("\n") == 1


def test_watch_once_releases_what_is_there_and_reports_what_failed(command: Command) -> None:
    for name in ("inbox", "outbox"):
        (command.folder / name).mkdir()
    (command.folder / "inbox" / "a.csv").write_text("id,text\n1,the fox\n")
    watch = [
        "watch",
        "inbox",
        "--out",
        "outbox",
        "--once",
        "--embedding",
        "tiny",
        "-e",
        "1e6",
        "-c",
        "text",
        "--keep",
        "id",
        "--settle",
        "0",
    ]
    done = run(command, *watch)
    assert done.returncode == 0, done.stderr
    assert "released a.csv: 1 records, 2 words" in done.stderr
    (command.folder / "inbox" / "a.csv").rename(command.folder / "inbox" / "c.csv")
    done = run(command, *watch, "--quiet")
    assert done.returncode == 0, done.stderr
    assert "skipped c.csv: its content was released as a.csv" in done.stderr
    assert "about 100 % of the words of tiny are released as they are" in done.stderr, "quiet or not"
    (command.folder / "inbox" / "b.csv").write_text("id,wrong\n1,the fox\n")
    done = run(command, *watch)
    assert done.returncode == 1
    assert without_warning(done.stderr.encode()).count(b"\n") == 1
    assert "failed b.csv" in done.stderr
    (command.folder / "outbox" / "b.csv").write_text("raw secret text\n")
    done = run(command, *watch)
    assert done.returncode == 1, "what somebody put there is no release"
    assert "released b.csv" not in done.stderr
    assert "exists and was not released from here" in done.stderr


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if path.exists():
            return
        assert process.poll() is None
        time.sleep(0.1)
    raise AssertionError(f"{path.name} never appeared")


def test_watch_goes_on_after_a_kill_and_ends_with_ctrl_c(command: Command) -> None:
    for name in ("inbox", "outbox"):
        (command.folder / name).mkdir()
    argv = [
        *MAIN,
        "watch",
        "inbox",
        "--out",
        "outbox",
        "--embedding",
        "tiny",
        "-e",
        "1e6",
        "--settle",
        "0",
        "--every",
        "0.1",
    ]
    for round_, end in enumerate((signal.SIGKILL, signal.SIGINT)):
        (command.folder / "inbox" / f"{round_}.txt").write_text(f"the fox word{round_}\n")
        process = subprocess.Popen(argv, cwd=command.folder, env=command.environment, stderr=subprocess.PIPE)
        wait_for(command.folder / "outbox" / f"{round_}.txt", process)
        if end == signal.SIGINT:
            (command.folder / "inbox" / "late.txt").write_text("the quick fox\n")
            wait_for(command.folder / "outbox" / "late.txt", process)
        os.kill(process.pid, end)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 130
    assert b"stopped; " in said
    assert b"Traceback" not in said
    assert said.count(b"released 0.txt") <= 1
    assert sorted(path.name for path in (command.folder / "outbox").glob("*.txt")) == [
        "0.txt",
        "1.txt",
        "late.txt",
    ]
