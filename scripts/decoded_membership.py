"""Membership asked of decoded text beside text as released, as ``deniable lab membership`` saved it: for docs/experiments/privacy.md."""

from __future__ import annotations

from deniable.lab.membership.audit import MembershipResult
from deniable.lab.membership.auditor import ScoreSummary
from deniable.report.wording import percent_fixed

COMMAND = """deniable lab membership irc_ubuntu_by_user.jsonl.xz -e 6 -e 8 -e 10 --users 50 --max-texts 100 --targets 2 --shadows 10 \\
  --support 10000 --directions 200 --save docs/experiments/membership-decoded.json"""
ASKED = ("original text", "released text")


def section(result: MembershipResult) -> str:
    """Return what the auditor reaches, with a table."""
    plan, data = result.plan, result.data
    lines = [
        "## Membership, asked of decoded text",
        "",
        f"Whoever receives a release can decode it and train a model on that. {plan.in_each} users in, {plan.in_each} out, {plan.shadows} "
        f"shadow models, {plan.targets} target models; {data.users} users, half of whom have {data.median_words:.0f} words or more. The "
        f"embedding is {result.embedding.name}, whose ε do not compare with those above. AUC of the auditor; where it is far below one "
        'half, an adversary turns the answer around. "Its own text" is the text that the model was trained on.',
        "",
        "| text | words changed | plain, original text | adaptive, original text | plain, its own text | adaptive, its own text |",
        "|---|---|---|---|---|---|",
    ]
    for name, facts in result.facts.items():
        cells = [_auc(result.protocol[name][asked][who]) for asked in ASKED for who in ("plain", "adaptive")]
        lines.append(f"| {name} | {percent_fixed(facts.changed)} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def missed(result: MembershipResult) -> list[str]:
    """Return for each ε how well members are told by a question about their original text, from both texts."""
    lines = []
    for name, facts in result.facts.items():
        if facts.decoded:
            continue
        plain, decoded = (_strongest(result, condition) for condition in (name, f"{name}, decoded"))
        more = f"{decoded - plain:+.2f}".replace("-", "−")
        lines.append(
            f"- Membership, {name}: asked about users' original text, the better adversary has an AUC of {plain:.2f} where the model was "
            f"trained on text as released, and of {decoded:.2f} where on decoded text ({more})."
        )
    return lines


def _strongest(result: MembershipResult, condition: str) -> float:
    return max(found.mean.auc_either_way for found in result.protocol[condition]["original text"].values())


def _auc(found: ScoreSummary) -> str:
    spread = "" if found.spread.auc is None else f" ± {found.spread.auc:.2f}"
    return f"{found.mean.auc:.2f}{spread}"
