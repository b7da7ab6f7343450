"""The tables and the figure of docs/experiments/privacy.md, from the results beside it.

membership.json and membership-baselines.json are written by scripts/privacy/measure.py;
membership-decoded.json and authorship-*.json by ``deniable lab membership`` and ``deniable lab authorship
--save``.
"""

from __future__ import annotations

import json
from typing import Any

from matplotlib.figure import Figure

from deniable.audit.catalogue import finding
from deniable.audit.catalogue import tables as audit_tables
from deniable.audit.saved import read_result
from deniable.lab.membership.audit import MembershipResult
from deniable.report.figure import apply_style, new_figure, png
from deniable.report.palette import MUTED
from deniable.report.wording import percent_fixed
from scripts.attackers.page import missed_by_setting, read_results
from scripts.pages import EXPERIMENTS, table

PAGE = EXPERIMENTS / "privacy.md"
PAPER_AUC = {
    5.82: 0.0638,
    11.65: 0.0441,
    17.47: 0.1075,
    23.30: 0.3615,
    29.12: 0.6128,
    34.95: 0.8515,
    40.77: 0.8756,
    46.60: 0.9307,
    52.42: 0.9822,
    58.25: 0.9897,
}
"""The AUC of the paper's table 4, from the raw log in its source."""
SCORES = ("precision", "recall", "accuracy", "auc", "auc_either_way")
JUDGED = ["condition", "precision", "recall", "accuracy", "AUC", "max(AUC, 1 − AUC)"]
NEAREST_TO = 23.3
"""The ε of the paper's table 3."""
Found = dict[str, Any]


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    data, baselines = read("membership.json"), read("membership-baselines.json")
    return {
        "original": original(data, baselines),
        "baselines": about_original(baselines),
        "curve": curve(data),
        "paper": as_in_the_paper(data),
        "decoded": decoded(read_result(EXPERIMENTS / "membership-decoded.json")),
        **{name: authorship(name) for name in ("authorship-c50", "authorship-enron")},
        "words": missed_by_setting(read_results(EXPERIMENTS)),
    }


def draw() -> None:
    """Draw the figure."""
    (EXPERIMENTS / "membership.png").write_bytes(png(auc_figure(read("membership.json"))))


def read(name: str) -> Found:
    """Return a result beside the page."""
    found: Found = json.loads((EXPERIMENTS / name).read_text(encoding="utf-8"))
    return found


def of_kind(data: Found, kind: str) -> list[tuple[float, Found]]:
    """Return ε and what was found for each release of a kind."""
    facts = data["facts"].items()
    return [
        (about["epsilon"], data["protocol"][name])
        for name, about in facts
        if about["kind"] == kind and name in data["protocol"]
    ]


def judged(name: str, found: Found) -> list[str]:
    """Return what an adversary reached, as a row."""
    mean, spread = found["mean"], found["spread"]
    return [name, *(f"{mean[key]:.2f}" + (f" ± {spread[key]:.2f}" if key == "auc" else "") for key in SCORES)]


def original(data: Found, baselines: Found) -> str:
    """Return what the auditor reaches of original text, of the baselines, and at the ε of the paper's
    table."""
    rows = [judged("original text", data["protocol"]["original"]["original text"]["plain"])]
    rows += [
        judged(name, found["released text"]["plain"])
        for name, found in baselines["protocol"].items()
        if name != "original"
    ]
    plain = {
        name: facts["epsilon"]
        for name, facts in data["facts"].items()
        if facts["kind"] == "d_χ" and name in data["protocol"]
    }
    name = min(plain, key=lambda name: abs(plain[name] - NEAREST_TO))
    return table(JUDGED, [*rows, judged(name, data["protocol"][name]["released text"]["plain"])])


def about_original(baselines: Found) -> str:
    """Return what both adversaries reach of the users' original text."""
    rows = [
        judged(f"{condition}, {who} adversary", found["original text"][who])
        for condition, found in baselines["protocol"].items()
        if condition != "original"
        for who in ("plain", "adaptive")
    ]
    return table(JUDGED, rows)


def curve(data: Found) -> str:
    """Return the AUC of both adversaries, asked about original and about released text."""
    asked = [
        (question, who) for question in ("original text", "released text") for who in ("plain", "adaptive")
    ]
    rows = [
        [
            name,
            percent_fixed(facts["changed"]),
            *(auc(data["protocol"][name][question][who]) for question, who in asked),
        ]
        for name, facts in data["facts"].items()
        if name in data["protocol"]
    ]
    return table(["condition", "words changed", *(f"{who}, {question}" for question, who in asked)], rows)


def as_in_the_paper(data: Found) -> str:
    """Return what the auditor reaches in the setting that the paper's numbers fit, and those numbers."""
    rows = []
    for name, facts in data["facts"].items():
        if facts["kind"] == "d_χ" and name in data["protocol"]:
            found, finer = (
                data[how][name]["as in the paper"]["plain"] for how in ("protocol", "finer_ranks")
            )
            paper = next(
                (
                    f"{value:.2f}"
                    for epsilon, value in PAPER_AUC.items()
                    if abs(epsilon - facts["epsilon"]) < 0.02
                ),
                "–",
            )
            scores = [f"{found['mean'][key]:.2f}" for key in SCORES[:3]]
            rows.append(
                [
                    f"{facts['epsilon']:.2f}",
                    percent_fixed(facts["changed"]),
                    *scores,
                    auc(found),
                    auc(finer),
                    paper,
                ]
            )
    head = ["ε", "words changed", *SCORES[:3], "AUC, 100 bins", "AUC, finer ranks", "AUC in the paper"]
    return table(head, rows)


def auc(found: Found) -> str:
    """Return an AUC with its spread."""
    return f"{found['mean']['auc']:.2f} ± {found['spread']['auc']:.2f}"


def decoded(result: object) -> str:
    """Return what the auditor reaches of models of decoded text, beside models of text as released."""
    assert isinstance(result, MembershipResult)
    asked = [
        (question, who) for question in ("original text", "released text") for who in ("plain", "adaptive")
    ]
    rows = []
    for name, facts in result.facts.items():
        scores = [result.protocol[name][question][who] for question, who in asked]
        rows.append(
            [
                name,
                percent_fixed(facts.changed),
                *(f"{each.mean.auc:.2f} ± {each.spread['auc']:.2f}" for each in scores),
            ]
        )
    shown = {"original text": "original text", "released text": "its own text"}
    return table(["text", "words changed", *(f"{who}, {shown[question]}" for question, who in asked)], rows)


def authorship(name: str) -> str:
    """Return what was found of authors, in the words and tables of the product."""
    result = read_result(EXPERIMENTS / f"{name}.json")
    parts = [finding(result)]
    for each in audit_tables(result):
        parts += [f"{each.caption}:", table(each.columns, each.rows)]
    return "\n\n".join(parts)


@apply_style
def auc_figure(data: dict[str, Any]) -> Figure:
    """Return the auditor's AUC against ε, with the paper's."""
    figure, axes = new_figure(width=6.4, height=3.6)
    plain, protected = of_kind(data, "d_χ"), of_kind(data, "d_χ, protected")
    for label, rows, question, mark in (
        ("original text", plain, "original text", "o"),
        ("original text, protected words", protected, "original text", "s"),
        ("released text itself", plain, "released text", "^"),
    ):
        values = [found[question]["adaptive"]["mean"]["auc"] for _, found in rows]
        axes.plot([epsilon for epsilon, _ in rows], values, marker=mark, markersize=3.5, label=label)
    names = [
        name
        for name, about in data["facts"].items()
        if about["kind"] == "d_χ" and name in data["finer_ranks"]
    ]
    values = [data["finer_ranks"][name]["as in the paper"]["plain"]["mean"]["auc"] for name in names]
    axes.plot(
        [data["facts"][name]["epsilon"] for name in names],
        values,
        "--",
        marker="d",
        markersize=3.5,
        label="members noised, others not",
    )
    axes.plot(
        list(PAPER_AUC), list(PAPER_AUC.values()), ":", color=MUTED, marker=".", label="printed in the paper"
    )
    axes.axhline(0.5, color=MUTED, linewidth=0.8)
    axes.set_xlabel("ε")
    axes.set_ylabel("AUC of the auditor")
    axes.set_ylim(-0.03, 1.03)
    axes.legend()
    return figure
