"""The membership audit on a user's own data, in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deniable.audit.draws import audited_users
from deniable.audit.membership.auditor import QUESTIONS, audited
from deniable.audit.membership.job import Job
from deniable.audit.membership.plan import ORIGINAL, Plan
from deniable.audit.membership.settings import LanguageModelSettings
from deniable.audit.membership.users import Users, coded, usual_lengths
from deniable.errors import MissingExtra
from deniable.interfaces import Mechanism

MODELS_AT_ONCE = 12


def audit_membership(
    users: Users,
    mechanisms: Mapping[str, Mechanism],
    plan: Plan,
    *,
    seed: int,
    settings: LanguageModelSettings | None = None,
    report: Callable[[int, int], None] | None = None,
) -> dict[str, Any]:
    """Return what the auditor learns from models trained on original text and on what each mechanism releases, as JSON-ready data.

    :raises MissingExtra: if PyTorch or scikit-learn is not installed.
    """
    try:
        import torch

        from deniable.audit.membership.jobs import run_jobs
    except ImportError:
        raise MissingExtra("the membership audit", "experiments") from None
    settings = LanguageModelSettings() if settings is None else settings
    users = users[: 4 * plan.in_each]
    texts, facts = {ORIGINAL: users}, {}
    for place, (name, mechanism) in enumerate(mechanisms.items()):
        texts[name], changed = audited_users(mechanism, users, seed=seed + place)
        facts[name] = {"epsilon": mechanism.epsilon, "changed": changed}
    conditions = coded(texts)
    jobs = plan.jobs(list(conditions))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    groups: list[list[Job]] = [jobs[start : start + MODELS_AT_ONCE] for start in range(0, len(jobs), MODELS_AT_ONCE)]
    counts: dict[str, NDArray[np.int32]] = {}
    for number, group in enumerate(groups):

        def tell(done: int, total: int, number: int = number) -> None:
            if report is not None:
                report(number * 100 + 100 * done // total, 100 * len(groups))

        counts |= run_jobs(group, conditions, settings, seed=seed + number, device=device, report=tell)
    return {
        "data": usual_lengths(users),
        "plan": {"in_each": plan.in_each, "targets": len(plan.targets), "shadows": len(plan.shadows)},
        "settings": asdict(settings),
        "questions": QUESTIONS,
        "facts": facts,
        "protocol": audited(plan, list(conditions), counts),
    }


def largest_acceptable(result: dict[str, Any], acceptable: float) -> float | None:
    """Return the largest ε at which no adversary's AUC, the sign turned if it helps, exceeds ``acceptable``; None if there is none."""
    fine = []
    for name, facts in result["facts"].items():
        found = [
            adversary["mean"]["auc_either_way"]
            for question in ("original text", "released text")
            for adversary in result["protocol"][name][question].values()
        ]
        if max(found) <= acceptable:
            fine.append(facts["epsilon"])
    return max(fine, default=None)
