"""What is read of the text that is attacked and of the public text, so that an attacker learns from one and
is judged on the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding
from deniable.audit import InversionEffort
from deniable.audit.inversion.attackers import FurtherAttacker
from deniable.audit.inversion.text import (
    GROUPS,
    Shadow,
    ShadowSample,
    make_attacked_text,
    read_attacked_text,
    read_public_text,
)
from deniable.audit.inversion.text_attack import TextAttack
from deniable.decoding.ngrams import PairCounts
from deniable.errors import UnusableAuditData
from tests.support.strategies import random_embedding

SMALL = InversionEffort.of(10, points=16, draws=10, places=300, support=200, directions=60)


def test_words_fall_into_groups_by_what_they_are() -> None:
    names = ["the", "of", "anna", "rome", "went", "1984", "x2", *(f"w{i}" for i in range(11_000))]
    embedding = Embedding(names, np.random.default_rng(0).standard_normal((len(names), 2)), name="made")
    text = make_attacked_text(
        embedding, ["The cat went: Rome of Anna, 1984 w9 w10900", "went of Anna"], source=Path("made")
    )
    shares = np.append(1.0 / np.arange(1, len(names) + 1), 0.0)
    shares[[2, 3]] = 1e-4  # 150 others are more frequent, but fewer than 10,000
    found = [GROUPS[group] for group in text.groups(embedding, shares)]
    assert found == [
        "frequent", "unknown", "frequent", "others", "frequent", "names", "numbers", "numbers", "numbers", "frequent", "frequent", "names",  # noqa: E501
    ]  # fmt: skip


def test_one_document_in_ten_is_held_back_and_not_read(tmp_path: Path) -> None:
    embedding = random_embedding(30, 2)
    path = tmp_path / "public.txt"
    path.write_text("".join(f"w{i} w{i}\n\n" for i in range(30)), encoding="utf-8")
    public, held = read_public_text(embedding, path, hold_back=True, places=100, seed=0)
    assert held is not None
    assert sorted(np.unique(held.ids)) == [0, 10, 20]
    assert np.flatnonzero(public.bigrams.counts == 0).tolist() == [0, 10, 20, 30]
    assert public.words == 54
    everything, none = read_public_text(embedding, path, hold_back=False, places=100, seed=0)
    assert none is None
    assert everything.words == 60


def test_public_documents_to_learn_from_come_from_all_of_the_file(tmp_path: Path) -> None:
    """Those that the attacker who learns takes first too."""
    path = tmp_path / "public.txt"
    path.write_text("".join(f"w{i // 100} w{i % 10} w{i // 10 % 10}\n" for i in range(400)), encoding="utf-8")

    def shadow_of(seed: int) -> Shadow:
        public, _ = read_public_text(
            random_embedding(30, 2), path, hold_back=False, places=100, seed=seed, shadow_words=10_000
        )
        assert public.shadow is not None
        return public.shadow

    firsts, again, other = (
        [int(document[0]) for document in shadow_of(seed).documents] for seed in (0, 0, 1)
    )
    assert len(firsts) == 200, "at most half of the text"
    assert set(firsts[:40]) == {0, 1, 2, 3}
    assert again == firsts
    assert other != firsts


def test_what_is_to_be_learnt_from_is_not_counted_while_learning(tmp_path: Path) -> None:
    path = tmp_path / "public.txt"
    lines = [f"w{i} w{i}" for i in range(29)]
    path.write_text(
        "\n".join([*lines, "", *map(str.upper, lines)]), encoding="utf-8"
    )  # every document stands there twice
    public, _ = read_public_text(
        random_embedding(30, 2), path, hold_back=False, places=100, seed=0, shadow_words=9
    )
    assert public.shadow is not None
    chosen = [int(document[0]) for document in public.shadow.documents]
    assert len(chosen) == len(set(chosen)) == 5, "until there are nine words or more"
    counts = public.shadow.bigrams.counts
    assert np.flatnonzero(counts == 0).tolist() == sorted([*chosen, 29, 30])
    assert counts.sum() == 96
    assert public.bigrams.counts.tolist() == [4.0] * 29 + [0.0, 0.0], "the other attackers know all of it"
    without, _ = read_public_text(random_embedding(30, 2), path, hold_back=False, places=100, seed=0)
    assert without.shadow is None
    assert (without.bigrams.follows != public.bigrams.follows).nnz == 0


def test_a_sample_for_the_shadow_does_not_grow_and_counts_what_it_lets_go() -> None:
    counts = PairCounts(101)
    sample = ShadowSample(counts, words=1_000, seed=0, most=10)
    for i in range(100):
        sample.offer(f"document {i}".encode(), np.array([i, i]))
    sample.offer(b"document 7", np.array([7, 7]))
    shadow, everything = sample.finish(), counts.smooth()
    assert shadow is not None
    assert everything is not None
    chosen = sorted(int(document[0]) for document in shadow.documents)
    assert len(chosen) == 10
    assert np.flatnonzero(shadow.bigrams.counts == 0).tolist() == [*chosen, 100]
    assert everything.counts.tolist() == [4.0 if i == 7 else 2.0 for i in range(100)] + [0.0]


def test_too_short_a_public_text_leaves_nothing_to_learn_from(tmp_path: Path) -> None:
    path = tmp_path / "public.txt"
    path.write_text("w1 w2 w3\n", encoding="utf-8")
    public, _ = read_public_text(
        random_embedding(30, 2), path, hold_back=False, places=100, seed=0, shadow_words=10
    )
    assert public.shadow is None
    own = tmp_path / "own.txt"
    own.write_text("w4 w5\n", encoding="utf-8")
    assert TextAttack.prepare(random_embedding(30, 2), path, own, effort=SMALL, seed=0).public.shadow is None
    learns = FurtherAttacker(attacker=lambda known: known.alone, shadow_words=1_000)
    with pytest.raises(UnusableAuditData, match="too short for an attacker who learns"):
        TextAttack.prepare(random_embedding(30, 2), path, own, effort=SMALL, seed=0, further=[learns])


def test_what_is_held_back_is_not_read_where_it_stands_again(tmp_path: Path) -> None:
    path = tmp_path / "public.txt"
    lines = [f"w{i} w{i}" for i in range(30)]
    lines[5], lines[17] = "W20  w20", "w10 w10"  # before the place at which it is held back, and after it
    path.write_text("\n".join(lines), encoding="utf-8")
    public, held = read_public_text(random_embedding(30, 2), path, hold_back=True, places=100, seed=0)
    assert held is not None
    assert public.left_out == 2
    assert public.bigrams.counts[[0, 10, 20]].tolist() == [0.0, 0.0, 0.0]
    assert public.words == 50


def test_documents_are_drawn_until_there_are_enough_words(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("w1 w2 w3 w4 w5\n" * 50, encoding="utf-8")
    assert len(read_attacked_text(random_embedding(30, 2), path, places=32, seed=0).ids) == 35
    path.write_text("...\n", encoding="utf-8")
    with pytest.raises(UnusableAuditData, match="no words"):
        read_attacked_text(random_embedding(30, 2), path, places=32, seed=0)


def test_of_long_documents_parts_are_attacked_and_documents_with_listed_words_are_added() -> None:
    embedding = random_embedding(300, 2)
    documents = [" ".join(f"w{(number + place) % 200}" for place in range(250)) for number in range(40)]
    documents += ["w250 w1", " ".join(["w2"] * 300 + ["w251"] + ["w3"] * 300)]
    listed = np.array([250, 251])
    text = make_attacked_text(
        embedding,
        documents,
        source=Path("made"),
        places=1_000,
        random=np.random.default_rng(1),
        listed=listed,
    )
    assert set(text.lengths[: text.sampled].tolist()) <= {2, 100}
    assert 1_000 <= text.judged < 1_100
    assert {int(word) for word in listed} <= set(text.ids.tolist())
    assert not np.isin(text.ids[: text.judged], listed).any()
    assert sorted(text.lengths[text.sampled :].tolist()) == [2, 100]
    without = make_attacked_text(
        embedding, documents, source=Path("made"), places=1_000, random=np.random.default_rng(1)
    )
    assert without.sampled == len(without)
