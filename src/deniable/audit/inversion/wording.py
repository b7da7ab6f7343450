"""What the inversion audit found, in words: the best attacker first, then each of them, then words that are
more at risk than others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from deniable.audit.inversion.results import (
    ALONE,
    BLIND,
    NEAREST_WORD,
    AttackedTextSummary,
    InversionFinding,
    Success,
)
from deniable.audit.results import AdvisedResult, Curves, Table
from deniable.audit.shares import OverallShare, Share
from deniable.report.wording import Point, one_in, percent, percent_fixed

_AT_RISK = 6
_BY_WHOM = {
    ALONE: "each by itself",
    NEAREST_WORD: "by taking the released word as it stands",
    BLIND: "blindly",
}

NOT_PROVEN = (
    "An attacker that fails proves nothing about others: one with a better language model, more public text "
    "of the same kind, or knowledge of the person may name more. The intervals take the words of a document "
    "together, and are about texts of this kind. The best of several attackers is chosen on the same words, "
    "so its share is rather too large than too small. What holds against every attacker is the bound."
)
MAPPED_KINDS = (
    "Kinds are clusters of this embedding's own, mapped vectors, since the original vectors are not on this "
    "machine: they do not compare with kinds of other spaces."
)


@dataclass(frozen=True, kw_only=True)
class InversionResult(AdvisedResult):
    """The result of ``audit_inversion``: what was found at each ε, and the largest ε up to which every
    attacker is acceptable."""

    frequencies: str
    results: tuple[InversionFinding, ...]
    text: AttackedTextSummary | None = None

    heading = "Can the words be guessed"
    tried = (
        "Attackers who know the mechanism, ε, the embedding and word frequencies guess the likeliest word "
        "behind every released word. With exact probabilities nobody who knows no more does better; here "
        "they are computed or estimated, and taking the released word as it stands may name more. The "
        "guesses were judged on draws that the attackers had not seen."
    )

    @property
    def sentence(self) -> str:
        """What was found in a few sentences."""
        return f"{headline([self])} {details(self)}"

    @property
    def tables(self) -> list[Table]:
        """Bounds, attacks on running text, and on words drawn by their frequency, where they were
        measured."""
        tables = [_bound_table(self), *_text_tables(self), *_drawn_tables(self)]
        return [table for table in tables if table.rows]

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The values of ε that were tried, by their size."""
        return tuple(sorted({each.epsilon for each in self.results}))

    @property
    def curves(self) -> list[Curves]:
        """What attackers name against ε, and from repeated releases."""
        found = _curves_of_text(self) if self.text is not None else [_curves_of_drawn(self)]
        repeated: dict[str, list[Point]] = {}
        for each in self.results:
            # Who has more releases may use fewer: an attacker tried on few only counts for more of them too.
            named = accumulate((repeat.best.value for repeat in each.repeats), max)
            points = [Point(repeat.releases, of) for repeat, of in zip(each.repeats, named, strict=True)]
            repeated |= {f"ε = {each.epsilon:g}": points} if len(points) > 1 else {}
        caption = (
            "Without keyed releases: how often a word is named that is released again and again, by the "
            "better of Bayes' rule on all outputs, where it was tried, and the most frequent output."
        )
        repeats = Curves(lines=repeated, x="releases of the same word", y="words named", caption=caption)
        return [*found, repeats] if repeated else found


def headline(results: Sequence[InversionResult], *, who: str = "The best attacker we have") -> str:
    """Return what the best attacker of all results reaches at the smallest and the largest ε, and where most
    is named."""
    found = sorted(
        (each for result in results for each in result.results), key=lambda each: (each.epsilon, _most(each))
    )
    strongest = list({each.epsilon: each for each in found}.values())
    ends_and_peak = (strongest[0], strongest[-1], max(reversed(strongest), key=_most))
    named = [f"{_named(each)} at ε = {each.epsilon:g}" for each in strongest if each in ends_and_peak]
    return f"{who} names {' and '.join(named)}."


def _interval(share: Share) -> str:
    return f"{percent_fixed(share.low)} to {percent_fixed(share.high)} (95 %)"


def _shares(found: InversionFinding) -> dict[str, float]:
    of_text = {each.name: each.word.first.value for each in found.attackers}
    return of_text or {name: each.value for name, each in found.drawn.items()}


def _most(found: InversionFinding) -> float:
    return max(_shares(found).values())


def _named(found: InversionFinding) -> str:
    """Return what the best attacker names, beside a word by itself and guessing blindly."""
    if found.best is not None and found.best.word.first.says_little:
        return f"{_interval(found.best.word.first)}, too few words were attacked to say more,"
    shares = _shares(found)
    best = max(shares, key=lambda name: shares[name])
    names = [best, *(name for name in (ALONE, BLIND) if name in shares and name != best)]
    by_whom = ", ".join(f"{percent_fixed(shares[name])} {_BY_WHOM.get(name, name)}" for name in names)
    return f"{one_in(shares[best])} ({by_whom})"


def details(result: InversionResult) -> str:
    """Return what comes after the headline: what it leaves out, the kind of a word, and the advice."""
    text, last = result.text, result.results[-1]
    sentences = []
    if text is None:
        sentences.append("Words were drawn by their frequency; no text was read in context.")
    elif text.unknown and last.best is not None and last.best.word.first.tries == text.places:
        sentences.append(
            f"The embedding does not know {percent(text.unknown)} of the text. Saying so counts as naming "
            "the word here, as in earlier versions."
        )
    elif text.unknown:
        sentences.append(
            "That is of the words that the embedding knows. It does not know "
            f"{percent(text.unknown)} of the text: these are released as one word and are counted apart."
        )
    drawn = [
        f"{_with_error(each.best_drawn)} at ε = {each.epsilon:g}"
        for each in result.results
        if each.best is not None and each.best_drawn.value > each.best.word.first.value
    ]
    if drawn:
        sentences.append(
            f"Of words drawn by their frequency more is named than of this text: {' and '.join(drawn)}."
        )
    best, blind = last.best_for_kind, last.attacker(BLIND)
    if best is not None and best.kind is not None and blind is not None and blind.kind is not None and text:
        kind = best.kind.first
        often = "too few places were attacked" if kind.says_little else one_in(kind.value, "time")
        sentences.append(
            f"It names the kind of a word, among {text.kinds} kinds, at ε = {last.epsilon:g}: {often} "
            f"({_interval(kind)}), without the release {one_in(blind.kind.first.value, 'time')}."
        )
        sentences += [MAPPED_KINDS] if text.kinds_mapped else []
    found = [(each.epsilon, each.success, each.at_most) for each in result.results]
    sentences.append(
        result.advice("of the words", who="the best attacker")
        + result.unsure(found, "attack more words to be surer.")
    )
    return " ".join(sentences)


def _bound_table(result: InversionResult) -> Table:
    """Return the attacks on single words below, the proved bounds above, and the gaps."""
    rows = [
        [
            f"{each.epsilon:g}",
            what,
            percent_fixed(bound.at_most - bound.gap),
            percent_fixed(bound.at_most),
            f"{100 * bound.gap:.1f} points",
        ]
        for each in result.results
        for what, bound in {"drawn words": each.bound, **(each.text_bounds or {})}.items()
        if bound is not None
    ]
    caption = (
        "The best attack below, the proved bound above: for readers of single words at the frequencies of "
        "these words, and for readers who know all other words where they follow the public bigrams. Text "
        "that is more predictable can be read more often than that"
    )
    return Table(caption, ["ε", "of", "best attack", "no reader exceeds (95 %)", "gap"], rows, 2)


def _text_tables(result: InversionResult) -> list[Table]:
    """Return what each attacker names of running text, of groups of words, and of the user's lists."""
    attacked = [(f"{each.epsilon:g}", attacker) for each in result.results for attacker in each.attackers]
    if not attacked:
        return []
    groups = attacked[0][1].groups
    every = [
        [epsilon, each.name, *_cells(each.word), *_cells(each.kind), f"{each.seconds:.0f} s"]
        for epsilon, each in attacked
    ]
    of_groups = [["words", "", *(f"{group.places:,}" for group in groups)]] + [
        [f"ε = {each.epsilon:g}", each.best.name, *(_cells(group.word)[0] for group in each.best.groups)]
        for each in result.results
        if each.best is not None
    ]
    of_lists = [
        [
            epsilon,
            f"{found.name} ({found.places:,})",
            each.name,
            *_cells(found.word),
            _value(found.found),
            _value(found.rightly),
        ]
        for epsilon, each in attacked
        for found in each.lists
    ]
    word = ["word", "95 %", "within 10"]
    return [
        Table(
            "Running text: how often each attacker is right",
            ["ε", "attacker", *word, "kind", *word[1:], "time"],
            every,
            2,
        ),
        Table(
            "Groups of words: how often the best attacker names them, and calls unknown words unknown",
            ["", "attacker", *(group.group for group in groups)],
            of_groups,
            2,
        ),
        Table(
            "Your lists: how often their words are named, and how often one of them is rightly claimed",
            ["ε", "list (places)", "attacker", *word, "told from others", "rightly"],
            of_lists,
            3,
        ),
    ]


def _drawn_tables(result: InversionResult) -> list[Table]:
    overall = [
        [
            f"{each.epsilon:g}",
            _with_error(each.bayes),
            _with_error(each.nearest_word),
            percent_fixed(each.prior_guess),
            *(_value(band.best) for band in each.bands),
        ]
        for each in result.results
    ]
    repeats = [
        [f"{each.epsilon:g}", str(repeat.releases), _value(repeat.majority), _value(repeat.bayes)]
        for each in result.results
        for repeat in each.repeats
    ]
    risk = [
        [f"{each.epsilon:g}", word.word, _value(word.best), percent_fixed(word.best.low)]
        for each in result.results
        for word in each.at_risk[:_AT_RISK]
        if word.best.value > 0.0
    ]
    names = [f"ranks {band.ranks}" for band in result.results[0].bands]
    return [
        Table(
            "How often the word is named, over all text, and by frequency by the better of Bayes and the "
            "nearest word",
            ["ε", "Bayes", NEAREST_WORD, "blindly", *names],
            overall,
        ),
        Table(
            "The same word released again and again with fresh noise",
            ["ε", "releases", "majority vote", "Bayes"],
            repeats,
        ),
        Table(
            "Words most at risk, and how often they are named",
            ["ε", "word", "named", "at least (95 %)"],
            risk,
        ),
    ]


def _cells(found: Success | None) -> list[str]:
    if found is None:
        return ["–"] * 3
    return [_value(found.first), found.first.interval, _value(found.within_ten)]


def _value(share: Share | None) -> str:
    return percent_fixed(None if share is None else share.value)


def _with_error(found: OverallShare) -> str:
    return f"{percent_fixed(found.value)} ± {100 * found.standard_error:.1f}"


def _curves_of_drawn(result: InversionResult) -> Curves:
    lines: dict[str, list[Point]] = {ALONE: [], NEAREST_WORD: []}
    for each in result.results:
        for name, points in lines.items():
            of = each.drawn[name]
            points.append(Point(each.epsilon, of.value, 2.0 * of.value - of.high, of.high))
    return Curves(
        lines=lines,
        y="words named",
        caption="How often the word is named, over all text. Bands are 95 % intervals.",
        levels={BLIND: result.results[0].prior_guess},
    )


def _curves_of_text(result: InversionResult) -> list[Curves]:
    lines: dict[str, dict[str, list[Point]]] = {"the word": {}, "its kind": {}}
    for each in result.results:
        for attacker in each.attackers:
            for points, success in zip(lines.values(), (attacker.word, attacker.kind), strict=True):
                if success is not None:
                    of = success.first
                    points.setdefault(attacker.name, []).append(
                        Point(each.epsilon, of.value, of.low, of.high)
                    )
    figures = [
        Curves(
            lines=points,
            y="places named",
            caption=f"How often each attacker names {what}, in running text. Bands are 95 % intervals.",
        )
        for what, points in lines.items()
    ]
    return figures if len(result.epsilons) > 1 else figures[:1]
