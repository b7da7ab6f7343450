"""One page for all audits of a release."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from deniable.audit.bound import BoundResult
from deniable.audit.inversion.wording import NOT_PROVEN, InversionResult, details, headline
from deniable.audit.results import AdvisedResult, AuditResult
from deniable.report.page import Page
from deniable.report.wording import percent, words


def audit_page(results: Sequence[AuditResult]) -> Page:
    """Return the page: the best attacker, the picture, what each attacker knew, and what this does not
    prove."""
    page = Page("What an attacker still learns", kicker="deniable audit", lead=_lead(results))
    apart = list(zip(results, _tell_apart(results), strict=True))
    page.add_facts(_fact(result, which) for result, which in apart)
    for warning in _mixtures(results):
        page.add_note(warning, kind="warning")
    # Whether words can be named is what most readers come for.
    for result, which in sorted(apart, key=lambda each: not isinstance(each[0], InversionResult)):
        _add_result(page, result, which)
    page.add_section(
        "What this page does not say",
        "An attack that fails proves nothing about other attacks. What holds against every attack is the "
        "bound that is proven for the mechanism, and it is per word: a long text spends it once for every "
        "word. The adversaries here know the public parts (mechanism, ε, embedding, frequencies), but "
        "nothing else about the person.",
    )
    return page


def _add_result(page: Page, result: AuditResult, which: str) -> None:
    page.add_section(f"{result.heading}{which}?", _found(result, which))
    for curves in result.curves:
        page.add_curves(**vars(curves))
    page.add_text("What was tried. " + result.tried)
    if isinstance(result, InversionResult):
        _add_knowledge(page, result)
    for table in result.tables:
        page.add_table(
            table.columns,
            table.rows,
            caption=table.caption,
            folded=table.caption if len(table.rows) > 12 else "",
            text_columns=table.text_columns,
        )
    if isinstance(result, BoundResult):
        page.add_note(result.not_proven)
    if isinstance(result, InversionResult):
        page.add_note("What this does not prove. " + NOT_PROVEN)
    if result.no_bound:
        page.add_note(result.no_bound)
    embedding = result.embedding
    protected = f", {embedding.protected:,} words protected" if embedding.protected else ""
    page.add_text(
        f"Audited: {result.mechanism} on {embedding.name} ({embedding.fingerprint[:12]}{protected}); "
        f"draws from the seed {result.seed}, deniable {result.version}."
    )


def _found(result: AuditResult, which: str) -> str:
    """Return what was found. What the best attacker of all results names is said in the lead."""
    if not isinstance(result, InversionResult):
        return result.sentence
    best = f"{headline([result], who='The best attacker here')} " if which else ""
    return best + details(result)


def _add_knowledge(page: Page, result: InversionResult) -> None:
    """Add what each attacker of running text knew, and which text that was."""
    attackers = next((each.attackers for each in result.results if each.attackers), ())
    text = result.text
    if not attackers or text is None:
        return
    page.add_text("What each attacker knew:")
    page.add_list(
        f"{attacker.name[:1].upper()}{attacker.name[1:]}: {attacker.knows}" for attacker in attackers
    )
    repeated = (
        f" Of the public text {text.left_out:,} more were left out because they are the same as attacked "
        "ones."
        if text.left_out
        else ""
    )
    page.add_text(
        f"They read {text.public} ({text.public_words:,} words) and attacked {words(text.places)} in "
        f"{text.documents:,} documents of {text.source}, of which the embedding does not know "
        f"{percent(text.unknown)}. A kind is one of {text.kinds} clusters of "
        f"{'mapped' if text.kinds_mapped else 'public'} vectors; it is judged where a word is not one of the "
        f"most frequent, and the attackers are told which these are.{repeated}"
    )


def _lead(results: Sequence[AuditResult]) -> str:
    if any(isinstance(result, BoundResult) and result.refuted for result in results):
        return "The mechanism does not keep its promise. Do not release anything with it."
    inversions = [result for result in results if isinstance(result, InversionResult)]
    return " ".join([headline(inversions), _advice(results)] if inversions else [_advice(results)])


def _advice(results: Sequence[AuditResult]) -> str:
    of_audits: dict[str, list[AdvisedResult]] = {}
    for result in results:
        if isinstance(result, AdvisedResult):
            of_audits.setdefault(result.audit, []).append(result)
    if not of_audits:
        return "The attempt to refute the promise found nothing."
    advised = {audit: _largest_acceptable(each) for audit, each in of_audits.items()}
    failing = [name for name, value in advised.items() if value is None]
    if failing:
        return (
            "At none of the values of ε that were tried are all attacks acceptable: "
            f"{', '.join(failing)} succeeds more often than allowed."
        )
    smallest = min(value for value in advised.values() if value is not None)
    return (
        f"Of the values of ε that were tried, {smallest:g} is the largest at which every attack stays "
        "within what was called acceptable."
    )


def _largest_acceptable(results: Sequence[AdvisedResult]) -> float | None:
    tried = [(each, result.largest_acceptable_epsilon) for result in results for each in result.epsilons]
    failing = (epsilon for epsilon, largest in tried if largest is None or epsilon > largest)
    first = min(failing, default=math.inf)
    return max((epsilon for epsilon, _ in tried if epsilon < first), default=None)


def _fact(result: AuditResult, which: str) -> tuple[str, str]:
    if not isinstance(result, AdvisedResult):
        refuted = isinstance(result, BoundResult) and result.refuted
        return "refuted" if refuted else "holds", f"the bound{which or _at(result)}"
    largest = result.largest_acceptable_epsilon
    value = "none" if largest is None else f"ε = {largest:g}"
    return value, f"acceptable for {result.audit}{which} (at most {result.acceptable:g})"


def _tell_apart(results: Sequence[AuditResult]) -> list[str]:
    """Return what tells each result from others of its audit; nothing if it is the only one."""
    marks = [(each.audit, _at(each)) for each in results]
    if len(set(marks)) < len(marks):
        marks = [(each.audit, _marks(each)) for each in results]
    apart = []
    for place, (audit, mark) in enumerate(marks):
        alone = [name for name, _ in marks].count(audit) == 1
        equal = marks.count((audit, mark)) > 1
        number = f", number {marks[:place].count((audit, mark)) + 1}" if equal else ""
        apart.append("" if alone else mark + number)
    return apart


def _marks(result: AuditResult) -> str:
    """Return what results of one audit may differ in."""
    marks = [_at(result), result.mechanism, _embedding(result), f"seed {result.seed}"]
    if isinstance(result, InversionResult):
        marks.append("drawn words" if result.text is None else result.text.source)
    return ", ".join(marks)


def _embedding(result: AuditResult) -> str:
    return f"{result.embedding.name} ({result.embedding.fingerprint[:12]})"


def _at(result: AuditResult) -> str:
    return f" at ε = {_listed(result.epsilons)}"


def _listed(epsilons: Iterable[float]) -> str:
    return ", ".join(f"{epsilon:g}" for epsilon in epsilons)


def _mixtures(results: Sequence[AuditResult]) -> list[str]:
    """Return warnings if the audits are not of one release."""
    warnings = []
    tried: dict[str, set[float]] = {}
    for result in results:
        if result.epsilons:
            tried.setdefault(result.audit, set()).update(result.epsilons)
    if len({frozenset(values) for values in tried.values()}) > 1:
        each = "; ".join(f"{audit} at ε = {_listed(sorted(values))}" for audit, values in tried.items())
        shared = sorted(set.intersection(*tried.values()))
        common = f"only ε = {_listed(shared)}" if shared else "no ε"
        warnings.append(
            f"The audits on this page were made at different values of ε: {each}. They have {common} in "
            "common: read each for its own ε."
        )
    made_of = sorted({f"{result.mechanism} on {_embedding(result)}" for result in results})
    if len(made_of) > 1:
        warnings.append(
            f"The audits on this page are of different mechanisms or embeddings: {'; '.join(made_of)}. Their "
            "values of ε do not compare."
        )
    return warnings
