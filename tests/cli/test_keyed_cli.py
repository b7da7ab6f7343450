"""``deniable key``, ``--key-file``, ``--workers`` and ``deniable watch`` as their users start them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.support.commands import Command, without_warning

WATCH = "watch inbox --out outbox --embedding tiny -e 1e6 --settle 0"


def test_a_key_is_made_used_named_in_the_receipt_and_never_shown(command: Command) -> None:
    status, out, said = command.deniable("key new my.key")
    fingerprint = out.decode().strip()
    assert (status, b"fingerprint" in said) == (0, True)
    key = command.folder / "my.key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert command.deniable("key show my.key")[1].decode().strip() == fingerprint
    secret = key.read_text().split()[-1]
    rows = "".join(f"{i},the quick brown fox\n" for i in range(50))
    (command.folder / "in.csv").write_text("id,text\n" + rows)
    keyed, outputs = "-c text --epsilon 1 --key-file my.key --record-id id", []
    for name in ("a.csv", "b.csv --workers 2"):
        code, _, told = command.run("in.csv", keyed, "-o", name)
        assert code == 0, told
        target = command.folder / name.split()[0]
        outputs.append(target.read_bytes())
        receipt = target.with_name(f"{target.name}.receipt.json").read_text()
        assert json.loads(receipt)["randomness"]["key"] == fingerprint
        assert secret not in told + receipt
    assert outputs[0] == outputs[1]
    streamed = command.run("--format csv --keep id", keyed, data=(command.folder / "in.csv").read_bytes())
    assert streamed[:2] == (0, outputs[0])


def test_wrong_uses_of_a_key_are_one_message_and_exit_code_2(command: Command) -> None:
    command.deniable("key new my.key")
    (command.folder / "open.key").write_bytes((command.folder / "my.key").read_bytes())
    (command.folder / "open.key").chmod(0o644)
    (command.folder / "in.csv").write_text("id,text\n1,fox\n")
    file = "in.csv -c text -o out.csv"
    for arguments, named in (
        (f"{file} --key-file absent.key", "absent.key"),
        (f"{file} --key-file open.key", "0644"),
        (f"{file} --key-file in.csv", "in.csv"),
        (f"{file} --key-file my.key --record-id absent", "absent"),
        (f"{file} --record-id id", "--key-file"),
        (f"{file} --key-file my.key --record-id id --consistent-by id", "--consistent-by"),
        (f"{file} --key-file my.key --insecure-seed 1", "randomness"),
        ("--key-file my.key", "standard input"),
        ("in.csv -c text --workers 2", "--output"),
    ):
        code, output, said = command.run(arguments)
        assert (code, output) == (2, b""), arguments
        assert named in " ".join(said.replace("│", "").split()), said
        assert "Traceback" not in said
    assert not (command.folder / "out.csv").exists()
    status, out, said_again = command.deniable("key new my.key")
    assert (status, out, said_again.count(b"\n")) == (2, b"", 1)


def folders(command: Command) -> tuple[Path, Path]:
    """Make a folder to watch and one for what is released."""
    inbox, outbox = (command.folder / name for name in ("inbox", "outbox"))
    inbox.mkdir()
    outbox.mkdir()
    return inbox, outbox


def test_watch_once_releases_what_is_there_and_reports_what_failed(command: Command) -> None:
    inbox, outbox = folders(command)
    once = f"{WATCH} --once -c text --keep id"
    (inbox / "a.csv").write_text("id,text\n1,the fox\n")
    status, _, said = command.deniable(once)
    assert (status, b"released a.csv: 1 records, 2 words" in said) == (0, True), said
    (inbox / "a.csv").rename(inbox / "c.csv")
    status, _, said = command.deniable(once, "--quiet")
    assert (status, b"skipped c.csv" in said, b"100 %" in said) == (0, True, True), "quiet or not"
    (inbox / "b.csv").write_text("id,wrong\n1,the fox\n")
    status, _, said = command.deniable(once)
    assert (status, without_warning(said).count(b"\n"), b"failed b.csv" in said) == (1, 1, True)
    (outbox / "b.csv").write_text("raw secret text\n")
    status, _, said = command.deniable(once)
    assert (status, b"released b.csv" in said) == (1, False), "what somebody put there is no release"


def wait_for(path: Path, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 600
    while not path.exists():
        assert process.poll() is None
        assert time.monotonic() < until, f"{path.name} never appeared"
        time.sleep(0.05)


def test_watch_goes_on_after_a_kill_and_ends_with_ctrl_c(command: Command) -> None:
    inbox, outbox = folders(command)
    main = [sys.executable, "-c", "from deniable.cli.app import main; main()"]
    for number, ending in enumerate((signal.SIGKILL, signal.SIGINT)):
        (inbox / f"{number}.txt").write_text(f"the fox word{number}\n")
        process = subprocess.Popen(
            [*main, *WATCH.split(), "--every", "0.1"],
            cwd=command.folder,
            env=command.environment,
            stderr=subprocess.PIPE,
        )
        wait_for(outbox / f"{number}.txt", process)
        process.send_signal(ending)
        _, said = process.communicate(timeout=600)
    assert process.returncode == 130
    assert b"Traceback" not in said
    assert said.count(b"released 0.txt") <= 1
    assert sorted(path.name for path in outbox.glob("*.txt")) == ["0.txt", "1.txt"]
