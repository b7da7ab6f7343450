from __future__ import annotations

import re
from pathlib import Path

import pytest

from deniable.cli import serve as serve_command
from deniable.errors import InvalidParameter, MissingExtra
from deniable.installation import install_command
from deniable.service.settings import Settings, read_settings
from deniable.words.never_release import NeverRelease
from tests.support.commands import make_command


def write(folder: Path, text: str) -> Path:
    path = folder / "service.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_without_a_file_the_defaults_hold() -> None:
    assert read_settings(None) == Settings()
    assert read_settings(None, port=9, workers=2).server.port == 9


def test_values_are_read_and_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x" * 40)
    (tmp_path / "token").chmod(0o600)
    (tmp_path / "drugs.txt").write_text("aspirin\n")
    path = write(
        tmp_path,
        '[server]\nhost = "0.0.0.0"\ntoken_file = "token"\n[release]\nmax_epsilon = 7\nunknown = "redact"\n'
        'never_release = ["names", "drugs.txt"]\n[jobs]\nfolder = "jobs"\n',
    )
    made = read_settings(path, port=1234)
    assert (made.server.port, made.release.max_epsilon, made.release.unknown) == (1234, 7.0, "redact")
    assert made.token() == "x" * 40
    assert made.jobs_folder == tmp_path / "jobs"
    assert made.never_released() == NeverRelease.of(["names", "aspirin"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[release]\nepsilonn = 3", "epsilonn"),
        ("[releese]\nepsilon = 3", "releese"),
        ('[release]\nepsilon = "3"', "release.epsilon"),
        ("[release]\nepsilon = 0", "release.epsilon"),
        ("[release]\nepsilon = nan", "epsilon"),
        ("[release]\nmax_epsilon = 2", "max_epsilon"),
        ("[release]\nmax_epsilon = inf", "release.max_epsilon"),
        ("[release]\nrecord_epsilon = inf", "release.record_epsilon"),
        ("[release]\nepsilon = inf\nmax_epsilon = inf", "release.epsilon"),
        ('[release]\nmechanisms = ["nothing"]', "must be one of"),
        ('[release]\nnever_release = ["nowhere.txt"]', "No such file"),
        ('[release]\nnever_release = "names"', "release.never_release"),
        ("[release]\nmechanisms = []", "release.mechanisms"),
        ('[release]\nunknown = "pass"', "release.unknown"),
        ("[release.options.vickrey]\nt = 0.5", "not allowed"),
        ('[release]\nmechanisms = ["vickrey"]\n[release.options.vickrey]\nx = 0.5', "is no option"),
        ('[release]\nmechanisms = ["santext-plus"]', "sensitive"),
        ("[release]\nconsistent = true", "key_file"),
        ('[release]\nkeep_words = "absent"', "keep_words"),
        ("[server]\nport = 70000", "server.port"),
        ("[server]\nworkers = 0", "server.workers"),
        ('[server]\nhost = "0.0.0.0"', "token"),
        ('[server]\ntoken_file = "absent"', "cannot be read"),
        ('[server]\ncertificate = "a"', "private_key"),
        ("[limits]\nrequest_bytes = -1", "limits.request_bytes"),
        ("[limits]\nseconds = true", "limits.seconds"),
        ("[limits]\nseconds = inf", "limits.seconds"),
        ("[limits]\nseconds = 1e9", "limits.seconds"),
        ("[jobs]\nkeep_minutes = 0", "jobs.keep_minutes"),
        ("[jobs]\nkeep_minutes = inf", "jobs.keep_minutes"),
        ("[jobs]\nkeep_minutes = 1e300", "jobs.keep_minutes"),
        ("not toml", "is not TOML"),
    ],
)
def test_a_wrong_value_is_one_clear_error(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidParameter) as raised:
        read_settings(write(tmp_path, text))
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("content", "mode"),
    [("short", 0o600), ("x" * 40, 0o644), ("", 0o600), (f"{'x' * 40}\n{'y' * 40}", 0o600)],
)
def test_a_token_file_that_is_open_or_weak_is_refused(tmp_path: Path, content: str, mode: int) -> None:
    (tmp_path / "token").write_text(content)
    (tmp_path / "token").chmod(mode)
    with pytest.raises(InvalidParameter, match="token_file") as raised:
        read_settings(write(tmp_path, '[server]\ntoken_file = "token"'))
    assert not content or content not in str(raised.value)


def test_a_token_is_read_through_the_links_of_a_mount(tmp_path: Path) -> None:
    (tmp_path / "..2026").mkdir()
    (tmp_path / "..2026" / "token").write_text("x" * 40)
    (tmp_path / "..2026" / "token").chmod(0o400)
    (tmp_path / "..data").symlink_to("..2026")
    (tmp_path / "token").symlink_to("..data/token")
    assert read_settings(write(tmp_path, '[server]\ntoken_file = "token"')).token() == "x" * 40


def test_the_command_says_what_is_wrong_in_one_line(tmp_path: Path) -> None:
    command = make_command(tmp_path / "home", tmp_path)
    write(tmp_path, "[release]\nmax_epsilon = 'x'")
    for options in (
        ["--settings", "service.toml"],
        ["--settings", "absent.toml"],
        ["--host", "0.0.0.0"],
        ["--port", "99999"],
    ):
        status, out, err = command.deniable("serve", *options)
        assert (status, out) == (2, b""), err
        assert err.startswith(b"deniable: ")
        assert err.count(b"\n") == 1


def test_without_its_libraries_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve_command, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=re.escape(install_command("serve"))):
        serve_command.serve()
