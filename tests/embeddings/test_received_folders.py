"""A folder that somebody else made: nothing is written there, nothing through its links, and what it says of
itself is checked."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, Multivariate, Privatizer
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.writing import make_note
from deniable.cli.app import main
from deniable.embeddings import store
from deniable.errors import DamagedCalibration, MalformedEmbedding
from deniable.release.note import FILE_NAME, quote_calibration
from deniable.release.release import resolve_release

WORDS = ["the", "soup", "was", "cold", "best", "bread", "village", *(f"w{i}" for i in range(113))]
TEXT = "the soup was cold\nthe best bread of the village\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a store that holds a small embedding, and a public text."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    store.save(Embedding(WORDS, np.random.default_rng(0).standard_normal((len(WORDS), 4))), "small")
    (tmp_path / "text.txt").write_text(TEXT)
    rows = "".join(
        f"{' '.join(np.random.default_rng(i).choice(WORDS, 8))},{'ab'[i % 2]}\n" for i in range(600)
    )
    (tmp_path / "labelled.csv").write_text(f"text,kind\n{rows}")
    return tmp_path


def run(*arguments: str) -> int:
    """Run the command in this process and return its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["deniable", *arguments])
        patch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
        patch.setattr(sys, "stderr", io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))
        try:
            main()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def run_everything(embedding: str, work: Path) -> dict[str, int]:
    """Run the commands that open an embedding, and return their exit codes."""
    work.mkdir()
    given, out = ("--embedding", embedding), str(work / "released.txt")
    commands = {
        "explain": ("explain", "soup", *given, "--epsilon", "3", "--effort", "50"),
        "calibrate": ("calibrate", *given, "--effort", "20", "--max-unchanged", "0.9"),
        "calibrate another": ("calibrate", *given, "--effort", "20", "--mechanism", "tem", "--epsilon", "2"),
        "protect": (
            "calibrate",
            *given,
            "--effort",
            "20",
            "--max-unchanged",
            "0.9",
            "--protect",
            "unknown",
            "--as",
            f"protected-{work.name}",
            "--epsilon",
            "2",
        ),
        "privatize": ("privatize", "text.txt", *given, "--epsilon", "3", "-o", out),
        "privatize by target": (
            "privatize",
            "text.txt",
            *given,
            "--max-unchanged",
            "0.9",
            "-o",
            str(work / "second.txt"),
        ),
        "decode": ("decode", out, *given, "-o", str(work / "decoded.txt")),
        "frequencies": ("frequencies", out, *given),
        "audit": ("audit", "inversion", *given, "--epsilon", "3", "--effort", "781"),
    }
    return {name: run(*command) for name, command in commands.items()}


def contents(folder: Path) -> dict[str, object]:
    """Return all there is in a folder: where links lead, and the bytes and times of files."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[path.relative_to(folder).as_posix()] = (content, about.st_mtime_ns)
    return found


@pytest.fixture
def linked(here: Path) -> Path:
    """A received folder with a link at every name that the product writes beside an embedding of the store,
    to files that are not its."""
    source = Embedding.open("small").work_folder("")
    before = contents(source)
    codes = run_everything("small", here / "first")
    assert [name for name, code in codes.items() if code] == []
    written = [name for name in contents(source) if name not in before]
    assert {Path(name).parts[0] for name in written} >= {"channels", "calibrations", FILE_NAME}
    received, outside = here / "received", here / "outside"
    for name in before:
        target = received / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source / name, target)
    for place, name in enumerate(written):
        if (source / name).is_dir():
            (received / name).mkdir(parents=True)
            continue
        canary = outside / str(place)
        outside.mkdir(exist_ok=True)
        if place % 3:  # every third link leads to nothing, where a file would appear
            canary.write_text("not to be touched")
        (received / name).symlink_to(canary)
    return received


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_nothing_is_written_in_a_received_folder_or_through_its_links(here: Path, linked: Path) -> None:
    inside, outside = contents(linked), contents(here / "outside")
    (linked / FILE_NAME).unlink()  # a damaged note stops a release; without it everything runs
    inside.pop(FILE_NAME)
    linked_at = linked.stat().st_mtime_ns
    codes = run_everything(str(linked), here / "second")
    search = "--attacker 0.5 --dimension 2 --strength 4 --effort 20 --runs 1 --as tuned".split()
    codes["tune"] = run(
        "tune", "labelled.csv", "--embedding", str(linked), "--label", "kind", "--text", "text", *search
    )
    taking = ("--embedding", str(linked), "--text", "text", "--epsilon", "1")
    decided = "--keep kind --no-input --accept-changes --allow-names -o decided".split()
    codes["release"] = run("release", "labelled.csv", *taking, *decided)
    codes["utility"] = run("utility", "labelled.csv", *taking, "--label", "kind")
    assert [name for name, code in codes.items() if code] == []
    assert contents(linked) == inside
    assert contents(here / "outside") == outside
    assert linked.stat().st_mtime_ns == linked_at


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_nothing_is_written_through_links_of_a_folder_that_was_copied_into_the_store(
    here: Path, linked: Path
) -> None:
    outside = contents(here / "outside")
    linked.rename(here / "home" / "embeddings" / "copied")
    codes = run_everything("copied", here / "second")
    assert codes["decode"] == codes["calibrate"] == 1
    assert contents(here / "outside") == outside


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("kind", ["channels", "calibrations"])
def test_nothing_is_made_in_a_folder_that_a_link_leads_to(here: Path, kind: str) -> None:
    (here / "outside").mkdir()
    Embedding.open("small").work_folder(kind).symlink_to(here / "outside")
    assert {"channels": "decode", "calibrations": "calibrate"}[kind] in {
        name for name, code in run_everything("small", here / "first").items() if code
    }
    assert contents(here / "outside") == {}


@pytest.fixture
def received(here: Path) -> Path:
    """A received folder without links."""
    shutil.copytree(Embedding.open("small").work_folder(""), here / "received")
    return here / "received"


def write_note(folder: Path, *, divided_by: float) -> None:
    """Write a note of what is true of the embedding, with every share divided."""
    note = make_note(
        measure_by_rays(Embedding.open("small"), rays=1000, keep=False), [1.0, 3.0, 9.0]
    ).to_dict()
    for row in note["table"]:
        row["unchanged"] = {name: share / divided_by for name, share in row["unchanged"].items()}
        row["unchanged_quantiles"] = {
            name: share / divided_by for name, share in row["unchanged_quantiles"].items()
        }
    (folder / FILE_NAME).write_text(json.dumps(note))


def test_a_true_calibration_of_a_received_folder_is_quoted_and_chooses_epsilon(received: Path) -> None:
    write_note(received, divided_by=1.0)
    mechanism = Multivariate(Embedding.open(received), epsilon=3.0)
    quote = quote_calibration(mechanism)
    assert quote is not None
    assert (quote.support, quote.distinct, quote.words_for_support, quote.capacity) == (None,) * 4
    worst = json.loads((received / FILE_NAME).read_text())["table"][1]["unchanged"]["worst"]
    assert resolve_release(embedding=received, max_unchanged=worst).epsilon == 3.0
    assert Privatizer(mechanism)(TEXT)


def test_a_forged_calibration_chooses_no_epsilon_and_stops_the_release(here: Path, received: Path) -> None:
    write_note(received, divided_by=4.0)
    with pytest.raises(DamagedCalibration) as stopped:
        resolve_release(embedding=received, max_unchanged=0.25)
    assert stopped.value.source == str(received / FILE_NAME)
    with pytest.raises(DamagedCalibration):
        Privatizer(Multivariate(Embedding.open(received), epsilon=9.0))
    for choice in (("--max-unchanged", "0.25"), ("--epsilon", "9")):
        assert run("privatize", "text.txt", "--embedding", str(received), *choice, "-o", "out.txt") == 1
        assert not Path("out.txt").exists()


def test_a_forged_worst_word_is_found_where_all_other_numbers_are_true(here: Path) -> None:
    vectors = np.random.default_rng(0).standard_normal((300, 4))
    vectors[7] = 60.0
    store.save(Embedding([f"w{i}" for i in range(300)], vectors), "isolated")
    shutil.copytree(Embedding.open("isolated").work_folder(""), here / "received")
    embedding = Embedding.open(here / "received")
    note = make_note(measure_by_rays(embedding, rays=1000, keep=False), [1.0]).to_dict()
    row = note["table"][0]
    row["unchanged"]["worst"] = row["unchanged"]["95%"]
    row["unchanged_quantiles"] = {
        name: min(share, row["unchanged"]["95%"]) for name, share in row["unchanged_quantiles"].items()
    }
    (here / "received" / FILE_NAME).write_text(json.dumps(note))
    with pytest.raises(DamagedCalibration):
        quote_calibration(Multivariate(embedding, epsilon=1.0))


def test_the_users_own_calibration_of_a_received_folder_takes_the_place_of_what_came_with_it(
    received: Path,
) -> None:
    write_note(received, divided_by=4.0)
    assert run("calibrate", "--embedding", str(received), "--effort", "200") == 0
    assert quote_calibration(Multivariate(Embedding.open(received), epsilon=3.0)) is not None


def test_a_fingerprint_that_a_received_folder_states_is_computed_again(received: Path) -> None:
    other = Embedding(WORDS, np.random.default_rng(1).standard_normal((len(WORDS), 4)))
    np.save(received / "vectors.npy", other.vectors)
    with pytest.raises(MalformedEmbedding):
        Embedding.open(received)
