"""The auditor on made users, small enough to train in seconds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.support.strategies import random_embedding

from deniable.audit.draws import Users
from deniable.audit.results import NO_BOUND, read_result
from deniable.errors import InvalidParameter, UnusableAuditData
from deniable.lab.membership.audit import audit_membership, choose_users
from deniable.lab.membership.auditor import (
    BINS,
    ORIGINAL,
    LanguageModelSettings,
    histograms,
    judge_conditions,
    make_plan,
)
from deniable.lab.membership.models import (
    END,
    PADDING,
    TEXT_END,
    UNKNOWN,
    Vocabulary,
    encode_conditions,
    sequences,
)
from deniable.records.reading import LabelledTexts, read_labelled

TINY = LanguageModelSettings(
    vocabulary=160, embedding=16, hidden=16, sequence=8, batch=8, rate=0.02, epochs=12
)


def made_users(count: int, *, seed: int = 0, own: bool = True) -> Users:
    """Users with favourite words of their own, or without."""
    rng = np.random.default_rng(seed)
    users = []
    for _ in range(count):
        favourites = rng.integers(0, 150, 6) if own else np.arange(150)
        users.append([[f"w{word}" for word in rng.choice(favourites, 6)] for _ in range(6)])
    return users


def test_members_are_found_by_a_model_of_original_text_and_not_by_one_of_unrelated_text() -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    from deniable.lab.membership.models import run_job

    conditions = encode_conditions({ORIGINAL: made_users(32), "chance": made_users(32, seed=1, own=False)})
    plan = make_plan(32, targets=2, shadows=3, seed=0)
    cpu = torch.device("cpu")
    counts = {
        job.name: run_job(job, conditions, TINY, seed=number, device=cpu)
        for number, job in enumerate(plan.jobs(list(conditions)))
    }
    judged = judge_conditions(plan, list(conditions), counts)
    found = judged[ORIGINAL]["original text"]["plain"].mean.auc
    assert found > 0.9
    for adversary in judged["chance"]["original text"].values():
        assert abs(adversary.mean.auc - 0.5) < 0.3
    turned = judged["chance"]["as in the paper"]["plain"].mean
    assert turned.auc_either_way == pytest.approx(max(turned.auc, 1 - turned.auc), abs=0.2)
    assert turned.auc < found, "members are asked by noise"


def test_ranks_of_words_are_counted_per_user() -> None:
    torch = pytest.importorskip("torch")
    from deniable.lab.membership.models import LanguageModel, rank_counts

    model = LanguageModel(TINY)
    with torch.no_grad():
        model.outwards.weight.zero_()
        # The next word is always likeliest to be number 0, then 1, …
        model.outwards.bias.copy_(torch.arange(160, 0, -1))
    users = [
        np.array([[5, 3, 4, TEXT_END, UNKNOWN, PADDING, PADDING, PADDING, PADDING]], dtype=np.int32),
        np.array([[3, 60] + [0] * 7], dtype=np.int32),
    ]
    counts = rank_counts(model, users)
    assert np.flatnonzero(counts[0]).tolist() == [3, 4, BINS - 1]
    assert np.flatnonzero(counts[1]).tolist() == [50]
    assert histograms(counts).shape == (2, 100)
    assert histograms(counts)[0, [0, 99]] == pytest.approx(np.array([2, 1]) / 5**0.5)
    assert histograms(counts)[1, 1] == 1


def test_plans_keep_targets_and_shadows_apart() -> None:
    plan = make_plan(40, targets=3, shadows=4, seed=1)
    assert plan.in_each == 10
    assert all(len(split) == 10 and set(split) <= set(plan.target_pool) for split in plan.targets)
    assert all(len(split) == 10 and set(split) <= set(plan.shadow_pool) for split in plan.shadows)
    assert not set(plan.target_pool) & set(plan.shadow_pool)
    jobs = plan.jobs([ORIGINAL, "released"])
    assert len(jobs) == 2 * 7
    assert {job.asked for job in jobs if job.name.startswith("original target")} == {(ORIGINAL, "released")}


def test_too_few_users_are_refused() -> None:
    with pytest.raises(UnusableAuditData, match="3 users"):
        make_plan(3, source="people.csv")
    with pytest.raises(UnusableAuditData, match="shadow pool of 20"):
        make_plan(30, in_each=10)
    with pytest.raises(InvalidParameter):
        make_plan(30, shadows=0)


def test_vocabularies_hold_the_most_frequent_words() -> None:
    codes = np.array([5, 5, 5, END, 7, 7, 9, END], dtype=np.int32)
    vocabulary = Vocabulary([codes], size=5)
    assert vocabulary.encode(np.array([5, 7, 9, END, 1000], dtype=np.int32)).tolist() == [
        3,
        4,
        UNKNOWN,
        TEXT_END,
        UNKNOWN,
    ]


def test_sequences_predict_every_word_once() -> None:
    numbers = np.arange(10, 18, dtype=np.int32)
    rows = sequences(numbers, 3)
    wanted = rows[:, 1:].ravel()
    assert wanted[wanted != PADDING].tolist() == numbers[1:].tolist()
    assert sequences(np.array([4], dtype=np.int32), 3).tolist() == [[4, PADDING, PADDING, PADDING]]


def test_words_have_one_code_in_all_conditions() -> None:
    streams = encode_conditions({"a": [[["x", "y"]], [["y"], ["z"]]], "b": [[["z"]], []]})
    assert {name: each[0].tolist() for name, each in streams.items()} == {"a": [1, 2, END], "b": [3, END]}
    assert streams["b"][1].tolist() == []


def test_users_are_chosen_by_texts_that_hold_words(tmp_path: Path) -> None:
    embedding = random_embedding(5, 2)
    data = LabelledTexts(
        source="x", labels=["a", "a", "b", "b", "c"], texts=["w1 W2", "w3 Zork", "w1", "!!", "w1"]
    )
    assert choose_users(data, embedding, fewest=2, most=5, seed=0) == {"a": [["w1", "w2"], ["w3", "zork"]]}
    silent = LabelledTexts(source="chat.csv", labels=["a", "a"], texts=["!!", "?"])
    with pytest.raises(UnusableAuditData, match="hold no words"):
        choose_users(silent, embedding, fewest=2, most=5, seed=0)


@pytest.mark.parametrize(
    ("content", "error", "says"),
    [
        ("user,text\n,hello\nu1,\nu2,   \n", UnusableAuditData, "none of its 3 records"),
        ("user,body\nu1,hello\n", InvalidParameter, "text"),
        ("user,text\n", UnusableAuditData, "none of its 0 records"),
    ],
)
def test_files_without_usable_records_are_refused(
    content: str, error: type[Exception], says: str, tmp_path: Path
) -> None:
    file = tmp_path / "people.csv"
    file.write_text(content)
    with pytest.raises(error, match=says):
        read_labelled(file, label_column="user", text_column="text")


def made_texts(users: Users) -> LabelledTexts:
    people = [f"u{number}" for number, texts in enumerate(users) for _ in texts]
    return LabelledTexts(
        source="people.csv", labels=people, texts=[" ".join(words) for texts in users for words in texts]
    )


def test_the_result_holds_every_epsilon_and_can_be_read_again(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    seen: list[tuple[int, int]] = []
    result = audit_membership(
        made_texts(made_users(8)),
        random_embedding(150, 3),
        epsilons=[1e6, 0.1],
        min_texts=2,
        targets=1,
        shadows=1,
        epochs=1,
        decoding=None,
        report=lambda done, total: seen.append((done, total)),
    )
    assert {name: about.epsilon for name, about in result.facts.items()} == {"ε = 0.1": 0.1, "ε = 1e+06": 1e6}
    assert result.facts["ε = 1e+06"].changed == 0.0
    assert (result.plan["in_each"], result.data["users"], result.settings.epochs) == (2, 8, 1)
    assert seen[-1][0] == seen[-1][1]
    saved = tmp_path / "membership.json"
    saved.write_text(json.dumps(result.to_dict()), encoding="utf-8")
    assert read_result(saved) == result
    assert result.to_dict()["bound"] == NO_BOUND
