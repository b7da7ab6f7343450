"""A job that is continued keeps what was released, and only the same job continues."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deniable import Embedding, Multivariate, Privatizer, ResumeError
from deniable.arrays import Floats, Ids
from deniable.noise.randomness import RadialNoise
from deniable.release.receipt import Receipt
from tests.records.jobs.conftest import Stopped
from tests.records.jobs.stopped_jobs import source_in
from tests.support.keeping import keep_all as privatize_file
from tests.support.oracle import OracleNeighbours


def test_resuming_a_finished_output_draws_nothing(noisy: Privatizer, tmp_path: Path) -> None:
    source, target = source_in(tmp_path), tmp_path / "out.txt"
    assert privatize_file(noisy, source, target, resume=True) is not None
    before = target.read_bytes()
    assert privatize_file(noisy, source, target, resume=True) is None
    assert target.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in.txt",
        "out.txt",
        "out.txt.card.json",
        "out.txt.receipt.json",
    ]


@pytest.mark.parametrize(
    ("then", "now"),
    [
        ({"columns": ["a"]}, {"columns": ["a", "b"]}),
        ({"columns": ["a"]}, {"columns": ["a"], "source": "other.csv"}),
        ({"columns": ["a"], "header": False}, {"columns": ["a"]}),
        ({"columns": ["a"], "keep": "alice"}, {"columns": ["a"], "keep": "bob"}),
    ],
)
def test_resuming_never_takes_the_output_of_another_job_for_its_own(
    embedding: Embedding, tmp_path: Path, then: dict[str, Any], now: dict[str, Any]
) -> None:
    for name in ("in.csv", "other.csv"):
        (tmp_path / name).write_text("a,b\nhello there,SECRET alice\n")

    def release(
        *, keep: str = "", source: str = "in.csv", columns: list[str], header: bool = True
    ) -> Receipt | None:
        private = Privatizer(Multivariate(embedding, epsilon=6.0), keep_words=[keep] if keep else ())
        named = columns if header else ["1"]
        return privatize_file(
            private, tmp_path / source, tmp_path / "out.csv", columns=named, header=header, resume=True
        )

    assert release(**then) is not None
    before = (tmp_path / "out.csv").read_bytes()
    assert release(**then) is None
    with pytest.raises(
        ResumeError,
        match=r"is finished, by another job: .*start over with force=True|is finished, with other settings",
    ):
        release(**now)
    assert (tmp_path / "out.csv").read_bytes() == before
    receipt = json.loads((tmp_path / "out.csv.receipt.json").read_text())
    del receipt["job"]
    (tmp_path / "out.csv.receipt.json").write_text(json.dumps(receipt))
    with pytest.raises(ResumeError, match="is finished, by another job"):
        release(**then)


@pytest.mark.parametrize("receipt", [None, "not a receipt", "[]", "{}"])
def test_resuming_never_takes_a_file_without_a_receipt_for_a_finished_output(
    private: Privatizer, tmp_path: Path, receipt: str | None
) -> None:
    source, target = source_in(tmp_path), tmp_path / "out.txt"
    target.write_text("raw secret text\n")
    if receipt is not None:
        (tmp_path / "out.txt.receipt.json").write_text(receipt)
    with pytest.raises(ResumeError, match=r"no receipt \(out.txt.receipt.json\) says that it was released"):
        privatize_file(private, source, target, resume=True)
    assert target.read_text() == "raw secret text\n"
    assert not (tmp_path / "out.txt.journal").exists()


def test_a_resumed_job_keeps_what_was_released(noisy: Privatizer, tmp_path: Path, stopped: Stopped) -> None:
    source, target = stopped(noisy)
    released = (tmp_path / "out.txt.partial").read_bytes()
    assert released.count(b"\n") == 21
    (tmp_path / "out.txt.partial").write_bytes(released + b"written, and not on record\n" * 1_000)
    receipt = privatize_file(noisy, source, target, resume=True)
    assert target.read_bytes().startswith(released)
    assert target.read_bytes().count(b"\n") == 100
    assert receipt is not None
    assert receipt.tally.records == 100


class DrawsItself(OracleNeighbours):
    """A search on a card, as far as receipts know: it makes the noise itself."""

    def nearest_to_noisy(self, ids: Ids, noise: RadialNoise, epsilons: Floats) -> Ids:
        return ids


@pytest.fixture
def on_card(embedding: Embedding) -> Privatizer:
    mechanism = Multivariate(embedding, epsilon=0.5)
    mechanism.__dict__["neighbours"] = DrawsItself(embedding)
    return Privatizer(mechanism)


PROCESSOR, CARD = (
    "AES-128 counter mode, keyed by the operating system",
    "ChaCha20 on a GPU, keyed by the operating system",
)


def test_the_receipt_of_a_job_continued_on_another_device_names_every_generator_that_drew(
    noisy: Privatizer, on_card: Privatizer, tmp_path: Path, stopped: Stopped
) -> None:
    stopped(noisy)
    stopped(on_card, after=2, resume=True)
    source, target = stopped(on_card, after=1, resume=True)
    receipt = privatize_file(noisy, source, target, resume=True)
    assert receipt is not None
    assert receipt.randomness["generator"] == f"{PROCESSOR}; then {CARD}"
    assert json.loads((tmp_path / "out.txt.receipt.json").read_text())["randomness"] == receipt.randomness


def test_a_generator_whose_words_never_came_on_record_is_not_named(
    noisy: Privatizer, on_card: Privatizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stopped: Stopped
) -> None:
    stopped(noisy)
    stopped(on_card, after=0, resume=True)

    def stop(*paths: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("deniable.records.job.publish", stop)
        with pytest.raises(KeyboardInterrupt):  # when every record is released
            privatize_file(noisy, tmp_path / "in.txt", tmp_path / "out.txt", resume=True)
    receipt = privatize_file(on_card, tmp_path / "in.txt", tmp_path / "out.txt", resume=True)
    assert receipt is not None
    assert receipt.randomness["generator"] == PROCESSOR


def test_a_partial_output_is_neither_continued_nor_dropped_unasked(
    private: Privatizer, tmp_path: Path, stopped: Stopped
) -> None:
    source, target = stopped(private)
    with pytest.raises(ResumeError, match="resume=True, or start over with force=True"):
        privatize_file(private, source, target)
    assert (tmp_path / "out.txt.partial").stat().st_size > 0
    privatize_file(private, source, target, force=True)
    assert target.read_bytes() == source.read_bytes()


def test_another_job_cannot_continue_a_partial_output(
    private: Privatizer, noisy: Privatizer, tmp_path: Path, stopped: Stopped
) -> None:
    source, target = stopped(private)
    with pytest.raises(ResumeError, match=r"epsilon was 1000000.0 and is 0.5"):
        privatize_file(noisy, source, target, resume=True)
    with pytest.raises(ResumeError, match="case was 'drop' and is 'keep'"):
        privatize_file(Privatizer(private.mechanism, case="keep"), source, target, resume=True)
    with pytest.raises(ResumeError, match="keep_words was"):
        privatize_file(Privatizer(private.mechanism, keep_words=["the"]), source, target, resume=True)
    with pytest.raises(ResumeError, match="encoding was 'utf-8' and is 'latin-1'"):
        privatize_file(private, source, target, resume=True, encoding="latin-1")
    source.write_text(source.read_text() + "fox\n")
    with pytest.raises(ResumeError, match="input size was"):
        privatize_file(private, source, target, resume=True)
    assert not target.exists()


def test_a_partial_output_that_was_changed_is_not_continued(
    private: Privatizer, tmp_path: Path, stopped: Stopped
) -> None:
    source, target = stopped(private)
    partial = tmp_path / "out.txt.partial"
    content = partial.read_bytes()
    for changed in (content.replace(b"word1\n", b"word9\n"), content[:-1]):
        partial.write_bytes(changed)
        with pytest.raises(ResumeError, match="not what the earlier run wrote"):
            privatize_file(private, source, target, resume=True)
    partial.unlink()
    with pytest.raises(ResumeError, match="is gone"):
        privatize_file(private, source, target, resume=True)
