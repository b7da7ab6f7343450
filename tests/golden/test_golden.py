"""Keyed releases are, to the byte, what they were: whoever repeats one must get the same words, or the budget
is spent again."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from deniable.release.card import read_card
from tests.golden import by_command, by_libraries, compared, in_python, measured, nested, with_names
from tests.golden.command import Commands, Ended
from tests.golden.interrupted import INTERRUPTED, WATCHED
from tests.golden.make import CARDS, ENDINGS, MEASURED, RECEIPTS, RELEASES, kept_of
from tests.golden.materials import FROZEN, FROZEN_TIME, begun_elsewhere, laid_out

CONTINUED = FROZEN / "noise-2"
"""Work that was cut off under the rules and the noise of today; directly in ``FROZEN`` lies that of version
1."""

EXPECTED: dict[str, dict[str, Any]] = json.loads(RELEASES.read_text(encoding="utf-8"))
EXPECTED_RECEIPTS: dict[str, Any] = json.loads(RECEIPTS.read_text(encoding="utf-8"))
EXPECTED_CARDS: dict[str, Any] = json.loads(CARDS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("golden")
    laid_out(folder)
    return folder


@pytest.fixture(scope="module")
def commands(folder: Path) -> Commands:
    return Commands(folder)


def check(group: str, made: dict[str, Any]) -> None:
    """Do nothing if a group of releases is as it was; else say which are not, and show the first."""
    expected = EXPECTED[group]
    assert made.keys() == expected.keys()
    others = [name for name in expected if made[name] != expected[name]]
    assert not others, f"{len(others)} of {len(expected)} changed: {others}"


def check_with_what_lies_beside(group: str, runs: Iterator[tuple[str, Any, Any]]) -> None:
    """Do nothing if releases, their receipts and their cards are as they were."""
    made = list(runs)
    check(group, {name: content for name, content, _ in made})
    for name, receipt in kept_of({name: beside and beside.receipt for name, _, beside in made}).items():
        assert receipt == EXPECTED_RECEIPTS[name], f"the receipt of {name!r} changed"
    for name, card in kept_of({name: beside and beside.card for name, _, beside in made}).items():
        assert card == EXPECTED_CARDS[name], f"the card of {name!r} changed"


def test_every_mechanism_of_the_catalogue_has_golden_releases(commands: Commands) -> None:
    ended = commands.run("mechanisms", "--json")
    names = {entry["name"] for entry in json.loads(ended.out)}
    assert names == set(by_command.OPTIONS)
    assert names == {name.split()[0] for name in in_python.MECHANISMS}


@pytest.mark.parametrize(
    ("group", "make"),
    [
        ("mechanisms", in_python.of_mechanisms),
        ("policies", in_python.of_policies),
        ("calls", in_python.of_calls),
        ("stored embeddings", in_python.of_stored_embeddings),
        ("languages", in_python.of_languages),
        ("names", with_names.of_names),
        ("latest names", lambda home: with_names.of_names(home, with_names.LATEST)),
    ],
)
def test_the_package_releases_what_it_released(
    folder: Path, group: str, make: Callable[[Path], dict[str, Any]]
) -> None:
    check(group, make(folder / "home"))


def test_other_libraries_release_what_they_released(folder: Path) -> None:
    check("integrations", by_libraries.of_integrations(folder / "home", folder / "golden.key"))


def test_every_mechanism_and_policy_of_the_command_releases_what_it_released(
    commands: Commands, tmp_path: Path
) -> None:
    check_with_what_lies_beside("command", by_command.of_the_command(commands, tmp_path))


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_format_is_released_as_it_was(commands: Commands, tmp_path: Path, ending: str) -> None:
    check_with_what_lies_beside(f"format {ending}", by_command.of_formats(commands, tmp_path, ending))


def test_texts_inside_objects_and_lists_are_released_as_they_were(commands: Commands, tmp_path: Path) -> None:
    check_with_what_lies_beside("nested", nested.of_nested(commands, tmp_path))


def test_what_is_measured_and_decoded_is_what_it_was(commands: Commands, tmp_path: Path) -> None:
    expected = json.loads(MEASURED.read_text(encoding="utf-8"))
    assert measured.differing(measured.of_measurements(commands, tmp_path), expected) == []


def test_lists_of_names_take_out_and_release_what_they_did(commands: Commands, tmp_path: Path) -> None:
    check_with_what_lies_beside("names by command", with_names.of_names_by_command(commands, tmp_path))


def test_work_with_names_that_was_cut_off_before_can_be_continued(commands: Commands, tmp_path: Path) -> None:
    source_name, target_name, options = with_names.CUT_OFF
    laid_out(tmp_path)
    source = Path(shutil.copy(FROZEN / "inputs" / source_name, tmp_path))
    shutil.copytree(FROZEN / "names-1", tmp_path, dirs_exist_ok=True)
    begun_elsewhere(tmp_path / f"{target_name}.journal", source)
    command = [
        "privatize",
        source_name,
        "-o",
        target_name,
        "--key-file",
        "golden.key",
        "--quiet",
        *options.split(),
        "--resume",
    ]
    ended = commands.run(*command, "--never-release", with_names.FIRST, cwd=tmp_path)
    assert ended.status == 0, ended.err
    assert (
        compared.released(ended, tmp_path / target_name) == EXPECTED["names by command"]["whole with names"]
    )


def test_files_of_several_batches_are_released_as_they_were(commands: Commands, tmp_path: Path) -> None:
    check_with_what_lies_beside("long files", by_command.of_long_files(commands, tmp_path))


def test_what_goes_through_the_filter_comes_out_as_it_did(commands: Commands, tmp_path: Path) -> None:
    check("filters", by_command.of_filters(commands, tmp_path))


def test_a_watched_folder_is_released_as_it_was(commands: Commands, tmp_path: Path) -> None:
    check("watched", by_command.of_watching(commands, tmp_path))


def cut_off_work(frozen: Path, name: str, folder: Path) -> list[str]:
    """Lay out work that was cut off, and return the command that it was begun with."""
    source_name, target_name, options = INTERRUPTED[name]
    laid_out(folder)
    source = Path(shutil.copy(FROZEN / "inputs" / source_name, folder))
    shutil.copytree(frozen / "interrupted" / name, folder, dirs_exist_ok=True)
    begun_elsewhere(folder / f"{target_name}.journal", source)
    return [
        "privatize",
        source_name,
        "-o",
        target_name,
        "--key-file",
        "golden.key",
        "--quiet",
        *options.split(),
    ]


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def check_whole(ended: Ended, name: str, folder: Path, *, rows_counted: bool = True) -> None:
    """Do nothing if the command ended with what it releases when it is not cut off.

    The frozen journals are of a version that did not count which cells make a row, and whose they are: then
    nothing is made up.
    """
    target = folder / INTERRUPTED[name][1]
    assert ended.status == 0, ended.err
    content = compared.released(ended, target)
    expected = EXPECTED["resumed"][f"whole {name}"]
    if name == "parquet":  # its row groups end where work was cut off
        content, expected = content["rows"], expected["rows"]
    assert content == expected
    receipt, noted = compared.receipt_beside(target), EXPECTED_RECEIPTS[f"whole {name}"]
    if name == "csv" and not rows_counted:
        noted = noted | {
            "counts": noted["counts"] | {"rows": None},
            "budget": noted["budget"] | {"longest_row": None, "median_row": None},
        }
    if name == "parquet" and not rows_counted:
        noted = noted | {"budget": noted["budget"] | {"longest_user": None}}
    assert kept_of({f"whole {name}": receipt})[f"whole {name}"] == noted
    assert (
        kept_of({f"whole {name}": compared.card_beside(target)})[f"whole {name}"]
        == EXPECTED_CARDS[f"whole {name}"]
    )
    assert not list(folder.glob("*.partial")) + list(folder.glob("*.journal"))


@pytest.mark.parametrize("name", INTERRUPTED)
def test_work_that_was_cut_off_before_can_be_continued(commands: Commands, tmp_path: Path, name: str) -> None:
    command = cut_off_work(CONTINUED, name, tmp_path)
    before = content_of(tmp_path)
    assert commands.run(*command, cwd=tmp_path).status != 0, "nothing is left to be continued"
    assert content_of(tmp_path) == before
    check_whole(commands.run(*command, "--resume", cwd=tmp_path), name, tmp_path, rows_counted=False)


@pytest.mark.parametrize("name", INTERRUPTED)
def test_work_that_was_cut_off_under_other_rules_is_refused_and_can_be_started_over(
    commands: Commands, tmp_path: Path, name: str
) -> None:
    """Begun with rules for words 1 and keyed noise 1, of which consistent replacement is still version 1."""
    command = cut_off_work(FROZEN, name, tmp_path)
    before = content_of(tmp_path)
    ended = commands.run(*command, "--resume", cwd=tmp_path)
    assert ended.status != 0
    other = (
        "(rules for words 1, now 2)"
        if name == "parquet"
        else "(rules for words 1, now 2; keyed noise 1, now 2)"
    )
    said = " ".join(ended.err.split())
    assert "was begun by another version of deniable, which cuts text or draws noise otherwise" in said
    assert other in said
    assert "start over with --force" in said
    assert content_of(tmp_path) == before
    check_whole(commands.run(*command, "--force", cwd=tmp_path), name, tmp_path)


@pytest.mark.parametrize("name", [name for name, card in EXPECTED_CARDS.items() if isinstance(card, dict)])
def test_a_card_that_somebody_received_can_be_read_and_makes_its_mechanism(
    folder: Path, tmp_path: Path, name: str
) -> None:
    data = {**EXPECTED_CARDS[name], "deniable": "0.1.0"}
    (tmp_path / "c.card.json").write_text(json.dumps(data), encoding="utf-8")
    card = read_card(tmp_path / "c.card.json")
    assert {**json.loads(card.to_json()), "in_words": data["in_words"]} == data
    built_in = card.embedding.name == "default"
    made = card.make_mechanism(
        card.open_embedding("default" if built_in else folder / "home" / "embeddings" / card.embedding.name)
    )
    assert type(made).__name__ == EXPECTED_RECEIPTS[name]["mechanism"]
    assert made.guarantee.parameters == EXPECTED_RECEIPTS[name]["guarantee"]["parameters"]


def test_work_that_is_not_cut_off_is_released_as_it_was(commands: Commands, tmp_path: Path) -> None:
    check_with_what_lies_beside("resumed", by_command.of_resumed_work(commands, tmp_path))


def watched_before(frozen: Path, folder: Path) -> tuple[Path, Path]:
    """Lay out a folder that was watched, with early.csv released and late.csv cut off, and return it and
    where it goes."""
    laid_out(folder)
    shutil.copytree(frozen / "watched", folder, dirs_exist_ok=True)
    inbox, out = folder / "inbox", folder / "released"
    for path in inbox.iterdir():
        os.utime(path, ns=(FROZEN_TIME, FROZEN_TIME))
    begun_elsewhere(out / "late.csv.journal", inbox / "late.csv")
    return inbox, out


def test_a_folder_that_was_watched_before_can_be_watched_further(commands: Commands, tmp_path: Path) -> None:
    inbox, out = watched_before(CONTINUED, tmp_path)
    early = (out / "early.csv").stat()
    ended = commands.run(*WATCHED.split(), cwd=tmp_path)
    assert ended.status == 0, ended.err
    assert "late.csv" in ended.err
    assert "early.csv" not in ended.err
    assert (out / "late.csv").read_bytes().decode() == EXPECTED["watched"]["late.csv"]
    assert (out / "early.csv").stat().st_mtime_ns == early.st_mtime_ns
    assert (out / "early.csv").read_bytes().decode() == EXPECTED["watched"]["early.csv"]
    with (inbox / "early.csv").open("a") as file:
        file.write("4,the best bread,4\n")
    ended = commands.run(
        *WATCHED.split(), cwd=tmp_path
    )  # the ledger knows the settings that it was released with
    assert ended.status == 0, ended.err
    assert (out / "early.csv").read_bytes().decode() == EXPECTED["watched"]["early.csv with one more"]


def test_a_folder_that_was_watched_under_other_rules_keeps_what_was_released_and_draws_nothing_again(
    commands: Commands, tmp_path: Path
) -> None:
    inbox, out = watched_before(FROZEN, tmp_path)
    before = content_of(out)
    with (inbox / "early.csv").open("a") as file:
        file.write("4,the best bread,4\n")
    ended = commands.run(*WATCHED.split(), cwd=tmp_path)
    assert ended.status != 0
    assert "failed late.csv" in ended.err
    assert "was begun by another version of deniable" in ended.err
    assert "failed early.csv" in ended.err
    assert "released with other settings, another key or by another version of deniable" in ended.err
    assert content_of(out) == before
    for ending in (
        ".partial",
        ".journal",
    ):  # the way out that the message names; nothing of it was ever published
        (out / f"late.csv{ending}").unlink()
    commands.run(*WATCHED.split(), cwd=tmp_path)
    assert (out / "late.csv").read_bytes().decode() == EXPECTED["watched"]["late.csv"]


@pytest.mark.parametrize("name", in_python.EMBEDDINGS)
def test_a_fingerprint_is_still_that_of_the_content(commands: Commands, name: str) -> None:
    ended = commands.run("embeddings", "show", name, "--verify", "--json")
    assert ended.status == 0, ended.err
    assert EXPECTED["stored embeddings"][name]["fingerprint"] == json.loads(ended.out)["fingerprint"]
