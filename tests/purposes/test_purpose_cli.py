"""``deniable embeddings reduce`` and ``shape``, and what other commands say of their embeddings."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from deniable.cli.app import app
from deniable.embeddings import store
from tests.support.made_purpose import made_embedding, public_texts


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """A public file; its embedding is installed as made."""
    store.save(made_embedding(), "made")
    texts, numbers = public_texts(), public_texts(kind="numbers")
    with (tmp_path / "public.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "mood", "score"])
        writer.writerows(zip(texts.texts, texts.labels, numbers.labels, strict=True))
    return tmp_path / "public.csv"


def shape(public: Path, *more: str | Path) -> Result:
    return run(
        "embeddings", "shape", "made", "--for-public", public, "--text", "text", "--dimension", "4", *more
    )


def test_reduce_installs_and_says_from_what(public: Path) -> None:
    done = run("embeddings", "reduce", "made", "--dimension", "5", "--as", "small")
    assert done.exit_code == 0, done.output
    assert f"made ({made_embedding().fingerprint}) reduced to its 5 principal axes" in done.stdout
    assert "5 axes as they are" in done.stdout
    assert json.loads(run("embeddings", "show", "small", "--json").stdout)["linear_map"]["kind"] == "reduced"


def test_shape_says_first_that_texts_must_be_public_and_at_last_what_becomes_public(public: Path) -> None:
    done = shape(public, "--label", "mood", "--as", "moody")
    assert done.exit_code == 0, done.output
    assert "the labelled texts must be public" in done.stderr
    assert "What becomes public with this embedding" in done.stdout
    for said in (run("embeddings", "show", "moody").stdout, done.stdout):
        assert "shaped: its 4 principal axes beside 1 direction of a declared purpose, of strength 4" in said
        assert "the label “mood” of public.csv (2 classes: class0, class1), learnt from 200" in said
    verified = run("embeddings", "show", "moody", "--verify").stdout
    assert "map verified:        True" in verified
    store.remove("made")
    assert "map verified:        no" in run("embeddings", "show", "moody", "--verify").stdout


def test_labels_of_other_texts_and_few_texts_are_warned_of_in_one_line_each(public: Path) -> None:
    fine = shape(public, "--label", "mood", "--as", "moody")
    assert fine.stderr.count("deniable: warning:") == 1, "that of public texts only"
    rows = list(csv.reader(public.read_text(encoding="utf-8").splitlines()))
    labels = [row[1] for row in rows[1:]]
    with public.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [rows[0], *([row[0], label, row[2]] for row, label in zip(rows[1:151], labels[50:], strict=True))]
        )
    done = shape(public, "--label", "mood", "--as", "nothing", "--json")
    assert done.exit_code == 0, done.output
    json.loads(done.stdout)
    said = [line for line in done.stderr.splitlines() if line.startswith("deniable: warning: ")]
    assert len(said) == 3
    assert "the labels “mood” of public.csv cannot be told from its words" in said[1]
    assert "public.csv has only 150 texts with a label" in said[2]


def test_numbers_and_several_purposes(public: Path) -> None:
    again = public.with_name("again.csv")
    again.write_bytes(public.read_bytes())
    done = shape(
        public, "--for-public", again, "--label", "mood", "--label", "score", "--as", "both", "--json"
    )
    assert done.exit_code == 0, done.output
    noted = json.loads(done.stdout)["linear_map"]["public"]
    assert [(each["labels"], each["directions"], len(each["classes"])) for each in noted] == [
        ("classes", 1, 2),
        ("numbers", 1, 0),
    ]
    assert "What becomes public" not in done.stdout


def test_the_same_file_gives_the_same_fingerprint(public: Path) -> None:
    found = {
        json.loads(shape(public, "--label", "mood", "--as", name, "--json").stdout)["fingerprint"]
        for name in ("one", "two")
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    ("more", "code", "says"),
    [
        ("--label mood --as made", 2, "an embedding named 'made' is installed already"),
        ("--label mood --as new --dimension -1", 2, "at least 0"),
        ("--label mood --as new --strength -2", 2, "between 0.01 and 1000"),
        ("--label mood --as new --strength nan", 2, "between 0.01 and 1000"),
        ("--label colour --as new", 2, "colour"),
        ("--label text --as new", 2, "is the column of texts as well"),
        ("--label mood --label score --as new", 2, "give --label once, or once for each of the 1 files"),
        ("--label mood --labels numbers --as new", 1, "200 of its 200 labels are no finite numbers"),
        ("--label score --labels classes --as new", 1, "200 of its 200 labels have fewer than 4"),
        ("--as new", 2, "Missing option '--label'"),
    ],
)
def test_bad_input_gives_one_clear_error_and_installs_nothing(
    public: Path, more: str, code: int, says: str
) -> None:
    done = shape(public, *more.split())
    said = " ".join((done.output + str(done.exception)).split())
    assert says in said
    assert (getattr(done.exception, "exit_code", None) or done.exit_code) == code
    assert [facts.name for facts in store.installed()] == ["made"]


def test_explain_shows_what_moved(public: Path) -> None:
    shape(public, "--label", "mood", "--as", "moody")
    explain = ("explain", made_embedding().words[17], *"-e 3 --embedding moody --effort 50".split())
    said = run(*explain).stdout
    assert "came nearer than in made:" in said
    assert "went away since made:" in said
    assert json.loads(run(*explain, "--json").stdout)["moves"]["source"] == "made"
    store.remove("made")
    assert "What the map did to its neighbours is not known" in " ".join(run(*explain).stdout.split())
