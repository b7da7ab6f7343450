from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from deniable.audit.report.results import read_result
from deniable.audit.report.words import said_first, tables
from deniable.errors import RecordError

COMMON: dict[str, Any] = {
    "version": "0", "mechanism": "multivariate", "seed": 0, "embedding": {"name": "<tiny>", "fingerprint": "f" * 32, "protected": 2},
}  # fmt: skip


def share(value: float) -> dict[str, float]:
    return {"value": value, "low": 0.0, "high": 1.0, "tries": 10, "standard_error": 0.01}


def bound(*, refuted: bool = False) -> dict[str, Any]:
    pair = {"first": "w0", "second": "w1", "promised": 0.4, "shown": 0.9 if refuted else None}
    place = {"space": "spread, 1d", "draws_per_word": 10, "refuted": refuted, "worst_pairs": [pair]}
    return {**COMMON, "audit": "bound", "epsilon": 3.0, "refuted": refuted, "places": [place], "not_proven": "A pass is not a proof."}


def inversion(largest: float | None = 1.0) -> dict[str, Any]:
    rows = [
        {
            "epsilon": epsilon,
            "prior_guess": 0.05,
            "bayes": share(value),
            "nearest_word": share(value),
            "bands": [{"ranks": "1 to 100", "bayes": share(value)}],
            "repeats": [{"releases": m, "majority": share(value), "bayes": None if m > 1 else share(value)} for m in (1, 3)],
            "at_risk": [{"word": "<b>hockey", "bayes": share(1.0)}],
        }
        for epsilon, value in ((1.0, 0.1), (5.0, 0.8))
    ]
    return {**COMMON, "audit": "inversion", "acceptable": 0.2, "largest_acceptable_epsilon": largest, "results": rows}


def membership(original: float = 0.95) -> dict[str, Any]:
    mean = {"precision": 0.5, "recall": 0.5, "accuracy": 0.5, "auc": 0.5, "auc_either_way": 0.5}
    both = {"plain": {"mean": mean}, "adaptive": {"mean": mean}}
    protocol = {
        "original": {"original text": {"plain": {"mean": {**mean, "auc": original}}}},
        "ε = 2": {"original text": both, "released text": both, "as in the paper": {"plain": {"mean": mean}}},
    }
    facts = {"ε = 2": {"epsilon": 2.0, "changed": 0.9}}
    return {**COMMON, "audit": "membership", "acceptable": 0.6, "largest_acceptable_epsilon": 2.0, "facts": facts, "protocol": protocol}


def authorship() -> dict[str, Any]:
    row = {"epsilon": 2.0, "learnt_from_original": share(0.3), "learnt_from_released": share(0.4)}
    found = {"authors": 3, "guess": 0.33, "original": share(0.9), "released": [row]}
    return {**COMMON, "audit": "authorship", "acceptable": 0.2, "largest_acceptable_epsilon": None, **found}


def test_the_page_says_what_was_tried_and_which_epsilon_is_acceptable() -> None:
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    from deniable.audit.report.page import audit_page

    html = audit_page([bound(), inversion(), membership()]).html()
    assert "1 is the largest at which every attack" in html
    assert "&lt;b&gt;hockey" in html
    assert "<b>hockey" not in html
    assert html.count("<svg") == 3
    assert "A pass is not a proof." in html


def test_a_refuted_mechanism_is_said_first() -> None:
    pytest.importorskip("jinja2")
    from deniable.audit.report.page import audit_page

    page = audit_page([inversion(), bound(refuted=True)])
    assert page.lead.startswith("The mechanism does not keep its promise")
    assert said_first(bound(refuted=True)).startswith("REFUTED")


def test_an_attack_that_always_succeeds_too_often_is_named() -> None:
    pytest.importorskip("jinja2")
    from deniable.audit.report.page import audit_page

    assert "authorship succeeds more often than allowed" in audit_page([inversion(), authorship()]).lead


def test_a_weak_auditor_is_called_weak() -> None:
    assert "says little" in said_first(membership(0.7))
    assert "says little" not in said_first(membership(0.95))


@pytest.mark.parametrize("answer", [bound(), inversion(), membership(), authorship()], ids=lambda answer: answer["audit"])
def test_every_table_has_as_many_cells_as_columns(answer: dict[str, Any]) -> None:
    found = tables(answer)
    assert found
    assert all(len(row) == len(columns) for _, columns, rows in found for row in rows)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"audit": "magic"}', "\x00"])
def test_files_that_are_no_results_are_refused(content: str, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(content)
    with pytest.raises(RecordError, match="audit"):
        read_result(file)


def test_a_result_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text(json.dumps(bound()))
    assert read_result(file) == bound()
