"""A file appears under its name when it is complete, and not before."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from deniable.atomic import (
    discard_drafts,
    lock,
    open_to_others,
    publish,
    sync_folder,
    whole_file,
    write_whole,
)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a[b]*.json"
    path.write_text("old")
    return path


def test_a_file_holds_what_it_held_until_all_is_written(file: Path) -> None:
    with whole_file(file) as draft:
        draft.write(b"new")
        draft.flush()
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    assert names_in(file.parent) == [file.name]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError, ValueError])
def test_what_is_stopped_leaves_the_old_file_and_nothing_else(file: Path, stop: type[BaseException]) -> None:
    def write_half() -> None:
        with whole_file(file) as draft:
            draft.write(b"half")
            raise stop

    with pytest.raises(stop):
        write_half()
    assert file.read_text() == "old"
    assert names_in(file.parent) == [file.name]


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_disk_that_refuses_leaves_the_old_file_and_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr({"fsync": "os.fsync", "replace": "pathlib.Path.replace"}[broken], refuse)
    with pytest.raises(OSError, match="Input/output error"):
        write_whole(file, "new")
    monkeypatch.undo()
    assert file.read_text() == "old"
    assert names_in(file.parent) == [file.name]


def test_content_is_on_disk_before_the_name_and_the_name_at_the_end(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def fsync(descriptor: int) -> None:
        steps.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")

    def replace(path: Path, target: Path, real: object = Path.replace) -> Path:
        steps.append("rename")
        return real(path, target)  # type: ignore[operator,no-any-return]

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", replace)
    write_whole(file, "new")
    assert steps == ["file", "rename", "folder"]
    steps.clear()
    publish(file, file.with_name("published"))
    assert steps == ["file", "rename", "folder"]


def test_several_may_write_the_same_file_and_the_last_wins(file: Path) -> None:
    with whole_file(file) as first:
        first.write(b"first")
        with whole_file(file) as second:
            second.write(b"second")
        assert file.read_text() == "second"
    assert file.read_text() == "first"
    assert names_in(file.parent) == [file.name]


def test_a_private_file_is_its_owners_from_its_first_byte_on(tmp_path: Path) -> None:
    previous = os.umask(0)
    try:
        with whole_file(tmp_path / "receipt", private=True):
            assert [mode_of(path) for path in tmp_path.iterdir()] == [0o600]
        with whole_file(tmp_path / "page"):
            pass
    finally:
        os.umask(previous)
    assert mode_of(tmp_path / "receipt") == 0o600
    assert mode_of(tmp_path / "page") == 0o666


def test_a_published_file_gets_the_permissions_of_new_files(tmp_path: Path) -> None:
    write_whole(tmp_path / "finished", "all of it")
    previous = os.umask(0o027)
    try:
        publish(tmp_path / "finished", tmp_path / "out")
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(previous)
    assert mode_of(tmp_path / "out") == 0o640


def test_drafts_of_dead_processes_are_swept_away_and_nothing_else(file: Path) -> None:
    old, new, other, like = (
        file.with_name(name)
        for name in (
            f".{file.name}.0123abcd.tmp",
            f".{file.name}.4567abcd.tmp",
            f".{file.name}.json.0123abcd.tmp",
            f".{file.name}.old.tmp",
        )
    )
    for draft in (old, new, other, like):
        draft.write_text("half")
        if draft is not new:
            os.utime(draft, (0, 0))
    write_whole(file, "new")
    assert names_in(file.parent) == sorted(path.name for path in (file, new, other, like))
    discard_drafts(file)
    assert names_in(file.parent) == sorted(path.name for path in (file, other, like))


def test_an_error_names_the_file_and_not_its_draft(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        write_whole(tmp_path / "nowhere" / "out.json", "text")
    assert raised.value.filename == str(tmp_path / "nowhere" / "out.json")


@pytest.mark.parametrize(
    ("number", "passes"), [(errno.EINVAL, True), (errno.EACCES, True), (errno.EIO, False)]
)
def test_a_folder_that_cannot_be_synced_is_no_error_and_a_broken_disk_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, passes: bool
) -> None:
    def refuse(_: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    if passes:
        sync_folder(tmp_path)
    else:
        with pytest.raises(OSError, match=os.strerror(number)):
            sync_folder(tmp_path)


def test_a_device_or_a_pipe_is_never_replaced_by_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(os.devnull)
    for name in ("pipe", "link"):
        with pytest.raises(OSError, match="not a file"):
            write_whole(tmp_path / name, "new")
    assert (tmp_path / "pipe").is_fifo()
    assert (tmp_path / "link").is_symlink()
    assert names_in(tmp_path) == ["link", "pipe"]


def test_a_lock_on_a_descriptor_or_a_file_keeps_others_out_until_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    assert lock(descriptor, wait=False)
    with path.open("rb") as other:
        assert not lock(other, wait=False)
        os.close(descriptor)
        assert lock(other, wait=False)


@pytest.mark.parametrize(
    ("mode", "owner", "group", "is_open"),
    [
        (0o600, os.geteuid(), os.getegid(), False),
        (0o400, 0, 0, False),
        (0o440, 0, os.getegid(), False),  # a secret of Kubernetes
        (0o440, 0, -2, True),
        (0o440, 12_345, os.getegid(), True),
        (0o640, 0, os.getegid(), True),
        (0o444, 0, os.getegid(), True),
        (0o460, 0, os.getegid(), True),
    ],
)
def test_a_secret_is_for_its_owner_or_a_group_that_it_was_mounted_for(
    mode: int, owner: int, group: int, is_open: bool
) -> None:
    about = os.stat_result((stat.S_IFREG | mode, 0, 0, 1, owner, group, 0, 0, 0, 0))
    assert open_to_others(about) is is_open
