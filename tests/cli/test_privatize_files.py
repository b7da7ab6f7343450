from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import Embedding, Vickrey
from deniable.release.card import read_card
from tests.cli.privatize_command import Command, make_command


@pytest.fixture
def command(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Command:
    return make_command(tmp_path_factory.getbasetemp() / "home", tmp_path)


def test_a_parquet_file_with_receipt_and_summary(command: Command) -> None:
    pq.write_table(pa.table({"id": [1, 2], "text": ["The fox!", None]}), command.folder / "in.parquet")
    status, out, err = command.run("in.parquet", "--column", "text", "-o", "out.parquet")
    assert (status, out) == (0, b"")
    assert "out.parquet\n2 records, 2 words" in err
    assert err.splitlines()[-2].startswith("card: out.parquet.card.json; hand it over with the output")
    assert err.splitlines()[-1].startswith(
        "receipt: out.parquet.receipt.json; keep it and do not hand it over"
    )
    assert read_card(command.folder / "out.parquet.card.json").columns == ("text",)
    assert pq.read_table(command.folder / "out.parquet").to_pydict() == {
        "id": [1, 2],
        "text": ["the fox", None],
    }
    assert (
        json.loads((command.folder / "out.parquet.receipt.json").read_text())["counts"]["missing_records"]
        == 1
    )


def test_json_prints_the_receipt_and_quiet_prints_nothing(command: Command) -> None:
    (command.folder / "in.csv").write_text("text\nfox\n")
    status, out, err = command.run(
        "in.csv", "--column", "text", "-o", "a.csv", "--json", "--receipt", "r.json"
    )
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads((command.folder / "r.json").read_text())
    assert not (command.folder / "a.csv.receipt.json").exists()
    assert command.run("in.csv", "--column", "text", "-o", "b.csv", "--quiet") == (0, b"", "")


def test_the_card_of_what_goes_to_standard_output_goes_where_it_is_told(command: Command) -> None:
    (command.folder / "in.csv").write_text("text\nfox\n")
    assert command.run("in.csv", "-c", "text", "--card", "c.json")[:2] == (0, b"text\nfox\n")
    assert command.run("in.csv", "-c", "text", "-o", "out.csv", "-q")[0] == 0
    assert (command.folder / "c.json").read_bytes() == (command.folder / "out.csv.card.json").read_bytes()
    status, out, err = command.run("in.csv", "-c", "text", "--card", "c.json")
    assert (status, out) == (1, b"")
    assert "c.json: exists already; replace it with --force" in err
    for same in ("in.csv", "r.json"):
        status, out, err = command.run(
            "in.csv", "-c", "text", "--card", same, "--receipt", "r.json", "--force"
        )
        assert (status, out) == (1, b"")
        assert ("is the input itself" if same == "in.csv" else "would be written twice") in err
    status, _, err = command.run("in.csv", "-c", "text", "-o", "again.csv", "--card", "d.json")
    assert status == 2
    assert "--card is for standard output" in err
    assert not list(command.folder.glob("again*"))


def test_a_receiver_with_output_and_card_makes_the_channel_that_the_text_went_through(
    command: Command,
) -> None:
    (command.folder / "in.csv").write_text("text\nthe fox\n")
    options = ["-c", "text", "-m", "vickrey", "-O", "t=0.5", "--unknown", "redact", "-o", "out.csv", "-q"]
    assert command.run("in.csv", *options)[0] == 0
    card = read_card(command.folder / "out.csv.card.json")
    embedding = Embedding.open(Path(command.environment["DENIABLE_HOME"]) / "embeddings" / "tiny")
    assert card.fingerprint == embedding.fingerprint
    made = card.make_mechanism(embedding)
    assert isinstance(made, Vickrey)
    assert (made.t, made.epsilon) == (0.5, 1e6)


def test_standard_input_can_go_to_a_file(command: Command) -> None:
    assert command.run("-o", "out.txt.gz", "-q", data=b"fox\n")[0] == 0
    assert (command.folder / "out.txt.gz").read_bytes()[:2] == b"\x1f\x8b"
    status, _, err = command.run("-o", "x.txt", "--resume", data=b"fox\n")
    assert status == 2
    assert "--resume needs a FILE" in err


def test_policies_reach_the_privatizer(command: Command) -> None:
    (command.folder / "keep.txt").write_text("quick\nstranger\n")
    options = ["--punctuation", "keep", "--case", "keep", "--unknown", "redact", "--keep-words", "keep.txt"]
    assert command.run(*options, data=b"The quick, stranger: FOX!\n")[:2] == (
        0,
        b"The quick, [redacted]: FOX!\n",
    )
    status, out, err = command.run("--unknown", "error", data=b"fox\nthe secret\nfox\n")
    assert (status, out) == (1, b"fox\n")  # what stands before the unknown word, however the lines came
    assert "record 2, word 2" in err
    assert "secret" not in err


def test_what_is_relaxed_is_said_when_no_summary_will_say_it(command: Command) -> None:
    status, out, err = command.run("--punctuation", "keep", "--case", "keep", data=b"The fox!\n")
    assert (status, out) == (0, b"The fox!\n")
    assert err.splitlines() == [
        "deniable: relaxed: punctuation='keep': punctuation marks and their positions are released exactly",
        "deniable: relaxed: case='keep': which words were capitalised or upper case is released exactly",
    ]
    status, out, err = command.run("--punctuation", "keep", "--quiet", data=b"fox!\n")
    assert (status, out) == (0, b"fox!\n")
    assert err.startswith("deniable: relaxed: punctuation='keep'")
    assert err.count("\n") == 1
    _, _, err = command.run("--punctuation", "keep", "--json", data=b"fox!\n")
    line, _, receipt = err.partition("\n")
    assert line.startswith("deniable: relaxed: punctuation='keep'")
    assert json.loads(receipt)["relaxations"]
    _, out, err = command.run("--format", "csv", "-c", "a", "-c", "b", data=b"a,b\nfox,the\n")
    assert err.startswith("deniable: relaxed: 2 columns are privatized")


def test_the_input_is_never_the_receipt(command: Command) -> None:
    (command.folder / "in.txt").write_text("fox\n")
    status, out, err = command.run("in.txt", "--receipt", "in.txt", "--force")
    assert (status, out) == (1, b"")
    assert "is the input itself" in err
    assert (command.folder / "in.txt").read_text() == "fox\n"


def test_a_budget_per_record_is_divided(command: Command) -> None:
    status, _, err = command.run("--record-epsilon", "1e7", "--json", data=b"the fox\n")
    assert status == 0
    receipt = json.loads(err)
    assert (
        receipt["epsilon_per_word"],
        receipt["epsilon_per_record"],
        receipt["largest_epsilon_of_a_word"],
    ) == (None, 1e7, 5e6)


def test_a_budget_per_record_goes_with_the_most_that_a_word_gets(command: Command) -> None:
    spending = ["--record-epsilon", "1e7", "--epsilon", "2", "--json"]
    status, out, err = command.deniable(*command.arguments(*spending), data=b"the fox\n" * 30)
    assert status == 0
    assert out != b"the fox\n" * 30
    receipt = json.loads(err)  # and no warning
    assert (
        receipt["epsilon_per_word"],
        receipt["epsilon_per_record"],
        receipt["largest_epsilon_of_a_word"],
    ) == (2, 1e7, 2)
    (command.folder / "in.txt").write_text("the fox\n")
    assert command.run("in.txt", "-o", "out.txt", *spending[:4], "-q")[0] == 0
    status, _, said = command.run("in.txt", "-o", "out.txt", "--record-epsilon", "1e7", "--resume")
    assert status == 2
    assert "other settings (guarantee, epsilon_per_word)" in said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--epsilon", "1", "--max-unchanged", "0.5"], "give one of the two"),
        (["--epsilon", "1", "--record-epsilon", "0"], "record_epsilon = 0"),
        (["--epsilon", "0", "--record-epsilon", "1"], "epsilon = 0"),
        (["--epsilon", "nan"], "epsilon = nan"),
        (["--epsilon", "-3"], "epsilon = -3"),
        (["--unknown", "pass"], "must be one of perturb"),
        (["--format", "xml"], "must be one of text, csv"),
        (["--format", "csv"], "say which columns"),
        (["--format", "parquet", "--column", "t"], "parquet"),
        (["--encoding", "klingon"], "is not an encoding"),
        (["--encoding", "undefined"], "cannot be read line by line"),
        (["--delimiter", "ab", "--format", "csv", "--column", "text"], "must be one character"),
        (["--column", "text"], "plain text has no columns; choose the format csv"),
        ([".", "--column", "text"], "is a folder"),
        (["-o", "out.csv"], "If the input is csv as well, say so: --format csv"),
        (["in.csv", "--column", "txet"], "has 2 columns, none of that name; did you mean text?"),
        (
            ["in.csv", "--column", "remarks"],
            "has 2 columns, none of that name; if the file has no header use --no-header",
        ),
        (["in.csv", "-o", "out.csv", "--resume", "--insecure-seed", "1"], "excludes --insecure-seed"),
    ],
)
def test_wrong_usage_exits_2_and_says_what_to_do(
    command: Command, arguments: list[str], message: str
) -> None:
    (command.folder / "in.csv").write_text("id,text\n1,fox\n")
    status, out, err = command.run(*arguments, data=b"id,text\n1,fox\n")
    assert (status, out) == (2, b"")
    assert message in err
    assert "Traceback" not in err


def test_files_that_cannot_be_opened_are_one_line(command: Command) -> None:
    assert command.run("none.txt") == (1, b"", "deniable: none.txt: No such file or directory\n")
    (command.folder / "in.txt").write_text("fox\n")
    status, _, err = command.run("in.txt", "-o", "no/out.txt")
    assert status == 1
    assert err.startswith("deniable: no/out.txt: the folder no is not there")
    status, _, err = command.run(".")
    assert status == 2
    assert "is a folder; name a file in it" in err
    assert err.count("\n") == 1


def test_a_seed_is_called_insecure_and_repeats(command: Command) -> None:
    runs = [
        command.run("--insecure-seed", "7", "--epsilon", "1", "--quiet", data=b"the quick brown fox\n" * 9)
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    assert "INSECURE" in runs[0][2]


def test_a_seed_below_zero_is_one_line(command: Command) -> None:
    status, out, err = command.run("--insecure-seed", "-1", data=b"fox\n")
    assert (status, out) == (2, b"")
    assert err.startswith("deniable: insecure_seed = -1: ")
    assert err.count("\n") == 1


def test_without_a_seed_no_two_runs_are_alike(command: Command) -> None:
    runs = [command.run("--epsilon", "1", data=b"the quick brown fox\n" * 9) for _ in range(2)]
    assert runs[0][1] != runs[1][1]


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
    argv = [
        "privatize",
        source,
        "--column",
        "text",
        "--epsilon",
        "9",
        "--embedding",
        "tiny",
        "-o",
        f"out-{source}",
        "--quiet",
    ]
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, *argv],
        cwd=command.folder,
        env=command.environment,
        capture_output=True,
        check=True,
        text=True,
    )
    return int(done.stdout)


@pytest.mark.parametrize("format_", ["csv", "jsonl", "parquet"])
def test_memory_does_not_grow_with_the_file(command: Command, format_: str) -> None:
    """Most of each record is in another column, so that the file is large and the words are few."""
    peaks = {}
    for megabytes in (5, 50):
        source = command.folder / f"in{megabytes}.{format_}"
        rows = megabytes * 250
        notes = [f"{i:06}" * 666 for i in range(rows)]
        if format_ == "parquet":
            pq.write_table(
                pa.table({"text": ["the fox"] * rows, "note": notes}),
                source,
                use_dictionary=False,
                compression="none",
                row_group_size=500,  # a group is read as a whole
            )
        elif format_ == "csv":
            source.write_text("text,note\n" + "".join(f"the fox,{note}\n" for note in notes))
        else:
            source.write_text("".join(f'{{"text": "the fox", "note": "{note}"}}\n' for note in notes))
        assert source.stat().st_size > megabytes * 900_000
        peaks[megabytes] = peak_megabytes(command, source.name)
    assert peaks[50] < peaks[5] + 100


def test_a_dash_as_output_is_standard_output(command: Command) -> None:
    assert command.run("-o", "-", data=b"fox\n") == (0, b"fox\n", "")
    assert not list(command.folder.iterdir())


def test_an_output_whose_name_speaks_of_another_format_is_refused(command: Command) -> None:
    (command.folder / "in.csv").write_text("text\nfox\n")
    status, _, err = command.run("in.csv", "--column", "text", "-o", "out.jsonl")
    assert status == 2
    assert "formats are not converted" in err
    assert not (command.folder / "out.jsonl").exists()
    assert command.run("in.csv", "--column", "text", "-o", "out.txt", "-q")[0] == 0


def test_a_place_that_takes_no_file_is_named_as_the_user_did(command: Command) -> None:
    status, _, err = command.run("-o", "/proc/x.txt", data=b"fox\n")
    assert status == 1
    assert "deniable: /proc/x.txt: cannot be written there" in err
    assert "journal" not in err


def test_resuming_a_finished_output_with_other_settings_is_refused(command: Command) -> None:
    (command.folder / "in.txt").write_text("fox\n")
    assert command.run("in.txt", "-o", "out.txt", "-q")[0] == 0
    status, _, err = command.run("in.txt", "-o", "out.txt", "--resume", "--epsilon", "3")
    assert status == 2
    assert "other settings (guarantee, epsilon_per_word)" in err
    assert (command.folder / "out.txt").read_text() == "fox\n"


@pytest.mark.parametrize(
    "also", [[], ["--quiet"], ["--json"], ["--quiet", "-o", "out.txt"], ["--json", "-o", "out.txt"]]
)
def test_an_epsilon_that_changes_hardly_anything_is_warned_about_whatever_else_is_asked_for(
    command: Command, also: list[str]
) -> None:
    status, _, warned = command.deniable(*command.arguments(*also), data=b"fox\n")
    assert status == 0
    assert "about 100 % of the words of tiny are released as they are" in warned.decode()


@pytest.mark.parametrize(
    "spending", [["--epsilon", "2"], ["--record-epsilon", "2"], ["--record-epsilon", "100", "--epsilon", "2"]]
)
def test_an_epsilon_that_changes_much_is_not_warned_about(command: Command, spending: list[str]) -> None:
    assert command.deniable(*command.arguments(*spending, "-q"), data=b"fox\n")[::2] == (0, b"")


def test_a_budget_that_short_records_are_released_by_as_they_are_is_warned_about(command: Command) -> None:
    status, _, warned = command.deniable(
        *command.arguments("--record-epsilon", "100", "-q"), data=b"the fox\n"
    )
    assert status == 0
    found = re.search(
        r"a budget of 100 per record is too large for records of up to about (\d+) words", warned.decode()
    )
    assert found is not None
    words = [f"word{i}".encode() for i in range(100)] * 20

    def share_unchanged(length: int) -> float:
        _, released, _ = command.deniable(
            *command.arguments("--epsilon", str(100 / length)), data=b"\n".join(words)
        )
        return sum(before == after for before, after in zip(words, released.split(), strict=True)) / len(
            words
        )

    assert share_unchanged(int(found[1])) > 0.65
    assert share_unchanged(2 * int(found[1])) < 0.75


def test_a_list_of_words_to_keep_with_two_words_in_an_entry_is_refused(command: Command) -> None:
    (command.folder / "keep.txt").write_text("quick\nbrown fox\n")
    status, out, err = command.run("--keep-words", "keep.txt", data=b"the quick brown fox\n")
    assert (status, out) == (2, b"")
    assert err.startswith("deniable: keep_words = 'brown fox': is 2 words in a text (brown, fox)")
    assert err.count("\n") == 1


def test_a_header_that_is_really_private_text_is_not_shown(command: Command) -> None:
    (command.folder / "in.csv").write_text("7,my doctor told me that i am very ill\n8,fox\n")
    status, _, err = command.run("in.csv", "--column", "text", "-o", "out.csv")
    assert status == 2
    assert "doctor" not in err
