"""Words with spaces, control characters, separators of lines or marks of direction: left out of what is
added, and never released."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from deniable import Keyed, Multivariate, Privatizer
from deniable.cli.app import app
from deniable.embeddings import store
from deniable.embeddings.content import UNPRINTABLE, content_fingerprint
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.store import install_restricted
from deniable.embeddings.training import Training, train_embedding
from deniable.errors import MalformedEmbedding

ENDS, TURNS = ["a\u2028b", "\u2029", "c\u0085d"], ["\u202eevil", "\u2066x", "\u061c", "\u200e"]
HOSTILE = [
    "\x1b[31mred",
    *ENDS,
    "x\x07",
    "\x7f",
    "tab\tbed",
    *TURNS,
    "\ufeff",
    "new york",
    "at name@domain.com",
]
PLAIN = [
    "the",
    "king",
    "zero\u200bwidth",
    "joined\u200dword",
    "no\u00a0break",
    "soft\u00adhyphen",
    "\u0645\u06cc\u200c\u062e\u0648",
]


def file_of(path: Path, words: list[str]) -> Path:
    path.write_bytes("".join(f"{word} {i} {i * i}\n" for i, word in enumerate(words)).encode())
    return path


def acts_on_no_terminal(shown: str) -> bool:
    return not any(UNPRINTABLE.search(word) for line in shown.split("\n") for word in line.split(" "))


@pytest.mark.parametrize("word", [*HOSTILE, *PLAIN])
def test_each_kind_is_told_and_characters_that_words_are_written_with_stay(word: str) -> None:
    assert bool(UNPRINTABLE.search(word)) == (word in HOSTILE)


def test_they_are_left_out_of_a_file_and_counted(tmp_path: Path) -> None:
    path = file_of(tmp_path / "v.txt", [PLAIN[0], *HOSTILE, *PLAIN[1:]])
    facts = store.add(path, "added")
    assert list(Embedding.open("added").words) == PLAIN
    np.testing.assert_array_equal(Embedding.open("added").vectors[:2], [[0, 0], [15, 225]])
    assert facts.unprintable == len(HOSTILE)
    assert facts.unprintable_words is not None
    assert facts.unprintable_words[:2] == ("\\x1b[31mred", "a\\u2028b")
    assert store.verify("added")


def test_first_does_not_count_them(tmp_path: Path) -> None:
    store.add(file_of(tmp_path / "v.txt", [*HOSTILE, *PLAIN]), "two", first=2)
    assert list(Embedding.open("two").words) == PLAIN[:2]


def test_a_file_of_nothing_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MalformedEmbedding, match="all of its words hold spaces or control characters"):
        store.add(file_of(tmp_path / "v.txt", HOSTILE), "none")


def test_without_any_nothing_is_said_of_them(tmp_path: Path) -> None:
    facts = store.add(file_of(tmp_path / "v.txt", PLAIN), "plain").to_dict()
    assert not {"unprintable", "unprintable_words"} & set(facts)


def test_the_command_says_which_and_how_many_and_does_not_show_them_raw(tmp_path: Path) -> None:
    path = file_of(tmp_path / "v.txt", [*PLAIN, *HOSTILE])
    shown = CliRunner().invoke(app, ["embeddings", "add", str(path), "--name", "shown"])
    assert shown.exit_code == 0
    assert str(len(HOSTILE)) in shown.output
    assert "\\x1b[31mred, a\\u2028b" in shown.output
    assert acts_on_no_terminal(shown.output)


def test_an_embedding_in_memory_refuses_them() -> None:
    with pytest.raises(
        MalformedEmbedding,
        match=r"14 of its words hold spaces, control characters.*'\\x1b\[31mred'.*leave them out",
    ):
        Embedding([*PLAIN, *HOSTILE], np.ones((len(PLAIN) + len(HOSTILE), 2)))


def test_training_leaves_them_out(tmp_path: Path) -> None:
    pytest.importorskip("gensim")
    path = tmp_path / "public.txt"
    path.write_text("the king saw http://example.com/\x1b[31m there\n" * 20, encoding="utf-8")
    assert all(
        word.isprintable()
        for word in train_embedding(path, Training(dimension=4, min_count=1, epochs=1)).words
    )


@pytest.fixture
def older(tmp_path: Path) -> str:
    """Store an embedding as an older release did, which took in any word."""
    words = [*PLAIN, *HOSTILE]
    vectors = np.random.default_rng(0).standard_normal((len(words), 4)).astype(np.float32)
    embedding = Embedding.from_checked(words, vectors, vectors.mean(axis=0), name="older")
    store.save(embedding, "older")
    return embedding.fingerprint


def test_an_older_copy_opens_with_its_fingerprint_and_shows_a_stand_in(older: str) -> None:
    embedding = Embedding.open("older")
    assert embedding.fingerprint == older == store.verify("older")
    embedding.check_content()
    assert list(embedding.words[: len(PLAIN)]) == PLAIN
    assert embedding.words[len(PLAIN)] == "\ufffd[31mred"
    assert not any(UNPRINTABLE.search(word) for word in embedding.words)
    assert content_fingerprint(list(embedding.words), embedding.vectors, embedding.unknown) != older


def test_an_older_copy_never_releases_them(older: str) -> None:
    private = Privatizer(Multivariate(Embedding.open("older"), epsilon=0.01), randomness=Keyed.new())
    released = private.many(["the king " * 200], record_ids=[1])[0]
    assert released is not None
    assert "\ufffd" in released
    assert not any(UNPRINTABLE.search(word) for word in released.split(" "))


def test_a_part_of_an_older_copy_is_stored_as_it_is_shown(older: str) -> None:
    install_restricted("older", "part", first=len(PLAIN) + 1)
    assert (
        (store.store_folder() / "part" / "words.txt").read_text(encoding="utf-8").endswith("\ufffd[31mred\n")
    )
    assert store.verify("part")


def test_what_somebody_wrote_into_a_description_does_not_act_on_a_terminal(older: str) -> None:
    path = store.store_folder() / "older" / "meta.json"
    meta = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(
        json.dumps({**meta, "source": "\x1b]0;owned\x07", "licence": "a\u202eb"}), encoding="utf-8"
    )
    shown = CliRunner().invoke(app, ["embeddings", "show", "older"])
    assert shown.exit_code == 0
    assert "\\x1b]0;owned\\x07" in shown.output
    assert acts_on_no_terminal(shown.output)
