"""What the audits of the lab found, in words, tables and figures: membership and authorship."""

from __future__ import annotations

from matplotlib.figure import Figure

from deniable.audit.catalogue import Audit, Drawn
from deniable.audit.report.figures import finish_axes
from deniable.audit.report.table import Table, advise, unsure
from deniable.audit.shares import Share
from deniable.lab.authorship import AuthorshipResult
from deniable.lab.membership.audit import MembershipResult
from deniable.report.figure import apply_style, new_figure
from deniable.report.palette import MUTED
from deniable.report.wording import percent_fixed


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
        f"{advise(result, 'AUC for every adversary')}"
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


@apply_style
def membership_figure(result: MembershipResult) -> Figure:
    """Return the auditor's AUC against ε for every question and adversary."""
    figure, axes = new_figure()
    by_epsilon, decoded = (
        sorted((facts.epsilon, name) for name, facts in result.facts.items() if facts.decoded is way)
        for way in (False, True)
    )
    for question, adversary in (
        ("original text", "plain"),
        ("original text", "adaptive"),
        ("released text", "plain"),
        ("released text", "adaptive"),
    ):
        values = [result.protocol[name][question][adversary].mean.auc for _, name in by_epsilon]
        axes.plot(
            [e for e, _ in by_epsilon], values, marker="o", markersize=4, label=f"{question}, {adversary}"
        )
    if decoded:
        values = [result.protocol[name]["original text"]["adaptive"].mean.auc for _, name in decoded]
        axes.plot(
            [e for e, _ in decoded],
            values,
            marker="s",
            markersize=4,
            linestyle="--",
            label="original text, adaptive, decoded",
        )
    axes.axhline(0.5, color=MUTED, linestyle=":")
    finish_axes(axes, "AUC of the auditor")
    return figure


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
        + advise(result, "of the texts")
        + unsure(result, found, "with more authors it is surer, since the texts of an author count together.")
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


@apply_style
def authorship_figure(result: AuthorshipResult) -> Figure:
    """Return how often the author is named against ε."""
    figure, axes = new_figure()
    found = result.released
    for name in found[0].shares:
        values = [each.shares[name].value for each in found]
        decoded = name.endswith("decoded")
        axes.plot(
            [each.epsilon for each in found],
            values,
            marker="s" if decoded else "o",
            markersize=4,
            linestyle="-" if decoded else "--",
            label=f"learnt from {name}",
        )
    axes.axhline(result.original.value, color=MUTED, linestyle="--", label="original text")
    axes.axhline(result.guess, color=MUTED, linestyle=":", label="guessing blindly")
    finish_axes(axes, "share of authors named")
    return figure


def _membership_drawn(result: MembershipResult) -> Drawn | None:
    if not result.facts:
        return None
    return Drawn(
        figure=membership_figure(result),
        caption=(
            "The auditor's AUC; 0.5 is chance. An AUC below 0.5 is as good as one above it to an adversary "
            "who turns the answer around."
        ),
        alt="AUC of the auditor against ε; the table holds the values.",
    )


def _authorship_drawn(result: AuthorshipResult) -> Drawn | None:
    if not result.released:
        return None
    return Drawn(
        figure=authorship_figure(result),
        caption="How often the author of a released text is named.",
        alt="Share of authors named against ε; the table holds the values.",
    )


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
    figure=_membership_drawn,
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
    figure=_authorship_drawn,
)
