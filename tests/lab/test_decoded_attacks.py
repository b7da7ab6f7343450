"""Attackers that decode first: they win where words as released hide what they came from, and the stronger
one is quoted."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tests.support.strategies import random_embedding
from typer.testing import CliRunner

from deniable import Embedding
from deniable.audit import read_result
from deniable.cli.app import app
from deniable.embeddings import store
from deniable.errors import InvalidParameter, RecordError
from deniable.lab.authorship import audit_authorship
from deniable.lab.decoded import Decoding, decode_users, learn_decoders
from deniable.lab.membership import audit
from deniable.lab.membership.audit import ReleaseFacts, audit_membership
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.records.reading import LabelledTexts

QUICK = Decoding(support=800, directions=150)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path / "home"))


def written(words: int, people: int = 4, each: int = 60) -> LabelledTexts:
    """People who have favourite words, twenty each, and write those of others as well."""
    random = np.random.default_rng(0)
    favourites = random.permutation(words)[: 20 * people].reshape(people, 20)
    names, texts = [], []
    for person in range(people):
        for _ in range(each):
            ids = np.where(
                random.random(15) < 0.6,
                random.choice(favourites[person], 15),
                random.choice(favourites.ravel(), 15),
            )
            names.append(f"p{person}")
            texts.append(" ".join(f"w{i}" for i in ids))
    return LabelledTexts(source="letters.csv", labels=names, texts=texts)


def test_authors_are_named_more_often_by_who_decodes_and_that_is_what_is_quoted(tmp_path: Path) -> None:
    result = audit_authorship(
        written(800, each=200), random_embedding(800, 6), epsilons=[3.0], acceptable=0.6, decoding=QUICK
    )
    found = result.released[0]
    assert found.decoded_from_released is not None
    assert found.decoded_from_released.value > found.learnt_from_released.value + 0.05
    assert found.success == max(share.value for share in found.shares.values())
    assert found.best.endswith("decoded")
    assert f"(learnt from {found.best})" in result.sentence
    assert result.tables[0].columns[1:] == list(found.shares)
    saved = tmp_path / "authorship.json"
    saved.write_text(json.dumps(result.to_dict()), encoding="utf-8")
    assert read_result(saved) == result


def test_where_nothing_was_changed_decoding_changes_nothing() -> None:
    embedding = random_embedding(60, 3)
    decoder_at = learn_decoders(embedding, ChosenMechanism(), [1e6], Decoding(support=60, directions=50))
    users = [[["w1", "w2"], ["w3"]], [["w59", "w1", "w1"]]]
    decoder = decoder_at(1e6, [" ".join(text) for texts in users for text in texts])
    assert decode_users(decoder, users) == users


def test_membership_has_a_condition_of_decoded_text_for_each_epsilon() -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    found = audit_membership(
        written(100, people=4, each=4),
        random_embedding(100, 3),
        epsilons=[1e6, 1.0],
        min_texts=2,
        shadows=1,
        epochs=1,
        decoding=Decoding(support=100, directions=50),
    )
    assert {name: facts.decoded for name, facts in found.facts.items()} == {
        "ε = 1": False, "ε = 1, decoded": True, "ε = 1e+06": False, "ε = 1e+06, decoded": True,
    }  # fmt: skip
    assert found.facts["ε = 1e+06, decoded"].changed < 0.05, (
        "but for the word nearest to ⊥, which may stand for an unknown one"
    )
    assert found.facts["ε = 1, decoded"].changed > 0.2
    assert set(found.protocol) == {"original", *found.facts}


def test_an_epsilon_is_acceptable_only_if_the_decoding_attacker_is_too() -> None:
    facts = {
        "a": ReleaseFacts(epsilon=1.0, changed=0.9),
        "a, decoded": ReleaseFacts(epsilon=1.0, changed=0.8, decoded=True),
        "b": ReleaseFacts(epsilon=2.0, changed=0.5),
        "b, decoded": ReleaseFacts(epsilon=2.0, changed=0.5, decoded=True),
    }

    def found(auc: float) -> Any:
        low, high = (SimpleNamespace(mean=SimpleNamespace(auc_either_way=each)) for each in (0.5, auc))
        return {"original text": {"plain": low, "adaptive": high}, "released text": {"plain": low}}

    aucs = {"a": 0.5, "a, decoded": 0.7, "b": 0.8, "b, decoded": 0.6}
    protocol = {name: found(auc) for name, auc in aucs.items()}
    assert audit._stronger(facts, protocol) == [(1.0, 0.7), (2.0, 0.8)]


def test_the_command_decodes_unless_told_not_to(tmp_path: Path) -> None:
    store.save(random_embedding(100, 3), "tiny", source="a test")
    data = written(100, each=6)
    file = tmp_path / "letters.csv"
    file.write_text(
        "author,text\n" + "".join(f"{p},{t}\n" for p, t in zip(data.labels, data.texts, strict=True))
    )
    command = [
        "lab",
        "authorship",
        str(file),
        *"-e 3 --embedding tiny --json -q --support 100 --effort 50".split(),
    ]
    run = CliRunner()
    public = tmp_path / "public.txt"
    public.write_text("\n".join(data.texts))
    with_context = run.invoke(app, [*command, "--public", str(public)])
    assert with_context.exit_code == 0, with_context.output
    assert "decoded_from_released" in json.loads(with_context.stdout)["released"][0]
    plain = run.invoke(app, [*command, "--no-decode"])
    assert "decoded_from_released" not in json.loads(plain.stdout)["released"][0]
    assert run.invoke(app, [*command, "--no-decode", "--public", str(public)]).exit_code == 2
    assert isinstance(
        run.invoke(app, [*command, "--public", str(tmp_path / "absent.txt")]).exception, RecordError
    )
    assert isinstance(run.invoke(app, [*command[:-1], "0"]).exception, InvalidParameter)


def test_words_with_unusual_blanks_do_not_stop_an_attack() -> None:
    embedding = Embedding(["a\u00a0b", "c", "d"], np.eye(3), name="odd")
    decoding = Decoding(support=3, directions=50)
    decoder = learn_decoders(embedding, ChosenMechanism(), [2.0], decoding)(2.0, ["a\u00a0b c d"])
    assert len(decode_users(decoder, [[["a\u00a0b", "c"]]])[0][0]) >= 1
