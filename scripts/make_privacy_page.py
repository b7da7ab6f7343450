"""Write docs/experiments/privacy.md and its figure from the results of the membership experiment.

Usage: python scripts/make_privacy_page.py

Reads docs/experiments/membership.json and, if they are there, membership-baselines.json (scripts/judge_membership.py),
membership-decoded.json, authorship-*.json and inversion-*.json (``deniable audit … --save``). What audits of single words miss comes from
the results of scripts/measure_attackers.py beside them, and what attackers with a coarser channel missed from earlier-attackers.json.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import decoded_membership
from deniable.audit.saved import read_result
from deniable.lab.membership.audit import MembershipResult
from deniable.report.figure import apply_style, new_figure, png
from deniable.report.palette import MUTED
from deniable.report.wording import percent_fixed

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
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
NOT_DECODED = """- Membership above is asked of released text as it stands. `deniable lab membership` asks of decoded text too; that was
  not measured here."""
SCORES = ("precision", "recall", "accuracy", "auc", "auc_either_way")


def main() -> None:
    """Write the page."""
    data = _read("membership.json")
    if data is None:
        raise SystemExit("docs/experiments/membership.json is not there: run scripts/judge_membership.py first")
    baselines = _read("membership-baselines.json")
    decoded = _read_decoded()
    parts = [_head(data, decoded), _findings(data), _baselines(data, baselines), _curve(data), _as_in_the_paper(data)]
    parts += ["" if decoded is None else decoded_membership.section(decoded), _others(), _missed(decoded)]
    (FOLDER / "privacy.md").write_text("\n".join(part for part in parts if part), encoding="utf-8")
    (FOLDER / "membership.png").write_bytes(png(auc_figure(data)))


def _read(name: str) -> dict[str, Any] | None:
    path = FOLDER / name
    found: dict[str, Any] | None = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    return found


def _read_decoded() -> MembershipResult | None:
    path = FOLDER / "membership-decoded.json"
    result = read_result(path) if path.exists() else None
    return result if isinstance(result, MembershipResult) else None


HEAD = """# Privacy experiments

This page is written by `python scripts/make_privacy_page.py` from the results beside it. It repeats section 6 of the paper: tables
3 and 4, the auditor of Song and Shmatikov (2019).

**Data.** The paper used the AOL search log, which is itself a breach of privacy and is not used here. In its place: messages from
Ubuntu's help channels by user (Kummerfeld et al. 2019, CC BY 4.0): {users:.0f} users with at least 65 messages, at most 150 of each;
half of the users have {texts:.0f} messages and {words:.0f} words or more.

**Models.** {n} users in, {n} out, and a pool of {pool} for {shadows} shadow models; {targets} target models, each with another half of
their pool, where the paper has one: numbers are means over them, ± their standard deviation. Language model: embedding {embedding},
LSTM {hidden}, dropout {dropout}, vocabulary {vocabulary:,}, sequences of {sequence}, batch {batch}, Adam {rate:g}, gradients cut at
{clip:g}, {epochs} epochs. Each model's vocabulary is that of its own training text; a word it does not know has the highest rank.

**Embedding.** GloVe 840B 300d ({known:,} words, fingerprint `{fingerprint}`). The ε are the paper's, unrounded, and three below
them: this vocabulary is smaller than the paper's, so that words lie further apart and stay themselves at smaller ε. The share of
words that changed stands beside every row. "Protected": words that would stay themselves more often than half of the time at that
ε go in as their nearest word that does not; where that is more than 95 % of all words it was left out.

The noise of this experiment comes from explicit seeds, so that it can be repeated; nobody's private text is released by it. Drawing
the releases and training all models took 282 seconds on one NVIDIA H200. The commands:

```text
deniable embeddings add glove.840B.300d.txt --name glove-840b
python scripts/prepare_membership.py irc_ubuntu_by_user.jsonl.xz prepared --no-baselines
python scripts/run_membership_on_gpu.py prepared results --at-once 160
python scripts/judge_membership.py prepared docs/experiments/membership.json results
python scripts/prepare_membership.py irc_ubuntu_by_user.jsonl.xz baselines --no-embedding --wordnet dict
python scripts/run_membership_on_gpu.py baselines more-results --no-releases
python scripts/judge_membership.py baselines docs/experiments/membership-baselines.json more-results
{membership}deniable lab authorship enron_pan11.jsonl.xz --authors 10 -e 2 -e 6 -e 12 --support 10000 --directions 150 \\
  --save docs/experiments/authorship-enron.json
python scripts/measure_purpose.py prepare DATASETS --into data
deniable lab authorship data/c50.jsonl.xz --author-column label --authors 20 -e 6.081 -e 7.506 --support 5000 --directions 100 \\
  --save docs/experiments/authorship-c50.json
python scripts/make_privacy_page.py
```
"""


def _head(data: dict[str, Any], decoded: MembershipResult | None) -> str:
    about, plan = data["data"], data["plan"]
    membership = "" if decoded is None else f"{decoded_membership.COMMAND}\n"
    return HEAD.format(
        users=about["users"],
        texts=about["median_texts"],
        words=about["median_words"],
        n=plan["in_each"],
        pool=2 * plan["in_each"],
        shadows=plan["shadows"],
        targets=plan["targets"],
        known=data["embedding"]["words"],
        fingerprint=data["embedding"]["fingerprint"][:12],
        membership=membership,
        **data["settings"],
    )


def _findings(data: dict[str, Any]) -> str:
    """Return what the tables say, in sentences that are computed from them."""
    plain = _of_kind(data, "d_χ")
    asked = {
        epsilon: max(found["original text"][who]["mean"]["auc_either_way"] for who in ("plain", "adaptive")) for epsilon, found in plain
    }
    safe = max((epsilon for epsilon in asked if all(asked[other] < 0.6 for other in asked if other <= epsilon)), default=None)
    broken = min((epsilon for epsilon in asked if asked[epsilon] >= 0.9), default=None)
    itself = [found["released text"]["adaptive"]["mean"]["auc"] for _, found in plain]
    original = data["protocol"]["original"]["original text"]["plain"]["mean"]["auc"]
    return f"""## What was found

- On original text the auditor reaches an AUC of {original:.3f}: it works, so that its failures say something.
- Asked about users' **original** text, the better of the two adversaries stays below an AUC of 0.6 up to ε = {safe:.4g}
  ({percent_fixed(_changed(data, safe))} of the words changed) and is above 0.9 from ε = {broken:.4g} on
  ({percent_fixed(_changed(data, broken))} changed).
  The paper's finding that the auditor's success grows with ε from chance to near 1 holds here, between these two values.
- Asked about the **released** text itself, the adaptive adversary has an AUC of at least {min(itself):.3f} at every ε. That is no
  surprise and no failure of the mechanism: the model was trained on that very text. But it says that a released text can be traced
  to the model that was trained on it, whatever ε.
- Members and others were treated alike. The setting in which the paper's small numbers come out is described below.
"""


def _of_kind(data: dict[str, Any], kind: str) -> list[tuple[float, dict[str, Any]]]:
    facts = data["facts"].items()
    return [(about["epsilon"], data["protocol"][name]) for name, about in facts if about["kind"] == kind and name in data["protocol"]]


def _changed(data: dict[str, Any], epsilon: float | None) -> float | None:
    return next((about["changed"] for about in data["facts"].values() if about["epsilon"] == epsilon and about["kind"] == "d_χ"), None)


def _row(name: str, found: dict[str, Any], extra: str = "") -> str:
    mean, spread = found["mean"], found["spread"]
    cells = [f"{mean[key]:.2f}" + (f" ± {spread[key]:.2f}" if key == "auc" and spread[key] is not None else "") for key in SCORES]
    return f"| {name} |{extra} {' | '.join(cells)} |"


def _baselines(data: dict[str, Any], baselines: dict[str, Any] | None) -> str:
    lines = [
        "## Original text and the baselines (the paper's table 3)",
        "",
        "Original text: the auditor asks a model trained on original text. Baselines and d_χ: it asks a model trained on released text "
        "about that released text, with shadows trained on original text.",
        "",
        "| condition | precision | recall | accuracy | AUC | max(AUC, 1 − AUC) |",
        "|---|---|---|---|---|---|",
        _row("original text", data["protocol"]["original"]["original text"]["plain"]),
    ]
    if baselines is not None:
        lines += [_row(name, found["released text"]["plain"]) for name, found in baselines["protocol"].items() if name != "original"]
    plain = {name: facts["epsilon"] for name, facts in data["facts"].items() if facts["kind"] == "d_χ" and name in data["protocol"]}
    name = min(plain, key=lambda name: abs(plain[name] - 23.3))
    lines.append(_row(name, data["protocol"][name]["released text"]["plain"]))
    if baselines is not None:
        lines += ["", "The same, where the auditor asks about the users' **original** text:", ""]
        lines += ["| condition | precision | recall | accuracy | AUC | max(AUC, 1 − AUC) |", "|---|---|---|---|---|---|"]
        for condition, found in baselines["protocol"].items():
            if condition != "original":
                lines += [_row(f"{condition}, {who} adversary", found["original text"][who]) for who in ("plain", "adaptive")]
    return "\n".join(lines) + "\n"


def _curve(data: dict[str, Any]) -> str:
    head = "| condition | words changed | plain, original text | adaptive, original text | plain, released text | adaptive, released text |"
    lines = [
        "## d_χ-privacy against ε (the paper's table 4)",
        "",
        "![AUC of the auditor against ε](membership.png)",
        "",
        "AUC of the auditor, models trained on released text. The question is about the users' original text or about the released "
        "text itself; the adaptive adversary's shadows are trained on text released in the same way.",
        "",
        head,
        "|---|---|---|---|---|---|",
    ]
    for name, facts in data["facts"].items():
        found = data["protocol"].get(name)
        if found is None:
            continue
        cells = [_auc(found[question][who]) for question in ("original text", "released text") for who in ("plain", "adaptive")]
        lines.append(f"| {name} | {percent_fixed(facts['changed'])} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _auc(found: dict[str, Any]) -> str:
    spread = found["spread"]["auc"]
    return f"{found['mean']['auc']:.2f}" + ("" if spread is None else f" ± {spread:.2f}")


SETTING = """## The setting that the paper's numbers fit

The paper's AUC begins at 0.06, far below chance, and ends at 0.99. One setting fits both its words ("created a new user and
injected the scrambled queries") and such numbers: the model is trained on **original** text, members are asked by their
**released** text and others by their original text. Where much was changed, members look less like the training text than
anybody else: an adversary who turns the answer around is right, so that a small AUC is no sign of privacy. The same auditor in that
setting, with the protocol's histogram of 100 equal bins and with one that tells the first 50 ranks apart. Where nearly every word
was changed, the linear classifier is far outside of what it was trained on, and which sign it gives is an accident; that it
tells members from others is not:

| ε | words changed | precision | recall | accuracy | AUC, 100 bins | AUC, finer ranks | AUC in the paper |
|---|---|---|---|---|---|---|---|
"""


def _as_in_the_paper(data: dict[str, Any]) -> str:
    lines = []
    for name, facts in data["facts"].items():
        if facts["kind"] != "d_χ" or name not in data["protocol"]:
            continue
        found = data["protocol"][name]["as in the paper"]["plain"]
        paper = next((f"{auc:.2f}" for epsilon, auc in PAPER_AUC.items() if abs(epsilon - facts["epsilon"]) < 0.02), "–")
        finer = data["finer_ranks"][name]["as in the paper"]["plain"]
        cells = [f"{found['mean'][key]:.2f}" for key in ("precision", "recall", "accuracy")] + [_auc(found), _auc(finer)]
        lines.append(f"| {facts['epsilon']:.2f} | {percent_fixed(facts['changed'])} | {' | '.join(cells)} | {paper} |")
    return SETTING + "\n".join(lines) + "\n"


def _others() -> str:
    from deniable.audit.catalogue import finding, tables

    lines: list[str] = []
    for pattern, heading in (("inversion-*.json", "Word inversion"), ("authorship-*.json", "Authorship")):
        for path in sorted(FOLDER.glob(pattern)):
            result = read_result(path)
            lines += [f"## {heading}: {path.stem.partition('-')[2]}", "", finding(result), ""]
            for table in tables(result):
                lines += [f"{table.caption}:", "", f"| {' | '.join(table.columns)} |", "|---" * len(table.columns) + "|"]
                lines += [f"| {' | '.join(row)} |" for row in table.rows]
                lines.append("")
    return "\n".join(lines)


def _missed(decoded_text: MembershipResult | None) -> str:
    """Return what audits of words as they stand did not see, and by how much."""
    from attackers_prose import headline, missed_by_setting, points, read_results, table
    from deniable.lab.authorship import AuthorshipResult
    from earlier_attackers import compare, how_much_stronger

    lines = [] if decoded_text is None else decoded_membership.missed(decoded_text)
    for path in sorted(FOLDER.glob("authorship-*.json")):
        result = read_result(path)
        for found in result.released if isinstance(result, AuthorshipResult) else ():
            decoded = [share.value for name, share in found.shares.items() if name.endswith("decoded")]
            plain = [share.value for name, share in found.shares.items() if name.endswith("as released")]
            if decoded:
                where, more = f"{path.stem.partition('-')[2]}, ε = {found.epsilon:g}", max(decoded) - max(plain)
                lines.append(
                    f"- Authorship, {where}: {percent_fixed(max(plain))} of the authors are named from words as released, "
                    f"{percent_fixed(max(decoded))} from decoded ones ({points(more)} points)."
                )
    attacked = read_results(FOLDER)
    if attacked:
        lines.append(f"- Words, [by every attacker we have](attackers.md): {headline(attacked)} The table below has each release.")
    stronger = how_much_stronger(compare(FOLDER, attacked))
    if stronger:
        lines.append(f"- Channels, [known better](attackers.md#what-our-earlier-audits-missed): {stronger}")
    if not lines:
        return ""
    return "\n".join(
        [
            "## What audits of words as they stand miss",
            "",
            "Whoever holds a release can decode it first, read words in their context, and compute better what words become. What that",
            "added, in points of success (where it is negative, the attacker who takes words as they stand is the stronger one, and is",
            "quoted):",
            "",
            *lines,
            "- Authors were decoded by [shared points](channels.md), of 5,000 words for C50, whose texts were cut at 120 words, and of",
            "  10,000 for Enron. The classifiers read pairs of words and spelling beside the counts.",
            *([] if decoded_text is not None else [NOT_DECODED]),
            "",
            *(
                [
                    "Words named at the first guess:",
                    "",
                    table(missed_by_setting(attacked)),
                    "",
                ]
                if attacked
                else []
            ),
        ]
    )


@apply_style
def auc_figure(data: dict[str, Any]) -> Figure:
    """Return the auditor's AUC against ε, with the paper's."""
    figure, axes = new_figure(width=6.4, height=3.6)
    plain, protected = _of_kind(data, "d_χ"), _of_kind(data, "d_χ, protected")
    for label, rows, question, mark in (
        ("original text", plain, "original text", "o"),
        ("original text, protected words", protected, "original text", "s"),
        ("released text itself", plain, "released text", "^"),
    ):
        values = [found[question]["adaptive"]["mean"]["auc"] for _, found in rows]
        axes.plot([epsilon for epsilon, _ in rows], values, marker=mark, markersize=3.5, label=label)
    names = [name for name, about in data["facts"].items() if about["kind"] == "d_χ" and name in data["finer_ranks"]]
    values = [data["finer_ranks"][name]["as in the paper"]["plain"]["mean"]["auc"] for name in names]
    axes.plot(
        [data["facts"][name]["epsilon"] for name in names], values, "--", marker="d", markersize=3.5, label="members noised, others not"
    )
    axes.plot(list(PAPER_AUC), list(PAPER_AUC.values()), ":", color=MUTED, marker=".", label="printed in the paper")
    axes.axhline(0.5, color=MUTED, linewidth=0.8)
    axes.set_xlabel("ε")
    axes.set_ylabel("AUC of the auditor")
    axes.set_ylim(-0.03, 1.03)
    axes.legend()
    return figure


if __name__ == "__main__":
    main()
