"""The examples of the guide work as they stand, and the files for operators are in order."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from deniable.noise import encoding as unique
from deniable.service.settings import read_settings
from tests.service.running import make_settings, running
from tests.service.test_guard import write_certificate

ROOT = Path(__file__).resolve().parent.parent.parent
GUIDE = ROOT / "docs" / "guide" / "service.md"


def examples() -> dict[str, str]:
    return dict(
        re.findall(
            r"<!-- example: (\w+) -->\n```text\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL
        )
    )


@pytest.mark.parametrize(
    ("language", "command"),
    [("sh", ["bash", "-euo", "pipefail"]), ("python", [sys.executable]), ("js", ["node"])],
)
def test_the_examples_run(language: str, command: list[str], tmp_path: Path) -> None:
    if shutil.which(command[0]) is None or (language == "sh" and shutil.which("curl") is None):
        pytest.skip(f"{command[0]} or curl is not installed")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    with running(make_settings(tmp_path)) as client:
        text = examples()[language]
        assert "http://127.0.0.1:8000" in text
        file = tmp_path / {"sh": "example.sh", "python": "example.py", "js": "example.mjs"}[language]
        file.write_text(text.replace("http://127.0.0.1:8000", client.address), encoding="utf-8")
        done = subprocess.run(
            [*command, str(file)], cwd=tmp_path, capture_output=True, text=True, timeout=600
        )
    assert done.returncode == 0, done.stderr
    if language == "sh":
        first, *lines = done.stdout.replace("}{", "}\n{").splitlines()
        assert json.loads(first)["card"]["epsilon_per_word"] == 6
        assert len(lines) == 2
        original = (ROOT / "examples" / "reviews.csv").read_text(encoding="utf-8")
        assert (tmp_path / "released.csv").read_text(encoding="utf-8").count("\n") == original.count("\n")
    else:
        assert done.stdout.strip()


def test_the_settings_of_the_guide_are_allowed(tmp_path: Path) -> None:
    path = tmp_path / "service.toml"
    text = (ROOT / "deploy" / "service.toml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    (tmp_path / "token").write_text("x" * 64)
    (tmp_path / "token").chmod(0o600)
    made = read_settings(path)
    assert (made.server.workers, made.release.max_epsilon, made.jobs.keep_minutes) == (2, 8, 60)
    whole = re.sub(
        r"^# (certificate|private_key|record_epsilon|keep_words|key_file|consistent) ?=",
        r"\1 =",
        text,
        flags=re.MULTILINE,
    )
    assert whole.count("\n# ") < text.count("\n# "), "every option stands in the file"


def test_the_jobs_of_the_shipped_settings_do_not_lie_beside_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The container and the unit mount the folder of the settings read-only, and say in DENIABLE_HOME where
    can be written."""
    (tmp_path / "etc").mkdir()
    shutil.copy(ROOT / "deploy" / "service.toml", tmp_path / "etc" / "service.toml")
    (tmp_path / "etc" / "token").write_text("x" * 64)
    (tmp_path / "etc" / "token").chmod(0o600)
    for name in ("Containerfile", "deniable.service"):
        found = re.search(r"DENIABLE_HOME=(\S+)", (ROOT / "deploy" / name).read_text(encoding="utf-8"))
        assert found is not None
        monkeypatch.setenv("DENIABLE_HOME", found.group(1))
        assert read_settings(tmp_path / "etc" / "service.toml").jobs_folder == Path(found.group(1)) / "jobs"


@pytest.mark.parametrize("tls", [True, False])
def test_the_container_knows_whether_the_service_is_well(tmp_path: Path, tls: bool) -> None:
    write_certificate(tmp_path)
    certificate, key = (str(tmp_path / "server.pem"), str(tmp_path / "server.key")) if tls else (None, None)
    with running(make_settings(tmp_path, certificate=certificate, private_key=key)) as client:
        asked = [sys.executable, str(ROOT / "deploy" / "health.py"), str(client.port)]
        assert subprocess.run(asked, timeout=600).returncode == 0
    assert subprocess.run(asked, timeout=600).returncode == 1
    assert "health.py" in (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_is_in_order(tmp_path: Path) -> None:
    unit = (
        (ROOT / "deploy" / "deniable.service")
        .read_text(encoding="utf-8")
        .replace("/opt/deniable/bin/deniable", "/bin/true")
    )
    (tmp_path / "deniable.service").write_text(unit, encoding="utf-8")
    done = subprocess.run(
        ["systemd-analyze", "verify", str(tmp_path / "deniable.service")],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert "deniable.service" not in done.stderr, done.stderr
    assert done.returncode == 0, done.stderr
    asked = [
        "systemd-analyze",
        "security",
        "--offline=yes",
        "--no-pager",
        "--threshold=20",
        str(tmp_path / "deniable.service"),
    ]
    done = subprocess.run(asked, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, "more than 2.0 of 10 is exposed\n" + done.stdout


def test_the_image_is_built_from_what_it_needs_alone() -> None:
    """A token that lies in the checkout, or an environment of gigabytes, is not sent to the engine that
    builds."""
    first, *others = [
        line
        for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
        if line and line[0] != "#"
    ]
    assert first == "*"
    taken = {line[1:] for line in others if line.startswith("!")}
    assert all((ROOT / name).exists() for name in taken)
    copied = set(
        re.findall(
            r"^COPY (deploy/\S+)",
            (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    )
    assert taken == {"CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml", "src", *copied}


def test_the_container_is_not_root_and_listens_to_the_settings_only() -> None:
    text = (ROOT / "deploy" / "Containerfile").read_text(encoding="utf-8")
    assert text.rindex("USER 10001") < text.rindex("CMD")
    assert "HEALTHCHECK" in text
    assert "--host" not in text


def test_the_guide_says_what_may_be_kept_elsewhere() -> None:
    """Queries in the logs of proxies, and digests of ids in the system's temporary folder, from the number of
    records on that is true."""
    text = " ".join(GUIDE.read_text(encoding="utf-8").split())
    warned = re.search(
        r"The query of `/files` holds ([^.]*)\. This service logs no query, but proxies in front may", text
    )
    assert warned is not None
    for name in ("name", "columns", "words to keep"):
        assert name in warned.group(1)
    assert f"more than {unique.RUN:,} records under a key" in text
    assert f"{unique._MARK.itemsize} bytes a record" in text
