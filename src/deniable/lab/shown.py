"""What the audits of the lab found, in words, tables and curves: membership and authorship."""

from __future__ import annotations

from deniable.audit.results import Audit, Curves, Table
from deniable.audit.shares import Share
from deniable.lab.authorship import AuthorshipResult
from deniable.lab.membership.audit import MembershipResult
from deniable.report.wording import Point, percent_fixed


def _membership_sentence(result: MembershipResult) -> str:
    original = result.protocol["original"]["original text"]["plain"].mean.auc
    warning = (
        ""
        if original >= 0.9
        else " The auditor is weak on this data (AUC below 0.9), so that failing on released text says "
        "little."
    )
    return (
        "On models trained on original text the auditor tells whose text was used with an AUC of "
        f"{original:.2f}.{warning} "
        f"{result.advice('AUC for every adversary')}"
    )


def _membership_table(result: MembershipResult) -> Table:
    rows = []
    for condition, questions in result.protocol.items():
        for question, adversaries in questions.items():
            for adversary, found in adversaries.items():
                mean = found.mean
                cells = [
                    f"{score:.2f}"
                    for score in (mean.precision, mean.recall, mean.accuracy, mean.auc, mean.auc_either_way)
                ]
                rows.append([condition, question, adversary, *cells])
    columns = [
        "condition",
        "question",
        "adversary",
        "precision",
        "recall",
        "accuracy",
        "AUC",
        "max(AUC, 1 − AUC)",
    ]
    return Table("What the auditor reaches", columns, rows)


def _membership_curves(result: MembershipResult) -> list[Curves]:
    def line(question: str, adversary: str, *, decoded: bool = False) -> list[Point]:
        conditions = sorted(
            (facts.epsilon, name) for name, facts in result.facts.items() if facts.decoded is decoded
        )
        found = ((epsilon, result.protocol[name][question][adversary]) for epsilon, name in conditions)
        return [Point(epsilon, each.mean.auc) for epsilon, each in found]

    lines = {
        f"{question}, {adversary}": line(question, adversary)
        for question in ("original text", "released text")
        for adversary in ("plain", "adaptive")
    }
    lines["original text, adaptive, decoded"] = line("original text", "adaptive", decoded=True)
    return [
        Curves(
            lines={name: points for name, points in lines.items() if points},
            y="AUC of the auditor",
            caption="The auditor's AUC; 0.5 is chance. An AUC below 0.5 is as good as one above it to an "
            "adversary who turns the answer around.",
            levels={"chance": 0.5},
            shares=False,
        )
    ]


def _authorship_sentence(result: AuthorshipResult) -> str:
    ends = list(dict.fromkeys((result.released[0], result.released[-1]))) if result.released else []
    found = [(each.epsilon, each.success, each.at_most) for each in result.released]
    reached = " and ".join(
        f"{percent_fixed(each.success)} at ε = {each.epsilon:g} (learnt from {each.best})" for each in ends
    )
    return (
        f"Among {result.authors} authors the classifier names the right one for "
        f"{percent_fixed(result.original.value)} of original texts; "
        f"always naming the most frequent author is right for {percent_fixed(result.guess)}. "
        + (f"Of released texts the best attacker names {reached}. " if reached else "")
        + result.advice("of the texts")
        + result.unsure(found, "with more authors it is surer, since the texts of an author count together.")
    )


def _authorship_table(result: AuthorshipResult) -> Table:
    names = list(result.released[0].shares) if result.released else []
    rows = [["original text", _with_interval(result.original), *["–"] * (len(names) - 1)]] if names else []
    rows += [
        [f"ε = {each.epsilon:g}", *(_with_interval(each.shares[name]) for name in names)]
        for each in result.released
    ]
    caption = (
        "How often the author of a text is named (95 % interval), by what was learnt from and how it was read"
    )
    return Table(caption, ["text", *names], rows)


def _with_interval(share: Share) -> str:
    return f"{percent_fixed(share.value)} ({100 * share.low:.1f} – {100 * share.high:.1f})"


def _authorship_curves(result: AuthorshipResult) -> list[Curves]:
    names = result.released[0].shares if result.released else ()
    return [
        Curves(
            lines={
                f"learnt from {name}": [
                    Point(each.epsilon, each.shares[name].value) for each in result.released
                ]
                for name in names
            },
            y="authors named",
            caption="How often the author of a released text is named.",
            levels={"original text": result.original.value, "guessing blindly": result.guess},
        )
    ]


MEMBERSHIP = Audit(
    result=MembershipResult,
    heading="Can one tell whose text a model was trained on",
    tried=(
        "A language model is trained on the text of some users. An auditor, who trained models of its own on "
        "other users, looks at how "
        "highly the model ranks the words of a user, and says whether that user's text was used. The plain "
        "auditor knows original text "
        "only; the adaptive one releases its own text in the same way first."
    ),
    sentence=_membership_sentence,
    tables=lambda result: [_membership_table(result)],
    epsilons=lambda result: tuple(sorted({facts.epsilon for facts in result.facts.values()})),
    curves=_membership_curves,
)
AUTHORSHIP = Audit(
    result=AuthorshipResult,
    heading="Can the author be recognised",
    tried=(
        "A classifier of words and spelling learns from texts with known authors, original or released, and "
        "names the author of "
        "released texts that it has not seen. Where it says so, it also sees released text decoded: how "
        "often each word is expected behind "
        "the released ones."
    ),
    sentence=_authorship_sentence,
    tables=lambda result: [_authorship_table(result)],
    epsilons=lambda result: tuple(sorted({each.epsilon for each in result.released})),
    curves=_authorship_curves,
)
