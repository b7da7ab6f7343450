"""``decode`` and ``frequencies`` from the command line: by the card beside the text, by another, or without
one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from deniable import Embedding
from deniable.cli.app import app
from deniable.embeddings import store
from deniable.errors import DeniableError, InvalidParameter

NAMES = [f"word{i:02d}x" for i in range(30)]
FAST = ["--effort", "100", "--quiet"]


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a released file; its card lies beside it."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    rng = np.random.default_rng(0)
    store.save(Embedding(NAMES, rng.standard_normal((30, 3)).astype(np.float32)), "small")
    rows = [f"{'ab'[i % 2]},{' '.join(NAMES[j] for j in rng.integers(0, 10, 8))}" for i in range(120)]
    (tmp_path / "in.csv").write_text("group,text\n" + "".join(f"{row}\n" for row in rows))
    done = run(
        "privatize",
        tmp_path / "in.csv",
        "-o",
        tmp_path / "out.csv",
        "-c",
        "text",
        "-e",
        "4",
        "--embedding",
        "small",
        "--quiet",
    )
    assert done.exit_code == 0, done.output
    return tmp_path / "out.csv"


def test_decode_says_that_it_estimates_and_keeps_the_other_columns(out: Path) -> None:
    target = out.with_name("decoded.csv")
    done = run("decode", out, "-c", "text", "-o", target, *FAST)
    assert done.exit_code == 0, done.output
    assert "An estimate, not the original" in done.output
    assert "960 released words of 120 records" in done.output
    before, after = ([line.split(",") for line in path.read_text().splitlines()] for path in (out, target))
    assert [row[0] for row in before] == [row[0] for row in after]
    assert [len(row[1].split()) for row in before] == [len(row[1].split()) for row in after]


@pytest.mark.parametrize(("mark", "ending"), [(";", "csv"), ("\t", "csv"), ("|", "csv.gz"), (";", "tsv")])
def test_the_mark_between_cells_is_found_and_kept(out: Path, mark: str, ending: str) -> None:
    pack = gzip.compress if ending.endswith(".gz") else bytes
    unpack = gzip.decompress if ending.endswith(".gz") else bytes
    other, target = out.with_name(f"other.{ending}"), out.with_name(f"decoded.{ending}")
    between = mark + '"a, b"' + mark
    header = mark.join(("group", '"note, or so"', "text")) + "\n"
    rows = [line.replace(",", between) + "\n" for line in out.read_text().splitlines()[1:]]
    other.write_bytes(pack((header + "".join(rows)).encode()))
    card = ["--card", str(out.with_name("out.csv.card.json"))]
    done = run("decode", other, "-c", "text", "-o", target, *card, *FAST)
    assert done.exit_code == 0, done.output
    cells = [line.split(mark) for line in unpack(target.read_bytes()).decode().splitlines()]
    assert [row[:2] for row in cells[:3]] == [["group", "note, or so"], ["a", "a, b"], ["b", "a, b"]]
    assert {len(row) for row in cells} == {3}
    counted = [*card, *FAST, "-c", "text", "--by", "group", "--json"]
    known, found = (json.loads(run("frequencies", path, *counted).stdout) for path in (out, other))
    assert found | {"source": ""} == known | {"source": ""}
    for said in (("-c", "texts", "--no-check"), ("-c", "text", "--delimiter", "^")):
        assert isinstance(
            run("decode", other, *said, "-o", target, "--force", *card, *FAST).exception, InvalidParameter
        )


def test_the_card_may_lie_elsewhere_or_be_said_in_words(out: Path) -> None:
    first = out.with_name("first.csv")
    assert run("decode", out, "-c", "text", "-o", first, *FAST).exit_code == 0
    (out.with_name("elsewhere.json")).write_bytes(out.with_name("out.csv.card.json").read_bytes())
    out.with_name("out.csv.card.json").unlink()
    missing = run("decode", out, "-c", "text", "-o", out.with_name("x.csv"), *FAST)
    assert missing.exit_code == 2
    assert "there is no card beside the text" in missing.output.replace("\n", " ")
    ways = (["--card", str(out.with_name("elsewhere.json"))], ["--epsilon", "4", "--embedding", "small"])
    for number, options in enumerate(ways):
        target = out.with_name(f"again{number}.csv")
        assert run("decode", out, "-c", "text", "-o", target, *options, *FAST).exit_code == 0
        assert target.read_bytes() == first.read_bytes()
    both = run("decode", out, "-o", out.with_name("y.csv"), "--card", "a.json", "--epsilon", "4")
    assert both.exit_code == 2


@pytest.mark.parametrize("command", ["decode", "frequencies"])
def test_a_column_that_the_card_does_not_list_is_refused_unless_it_is_not_to_be_checked(
    out: Path, command: str
) -> None:
    target, card = out.with_name("x.csv"), ["--card", str(out.with_name("out.csv.card.json"))]
    renamed = out.with_name("renamed.csv")
    renamed.write_text(out.read_text().replace("group,text", "text,answer", 1))
    done = run(command, renamed, "-c", "answer", "-o", target, *card, *FAST)
    assert isinstance(done.exception, InvalidParameter)  # which the command shows in one line
    assert done.exception.exit_code == 2
    said = str(done.exception)
    assert said.startswith("--column = 'answer': was not released: the card lists the column text,")
    assert "--no-check" in said
    assert "\n" not in said
    assert not target.exists()
    unchecked = run(command, renamed, "-c", "answer", "-o", target, "--no-check", *card, *FAST)
    assert unchecked.exit_code == 0, unchecked.output
    without_card = run(
        command, renamed, "-c", "answer", "-o", target, "-e", "4", "--embedding", "small", "--force", *FAST
    )
    assert without_card.exit_code == 0, without_card.output


@pytest.mark.parametrize("command", ["decode", "frequencies"])
def test_the_only_column_of_a_card_need_not_be_named(out: Path, command: str) -> None:
    named, unnamed, target = out.with_name("named.csv"), out.with_name("unnamed.csv"), out.with_name("x.csv")
    assert run(command, out, "-c", "text", "-o", named, *FAST).exit_code == 0
    done = run(command, out, "-o", unnamed, *FAST)
    assert done.exit_code == 0, done.output
    assert unnamed.read_bytes() == named.read_bytes()
    card = out.with_name("out.csv.card.json")
    card.write_text(json.dumps(json.loads(card.read_text()) | {"columns": ["text", "title"]}))
    several = run(command, out, "-o", target, *FAST)
    assert isinstance(several.exception, InvalidParameter)
    assert "say which one to read: the card lists the columns text, title" in str(several.exception)
    assert not target.exists()


def test_plain_text_has_no_column_whatever_the_card_lists(out: Path) -> None:
    lines, target = out.with_name("lines.txt"), out.with_name("decoded.txt")
    lines.write_text("".join(line.split(",")[1] + "\n" for line in out.read_text().splitlines()[1:]))
    done = run("decode", lines, "-o", target, "--card", out.with_name("out.csv.card.json"), *FAST)
    assert done.exit_code == 0, done.output
    assert "960 released words of 120 records" in done.output


@pytest.mark.parametrize("command", ["decode", "frequencies"])
def test_more_than_one_column_is_refused(out: Path, command: str) -> None:
    done = run(command, out, "-c", "group", "-c", "text", "-o", out.with_name("x.csv"), *FAST)
    assert done.exit_code == 2
    assert "give --column once" in " ".join(done.output.replace("│", " ").split())
    assert not out.with_name("x.csv").exists()


@pytest.mark.parametrize("command", ["decode", "frequencies"])
@pytest.mark.parametrize("named", [False, True])
def test_what_a_card_says_is_refused_beside_it(out: Path, command: str, named: bool) -> None:
    target, card = (
        out.with_name("x.csv"),
        ["--card", str(out.with_name("out.csv.card.json"))] if named else [],
    )
    done = run(command, out, "-c", "text", "-o", target, "--mechanism", "santext", *card, *FAST)
    assert done.exit_code == 2
    assert "a card says which mechanism it was" in " ".join(done.output.replace("│", " ").split())
    if named:
        assert run(command, out, "-c", "text", "-o", target, "--epsilon", "4", *card, *FAST).exit_code == 2
        assert (
            run(
                command,
                out,
                "-c",
                "text",
                "-o",
                target,
                "--epsilon",
                "4",
                "--mechanism",
                "santext",
                *card,
                *FAST,
            ).exit_code
            == 2
        )
    assert not target.exists()


def test_candidates_and_context(out: Path) -> None:
    public = out.with_name("public.txt")
    public.write_text("".join(f"{NAMES[i]} {NAMES[i + 1]} {NAMES[i]}\n" for i in range(10)))
    target = out.with_name("top.csv")
    done = run("decode", out, "-c", "text", "-o", target, "--top", "3", "--public", public, *FAST)
    assert done.exit_code == 0, done.output
    assert "in context" in done.output
    assert target.read_text().startswith("record,place,released,candidate,probability\n1,1,")


def test_one_group_is_compared_with_nothing(out: Path) -> None:
    lines = out.read_text().splitlines()
    out.write_text("\n".join([lines[0], *(f"a{line[1:]}" for line in lines[1:])]) + "\n")
    page = out.with_name("page.html")
    done = run("frequencies", out, "-c", "text", "--by", "group", "--report", page, *FAST)
    assert done.exit_code == 0, done.output
    assert "all words stand in one group of group: there is nothing to compare it with" in " ".join(
        done.output.split()
    )
    assert "there is nothing to compare it with" in page.read_text()


@pytest.mark.parametrize("command", ["decode", "frequencies"])
def test_a_release_that_changed_nothing_is_read_or_refused_in_one_line(out: Path, command: str) -> None:
    # At such an ε a row lists its own word alone, and words that are not considered would have no probability
    # at all.
    source, released, target = out.with_name("in.csv"), out.with_name("same.csv"), out.with_name("x.csv")
    assert (
        run(
            "privatize", source, "-o", released, "-c", "text", "-e", "1e6", "--embedding", "small", "--quiet"
        ).exit_code
        == 0
    )
    whole = run(command, released, "-c", "text", "-o", target, *FAST)
    assert whole.exit_code == 0, whole.output
    if command == "decode":
        assert target.read_bytes() == source.read_bytes()
    few = run(command, released, "-c", "text", "-o", target, "--force", "--words", "5", *FAST)
    assert few.exit_code == 1
    assert isinstance(few.exception, DeniableError)
    assert "consider more words" in str(few.exception)


def test_frequencies_are_shown_written_and_drawn(out: Path) -> None:
    table, page = out.with_name("freq.csv"), out.with_name("page.html")
    done = run("frequencies", out, "-c", "text", "--by", "group", "-o", table, "--report", page, *FAST)
    assert done.exit_code == 0, done.output
    assert "960 released words of 120 records" in done.output
    assert "comparisons of a word in a group" in done.output
    assert table.read_text().startswith(
        "group,word,share,share_low,share_high,count,count_low,count_high,informed\n"
    )
    assert "<svg" in page.read_text()
    again = run("frequencies", out, "-c", "text", "-o", table, *FAST)
    assert again.exit_code == 1
    assert "exists already" in str(again.exception)
    told = run("frequencies", out, "-c", "text", "--json", *FAST)
    found = json.loads(told.stdout)
    uses = found["everything"]["uses"]
    known = [use["share_low"] for use in uses if use["informed"]]
    assert [use["informed"] for use in uses] == [place < len(known) for place in range(len(uses))]
    assert known == sorted(known, reverse=True)
    assert f"it says something of {len(known):,} of {len(uses):,} words" in done.output
    assert "no information" not in done.output
    # Each release has noise of its own. In 2,000 of them the ten words in use had 0.986 ± 0.042 together,
    # where they are 0.718 ± 0.014 of the released words, and at least eight of them came first. All words
    # together have more than 1, since none has less than 0.
    assert 0.79 < sum(use["share"] for use in uses if use["word"] in NAMES[:10]) < 1.2
    assert sum(use["word"] in NAMES[:10] for use in uses[:10]) >= 7


@pytest.mark.parametrize(
    ("by", "says"),
    [
        ("missing", "has 2 columns, none of that name"),
        ("text", "is the column of texts as well; name another one"),
    ],
)
def test_a_column_that_cannot_group_is_called_by_its_option(out: Path, by: str, says: str) -> None:
    error = run("frequencies", out, "-c", "text", "--by", by, *FAST).exception
    assert isinstance(error, InvalidParameter)
    assert (error.name, error.value) == ("--by", by)
    assert says in str(error)
    assert "label" not in str(error)


def test_values_that_cannot_group_are_called_groups(out: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    card, words = (
        ["--card", str(out.with_name("out.csv.card.json"))],
        [line.split(",")[1] for line in out.read_text().splitlines()[1:]],
    )
    pq.write_table(pa.table({"group": [0.5] * len(words), "text": words}), out.with_name("out.parquet"))
    out.with_name("out.jsonl").write_text("".join(f'{{"group": 0.5, "text": "{each}"}}\n' for each in words))
    by_schema, by_value = (
        str(run("frequencies", out.with_name(name), "-c", "text", "--by", "group", *card, *FAST).exception)
        for name in ("out.parquet", "out.jsonl")
    )
    assert by_schema == "--by = 'group': holds double; groups are text, whole numbers, or true and false"
    assert by_value.endswith(
        "the value of group is no group: groups are text, whole numbers, or true and false"
    )


@pytest.mark.parametrize("command", ["decode", "frequencies"])
def test_no_words_at_all_are_refused_by_the_name_of_the_option(out: Path, command: str) -> None:
    error = run(command, out, "-c", "text", "-o", out.with_name("x.csv"), "--words", "0", *FAST).exception
    assert isinstance(error, InvalidParameter)
    assert str(error) == "--words = 0: must be a whole number of at least 1"


def test_one_word_of_one_record_is_said_so(out: Path) -> None:
    one, card = out.with_name("one.csv"), ["--card", str(out.with_name("out.csv.card.json"))]
    one.write_text(f"text\n{NAMES[3]}\n")
    page = out.with_name("one.html")
    decoded, counted = (
        run("decode", one, "-o", out.with_name("x.csv"), *card, *FAST),
        run("frequencies", one, "--report", page, *card, *FAST),
    )
    assert "1 released word of 1 record was decoded" in " ".join(decoded.output.split())
    assert "1 released word of 1 record, Multivariate" in " ".join(counted.output.split())
    assert "1 record, 1 released word" in page.read_text()


def test_original_text_is_refused_in_one_line(out: Path) -> None:
    strange = out.with_name("strange.csv")
    strange.write_text("text\nnothing of this was released\n")
    done = run(
        "decode",
        strange,
        "-c",
        "text",
        "-o",
        out.with_name("x.csv"),
        "--card",
        out.with_name("out.csv.card.json"),
        *FAST,
    )
    assert done.exit_code == 1
    assert "cannot be decoded" in str(done.exception)
    assert not out.with_name("x.csv").exists()


def test_words_that_no_such_mechanism_releases_are_refused_in_one_line_or_decoded_unchecked(
    out: Path,
) -> None:
    original = out.with_name("in.csv")
    original.write_text("text\n" + f"{NAMES[0]} {NAMES[0]} {NAMES[1]}\n" * 100)
    card = ["--card", str(out.with_name("out.csv.card.json"))]
    for command in ("decode", "frequencies"):
        done = run(command, original, "-c", "text", "-o", out.with_name("x.csv"), *card, *FAST)
        assert done.exit_code == 1
        said = str(done.exception)
        assert "not as Multivariate at ε = 4 releases them" in said
        assert "--no-check" in said
        assert "\n" not in said
        assert not out.with_name("x.csv").exists()
    assert (
        run(
            "decode", original, "-c", "text", "-o", out.with_name("x.csv"), *card, "--no-check", *FAST
        ).exit_code
        == 0
    )


def test_an_epsilon_at_which_words_stay_as_they_are_is_noted(out: Path) -> None:
    how = ["--epsilon", "900", "--embedding", "small", *FAST]
    note = "note: Multivariate at ε = 900 lets 100.0 % of the words out unchanged"
    done = run("decode", out, "-c", "text", "-o", out.with_name("x.csv"), *how)
    assert done.exit_code == 0
    assert note in done.stderr
    found = run("frequencies", out, "-c", "text", "--json", *how)
    assert note in found.stderr
    assert json.loads(found.stdout)["unchanged"] == pytest.approx(1.0)
    assert "note:" not in run("decode", out, "-c", "text", "-o", out.with_name("y.csv"), *FAST).stderr


def test_what_is_known_of_words_before_may_be_said(out: Path) -> None:
    counts = out.with_name("counts.tsv")
    counts.write_text(f"{NAMES[0]}\t1000\n" + "".join(f"{name}\t1\n" for name in NAMES[1:]))
    found = {}
    for prior in ("rank", "uniform", str(counts)):
        target = out.with_name("candidates.csv")
        done = run(
            "decode", out, "-c", "text", "-o", target, "--top", "30", "--prior", prior, "--force", *FAST
        )
        assert done.exit_code == 0, done.output
        found[prior] = target.read_text()
    likely = {
        prior: sum(float(line.rsplit(",", 1)[1]) for line in text.splitlines()[1:] if f",{NAMES[0]}," in line)
        for prior, text in found.items()
    }
    assert likely[str(counts)] > likely["rank"] > likely["uniform"]


@pytest.mark.parametrize(("text", "said"), [(None, "must be"), ("one two three\n", "must hold a word")])
def test_a_file_that_holds_no_counts_is_refused_in_one_line(out: Path, text: str | None, said: str) -> None:
    counts = out.with_name("counts.tsv")
    if text is not None:
        counts.write_text(text)
    done = run("decode", out, "-c", "text", "-o", out.with_name("x.csv"), "--prior", counts, *FAST)
    assert isinstance(done.exception, DeniableError)  # which the command shows in one line
    assert said in str(done.exception)
    assert not out.with_name("x.csv").exists()
