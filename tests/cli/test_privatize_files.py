from __future__ import annotations

import json
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable.release.card import read_card
from tests.support.commands import Command


def test_a_parquet_file_with_receipt_card_and_summary(command: Command) -> None:
    pq.write_table(pa.table({"id": [1, 2], "text": ["The fox!", None]}), command.folder / "in.parquet")
    status, out, err = command.run("in.parquet --column text -o out.parquet")
    assert (status, out) == (0, b"")
    assert "out.parquet\n2 records, 2 words" in err
    assert [line.split(";")[0] for line in err.splitlines()[-2:]] == [
        "card: out.parquet.card.json",
        "receipt: out.parquet.receipt.json",
    ]
    assert read_card(command.folder / "out.parquet.card.json").columns == ("text",)
    assert pq.read_table(command.folder / "out.parquet").to_pydict() == {
        "id": [1, 2],
        "text": ["the fox", None],
    }
    counts = json.loads((command.folder / "out.parquet.receipt.json").read_text())["counts"]
    assert counts["missing_records"] == 1


def test_json_prints_the_receipt_and_quiet_prints_nothing(command: Command) -> None:
    (command.folder / "in.csv").write_text("text\nfox\n")
    status, out, err = command.run("in.csv -c text -o a.csv --json --receipt r.json")
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads((command.folder / "r.json").read_text())
    assert not (command.folder / "a.csv.receipt.json").exists()
    assert command.run("in.csv -c text -o b.csv --quiet") == (0, b"", "")


def test_receipt_and_card_of_standard_output_go_where_they_are_told_and_over_nothing(
    command: Command,
) -> None:
    (command.folder / "in.csv").write_text("text\nfox\n")
    assert command.run("in.csv -c text --card c.json")[:2] == (0, b"text\nfox\n")
    assert command.run("in.csv -c text -o out.csv -q")[0] == 0
    assert (command.folder / "c.json").read_bytes() == (command.folder / "out.csv.card.json").read_bytes()
    for given, status, named in (
        ("--card c.json", 1, "--force"),
        ("--card in.csv --receipt r.json --force", 1, "in.csv"),
        ("--card r.json --receipt r.json --force", 1, "twice"),
        ("--receipt in.csv --force", 1, "in.csv"),
        ("-o again.csv --card d.json", 2, "--card"),
    ):
        ended, out, err = command.run(f"in.csv -c text {given}")
        assert (ended, out, named in err) == (status, b"", True), err
    assert (command.folder / "in.csv").read_text() == "text\nfox\n"
    assert not list(command.folder.glob("again*"))


def test_standard_input_can_go_to_a_file_and_a_dash_is_standard_output(command: Command) -> None:
    assert command.run("-o -", data=b"fox\n") == (0, b"fox\n", "")
    assert not list(command.folder.iterdir())
    assert command.run("-o out.txt.gz -q", data=b"fox\n")[0] == 0
    assert (command.folder / "out.txt.gz").read_bytes()[:2] == b"\x1f\x8b"
    status, _, err = command.run("-o x.txt --resume", data=b"fox\n")
    assert (status, "--resume" in err) == (2, True)


def test_policies_reach_the_privatizer(command: Command) -> None:
    (command.folder / "keep.txt").write_text("quick\nstranger\n")
    policies = "--punctuation keep --case keep --unknown redact --keep-words keep.txt"
    released = command.run(policies, data=b"The quick, stranger: FOX!\n")
    assert released[:2] == (0, b"The quick, [redacted]: FOX!\n")
    status, out, err = command.run("--unknown error", data=b"fox\nthe secret\nfox\n")
    assert (status, out) == (1, b"fox\n")  # what stands before the unknown word, however the lines came
    assert "record 2, word 2" in err
    assert "secret" not in err


def test_what_is_relaxed_is_said_when_no_summary_will_say_it(command: Command) -> None:
    status, out, err = command.run("--punctuation keep --case keep", data=b"The fox!\n")
    assert (status, out) == (0, b"The fox!\n")
    marks, case = err.splitlines()
    assert marks.startswith("deniable: relaxed: punctuation='keep'")
    assert case.startswith("deniable: relaxed: case='keep'")
    assert command.run("--punctuation keep --quiet", data=b"fox!\n") == (0, b"fox!\n", f"{marks}\n")
    line, _, receipt = command.run("--punctuation keep --json", data=b"fox!\n")[2].partition("\n")
    assert line == marks
    assert json.loads(receipt)["relaxations"]
    for given, data in (
        ("csv -c a -c b", b"a,b\nfox,the\n"),
        ("jsonl -c l[]", b'{"l": ["the fox", "fox"]}\n'),
    ):
        status, _, err = command.run(f"--format {given}", data=data)
        assert (status, err.startswith("deniable: relaxed: ")) == (0, True), "several columns, and lists"


def test_a_budget_per_record_goes_with_the_most_that_a_word_gets(command: Command) -> None:
    spending = "--record-epsilon 1e7 --epsilon 2"
    status, out, err = command.deniable(*command.arguments(spending, "--json"), data=b"the fox\n" * 30)
    assert status == 0
    assert out != b"the fox\n" * 30
    receipt = json.loads(err)  # and no warning
    names = ("epsilon_per_word", "epsilon_per_record", "largest_epsilon_of_a_word")
    assert [receipt[name] for name in names] == [2, 1e7, 2]
    (command.folder / "in.txt").write_text("the fox\n")
    assert command.run("in.txt -o out.txt -q", spending)[0] == 0
    status, _, said = command.run("in.txt -o out.txt --record-epsilon 1e7 --resume")
    assert (status, "epsilon_per_word" in said) == (2, True), "another budget is another job"


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ("--epsilon 1 --max-unchanged 0.5", "max_unchanged"),
        ("--epsilon 1 --record-epsilon 0", "record_epsilon = 0"),
        ("--epsilon 0 --record-epsilon 1", "epsilon = 0"),
        ("--unknown pass", "perturb"),
        ("--format xml", "text, csv"),
        ("--format csv", "columns"),
        ("--format parquet --column t", "parquet"),
        ("--encoding klingon", "klingon"),
        ("--encoding undefined", "undefined"),
        ("--delimiter ab --format csv --column text", "one character"),
        ("--column text", "csv"),
        (". --column text", "folder"),
        ("-o out.csv", "--format csv"),
        ("in.csv --column txet", "text?"),
        ("in.csv --column remarks", "--no-header"),
        ("in.csv -o out.csv --resume --insecure-seed 1", "--insecure-seed"),
        ("--insecure-seed -1", "insecure_seed = -1"),
        ("-m nosuch", "multivariate"),
        ("-m vickrey -O t", "NAME=VALUE"),
        ("-m vickrey -O t=2", "t = 2.0"),
        ("-m vickrey -O t=0.5 -O t=0.6", "second"),
        ("-O t=0.5", "multivariate"),
    ],
)
def test_wrong_usage_exits_2_and_names_what_is_wrong(command: Command, arguments: str, named: str) -> None:
    (command.folder / "in.csv").write_text("id,text\n1,fox\n")
    status, out, err = command.run(arguments, data=b"id,text\n1,fox\n")
    assert (status, out) == (2, b"")
    assert named in err
    assert "Traceback" not in err


def test_files_that_cannot_be_opened_are_one_line(command: Command) -> None:
    (command.folder / "in.txt").write_text("fox\n")
    for given, status, named in (
        ("none.txt", 1, "none.txt"),
        ("in.txt -o no/out.txt", 1, "no/out.txt: "),
        ("-o /proc/x.txt", 1, "/proc/x.txt: "),
        (".", 2, "folder"),
    ):
        ended, out, err = command.run(given, data=b"fox\n")
        assert (ended, out, err.count("\n"), named in err) == (status, b"", 1, True), err
        assert "journal" not in err, "the file is named as the user did"


def test_a_seed_is_called_insecure_and_repeats_and_without_one_no_two_runs_are_alike(
    command: Command,
) -> None:
    text = b"the quick brown fox\n" * 9
    seeded, fresh = (
        [command.run(f"--epsilon 1 --quiet {seed}", data=text) for _ in range(2)]
        for seed in ("--insecure-seed 7", "")
    )
    assert seeded[0] == seeded[1]
    assert "INSECURE" in seeded[0][2]
    assert fresh[0][1] != fresh[1][1]


_PEAK = """
import re, sys
from pathlib import Path
from deniable.cli.app import main
sys.argv = ["deniable", *sys.argv[1:]]
try:
    main()
finally:
    # ru_maxrss would count the process that started this one
    print(int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024)
"""


def peak_megabytes(command: Command, source: str) -> int:
    argv = f"privatize {source} --column text --epsilon 9 --embedding tiny -o out-{source} --quiet".split()
    where = {"cwd": command.folder, "env": command.environment}
    done = subprocess.run([sys.executable, "-c", _PEAK, *argv], **where, capture_output=True, check=True)  # type: ignore[call-overload]
    return int(done.stdout)


@pytest.mark.parametrize("format_", ["csv", "jsonl", "parquet"])
def test_memory_does_not_grow_with_the_file(command: Command, format_: str) -> None:
    """Most of each record is in another column, so that the file is large and the words are few."""
    peaks = {}
    for megabytes in (5, 50):
        source = command.folder / f"in{megabytes}.{format_}"
        rows = megabytes * 250
        notes = [f"{i % 9}" * 3_996 for i in range(rows)]
        if format_ == "parquet":
            table = pa.table({"text": ["the fox"] * rows, "note": notes})
            # a group of rows is read as a whole
            pq.write_table(table, source, use_dictionary=False, compression="none", row_group_size=500)
        elif format_ == "csv":
            source.write_text("text,note\n" + "".join(f"the fox,{note}\n" for note in notes))
        else:
            source.write_text("".join(f'{{"text": "the fox", "note": "{note}"}}\n' for note in notes))
        assert source.stat().st_size > megabytes * 900_000
        peaks[megabytes] = peak_megabytes(command, source.name)
    assert peaks[50] < peaks[5] + 100


@pytest.mark.parametrize("also", ["", "--quiet", "--json -o out.txt"])
def test_an_epsilon_that_changes_hardly_anything_is_warned_about_whatever_else_is_asked_for(
    command: Command, also: str
) -> None:
    status, _, warned = command.deniable(*command.arguments(also), data=b"fox\n")
    assert (status, b"warning: " in warned, b"100 %" in warned) == (0, True, True)


@pytest.mark.parametrize("spending", ["--epsilon 2", "--record-epsilon 100 --epsilon 2"])
def test_an_epsilon_that_changes_much_is_not_warned_about(command: Command, spending: str) -> None:
    assert command.deniable(*command.arguments(spending, "-q"), data=b"fox\n")[::2] == (0, b"")


def test_a_budget_that_short_records_are_released_by_as_they_are_is_warned_about(command: Command) -> None:
    _, _, warned = command.deniable(*command.arguments("--record-epsilon 100 -q"), data=b"the fox\n")
    found = re.search(r"a budget of 100 .* about (\d+) words", warned.decode())
    assert found is not None
    words = [f"word{i}".encode() for i in range(100)] * 20

    def share_unchanged(length: int) -> float:
        _, released, _ = command.run(f"--epsilon {100 / length}", data=b"\n".join(words))
        return sum(before == after for before, after in zip(words, released.split(), strict=True)) / len(
            words
        )

    assert share_unchanged(int(found[1])) > 0.65
    assert share_unchanged(2 * int(found[1])) < 0.75


def test_a_header_that_is_really_private_text_is_not_shown(command: Command) -> None:
    (command.folder / "in.csv").write_text("7,my doctor told me that i am very ill\n8,fox\n")
    status, _, err = command.run("in.csv --column text -o out.csv")
    assert (status, "doctor" in err) == (2, False)
