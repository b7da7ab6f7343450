"""Each attacker wins where it must and gains nothing where it cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, Multivariate
from deniable.audit import InversionEffort, audit_inversion, read_result
from deniable.audit.inversion.results import ALONE, BLIND, IN_CONTEXT, NEAREST_WORD, AttackerFinding
from deniable.audit.inversion.wording import MAPPED_KINDS
from deniable.audit.page import audit_page
from deniable.embeddings import store
from deniable.errors import InvalidParameter, UnusableAuditData
from deniable.mechanisms import RandomizedResponse
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.purposes import reduce
from tests.audit.made_text import (
    Attack,
    SharedNoise,
    follow_one_another,
    opposite_pairs,
    opposites,
    prepare,
    shuffle,
)
from tests.support.commands import invoke
from tests.support.strategies import random_embedding

WORDS = 100
SMALL = InversionEffort.of(10, points=16, draws=10, places=300, support=200, directions=60)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))


@pytest.fixture(scope="module")
def chained() -> Attack:
    """A text whose words follow from their neighbours."""
    public = follow_one_another(WORDS, 400, 25, seed=1)
    return prepare(random_embedding(WORDS, 3), public, follow_one_another(WORDS, 60, 25, seed=2), epsilon=2.0)


@pytest.fixture(scope="module")
def shuffled() -> Attack:
    """The same words in an order that says nothing."""
    public = shuffle(follow_one_another(WORDS, 400, 25, seed=1), seed=3)
    attacked = shuffle(follow_one_another(WORDS, 60, 25, seed=2), seed=4)
    return prepare(random_embedding(WORDS, 3), public, attacked, epsilon=2.0)


def apart(stronger: AttackerFinding, weaker: AttackerFinding) -> bool:
    """Return whether the intervals of two attackers say that one is better."""
    return stronger.word.first.low > weaker.word.first.high


def test_where_words_follow_from_context_the_contextual_attacker_wins_by_far(chained: Attack) -> None:
    mechanism = Multivariate(chained.embedding, epsilon=2.0)
    blind, alone, context = (
        chained.judge(mechanism, each) for each in (chained.blind, chained.alone, chained.in_context)
    )
    assert apart(alone, blind)
    assert apart(context, alone)
    assert context.word.first.value > alone.word.first.value + 0.3
    assert context.kind is not None
    assert alone.kind is not None
    assert context.kind.first.value > alone.kind.first.value + 0.2


def test_where_the_order_says_nothing_the_contextual_attacker_gains_nothing(shuffled: Attack) -> None:
    mechanism = Multivariate(shuffled.embedding, epsilon=2.0)
    alone, context = (shuffled.judge(mechanism, each) for each in (shuffled.alone, shuffled.in_context))
    assert abs(context.word.first.value - alone.word.first.value) < 0.02
    assert not apart(context, alone)


def test_where_nothing_is_released_nobody_gains(chained: Attack) -> None:
    embedding = chained.embedding
    public = follow_one_another(WORDS, 400, 25, seed=1)
    nothing = prepare(
        embedding,
        public,
        follow_one_another(WORDS, 60, 25, seed=2),
        epsilon=1e-9,
        mechanism="randomized-response",
    )
    blind, alone, context = (
        nothing.judge(RandomizedResponse(embedding, epsilon=1e-9), each)
        for each in (nothing.blind, nothing.alone, nothing.in_context)
    )
    assert blind.word.first == alone.word.first
    assert blind.kind == alone.kind
    assert abs(context.word.first.value - blind.word.first.value) < 0.02


def test_a_mechanism_that_shares_noise_between_neighbours_is_caught_in_context_only() -> None:
    embedding = opposites(500, 3)
    attack = prepare(
        embedding, opposite_pairs(500, 300, 20, seed=1), opposite_pairs(500, 80, 20, seed=2), epsilon=3.0
    )
    found = {
        (name, kind.__name__): attack.judge(kind(embedding, epsilon=3.0), attacker)
        for kind in (Multivariate, SharedNoise)
        for name, attacker in (("alone", attack.alone), ("context", attack.in_context))
    }
    assert not apart(found["alone", "SharedNoise"], found["alone", "Multivariate"]), (
        "each word by itself is treated as promised"
    )
    assert apart(found["context", "SharedNoise"], found["context", "Multivariate"])
    assert (
        found["context", "SharedNoise"].word.first.value
        > 1.5 * found["context", "Multivariate"].word.first.value
    )


def test_what_is_attacked_is_not_read_in_the_public_text(tmp_path: Path) -> None:
    public, effort = (
        public_file(tmp_path),
        InversionEffort.of(10, points=16, draws=10, places=300, support=60, directions=60),
    )
    result = audit_inversion(
        random_embedding(60, 3), epsilons=[2.0], public=public, text=public, effort=effort
    )
    assert result.text is not None
    assert (result.text.documents, result.text.left_out) == (15, 15)
    assert result.text.public_words == 185 * 20
    public.write_text("w1 w2\nw3 w4\n", encoding="utf-8")
    with pytest.raises(UnusableAuditData, match="documents that are attacked"):
        audit_inversion(random_embedding(60, 3), epsilons=[2.0], public=public, text=public, effort=effort)


def test_kinds_of_mapped_vectors_are_said_to_be_such(tmp_path: Path) -> None:
    source = random_embedding(60, 3)
    public, effort = (
        public_file(tmp_path),
        InversionEffort.of(5, points=8, draws=5, places=200, support=60, directions=30),
    )
    without = audit_inversion(reduce(source, 2), epsilons=[2.0], public=public, effort=effort)
    assert without.text is not None
    assert without.text.kinds_mapped is True
    assert MAPPED_KINDS in without.sentence
    assert "clusters of mapped vectors" in audit_page([without]).html()
    store.save(source, "source")
    stored = audit_inversion(
        reduce(Embedding.open("source"), 2), epsilons=[2.0], public=public, effort=effort
    )
    assert stored.text is not None
    assert stored.text.kinds_mapped is None
    assert "kinds_mapped" not in stored.to_dict()["text"]
    assert MAPPED_KINDS not in stored.sentence
    assert "clusters of public vectors" in audit_page([stored]).html()


def public_file(folder: Path) -> Path:
    path = folder / "public.txt"
    documents = follow_one_another(60, 200, 20, seed=1)
    path.write_text(
        "\n".join(" ".join(f"w{i}" for i in document) for document in documents), encoding="utf-8"
    )
    return path


def test_the_audit_names_every_attacker_and_takes_the_best(tmp_path: Path) -> None:
    drugs = tmp_path / "drugs.txt"
    drugs.write_text("w31\nw32\nw33\nnot-there\n", encoding="utf-8")
    steps: list[tuple[int, int]] = []
    result = audit_inversion(
        random_embedding(60, 3),
        epsilons=[1.5],
        public=public_file(tmp_path),
        words=[drugs],
        effort=SMALL,
        acceptable=0.5,
        report=lambda done, total: steps.append((done, total)),
    )
    found = result.results[0]
    assert [each.name for each in found.attackers] == [BLIND, NEAREST_WORD, ALONE, IN_CONTEXT]
    assert found.best is not None
    assert found.best.name == IN_CONTEXT
    assert found.success == found.best.word.first.value > found.bayes.value
    assert result.largest_acceptable_epsilon is None
    assert result.text is not None
    assert result.text.places == found.best.word.first.tries >= 300
    assert result.text.documents * 20 == result.text.places
    listed = found.best.lists[0]
    assert (listed.name, listed.words) == ("drugs", 3)
    assert listed.places > 0
    assert listed.found is not None
    assert sum(group.places for group in found.best.groups) == result.text.places
    assert (steps[0][1], steps[-1]) == (100, (100, 100))
    saved = tmp_path / "inversion.json"
    saved.write_text(json.dumps(result.to_dict()), encoding="utf-8")
    assert read_result(saved) == result


def test_who_takes_the_release_as_it_stands_wins_where_the_public_text_misleads(tmp_path: Path) -> None:
    """Nothing changes, and all other attackers think of words that the text does not have."""
    own, listed = tmp_path / "own.txt", tmp_path / "listed.txt"
    own.write_text("\n".join(" ".join(f"w{i}" for i in range(60, 100)) for _ in range(8)), encoding="utf-8")
    listed.write_text("w70\nw71\n", encoding="utf-8")
    effort = replace(SMALL, support=50)
    result = audit_inversion(
        random_embedding(100, 3),
        epsilons=[1e6],
        public=public_file(tmp_path),
        text=own,
        words=[listed],
        effort=effort,
        acceptable=0.5,
    )
    found = result.results[0]
    assert found.best is not None
    assert found.best is found.best_for_kind
    assert found.best.name == NEAREST_WORD
    assert (found.best.word.first.value, found.best.word.within_ten.value) == (1.0, 1.0)
    assert found.best.kind is not None
    assert found.best.kind.first.value == 1.0
    (others,) = (group for group in found.best.groups if group.places)
    assert others.word == found.best.word
    assert found.best.lists[0].found == found.best.lists[0].rightly
    assert all(each.word.first.value == 0.0 for each in found.attackers if each.name != NEAREST_WORD)
    assert result.sentence.startswith("The best attacker we have names every word (100.0 % by taking the")
    assert result.largest_acceptable_epsilon is None
    earlier = replace(found, attackers=tuple(each for each in found.attackers if each.name != NEAREST_WORD))
    for written in (result, replace(result, results=(earlier,))):
        saved = tmp_path / "inversion.json"
        saved.write_text(json.dumps(written.to_dict()), encoding="utf-8")
        assert read_result(saved) == written
        assert (NEAREST_WORD in written.tables[1].rows[1]) == (written is result)


def test_a_text_of_ones_own_is_attacked_by_who_read_all_of_the_public_text(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("w1 w10 w73\nzork w2\n", encoding="utf-8")
    result = audit_inversion(
        random_embedding(60, 3), epsilons=[2.0], public=public_file(tmp_path), text=own, effort=SMALL
    )
    assert result.text is not None
    assert (result.text.source, result.text.documents, result.text.places) == ("own.txt", 2, 5)
    assert result.text.unknown == pytest.approx(0.4)
    assert result.text.public_words == 200 * 20


def test_unknown_words_count_neither_for_an_attacker_nor_against_it(tmp_path: Path) -> None:
    """Two words in three are unknown: to say so is the best blind guess, and names nothing."""
    random, path = np.random.default_rng(0), tmp_path / "public.txt"
    documents = [" ".join(f"zork w{word} gnusto" for word in random.permutation(20)) for _ in range(200)]
    path.write_text("\n".join(documents), encoding="utf-8")
    epsilons, effort = (
        [1e-6, 1e3],
        InversionEffort.of(60, points=16, draws=10, places=1_200, support=20, directions=60),
    )
    result = audit_inversion(
        random_embedding(20, 3),
        ChosenMechanism(name="randomized-response"),
        epsilons=epsilons,
        public=path,
        effort=effort,
    )
    assert result.text is not None
    assert result.text.unknown == pytest.approx(2 / 3, abs=0.01)
    little, everything = result.results
    for found in little.attackers:
        unknown = next(group for group in found.groups if group.group == "unknown")
        assert unknown.word is not None
        assert found.word.first.tries + unknown.places == result.text.places
        assert unknown.places == unknown.word.first.tries > 700
        # In context it is clear where an unknown word stands. Which of 20 words stood elsewhere is not.
        assert 0.0 < found.word.first.value < 0.12
    assert little.success < 0.12
    assert result.largest_acceptable_epsilon == 1e-6
    assert everything.success == 1.0


def test_a_text_without_a_known_word_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("zork gnusto\n", encoding="utf-8")
    with pytest.raises(UnusableAuditData, match="none of the words"):
        audit_inversion(
            random_embedding(60, 2), epsilons=[1.0], public=public_file(tmp_path), text=own, effort=SMALL
        )


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"text": Path("a")}, "text"),
        ({"words": [Path("a")]}, "words"),
        ({"public": Path("a"), "corpus": Path("b")}, "corpus"),
    ],
)
def test_what_needs_a_public_text_says_so(wrong: dict[str, Path], name: str) -> None:
    with pytest.raises(InvalidParameter, match=name):
        audit_inversion(random_embedding(5, 2), epsilons=[1.0], **wrong)  # type: ignore[arg-type]


def test_a_list_of_strangers_is_refused(tmp_path: Path) -> None:
    strange = tmp_path / "strange.txt"
    strange.write_text("zork\n", encoding="utf-8")
    with pytest.raises(UnusableAuditData, match="none of its words"):
        audit_inversion(
            random_embedding(60, 2), epsilons=[1.0], public=public_file(tmp_path), words=[strange]
        )


def test_the_command_attacks_text_and_prints_the_best_attacker(tmp_path: Path) -> None:
    store.save(random_embedding(60, 3), "tiny", source="a test")
    drugs = tmp_path / "drugs.txt"
    drugs.write_text("w31\nw32\n", encoding="utf-8")
    sizes = "--words-per-band 10 --effort 20 --places 200 --support 60"
    arguments = f"audit inversion -e 1.5 --embedding tiny -q {sizes}"
    shown = invoke(arguments, "--public", public_file(tmp_path), "--words", drugs)
    assert shown.exit_code == 0, shown.output
    assert "The best attacker we have names" in shown.output
    assert "in context" in shown.output
    assert "drugs" in shown.output
    for wrong in (("--words", drugs), ("--public", drugs, "--corpus", drugs)):
        assert isinstance(invoke(arguments, *wrong).exception, InvalidParameter)
