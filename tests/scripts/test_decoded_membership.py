"""The page about privacy says what membership of decoded text is, beside text as released."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from deniable.audit.results import head_of
from deniable.lab.membership.audit import MembershipResult, ReleaseFacts, TextVolume
from deniable.lab.membership.auditor import QUESTIONS, ScoreSpread, ScoreSummary
from deniable.lab.membership.plan import LanguageModelSettings, PlanSummary
from deniable.learning.scores import Scores
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.support.strategies import random_embedding

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def summary(auc: float) -> ScoreSummary:
    scores = Scores(precision=0.5, recall=0.5, accuracy=0.5, auc=auc, auc_either_way=max(auc, 1.0 - auc))
    return ScoreSummary(runs=2, mean=scores, spread=ScoreSpread(precision=0.0, recall=0.0, accuracy=0.0, auc=0.02, auc_either_way=0.02))


def result() -> MembershipResult:
    reached = {"ε = 6": (0.55, 0.6), "ε = 6, decoded": (0.3, 0.65)}
    return MembershipResult(
        **head_of("membership", random_embedding(20, 3), ChosenMechanism(), 0),
        acceptable=0.6,
        largest_acceptable_epsilon=None,
        data=TextVolume(users=200, median_texts=50.0, median_words=321.0, words=90_000),
        plan=PlanSummary(in_each=50, targets=2, shadows=10),
        settings=LanguageModelSettings(),
        questions=dict(QUESTIONS),
        facts={name: ReleaseFacts(epsilon=6.0, changed=0.9, decoded="decoded" in name) for name in reached},
        protocol={
            name: {asked: {"plain": summary(plain), "adaptive": summary(adaptive)} for asked in ("original text", "released text")}
            for name, (plain, adaptive) in reached.items()
        },
    )


def test_both_texts_stand_side_by_side_and_the_better_adversary_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    from decoded_membership import missed, section

    shown = section(result())
    assert "50 users in, 50 out, 10 shadow models, 2 target models; 200 users" in shown
    assert "| ε = 6, decoded | 90.0 % | 0.30 ± 0.02 | 0.65 ± 0.02 |" in shown
    (line,) = missed(result())
    assert "an AUC of 0.60 where" in line, "as released, the adaptive one is the better"
    assert "and of 0.70 where on decoded text (+0.10)" in line, "decoded, the plain one is, turned around"
