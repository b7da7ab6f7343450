"""A service that cannot serve says why in one line, and ends: with one process and with several."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.test_guard import write_certificate
from tests.support.commands import make_command

_IN_VAIN = """
import sys
from deniable.errors import DeniableError, WorkerLost
from deniable.service import server
from deniable.service.settings import read_settings

def fail(*_, **__):
    raise {error}

server.{broken} = fail
server._SECONDS_BEFORE_RESTART = 0.1
try:
    server.serve(read_settings(None, port=0, workers=2), say=lambda _: None)
except WorkerLost as error:
    print(error)
    sys.exit(7)
"""


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('[jobs]\nfolder = "service.toml/jobs"', b"jobs.folder"),
        ('[server]\ncertificate = "server.pem"\nprivate_key = "other.key"', b"server.certificate"),
        ('[server]\ncertificate = "absent.pem"\nprivate_key = "server.key"', b"server.certificate"),
    ],
)
def test_what_cannot_be_used_is_said_before_the_address(
    tmp_path: Path, settings: str, said: bytes, workers: str
) -> None:
    write_certificate(tmp_path)
    first = (tmp_path / "server.pem").read_bytes()
    (tmp_path / "server.key").rename(tmp_path / "other.key")
    write_certificate(tmp_path)
    assert (tmp_path / "server.pem").read_bytes() != first
    (tmp_path / "service.toml").write_text(settings, encoding="utf-8")
    command = make_command(tmp_path / "home", tmp_path)
    status, out, err = command.deniable(
        "serve", "--settings", "service.toml", "--port", "0", "--workers", workers
    )
    assert (status, out) == (2, b""), err
    assert err.startswith(b"deniable: " + said)
    assert err.count(b"\n") == 1


@pytest.mark.parametrize(
    ("broken", "error", "said"),
    [
        ("Service", 'DeniableError("the reason of the test")', "the reason of the test"),
        ("make_server", 'RuntimeError("private words")', "RuntimeError at "),
    ],
)
def test_workers_that_end_before_they_serve_end_the_service(
    tmp_path: Path, broken: str, error: str, said: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _IN_VAIN.format(broken=broken, error=error)],
        env={"DENIABLE_HOME": str(tmp_path / "home"), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 7, done.stderr
    assert "before they served" in done.stdout
    assert said in done.stderr
    assert "private words" not in done.stderr
