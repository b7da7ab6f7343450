"""What an audit found, as a sentence and as tables: for the terminal and for the page alike."""

from __future__ import annotations

from deniable.audit.authorship import AuthorshipResult
from deniable.audit.bound.attempt import BoundResult
from deniable.audit.inversion.results import InversionResult
from deniable.audit.membership.audit import MembershipResult
from deniable.audit.report.inversion import inversion_sentence, inversion_tables
from deniable.audit.report.table import Table, advise, unsure
from deniable.audit.saved import AnyResult
from deniable.audit.shares import Share
from deniable.report.wording import percent_fixed


def finding(result: AnyResult) -> str:
    """Return what was found in a sentence or two."""
    match result:
        case BoundResult():
            return _bound_sentence(result)
        case InversionResult():
            return inversion_sentence(result)
        case MembershipResult():
            return _membership_sentence(result)
        case AuthorshipResult():
            return _authorship_sentence(result)


def tables(result: AnyResult) -> list[Table]:
    """Return what was measured."""
    match result:
        case BoundResult():
            return [_bound_table(result)]
        case InversionResult():
            return inversion_tables(result)
        case MembershipResult():
            return [_membership_table(result)]
        case AuthorshipResult():
            return [_authorship_table(result)]


def _bound_sentence(result: BoundResult) -> str:
    tried, what = len(result.places), f"{result.mechanism} at ε = {result.epsilon:g}"
    if result.refuted:
        broken = [place.space for place in result.places if place.refuted]
        return f"REFUTED: the promise of {what} is broken in {len(broken)} of {tried} places, such as {broken[0]}."
    return f"Not refuted: in {tried} places no event was found that {what} makes likelier than it promises."


def _bound_table(result: BoundResult) -> Table:
    rows = []
    for place in result.places:
        worst = place.worst_pairs[0] if place.worst_pairs else None
        shown = "–" if worst is None or worst.shown is None else f"{worst.shown:.3f}"
        promised = "–" if worst is None else f"{worst.promised:.3f}"
        rows.append([place.space, f"{place.draws_per_word:,}", promised, shown, "REFUTED" if place.refuted else "holds"])
    return Table("The pair that came closest, in each place", ["space", "draws a word", "promised", "shown at least", ""], rows)


def _membership_sentence(result: MembershipResult) -> str:
    original = result.protocol["original"]["original text"]["plain"].mean.auc
    warning = "" if original >= 0.9 else " The auditor is weak on this data (AUC below 0.9), so that failing on released text says little."
    return (
        f"On models trained on original text the auditor tells whose text was used with an AUC of {original:.2f}.{warning} "
        f"{advise(result, 'AUC for every adversary')}"
    )


def _membership_table(result: MembershipResult) -> Table:
    rows = []
    for condition, questions in result.protocol.items():
        for question, adversaries in questions.items():
            for adversary, found in adversaries.items():
                mean = found.mean
                cells = [f"{score:.2f}" for score in (mean.precision, mean.recall, mean.accuracy, mean.auc, mean.auc_either_way)]
                rows.append([condition, question, adversary, *cells])
    columns = ["condition", "question", "adversary", "precision", "recall", "accuracy", "AUC", "max(AUC, 1 − AUC)"]
    return Table("What the auditor reaches", columns, rows)


def _authorship_sentence(result: AuthorshipResult) -> str:
    ends = list(dict.fromkeys((result.released[0], result.released[-1]))) if result.released else []
    found = [(each.epsilon, each.success, each.at_most) for each in result.released]
    reached = " and ".join(f"{percent_fixed(each.success)} at ε = {each.epsilon:g} (learnt from {each.best})" for each in ends)
    return (
        f"Among {result.authors} authors the classifier names the right one for {percent_fixed(result.original.value)} of original texts; "
        f"always naming the most frequent author is right for {percent_fixed(result.guess)}. "
        + (f"Of released texts the best attacker names {reached}. " if reached else "")
        + advise(result, "of the texts")
        + unsure(result, found, "with more authors it is surer, since the texts of an author count together.")
    )


def _authorship_table(result: AuthorshipResult) -> Table:
    names = list(result.released[0].shares) if result.released else []
    rows = [["original text", _with_interval(result.original), *["–"] * (len(names) - 1)]] if names else []
    rows += [[f"ε = {each.epsilon:g}", *(_with_interval(each.shares[name]) for name in names)] for each in result.released]
    caption = "How often the author of a text is named (95 % interval), by what was learnt from and how it was read"
    return Table(caption, ["text", *names], rows)


def _with_interval(share: Share) -> str:
    return f"{percent_fixed(share.value)} ({100 * share.low:.1f} – {100 * share.high:.1f})"
