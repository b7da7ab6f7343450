"""A key file is secret or it is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deniable import Keyed, KeyFileError
from deniable.noise.key_file import read_key, write_new_key


def test_a_new_key_file_is_for_its_owner_only_and_holds_a_new_key(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        key = write_new_key(tmp_path / "a.key")
    finally:
        os.umask(before)
    assert (tmp_path / "a.key").stat().st_mode & 0o777 == 0o600
    assert read_key(tmp_path / "a.key") == key
    assert write_new_key(tmp_path / "b.key") != key
    assert Keyed.from_file(tmp_path / "a.key").fingerprint == Keyed(key).fingerprint
    made = Keyed.new_file(tmp_path / "c.key", consistent=True)
    assert (made.fingerprint, made.consistent) == (Keyed.from_file(str(tmp_path / "c.key")).fingerprint, True)


def test_a_key_is_never_overwritten_not_even_through_a_link(tmp_path: Path) -> None:
    write_new_key(tmp_path / "a.key")
    before = (tmp_path / "a.key").read_bytes()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("a.key", "link"):
        with pytest.raises(KeyFileError, match="exists already"):
            write_new_key(tmp_path / name)
    assert (tmp_path / "a.key").read_bytes() == before
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620, 0o601, 0o777])
def test_a_key_that_others_can_get_at_is_refused(tmp_path: Path, mode: int) -> None:
    write_new_key(tmp_path / "a.key")
    (tmp_path / "a.key").chmod(mode)
    with pytest.raises(KeyFileError, match=f"mode {mode:04o}.*chmod 600"):
        read_key(tmp_path / "a.key")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "not a key file"),
        (b"-----BEGIN RSA PRIVATE KEY-----\nabc", "not a key file"),
        (b"deniable key 1\n", "0 bytes"),
        (b"deniable key 1\n" + b"ab" * 31, "31 bytes"),
        (b"deniable key 1\n" + b"ab" * 33 + b"\n", "33 bytes"),
        (b"deniable key 1\n" + b"xy" * 32, "hexadecimal"),
        (b"deniable key 1\n\xff\xfe" + b"ab" * 32, "hexadecimal"),
    ],
)
def test_a_wrong_key_file_is_named_without_its_content(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "a.key"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(KeyFileError, match=problem) as caught:
        read_key(path)
    assert (caught.value.source, caught.value.__cause__) == (str(path), None)
    assert "abab" not in str(caught.value)


def test_what_cannot_be_read_or_made_is_said_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name in ("absent", "", "pipe"):
        with pytest.raises(KeyFileError) as caught:
            read_key(tmp_path / name)
        assert caught.value.source == str(tmp_path / name)
    with pytest.raises(KeyFileError):
        write_new_key(tmp_path / "no" / "folder")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_an_unreadable_key_is_refused(tmp_path: Path) -> None:
    write_new_key(tmp_path / "a.key")
    (tmp_path / "a.key").chmod(0o000)
    with pytest.raises(KeyFileError, match="Permission denied"):
        read_key(tmp_path / "a.key")


def test_a_key_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "key"
    write_new_key(path)
    read_key(path)
    os.chown(path, 12_345, -1) if os.geteuid() == 0 else monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    with pytest.raises(KeyFileError, match="belongs to another user"):
        read_key(path)
