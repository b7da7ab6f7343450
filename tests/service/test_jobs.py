"""Jobs: restarts, changed settings, unreadable folders, cancelling, and what they may take of time and
room."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from deniable.atomic import beside
from deniable.errors import KeyFileError, MalformedEmbedding, ResumeError, WorkerLost
from deniable.mechanisms.base import NearestWord
from deniable.mechanisms.multivariate import Multivariate
from deniable.noise.key_file import write_new_key
from deniable.release.card import ENDING as CARD
from deniable.release.card import card_from
from deniable.service import files, jobs
from deniable.service.job_folder import JobFile, JobFolder, State, StateFile
from deniable.service.messages import LOGGED, UploadQuery
from deniable.service.rules import Rules
from deniable.service.settings import Limits, Settings
from tests.service.running import (
    OCTETS,
    ROWS,
    Process,
    allowed,
    chunk,
    head_of,
    make_settings,
    running,
    wait_until,
)


def test_a_job_that_is_cut_off_goes_on_after_a_restart(tmp_path: Path) -> None:
    write_new_key(tmp_path / "key")
    settings = f'[release]\nkey_file = "{tmp_path / "key"}"\n[jobs]\nfolder = "jobs"\n'
    rows = 12_000
    content = b"id,text\n" + b"".join(
        b"%d,my doctor said that the keys were stolen\n" % i for i in range(rows)
    )
    with Process(tmp_path, settings, "--workers", "1") as first:
        job = first.client.upload(
            content, headers=OCTETS, name="rows.csv", column="text", record_id="id"
        ).json()["id"]
        wait_until(lambda: first.client.get(f"/jobs/{job}").json()["done"] > 0)
        assert first.client.get(f"/jobs/{job}").json()["state"] == "working"
        assert first.end(signal.SIGTERM) == 0
    with Process(tmp_path, settings, "--workers", "2") as second:
        wait_until(lambda: second.client.get(f"/jobs/{job}").json()["state"] == "working")
        assert second.end(signal.SIGKILL) == -9
    assert not (tmp_path / "jobs" / job / "output.csv").exists()
    with Process(tmp_path, settings, "--workers", "2") as third:
        assert third.client.wait_for(job)["state"] == "done"
        output = third.client.get(f"/jobs/{job}/output").body
        whole = third.client.upload(content, name="rows.csv", column="text", record_id="id").json()["id"]
        assert third.client.wait_for(whole)["state"] == "done"
        assert output == third.client.get(f"/jobs/{whole}/output").body
        assert output.count(b"\n") == rows + 1
        assert third.end() == 0
    assert b"doctor" not in first.log.read_bytes()


Waiting = tuple[jobs.JobStore, JobFolder]


def submitted(settings: Settings, content: bytes = b"the doctor xqzzy\n", **query: Any) -> Waiting:
    """Return a job that nobody works on yet."""
    store = jobs.JobStore(Rules(settings))
    job = store.begin(len(content))
    asked = JobFile(query=UploadQuery(name="a.txt", **query))
    job.input(asked).write_bytes(content)
    return store, store.submit(job, asked)


def problem_of(job: JobFolder) -> str:
    """Return why a job failed, with nothing left of it but that."""
    assert job.state.state == "failed"
    assert sorted(path.name for path in job.path.iterdir()) == ["job.json", "state.json"]
    return str(job.state.error)


def test_a_job_that_ends_its_process_again_and_again_is_given_up(tmp_path: Path) -> None:
    store, job = submitted(make_settings(tmp_path))
    job.note(StateFile(state="working", attempts=3))
    store.attempt(job)
    assert "several times" in problem_of(job)


CHANGED: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"epsilon": 3.0, "max_epsilon": 3.0}, {"epsilon": 8.0}),
    ({"epsilon": 8.0}, {"epsilon": 3.0}),
    ({"unknown": "redact"}, {}),
    ({}, {"record_epsilon": 50.0}),
    ({"mechanisms": ("vickrey",)}, {}),
    ({"mechanisms": ("vickrey",)}, {"mechanisms": ("vickrey",), "options": {"vickrey": {"t": 0.25}}}),
    ({"key_file": "key"}, {"key_file": "other"}),
    ({"key_file": "key"}, {}),
    ({}, {"keep_words": "words"}),
]


@pytest.mark.parametrize(("then", "now"), CHANGED)
def test_a_waiting_job_is_not_released_by_other_settings(
    tmp_path: Path, then: dict[str, Any], now: dict[str, Any]
) -> None:
    for name in ("key", "other"):
        write_new_key(tmp_path / name)
    (tmp_path / "words").write_text("doctor\n")

    def settings(given: dict[str, Any]) -> Settings:
        paths = {name: str(tmp_path / given[name]) for name in ("key_file", "keep_words") if name in given}
        return make_settings(tmp_path, release=allowed(**given | paths))

    _, job = submitted(settings(then))
    jobs.JobStore(Rules(settings(now))).attempt(job)
    assert "settings of this service have changed" in problem_of(job)


def test_a_job_that_the_operator_does_not_allow_any_more_is_refused(tmp_path: Path) -> None:
    _, job = submitted(make_settings(tmp_path), epsilon=9.0)
    jobs.JobStore(Rules(make_settings(tmp_path, release=allowed(max_epsilon=7)))).attempt(job)
    assert "at most 7" in problem_of(job)


def test_a_job_that_does_not_say_its_settings_is_not_released(tmp_path: Path) -> None:
    store, job = submitted(make_settings(tmp_path))
    asked = msgspec.structs.replace(job.asked, settings="")
    (job.path / "job.json").write_bytes(msgspec.json.encode(asked))
    store.attempt(job)
    assert "have changed" in problem_of(job)


def test_a_waiting_job_is_released_when_its_own_settings_stayed(tmp_path: Path) -> None:
    _, job = submitted(make_settings(tmp_path, release=allowed(epsilon=3)), epsilon=5.0, unknown="redact")
    release = allowed(epsilon=4, max_epsilon=5, unknown="redact")
    jobs.JobStore(Rules(make_settings(tmp_path, release=release))).attempt(job)
    assert job.state.state == "done"
    assert card_from(beside(job.output(job.asked), CARD)).epsilon == 5


def test_a_job_that_waited_and_one_that_arrives_are_worked_on_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, job = submitted(make_settings(tmp_path))
    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_LOOKS", 300.0)
    with running(make_settings(tmp_path)) as opened:
        assert opened.wait_for(job.id)["state"] == "done"
        assert opened.send(wait=600).status == 200


@pytest.mark.parametrize("note", ["job.json", "state.json"])
@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[" * 100_000, b'{"state": "elsewhere"}', None])
def test_a_job_that_cannot_be_read_stops_no_other_and_loses_its_input(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    minutes_pass: Callable[[float], None],
    note: str,
    content: bytes | None,
) -> None:
    broken = tmp_path / "jobs" / ("A" * 22)
    with running(make_settings(tmp_path)) as opened:
        with monkeypatch.context() as patched:
            patched.setattr(jobs.JobStore, "attempt", lambda *_: None)
            job = opened.send().json()["id"]
            (tmp_path / "jobs" / job).rename(broken)
            (broken / note).unlink(missing_ok=True)
            if content is None:
                (broken / note).mkdir()
            else:
                (broken / note).write_bytes(content)
        assert opened.send(wait=600).status == 200
        wait_until(lambda: not list(broken.glob("input*")))
        told = opened.get(f"/jobs/{broken.name}")
        assert (told.status, told.json()["state"], "cannot be read" in told.json()["error"]) == (
            200,
            "failed",
            True,
        )
        assert opened.get(f"/jobs/{broken.name}/output").status == 422
        minutes_pass(61)
        wait_until(lambda: not broken.exists())
        assert (
            opened.get(f"/jobs/{broken.name}").status
            == opened.get(f"/jobs/{broken.name}/output").status
            == 404
        )


@pytest.mark.parametrize(
    "error",
    [
        KeyFileError("{folder}/key", "is gone"),
        ResumeError("{folder}/x", "p"),
        MalformedEmbedding("{folder}/e", "p"),
        WorkerLost("p {folder}"),
        RuntimeError(f"{ROWS[0]}"),
        OSError(5, "zorblattsecret"),
    ],
)
def test_what_fails_in_a_job_is_logged_by_its_place_and_shows_nothing_of_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        if not isinstance(error, OSError):
            error.args = (str(error).replace("{folder}", str(tmp_path)),)
        raise error

    store, job = submitted(make_settings(tmp_path))
    monkeypatch.setattr(jobs, "Job", fail)
    store.attempt(job)
    assert problem_of(job) in (LOGGED, "the file could not be read or written")
    assert f"{type(error).__name__} at {__file__}:" in caplog.text
    assert "jobs.py:" in caplog.text
    assert "zorblatt" not in caplog.text


def test_an_unknown_word_is_told_by_its_place(tmp_path: Path) -> None:
    settings = make_settings(tmp_path, release=allowed(unknown="error"))
    store, job = submitted(settings, b"the fox\nmy zorblattsecret\n")
    store.attempt(job)
    assert "record 2, word 2" in (problem := problem_of(job))
    assert "zorblatt" not in problem


MANY_ROWS = b"id,text\n" + b"".join(
    b"%d,my doctor said that the keys were stolen\n" % i for i in range(100_000)
)


@pytest.mark.parametrize(("patience", "status"), [(20.0, 204), (0.0, 202)])
def test_a_job_that_is_worked_on_can_be_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: float, status: int
) -> None:
    monkeypatch.setattr(jobs, "SECONDS_TO_LET_GO", patience)
    ended: list[str] = []
    end = jobs.JobStore.end

    def end_and_tell(store: jobs.JobStore, job: JobFolder, state: State, error: str | None = None) -> None:
        ended.append(state)
        end(store, job, state, error)

    monkeypatch.setattr(jobs.JobStore, "end", end_and_tell)
    with running(make_settings(tmp_path)) as opened:
        job = opened.upload(MANY_ROWS, name="rows.csv", column="text").json()["id"]
        wait_until(lambda: opened.get(f"/jobs/{job}").json()["done"] > 0)
        assert opened.ask("DELETE", f"/jobs/{job}").status == status
        wait_until(lambda: not (tmp_path / "jobs" / job).exists())
        assert ended == [], "it was stopped before it was done"
        assert opened.get(f"/jobs/{job}").status == 404
        assert opened.ask("DELETE", f"/jobs/{job}").status == 404
        assert opened.send(wait=600).status == 200


def test_a_job_that_was_to_be_deleted_is_not_released_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, job = submitted(make_settings(tmp_path))
    job.cancel()
    monkeypatch.setattr(jobs, "Job", lambda *_, **__: pytest.fail("it was worked on"))
    with running(make_settings(tmp_path)):
        wait_until(lambda: not job.path.exists())


ONE_TEXT = b"the fox " * 5_000
PARTS_OF_IT = 10


@pytest.fixture
def on_drawing(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], list[int]]:
    """Have a text drawn in ten parts, and something happen before the second; returns the list of parts
    drawn."""
    draw, drawn = Multivariate.draw, list[int]()
    monkeypatch.setattr(NearestWord, "_tokens_at_once", lambda *_: 1_000)
    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_CHECKS", 0.0)

    def happens(happen: Callable[[], None]) -> list[int]:
        def counted(self: Multivariate, ids: Any, source: Any, epsilon: Any) -> Any:
            drawn.append(len(ids))
            if len(drawn) == 1:
                happen()
            return draw(self, ids, source, epsilon)

        monkeypatch.setattr(Multivariate, "draw", counted)
        return drawn

    return happens


@pytest.fixture
def waiting(tmp_path: Path) -> Waiting:
    """A job of one long text."""
    return submitted(make_settings(tmp_path, limits=Limits(job_seconds=3_600.0)), ONE_TEXT)


OnDrawing = Callable[[Callable[[], None]], list[int]]


def test_a_long_text_is_drawn_in_parts(waiting: Waiting, on_drawing: OnDrawing) -> None:
    drawn = on_drawing(lambda: None)
    waiting[0].attempt(waiting[1])
    assert (waiting[1].state.state, len(drawn)) == ("done", PARTS_OF_IT)


def test_a_job_is_deleted_inside_a_text(waiting: Waiting, on_drawing: OnDrawing) -> None:
    store, job = waiting
    drawn = on_drawing(job.cancel)
    store.attempt(job)
    assert not job.path.exists()
    assert len(drawn) == 1


@pytest.mark.parametrize(("before", "now"), [(0.0, 4_000.0), (3_000.0, 700.0)])
def test_a_job_that_works_for_too_long_fails_inside_a_text(
    waiting: Waiting, on_drawing: OnDrawing, monkeypatch: pytest.MonkeyPatch, before: float, now: float
) -> None:
    """What an earlier run worked counts too."""
    store, job = waiting
    job.note(StateFile(state="working", attempts=1, seconds=before))
    begun = time.monotonic()
    later = SimpleNamespace(monotonic=lambda: begun + now, time=time.time)
    drawn = on_drawing(lambda: monkeypatch.setattr(jobs, "time", later))
    store.attempt(job)
    assert "longer than the operator allows, 3600 seconds" in problem_of(job)
    assert len(drawn) == 1


def test_a_service_that_ends_does_not_wait_for_the_end_of_a_text(
    waiting: Waiting, on_drawing: OnDrawing
) -> None:
    store, job = waiting
    drawn = on_drawing(store.stopping.set)
    with pytest.raises(jobs.CutOff):
        store.attempt(job)
    assert len(drawn) == 1
    assert (job.state.state, job.state.attempts) == ("working", 0), (
        "it goes on when the service is started again"
    )
    assert job.state.seconds > 0
    assert (job.path / "input.txt").exists()


def test_jobs_that_ended_count_until_they_are_deleted(tmp_path: Path) -> None:
    with running(make_settings(tmp_path, limits=Limits(kept_jobs=2))) as opened:
        made = [opened.upload(b"the fox\n", name="a.txt", wait=600) for _ in range(3)]
        assert [reply.status for reply in made] == [200, 200, 429]
        assert "are kept" in made[-1].error
        assert opened.ask("DELETE", made[0].headers["location"]).status == 204
        assert opened.upload(b"the fox\n", name="a.txt", wait=600).status == 200


def test_all_jobs_take_no_more_than_their_room(tmp_path: Path) -> None:
    with running(make_settings(tmp_path, limits=Limits(kept_bytes=200_000))) as opened:
        statuses = [opened.upload(b"the fox\n" * 2_000, name="a.txt", wait=600).status for _ in range(20)]
        assert set(statuses) == {200, 503}
        assert statuses.index(503) >= 3
        assert sum(path.stat().st_size for path in (tmp_path / "jobs").rglob("*")) < 220_000
        assert opened.upload(b"the fox\n" * 10_000, name="a.txt", wait=600).status == 413


def test_a_file_without_a_length_cannot_fill_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "BYTES_BETWEEN_LOOKS", 1_000)
    usage = shutil.disk_usage(tmp_path)
    for kept, free, status in ((30_000, usage.free, b"413"), (1 << 30, 20_000, b"503")):
        monkeypatch.setattr(shutil, "disk_usage", lambda _, free=free: usage._replace(free=free))
        with running(make_settings(tmp_path, limits=Limits(kept_bytes=kept))) as opened:
            with socket.create_connection(("127.0.0.1", opened.port), timeout=600) as endless:
                endless.sendall(head_of("/files?name=a.txt", OCTETS))
                for _ in range(15):
                    endless.sendall(chunk(b"x" * 1_000))
                assert endless.recv(100).startswith(b"HTTP/1.1 " + status)
            wait_until(lambda: list((tmp_path / "jobs").iterdir()) == [])


def test_a_release_that_outgrows_its_room_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "SECONDS_BETWEEN_MEASURES", 0.0)
    small = gzip.compress(MANY_ROWS[:1_000] * 3_000)
    with running(make_settings(tmp_path, limits=Limits(kept_bytes=4 * len(small)))) as opened:
        reply = opened.upload(small, name="a.txt.gz")
        told = opened.wait_for(reply.json()["id"])
        assert (told["state"], "no room left" in told["error"]) == ("failed", True)
        folder = tmp_path / "jobs" / reply.json()["id"]
        wait_until(lambda: sorted(path.name for path in folder.iterdir()) == ["job.json", "state.json"])


def test_a_job_that_cannot_be_deleted_is_not_said_to_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise PermissionError(1, "zorblattsecret")

    with running(make_settings(tmp_path)) as opened:
        job = opened.send(wait=600).headers["location"]
        with monkeypatch.context() as patched:
            patched.setattr(os, "unlink", fail)
            reply = opened.ask("DELETE", job)
        assert (reply.status, "not all of this job" in reply.error) == (503, True)
        assert "PermissionError at " in caplog.text
        assert opened.ask("DELETE", job).status == 204
    assert "zorblatt" not in caplog.text
