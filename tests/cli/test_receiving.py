"""``decode`` and ``frequencies`` from the command line: by the card beside the text, by another, or without
one."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import Result

from deniable import Embedding
from deniable.embeddings import store
from deniable.errors import DeniableError, InvalidParameter, NotThisRelease
from tests.support.commands import invoke

NAMES = [f"word{i:02d}x" for i in range(30)]
CARD = "--card out.csv.card.json"
both = pytest.mark.parametrize("command", ["decode", "frequencies"])


@pytest.fixture(autouse=True)
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a released file; its card lies beside it."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    store.save(Embedding(NAMES, rng.standard_normal((30, 3)).astype(np.float32)), "small")
    rows = [f"{'ab'[i % 2]},{' '.join(NAMES[j] for j in rng.integers(0, 10, 8))}\n" for i in range(120)]
    Path("in.csv").write_text("group,text\n" + "".join(rows))
    assert invoke("privatize in.csv -o out.csv -c text -e 4 --embedding small -q").exit_code == 0
    return Path("out.csv")


def read(arguments: str) -> Result:
    """Return what a command made of a release, which it could read."""
    done = invoke(arguments, "--effort 100 --quiet")
    assert done.exit_code == 0, done.output
    return done


def refused(arguments: str, *, written: str = "x.csv") -> DeniableError:
    """Return by which error a command refuses something, before it writes anything."""
    error = invoke(arguments, "--effort 100 --quiet").exception
    assert isinstance(error, DeniableError)
    assert "\n" not in str(error)
    assert not Path(written).exists()
    return error


def wrong_usage(arguments: str) -> str:
    """Return what is said of options that do not go together."""
    done = invoke(arguments, "--effort 100 --quiet")
    assert done.exit_code == 2
    assert not Path("x.csv").exists()
    return " ".join(done.output.replace("│", " ").split())


def cells(path: str, mark: str = ",") -> list[list[str]]:
    content = Path(path).read_bytes()
    text = gzip.decompress(content) if path.endswith(".gz") else content
    return [line.split(mark) for line in text.decode().splitlines()]


def test_decode_says_that_it_estimates_and_keeps_the_other_columns() -> None:
    done = read("decode out.csv -c text -o decoded.csv")
    assert "An estimate, not the original" in done.output
    assert "960 released words of 120 records" in done.output
    before, after = cells("out.csv"), cells("decoded.csv")
    assert [row[0] for row in before] == [row[0] for row in after]
    assert [len(row[1].split()) for row in before] == [len(row[1].split()) for row in after]


@pytest.mark.parametrize(("mark", "name"), [(";", "other.csv"), ("|", "other.csv.gz"), (";", "other.tsv")])
def test_the_mark_between_cells_is_found_and_kept(out: Path, mark: str, name: str) -> None:
    header, *rows = out.read_text().splitlines()
    header = mark.join(("group", '"note, or so"', "text"))
    content = "\n".join([header, *(row.replace(",", f'{mark}"a, b"{mark}') for row in rows)]) + "\n"
    Path(name).write_bytes((gzip.compress if name.endswith(".gz") else bytes)(content.encode()))
    target = name.replace("other", "decoded")
    read(f"decode {name} -c text -o {target} {CARD}")
    found = cells(target, mark)
    assert [row[:2] for row in found[:3]] == [["group", "note, or so"], ["a", "a, b"], ["b", "a, b"]]
    assert {len(row) for row in found} == {3}
    counted, known = (
        json.loads(read(f"frequencies {file} {CARD} -c text --by group --json").stdout)
        for file in (name, "out.csv")
    )
    assert counted | {"source": ""} == known | {"source": ""}
    for options in ("-c texts --no-check", "-c text --delimiter ^"):
        assert isinstance(refused(f"decode {name} {options} -o x.csv {CARD}"), InvalidParameter)


def test_the_card_may_lie_elsewhere_or_be_said_in_words(out: Path) -> None:
    read("decode out.csv -c text -o first.csv")
    Path("out.csv.card.json").rename("elsewhere.json")
    assert "--card" in wrong_usage("decode out.csv -c text -o x.csv")
    for options in ("--card elsewhere.json", "--epsilon 4 --embedding small"):
        read(f"decode out.csv -c text -o again.csv --force {options}")
        assert Path("again.csv").read_bytes() == Path("first.csv").read_bytes()


@both
def test_a_column_that_the_card_does_not_list_is_refused_unless_it_is_not_to_be_checked(
    out: Path, command: str
) -> None:
    Path("renamed.csv").write_text(out.read_text().replace("group,text", "text,answer", 1))
    renamed = f"{command} renamed.csv -c answer -o x.csv"
    error = refused(f"{renamed} {CARD}")
    assert isinstance(error, InvalidParameter)
    assert (error.name, error.value, "--no-check" in error.problem) == ("--column", "answer", True)
    read(f"{renamed} --no-check {CARD}")
    read(f"{renamed} -e 4 --embedding small --force")


@both
def test_the_only_column_of_a_card_need_not_be_named(command: str) -> None:
    read(f"{command} out.csv -c text -o named.csv")
    read(f"{command} out.csv -o unnamed.csv")
    assert Path("unnamed.csv").read_bytes() == Path("named.csv").read_bytes()
    card = Path("out.csv.card.json")
    card.write_text(json.dumps(json.loads(card.read_text()) | {"columns": ["text", "title"]}))
    error = refused(f"{command} out.csv -o x.csv")
    assert isinstance(error, InvalidParameter)
    assert "text, title" in error.problem


def test_plain_text_has_no_column_whatever_the_card_lists() -> None:
    Path("lines.txt").write_text("".join(f"{row[1]}\n" for row in cells("out.csv")[1:]))
    assert "960 released words of 120 records" in read(f"decode lines.txt -o decoded.txt {CARD}").output


@both
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ("-c group -c text", "--column"),
        ("-c text --mechanism santext", "mechanism"),
        (f"-c text --mechanism santext {CARD}", "mechanism"),
        (f"-c text --epsilon 4 {CARD}", "--epsilon"),
    ],
)
def test_several_columns_and_what_a_card_says_are_refused_beside_it(
    command: str, options: str, named: str
) -> None:
    assert named in wrong_usage(f"{command} out.csv -o x.csv {options}")


def test_candidates_and_context() -> None:
    public = "".join(f"{NAMES[i]} {NAMES[i + 1]} {NAMES[i]}\n" for i in range(10))
    Path("public.txt").write_text(public)
    done = read("decode out.csv -c text -o top.csv --top 3 --public public.txt")
    assert "in context" in done.output
    assert cells("top.csv")[0] == ["record", "place", "released", "candidate", "probability"]
    assert cells("top.csv")[1][:2] == ["1", "1"]


def test_one_group_is_compared_with_nothing(out: Path) -> None:
    header, *rows = out.read_text().splitlines()
    out.write_text("\n".join([header, *(f"a{row[1:]}" for row in rows)]) + "\n")
    done = read("frequencies out.csv -c text --by group --report page.html")
    for said in (" ".join(done.output.split()), Path("page.html").read_text()):
        assert "there is nothing to compare it with" in said


@both
def test_a_release_that_changed_nothing_is_read_or_refused_in_one_line(command: str) -> None:
    # At such an ε a row lists its own word alone, and words that are not considered would have no probability
    # at all.
    assert invoke("privatize in.csv -o same.csv -c text -e 1e6 --embedding small -q").exit_code == 0
    read(f"{command} same.csv -c text -o whole.csv")
    if command == "decode":
        assert Path("whole.csv").read_bytes() == Path("in.csv").read_bytes()
    assert refused(f"{command} same.csv -c text -o x.csv --words 5").exit_code == 1


def test_frequencies_are_shown_written_and_drawn() -> None:
    done = read("frequencies out.csv -c text --by group -o freq.csv --report page.html")
    assert "960 released words of 120 records" in done.output
    assert "comparisons of a word in a group" in done.output
    columns = "group word share share_low share_high count count_low count_high informed"
    assert cells("freq.csv")[0] == columns.split()
    assert "<svg" in Path("page.html").read_text()
    assert refused("frequencies out.csv -c text -o freq.csv").exit_code == 1, "it exists already"
    uses = json.loads(read("frequencies out.csv -c text --json").stdout)["everything"]["uses"]
    known = [use["share_low"] for use in uses if use["informed"]]
    assert [use["informed"] for use in uses] == [place < len(known) for place in range(len(uses))]
    assert known == sorted(known, reverse=True)
    assert f"{len(known):,} of {len(uses):,} words" in done.output
    # Each release has noise of its own. In 2,000 of them the ten words in use had 0.986 ± 0.042 together,
    # where they are 0.718 ± 0.014 of the released words, and at least eight of them came first. All words
    # together have more than 1, since none has less than 0.
    assert 0.79 < sum(use["share"] for use in uses if use["word"] in NAMES[:10]) < 1.2
    assert sum(use["word"] in NAMES[:10] for use in uses[:10]) >= 7


@pytest.mark.parametrize("by", ["missing", "text"])
def test_a_column_that_cannot_group_is_called_by_its_option(by: str) -> None:
    error = refused(f"frequencies out.csv -c text --by {by}")
    assert isinstance(error, InvalidParameter)
    assert (error.name, error.value) == ("--by", by)


def test_values_that_cannot_group_are_called_groups() -> None:
    words = [row[1] for row in cells("out.csv")[1:]]
    pq.write_table(pa.table({"group": [0.5] * len(words), "text": words}), "out.parquet")
    Path("out.jsonl").write_text("".join(f'{{"group": 0.5, "text": "{each}"}}\n' for each in words))
    for name in ("out.parquet", "out.jsonl"):
        assert "groups are" in str(refused(f"frequencies {name} -c text --by group {CARD}"))


@both
def test_no_words_at_all_are_refused_by_the_name_of_the_option(command: str) -> None:
    error = refused(f"{command} out.csv -c text -o x.csv --words 0")
    assert isinstance(error, InvalidParameter)
    assert (error.name, error.value) == ("--words", 0)


def test_one_word_of_one_record_is_said_so() -> None:
    Path("one.csv").write_text(f"text\n{NAMES[3]}\n")
    for command in ("decode one.csv -o x.csv", "frequencies one.csv --report one.html"):
        assert "1 released word of 1 record" in " ".join(read(f"{command} {CARD}").output.split())
    assert "1 record, 1 released word" in Path("one.html").read_text()


def test_original_text_is_refused_in_one_line() -> None:
    Path("strange.csv").write_text("text\nnothing of this was released\n")
    error = refused(f"decode strange.csv -c text -o x.csv {CARD}")
    assert isinstance(error, NotThisRelease)
    assert error.exit_code == 1


def test_words_that_no_such_mechanism_releases_are_refused_in_one_line_or_decoded_unchecked() -> None:
    Path("in.csv").write_text("text\n" + f"{NAMES[0]} {NAMES[0]} {NAMES[1]}\n" * 100)
    for command in ("decode", "frequencies"):
        error = refused(f"{command} in.csv -c text -o x.csv {CARD}")
        assert isinstance(error, NotThisRelease)
        assert "--no-check" in str(error)
    read(f"decode in.csv -c text -o x.csv --no-check {CARD}")


def test_an_epsilon_at_which_words_stay_as_they_are_is_noted() -> None:
    how = "--epsilon 900 --embedding small"
    found = read(f"frequencies out.csv -c text --json {how}")
    for done in (read(f"decode out.csv -c text -o x.csv {how}"), found):
        assert "note: Multivariate at ε = 900 lets 100.0 %" in done.stderr
    assert json.loads(found.stdout)["unchanged"] == pytest.approx(1.0)
    assert "note:" not in read("decode out.csv -c text -o y.csv").stderr


def test_what_is_known_of_words_before_may_be_said() -> None:
    counts = f"{NAMES[0]}\t1000\n" + "".join(f"{name}\t1\n" for name in NAMES[1:])
    Path("counts.tsv").write_text(counts)
    likely = []
    for prior in ("counts.tsv", "rank", "uniform"):
        read(f"decode out.csv -c text -o candidates.csv --top 30 --force --prior {prior}")
        likely.append(sum(float(row[4]) for row in cells("candidates.csv") if row[3] == NAMES[0]))
    assert likely[0] > likely[1] > likely[2]


@pytest.mark.parametrize("text", [None, "one two three\n"])
def test_a_file_that_holds_no_counts_is_refused_in_one_line(text: str | None) -> None:
    if text is not None:
        Path("counts.tsv").write_text(text)
    assert "counts.tsv" in str(refused("decode out.csv -c text -o x.csv --prior counts.tsv"))
