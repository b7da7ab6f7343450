"""The tables and the figure of docs/research/privacy.md, from the results beside it.

membership.json and membership-baselines.json are written by scripts/privacy/measure.py;
linking.json by scripts/privacy/linking.py; membership-decoded.json and authorship-*.json by ``deniable lab
membership`` and ``deniable lab authorship --save``.
"""

from __future__ import annotations

from typing import Any

import msgspec
from matplotlib.figure import Figure

import deniable.lab  # noqa: F401 - it knows the audits of the lab
from deniable.audit.results import read_result
from deniable.audit.shares import share_of
from deniable.report.curves import curves
from deniable.report.figure import png
from deniable.report.wording import Point, percent_fixed
from scripts.pages import EXPERIMENTS, csv_text, percent, read_json, table

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
SCORES = ("precision", "recall", "accuracy")
PAPER_HEAD = ["ε", "words changed", *SCORES, "AUC, 100 bins", "AUC, finer ranks", "AUC in the paper"]
SHOWN = [f"d_χ ε = {epsilon}" for epsilon in ("1.456", "5.825", "11.65", "17.47", "23.3", "58.25")]
"""The rows of the table against ε; membership.csv has all."""
NEAREST_TO = 23.3
"""The ε of the paper's table 3."""
LINKED_SETS = {"c50": "C50", "enron_pan11": "Enron", "irc_ubuntu_by_user": "Ubuntu IRC"}
ASKED = [(question, who) for question in ("original text", "released text") for who in ("plain", "adaptive")]
Result = dict[str, Any]


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    data = read_json(EXPERIMENTS / "membership.json")
    baselines = read_json(EXPERIMENTS / "membership-baselines.json")
    del baselines["protocol"]["original"]
    decoded = msgspec.to_builtins(read_result(EXPERIMENTS / "membership-decoded.json"))
    columns = ["condition", "words changed", *(f"{who}, {question}" for question, who in ASKED)]
    names = {"original text": "original text", "released text": "its own text"}
    own = ["text", "words changed", *(f"{who}, {names[question]}" for question, who in ASKED)]
    rows = [PAPER_HEAD, *as_in_the_paper(data)[3:]]
    paper = [[*row[:2], *row[2 + len(SCORES) :]] for row in rows]
    return {
        "baselines": compared(data, baselines),
        "curve": table(columns, [row for row in curve(data) if row[0] in SHOWN]),
        "paper": table(paper[0], paper[1::2]),
        "decoded": table(own, curve(decoded)),
        "authors": authors(),
        "linking": linking(),
    }


def linking() -> str:
    """Return how often people are linked by released text: first, and among the first ten."""
    rows = []
    for each in read_json(EXPERIMENTS / "linking.json"):
        people, same, other = each["people"], each["same"], each["other"]
        rows.append(
            [
                f"{LINKED_SETS[each['data']]}, {people} people",
                f"{each['level']}, ε = {each['epsilon']:g}",
                percent(same["blind"]),
                linked_first(same["first"], people),
                percent(same["among_first_few"]),
                linked_first(other["first"], people),
                percent(other["from_original_text"]),
            ]
        )
    head = ["data", "risk", "guessing", "the same texts", "in the first ten", "other texts"]
    return table([*head, "if released in clear"], rows)


def linked_first(share: float, people: int) -> str:
    """Return a share of people with its interval; ties, which count in part, are rounded."""
    found = share_of(round(share * people), people)
    return f"{percent(share)} ({percent(found.low)} – {percent(found.high)})"


def data() -> dict[str, str]:
    """Return the AUC at every ε that was measured."""
    membership = read_json(EXPERIMENTS / "membership.json")
    columns = ["condition", "words changed", *(f"{who}, {question}" for question, who in ASKED)]
    return {
        "membership.csv": csv_text(columns, curve(membership)),
        "membership-paper.csv": csv_text(PAPER_HEAD, as_in_the_paper(membership)),
    }


def draw() -> None:
    """Draw the figure."""
    figure = auc_figure(read_json(EXPERIMENTS / "membership.json"))
    (EXPERIMENTS / "membership.png").write_bytes(png(figure))


def of_kind(data: Result, kind: str, how: str = "protocol") -> dict[str, tuple[Result, Result]]:
    """Return the facts and what was found of each release of a kind."""
    return {
        name: (facts, data[how][name])
        for name, facts in data["facts"].items()
        if facts["kind"] == kind and name in data[how]
    }


def auc(result: Result) -> str:
    """Return an AUC with its spread."""
    return f"{result['mean']['auc']:.2f} ± {result['spread']['auc']:.2f}"


def compared(data: Result, baselines: Result) -> str:
    """Return what the auditor reaches of original text, at the ε of the paper's table, and of the baselines:
    asked about the text of the model, and about original text."""
    clean = data["protocol"]["original"]["original text"]["plain"]
    releases = of_kind(data, "d_χ")
    name = min(releases, key=lambda name: abs(releases[name][0]["epsilon"] - NEAREST_TO))
    found = {**baselines["protocol"], name: releases[name][1]}
    rows = [["original text", auc(clean), auc(clean), "–"]]
    for condition, each in found.items():
        asked = [("released text", "plain"), ("original text", "plain"), ("original text", "adaptive")]
        rows.append([condition, *(auc(each[question][who]) for question, who in asked)])
    return table(["text of the model", "its own text", "original text, plain", "adaptive"], rows)


def curve(data: Result) -> list[list[str]]:
    """Return the AUC of both adversaries, asked about original and about released text, a row for each
    release."""
    return [
        [
            name,
            percent_fixed(facts["changed"]),
            *(auc(data["protocol"][name][question][who]) for question, who in ASKED),
        ]
        for name, facts in data["facts"].items()
        if name in data["protocol"]
    ]


def as_in_the_paper(data: Result) -> list[list[str]]:
    """Return what the auditor reaches in the setting that the paper's numbers fit, and those numbers."""
    rows = []
    for name, (facts, questions) in of_kind(data, "d_χ").items():
        epsilon, result = facts["epsilon"], questions["as in the paper"]["plain"]
        finer = data["finer_ranks"][name]["as in the paper"]["plain"]
        printed = next((value for at, value in PAPER_AUC.items() if abs(at - epsilon) < 0.02), None)
        scores = [f"{result['mean'][key]:.2f}" for key in SCORES]
        aucs = [auc(result), auc(finer), "–" if printed is None else f"{printed:.2f}"]
        rows.append([f"{epsilon:.2f}", percent_fixed(facts["changed"]), *scores, *aucs])
    return rows


def authors() -> str:
    """Return how often the author of a text is named, one row per data set and release."""
    rows, columns = [], []
    for name, title in (("authorship-c50", "C50"), ("authorship-enron", "Enron")):
        (result,) = read_result(EXPERIMENTS / f"{name}.json").tables
        columns = result.columns
        rows += [[title, *row] for row in result.rows]
    return table(["data", *columns], rows)


def auc_figure(data: Result) -> Figure:
    """Return the auditor's AUC against ε, with the paper's."""

    def line(kind: str, question: str, who: str, how: str = "protocol") -> list[Point]:
        found = of_kind(data, kind, how).values()
        return [Point(facts["epsilon"], result[question][who]["mean"]["auc"]) for facts, result in found]

    lines = {
        "original text": line("d_χ", "original text", "adaptive"),
        "original text, protected words": line("d_χ, protected", "original text", "adaptive"),
        "released text itself": line("d_χ", "released text", "adaptive"),
        "members noised, others not": line("d_χ", "as in the paper", "plain", "finer_ranks"),
        "printed in the paper": [Point(*each) for each in PAPER_AUC.items()],
    }
    return curves(lines, x="ε", y="AUC of the auditor", levels={"chance": 0.5}, shares=False)
