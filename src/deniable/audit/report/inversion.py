"""What the inversion audit found, in words: the best attacker first, then each of them, then words that are
more at risk than others."""

from __future__ import annotations

from collections.abc import Sequence

from deniable.audit.catalogue import Audit, Drawn
from deniable.audit.inversion.results import (
    ALONE,
    BLIND,
    NEAREST_WORD,
    AttackerFinding,
    InversionFinding,
    InversionResult,
    Success,
)
from deniable.audit.report.table import Table, advise, unsure
from deniable.audit.shares import Estimate, Share
from deniable.report.wording import one_in, percent, percent_fixed

_AT_RISK = 6
_BY_WHOM = {
    ALONE: "each by itself",
    NEAREST_WORD: "by taking the released word as it stands",
    BLIND: "blindly",
}

NOT_PROVEN = (
    "An attacker that fails proves nothing about others: one with a better language model, more public text "
    "of the same kind, or knowledge "
    "of the person may name more. The intervals of running text take the words of a document together, and "
    "are about texts of this kind. "
    "The best of several attackers is chosen on the same words, so its share is a little too large rather "
    "than too small. What holds "
    "against every attacker is the bound."
)


MAPPED_KINDS = (
    "Kinds are clusters of this embedding's own, mapped vectors, since those that these were made from are "
    "not on this machine: they do "
    "not compare with kinds of other spaces."
)


def headline(results: Sequence[InversionResult], *, who: str = "The best attacker we have") -> str:
    """Return what the best attacker of all these results reaches, in one sentence.

    It is about the smallest and the largest ε, and the one at which most is named; at each about the result
    in which most is named.
    """
    found = sorted(
        (each for result in results for each in result.results), key=lambda each: (each.epsilon, _most(each))
    )
    strongest = list({each.epsilon: each for each in found}.values())
    ends_and_peak = (strongest[0], strongest[-1], max(reversed(strongest), key=_most))
    quoted = [each for each in strongest if each in ends_and_peak]
    known = [f"{_named(each)} at ε = {each.epsilon:g}" for each in quoted if not _says_little(each)]
    unsaid = [
        f"{_interval(each.best.word.first)} at ε = {each.epsilon:g}"
        for each in quoted
        if each.best is not None and _says_little(each)
    ]
    said = [f"{who} names {' and '.join(known)}."] if known else []
    if unsaid:
        said.append(
            f"Too few words were attacked to say how many {who[:1].lower()}{who[1:]} names: "
            f"{' and '.join(unsaid)}."
        )
    return " ".join(said)


def _says_little(found: InversionFinding) -> bool:
    return found.best is not None and found.best.word.first.says_little


def _interval(share: Share) -> str:
    return f"{percent_fixed(share.low)} to {percent_fixed(share.high)} (95 %)"


def _shares(found: InversionFinding) -> dict[str, float]:
    """Return what each attacker names: of the running text, or of words drawn by their frequency if there was
    none."""
    of_text = {each.name: each.word.first.value for each in found.attackers}
    return of_text or {name: each.value for name, each in found.drawn.items()}


def _most(found: InversionFinding) -> float:
    return max(_shares(found).values())


def _named(found: InversionFinding) -> str:
    """Return what the best attacker names, beside a word by itself and guessing blindly."""
    shares = _shares(found)
    best = max(shares, key=lambda name: shares[name])
    beside = [name for name in (ALONE, BLIND) if name in shares and name != best]
    said = ", ".join(f"{percent_fixed(shares[name])} {_BY_WHOM.get(name, name)}" for name in (best, *beside))
    return f"{one_in(shares[best])} ({said})"


def inversion_sentence(result: InversionResult) -> str:
    """Return what was found in a few sentences."""
    return f"{headline([result])} {details(result)}"


def details(result: InversionResult) -> str:
    """Return what comes after the headline: what it leaves out, the kind of a word, and the advice."""
    alone = (
        ""
        if result.text is not None
        else "Words were drawn by their frequency; no text was read in context. "
    )
    advice = advise(result, "of the words", who="the best attacker")
    first = f"{_unknown_sentence(result)}{_drawn_sentence(result)}{_kind_sentence(result)}"
    found = [(each.epsilon, each.success, each.at_most) for each in result.results]
    return f"{first}{alone}{advice}{unsure(result, found, 'attack more words to be surer.')}"


def _drawn_sentence(result: InversionResult) -> str:
    """Return what is named of words drawn by their frequency, where that is more than any attacker names of
    the text."""
    more = [
        each
        for each in result.results
        if each.best is not None and each.best_drawn.value > each.best.word.first.value
    ]
    said = " and ".join(f"{_with_error(each.best_drawn)} at ε = {each.epsilon:g}" for each in more)
    return f"Of words drawn by their frequency more is named than of this text: {said}. " if more else ""


def _unknown_sentence(result: InversionResult) -> str:
    text, best = result.text, result.results[-1].best
    if text is None or best is None or text.unknown == 0.0:
        return ""
    if best.word.first.tries == text.places:
        return (
            f"The embedding does not know {percent(text.unknown)} of the text. Saying so counts as naming "
            "the word here, as in "
            "earlier versions. "
        )
    return (
        f"That is of the words that the embedding knows. It does not know {percent(text.unknown)} of the "
        "text: these words are all "
        "released as if they were one, so that a released word does not tell which it was, and are counted "
        "apart. "
    )


def _kind_sentence(result: InversionResult) -> str:
    last = result.results[-1]
    best, blind = last.best_for_kind, last.attacker(BLIND)
    if best is None or best.kind is None or blind is None or blind.kind is None or result.text is None:
        return ""
    kind, blindly = best.kind.first, one_in(blind.kind.first.value, "time")
    among = f"the kind of a word, among {result.text.kinds} kinds, at ε = {last.epsilon:g}"
    if kind.says_little:
        said = (
            f"Too few places were attacked to say how often the best attacker names {among}: "
            f"{_interval(kind)}. "
        )
    else:
        said = (
            f"It names {among}, {one_in(kind.value, 'time')} ({_interval(kind)}), without the release "
            f"{blindly}. "
        )
    return said + (f"{MAPPED_KINDS} " if result.text.kinds_mapped else "")


def inversion_tables(result: InversionResult) -> list[Table]:
    """Return what was measured: on running text, if there was any, and on words drawn by their frequency."""
    return [*_bound_table(result), *_text_tables(result), *_drawn_tables(result)]


def _bound_table(result: InversionResult) -> list[Table]:
    """Return the attacks on single words below, the proved bounds above, and the gaps; nothing for results of
    earlier versions."""
    rows = []
    for each in result.results:
        for what, bound in (("drawn words", each.bound), ("known words of the text", each.text_bound)):
            if bound is not None:
                cells = (
                    percent_fixed(bound.at_most - bound.gap),
                    percent_fixed(bound.at_most),
                    f"{100 * bound.gap:.1f} points",
                )
                rows.append([f"{each.epsilon:g}", what, *cells])
    if not rows:
        return []
    caption = (
        "Readers of single words: the best attack below, the proved bound above. Readers in context "
        "may name more"
    )
    return [Table(caption, ["ε", "of", "best attack", "no reader exceeds (95 %)", "gap"], rows, 2)]


def _text_tables(result: InversionResult) -> list[Table]:
    attacked = [(each, attacker) for each in result.results for attacker in each.attackers]
    if not attacked:
        return []
    rows = [
        [
            f"{each.epsilon:g}",
            attacker.name,
            *_cells(attacker.word),
            *_cells(attacker.kind),
            f"{attacker.seconds:.0f} s",
        ]
        for each, attacker in attacked
    ]
    columns = ["ε", "attacker", "word", "95 %", "within 10", "kind", "95 %", "within 10", "time"]
    tables = [Table("Running text: how often each attacker is right", columns, rows, 2), _group_table(result)]
    if any(attacker.lists for _, attacker in attacked):
        tables.append(_list_table(attacked))
    return tables


def _group_table(result: InversionResult) -> Table:
    """Return how often the best attacker names the words of each group."""
    groups = next(each.attackers[0].groups for each in result.results if each.attackers)
    rows = [["words", "", *(f"{group.places:,}" for group in groups)]]
    rows += [
        [f"ε = {each.epsilon:g}", each.best.name, *(_first(group.word) for group in each.best.groups)]
        for each in result.results
        if each.best is not None
    ]
    return Table(
        "Names, numbers and others apart: how often the best attacker names them, and says of unknown words "
        "that they are unknown",
        ["", "attacker", *(g.group for g in groups)],
        rows,
        2,
    )


def _list_table(attacked: list[tuple[InversionFinding, AttackerFinding]]) -> Table:
    rows = [
        [
            f"{each.epsilon:g}",
            f"{found.name} ({found.places:,})",
            attacker.name,
            *_cells(found.word),
            _value(found.found),
            _value(found.rightly),
        ]
        for each, attacker in attacked
        for found in attacker.lists
    ]
    columns = ["ε", "list (places)", "attacker", "word", "95 %", "within 10", "told from others", "rightly"]
    return Table(
        "Your lists: how often their words are named, and how often one of them is rightly said to stand "
        "there",
        columns,
        rows,
        3,
    )


def _drawn_tables(result: InversionResult) -> list[Table]:
    overall = [
        [
            f"{each.epsilon:g}",
            _with_error(each.bayes),
            _with_error(each.nearest_word),
            percent_fixed(each.prior_guess),
            *(percent_fixed(band.best.value) for band in each.bands),
        ]
        for each in result.results
    ]
    names = [f"ranks {band.ranks}" for band in result.results[0].bands]
    repeats = [
        [
            f"{each.epsilon:g}",
            str(m.releases),
            percent_fixed(m.majority.value),
            percent_fixed(m.bayes.value if m.bayes else None),
        ]
        for each in result.results
        for m in each.repeats
    ]
    risk = [
        [f"{each.epsilon:g}", w.word, percent_fixed(w.best.value), percent_fixed(w.best.low)]
        for each in result.results
        for w in each.at_risk[:_AT_RISK]
        if w.best.value > 0.0  # earlier versions also kept words that were never named
    ]
    caption = (
        "How often the word is named, over all text, and by frequency by the better of Bayes and the "
        "nearest word"
    )
    tables = [
        Table(caption, ["ε", "Bayes", NEAREST_WORD, "blindly", *names], overall),
        Table(
            "The same word released again and again with fresh noise",
            ["ε", "releases", "majority vote", "Bayes"],
            repeats,
        ),
    ]
    if risk:
        tables.append(
            Table(
                "Words most at risk, and how often they are named",
                ["ε", "word", "named", "at least (95 %)"],
                risk,
            )
        )
    return tables


def _cells(found: Success | None) -> list[str]:
    if found is None:
        return ["–"] * 3
    return [
        percent_fixed(found.first.value),
        f"{100 * found.first.low:.1f} – {100 * found.first.high:.1f}",
        _value(found.within_ten),
    ]


def _first(found: Success | None) -> str:
    return _value(None if found is None else found.first)


def _value(share: Share | None) -> str:
    return percent_fixed(None if share is None else share.value)


def _with_error(found: Estimate) -> str:
    return f"{percent_fixed(found.value)} ± {100 * found.standard_error:.1f}"


def _inversion_figure(result: InversionResult) -> Drawn:
    from deniable.audit.report import figures

    if result.text is not None:
        return Drawn(
            figure=figures.attackers_figure(result),
            caption="How often each attacker names the word, and tells its kind, in running text. Bars are "
            "95 % intervals.",
            alt="Success of the adversaries against ε; the tables hold the values.",
        )
    return Drawn(
        figure=figures.inversion_figure(result),
        caption="How often the word is named, over all text. Bars are two standard errors.",
        alt="Success of the adversaries against ε; the tables hold the values.",
    )


INVERSION = Audit(
    result=InversionResult,
    heading="Can the words be guessed",
    tried=(
        "Attackers who know the mechanism, ε, the embedding and how frequent words are guess the word behind "
        "every released word: "
        "the one with the largest probability. Were the probabilities known exactly, nobody who knows no "
        "more could do better; here they "
        "are computed or estimated, and one who takes the released word as it stands may name more. The "
        "guesses were judged on draws that "
        "the attackers had not seen."
    ),
    sentence=inversion_sentence,
    tables=inversion_tables,
    epsilons=lambda result: tuple(sorted({each.epsilon for each in result.results})),
    figure=_inversion_figure,
)
