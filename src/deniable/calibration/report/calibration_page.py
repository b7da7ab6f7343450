"""The page of a calibration. Written for a privacy officer who never saw ε: the answer first, then the words,
then the method."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from deniable.calibration.report import figures
from deniable.calibration.report.findings import EXPOSED, Findings, example_words
from deniable.calibration.report.method import add_method
from deniable.calibration.result import EpsilonRow
from deniable.channel.distribution import ETA
from deniable.interfaces import NOTHING_EXPOSED
from deniable.report.markup import code, phrase, strong, unchanged_word, word
from deniable.report.page import Page
from deniable.report.wording import of_a_hundred, percent, percent_up, words

_RIM = (
    " At very small ε both fall again: with enormous noise one of the few words on the rim of the "
    "vocabulary comes out."
)


def calibration_page(found: Findings) -> Page:
    """Return the page."""
    embedding, looked_at = found.calibration.embedding, found.calibration.looked_at
    page = Page(
        f"How private is text released with “{embedding.name}”?"
        + ("" if looked_at.all else f" A look at {looked_at}"),
        lead=_lead_with_targets(found) if found.has_targets else _lead_without_targets(found),
        kicker=f"Calibration of {found.calibration.mechanism.in_words(embedding)}: {looked_at}, in "
        f"{embedding.dimension} dimensions",
    )
    page.add_facts(_facts(found))
    if not looked_at.all:
        page.add_note(_of_the_others(found), kind="warning")
    _texts(page, found)
    _meaning(page, found)
    _exposed(page, found)
    _support(page, found)
    _outputs(page, found)
    _geometry(page, found)
    _limits(page, found)
    add_method(page, found)
    return page


def _lead_without_targets(found: Findings) -> str:
    looked_at = found.calibration.looked_at
    listed = looked_at.how == "listed"
    *first, last = [
        f"{percent(curve.average) if listed else of_a_hundred(curve.average)} at "
        f"ε\u00a0=\u00a0{curve.epsilon:g}"
        for curve in found.shown
    ]
    counts = f"{', '.join(first)} and {last}" if first else last
    whose = {
        "all": "Of a hundred words of the vocabulary, on average these come out unchanged",
        "at random": f"Of a hundred words of the vocabulary, by {looked_at.count:,} drawn at random, about "
        "these come out unchanged",
        "listed": f"On average over {looked_at.them}, this share of the releases leaves the word unchanged",
    }[looked_at.how]
    return (
        "Each word of a text is replaced by one drawn at random; ε says how much chance there is in it. "
        f"{whose}: {counts}."
    )


def _of_the_others(found: Findings) -> Markup:
    """Return what is known of the words that were not looked at."""
    looked_at, choice = found.calibration.looked_at, found.choice
    others = words(looked_at.vocabulary - looked_at.count)
    if choice.missing is None:
        return phrase(
            strong(f"This page speaks of {looked_at.them}."),
            f" The other {others} of the vocabulary may stay themselves far more often, in all of their "
            "releases even. Nothing here says "
            "that this ε protects them. Calibrate without --words to look at all.",
        )
    missed = "miss the target" if found.has_targets else "come out unchanged in over half of their releases"
    return phrase(
        strong(f"This page speaks of {looked_at.them}."),
        f" The other {others} were not looked at, and some may stay themselves far more often, in all of "
        "their releases even. What a "
        f"random sample can say: at ε = {choice.epsilon:g} at most {percent_up(choice.missing.at_most)} of "
        f"the vocabulary {missed} "
        f"({choice.missing.provided}){_may_miss(found)}. Calibrate without --sample to look at all.",
    )


def _lead_with_targets(found: Findings) -> str:
    choice, targets = found.choice, found.choice.targets
    share = found.calibration.looked_at.share(targets.quantile)
    asked = []
    if targets.max_unchanged is not None:
        asked.append(f"comes out unchanged in at most {percent(targets.max_unchanged)} of its releases")
    if targets.min_distinct is not None:
        asked.append(
            f"becomes at least {targets.min_distinct:,} distinct words in {found.calibration.draws:,} draws"
        )
    wish = f"{share} {' and '.join(asked)}"
    if not choice.meets_targets:
        return (
            f"At ε = {choice.epsilon:g} the target is missed. Asked for: {wish}. "
            f"{words(len(choice.failing))} do not."
        )
    exceptions = (
        "" if not len(choice.failing) else f" The exceptions, {words(len(choice.failing))}, are named below."
    )
    return f"At ε = {choice.epsilon:g} the target is met: {wish}.{exceptions}"


def _facts(found: Findings) -> list[tuple[str, str]]:
    if not found.has_targets:
        return [
            (
                f"ε = {curve.epsilon:g}",
                f"{_stays(curve, found)}; {words(curve.words_above_half)} stay in over half",
            )
            for curve in found.shown
        ]
    spoken_of = next(curve for curve in found.curves if curve.epsilon == found.choice.epsilon)
    looked_at, choice = found.calibration.looked_at, found.choice
    verb = "meets" if choice.meets_targets else "misses"
    facts = [
        (f"ε = {spoken_of.epsilon:g}", f"{verb} the target for {looked_at.share(choice.targets.quantile)}"),
        (percent(spoken_of.average), f"of its releases leave the average word{_looked_at(found)} unchanged"),
        (
            words(len(choice.failing)),
            f"of {looked_at if looked_at.all else looked_at.them} miss the target{_by_estimate(found)}",
        ),
    ]
    if choice.missing is not None:
        facts.append(
            (
                f"≤ {percent_up(choice.missing.at_most)}",
                f"of the vocabulary miss the target ({choice.missing.provided}){_may_miss(found)}",
            )
        )
    return facts


def _by_estimate(found: Findings) -> str:
    return " by their estimated N_w" if _may_miss(found) else ""


def _may_miss(found: Findings) -> str:
    """Return why a bound on the vocabulary is larger than the words that were seen to miss suggest."""
    missing, seen, looked_at = found.choice.missing, len(found.choice.failing), found.calibration.looked_at
    if missing is None or missing.counted == seen:
        return ""
    return f": {missing.counted:,} of {looked_at.them} may, by the error of their N_w"


def _stays(curve: EpsilonRow, found: Findings) -> str:
    return (
        f"the average word{_looked_at(found)} comes out unchanged in {percent(curve.average)} of its releases"
    )


def _looked_at(found: Findings) -> str:
    """Return what to add where "the word" would be taken for any word of the vocabulary."""
    return "" if found.calibration.looked_at.all else " looked at"


def _texts(page: Page, found: Findings) -> None:
    page.add_section("What happens to a text")
    if not found.releases:
        page.add_text(
            "No example is shown: the vocabulary holds too few of the words of our sentences. Give your own "
            "with --example."
        )
        return
    original, *drawn = found.releases
    words_in = [example_words(found.calibration.embedding, text) for text in original]
    samples: list[tuple[str, str, Sequence[str]]] = [
        ("Before", "examples that are public; nobody’s private text", original)
    ]
    for release, curve in zip(drawn, found.shown, strict=True):
        texts = [_marked(released, before) for released, before in zip(release, words_in, strict=True)]
        samples.append((f"ε = {curve.epsilon:g}", _stays(curve, found), texts))
    page.add_samples(samples)
    page.add_text(
        "Each text is one draw by the mechanism that releases private text, with its secure noise. The next "
        "draw gives other words. Words "
        "that stayed as they were are underlined. A smaller ε means more noise: more privacy, less meaning."
    )


def _marked(released: str, before: list[str]) -> Markup:
    """Return a released text with the words that stayed in their place marked."""
    after = released.split(" ")
    if len(after) != len(before):
        return phrase(released)
    parts = [unchanged_word(now) if now == then else now for now, then in zip(after, before, strict=True)]
    return phrase(*[part for both in zip(parts, [" "] * len(parts), strict=True) for part in both][:-1])


def _meaning(page: Page, found: Findings) -> None:
    page.add_section(
        "How often a word stays as it is",
        phrase(
            "The first thing to ask of a setting is how often a word is released unchanged. We call that ",
            strong("N_w"),
            ". It differs from word to word: a word with many near neighbours is easily replaced, a lonely "
            "one hardly ever. So an average "
            "says little about the word you worry about. The thick curve is the average, the dashed one the "
            "worst "
            f"word{_looked_at(found)}.",
        ),
    )
    middle = found.shown[len(found.shown) // 2]
    page.add_figure(
        figures.unchanged_curves(found),
        caption=f"N_w against ε over {found.calibration.looked_at}. Dotted lines mark the values of ε that "
        "texts are shown at above.",
        alt=(
            f"Curves that rise with ε. At ε = {middle.epsilon:g} the average word stays in "
            f"{percent(middle.average)} of its releases, the "
            f"median word in {percent(middle.quantiles[0])}, and the worst word{_looked_at(found)} in "
            f"{percent(middle.quantiles[-1])}."
        ),
    )
    page.add_table(
        ["ε", "average", "± error", "median", "95 %", "99 %", "worst", "stay in over half"],
        [
            [
                f"{c.epsilon:g}",
                percent(c.average),
                percent(c.error),
                *(percent(q) for q in c.quantiles),
                f"{c.words_above_half:,}",
            ]
            for c in found.curves
        ],
        folded="The same as a table",
        text_columns=0,
    )


def _exposed(page: Page, found: Findings) -> None:
    choice, typical, looked_at = found.choice, found.geometry, found.calibration.looked_at
    page.add_section(
        "The words that are least protected" if looked_at.all else f"The least protected of {looked_at.them}"
    )
    limit = choice.targets.max_unchanged if choice.targets.max_unchanged is not None else EXPOSED
    count = len(choice.failing)
    missed = "miss the target" if found.has_targets else "come out unchanged in over half of their releases"
    page.add_note(
        phrase(
            strong(
                f"At ε = {choice.epsilon:g}, {count:,} of "
                f"{looked_at.them if not looked_at.all else looked_at} {missed}."
            ),
            " Whoever sees one of these words in a released text may take it for the original. "
            if count
            else " The words below come closest to staying themselves.",
        ),
        kind="warning" if count else "note",
    )
    near = float(typical.percentiles[0, 2]) if len(typical.neighbours) else None
    why = (
        "They lie alone: noise that carries another word across to its neighbours does not reach theirs."
        if found.calibration.method == "rays"
        else "Which words these are depends on the mechanism: under noise and softmax by distance they lie "
        "alone."
    )
    if near is not None:
        half = (
            "the vocabulary has its"
            if typical.words == looked_at.vocabulary
            else f"{typical.words:,} random words have their"
        )
        why += f" Half of {half} nearest neighbour within {near:.2f}."
    page.add_text(why)
    marks = bool(found.calibration.protected.any())
    if marks:
        page.add_text(
            "Protected words go in as others, and their N_w is how often they come out themselves all the "
            "same. A protected word misses a "
            "target also where the word that it goes in as stays too often."
        )
    page.add_table(
        [
            "word",
            *(["protected"] if marks else []),
            "N_w",
            "± error",
            "at most",
            "nearest neighbour at",
            "length of its vector",
        ],
        [
            [
                word(row.word),
                *(["yes" if row.protected else "no"] if marks else []),
                percent(row.unchanged),
                percent(row.standard_error),
                percent_up(row.at_most),
                "none" if row.nearest_neighbour_at is None else f"{row.nearest_neighbour_at:.2f}",
                f"{row.norm:.2f}",
            ]
            for row in found.worst
        ],
        caption=(
            f"The {len(found.worst)} words that change least at ε = {choice.epsilon:g}, of {looked_at}. “At "
            "most” "
            + (
                "is the value itself."
                if found.calibration.method == "exact"
                else f"holds for {looked_at.them} with 95 % confidence."
            )
        ),
        text_columns=2 if marks else 1,
    )
    if count and found.calibration.embedding.protection is None:
        page.add_text(
            phrase(
                "They can be protected. ",
                code(
                    "deniable calibrate --embedding "
                    f"{found.calibration.embedding.name}{found.calibration.mechanism.as_typed} "
                    f"--max-unchanged {limit:g} --epsilon {choice.epsilon:g} --protect nearest --as NAME"
                ),
                " makes an embedding in which each goes in as its nearest word that meets the target, by a "
                "public map, and measures again.",
            )
        )


def _support(page: Page, found: Findings) -> None:
    looked_at = found.calibration.looked_at
    whose = f"{words(len(found.sample.ids))} drawn at random" + (
        "" if looked_at.all else f" from {looked_at.them}"
    )
    if len(found.sample.ids) == looked_at.count:
        whose = str(looked_at) if looked_at.all else looked_at.them
    page.add_section(
        "How many words it could have become",
        phrase(
            "A word that changes is only hidden if it can become many others. ",
            strong("S_w"),
            f" is the number of words that hold {percent(1.0 - ETA)} of what a word becomes; the other curve "
            "counts the distinct words in "
            f"{found.sample.draws:,} draws. Both were measured on {whose}."
            + (_RIM if found.sample.method == "rays" else ""),
        ),
    )
    first = found.support("distinct")[0]
    last = found.support("distinct")[-1]
    page.add_figure(
        figures.support_curves(found),
        caption=f"How many words a word may become, against ε ({whose}, {found.sample.draws:,} draws each).",
        alt=(
            f"The average number of distinct words is {first[1].mean():.0f} at ε = {first[0]:g} and "
            f"{last[1].mean():.0f} at "
            f"ε = {last[0]:g}; it falls where ε is large."
        ),
    )
    page.add_figure(
        figures.histogram_figure(found),
        caption="How N_w (left) and the number of distinct words (right) spread over the "
        f"words{_looked_at(found)}, for several ε.",
        alt="Histograms. With rising ε, N_w moves from near 0 towards 100 %, and the number of distinct "
        "words towards 1.",
    )


def _outputs(page: Page, found: Findings) -> None:
    outputs = found.outputs
    page.add_section(
        "What single words become",
        "The likeliest words that come out in place of a few examples, at several values of ε, with how "
        "often the word itself comes out "
        f"(N_w) and how many words hold {percent(1.0 - ETA)} of what it becomes (S_w).",
    )
    for place, first in enumerate(outputs[0][1]):
        rows = []
        for average, row in outputs:
            output = row[place]
            others = phrase(*[part for other, _ in output.others for part in (", ", word(other))][1:])
            rows.append(
                [
                    percent(average),
                    others,
                    f"{output.epsilon:g}",
                    percent(output.unchanged),
                    f"{output.support:,}",
                ]
            )
        page.add_table(
            ["average word stays", "likeliest other words", "ε", "N_w", "S_w"],
            rows,
            caption=phrase("In place of ", word(first.word)),
            text_columns=2,
        )


def _geometry(page: Page, found: Findings) -> None:
    if not found.geometry.neighbours:
        return
    guarantee = found.calibration.mechanism(
        found.calibration.embedding, epsilon=found.choice.epsilon
    ).guarantee
    page.add_section(
        "How far words lie apart",
        "ε counts per unit of distance, so what it means depends on how far words lie apart in this "
        "vocabulary. That is why a value of ε "
        "must never be carried over from another one."
        if "per unit of distance" in guarantee.caveat
        else "This ε counts no distances. They say how far apart near words are, and so what it means that a "
        "word became a near one.",
    )
    near = found.geometry.percentiles[0]
    page.add_figure(
        figures.geometry_figure(found.geometry),
        caption=f"Distance to the k-th nearest word: percentiles over {words(found.geometry.words)}.",
        alt=f"Distances grow with k. The nearest word is {near[2]:.2f} away for the median word, and "
        f"{near[-1]:.2f} for one in twenty.",
    )


def _limits(page: Page, found: Findings) -> None:
    looked_at = found.calibration.looked_at
    guarantee = found.calibration.mechanism(
        found.calibration.embedding, epsilon=found.choice.epsilon
    ).guarantee
    promise: list[Markup | str] = [
        strong("It is not the guarantee. "),
        f"That is a theorem and holds at every ε. {guarantee.statement}",
        "" if guarantee.exposed == NOTHING_EXPOSED else f" Exposed: {guarantee.exposed}.",
        f" This page shows what it amounts to for {looked_at.them}.",
    ]
    page.add_section("What this page does not say")
    page.add_list(
        [
            phrase(*promise),
            phrase(strong("What this ε is. "), guarantee.caveat),
            phrase(
                strong("It speaks of one word, released once. "),
                "A text of many words spends ε for each of them, and releasing it twice spends twice. The "
                "words around it may give a word "
                "away.",
            ),
            phrase(
                strong("It does not say what an attacker can guess. "),
                "N_w and S_w describe what comes out. Somebody who knows how people write can do better than "
                "they suggest.",
            ),
            phrase(
                strong("Words that are not in the vocabulary"),
                " go in as one symbol for all of them, and never come out.",
            ),
        ]
    )
