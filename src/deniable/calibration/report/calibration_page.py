"""The page of a calibration. Written for a privacy officer who never saw ε: the answer first, then the words,
then the method."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from deniable.calibration.report import figures
from deniable.calibration.report.findings import EXPOSED, Findings
from deniable.calibration.table import TableCalibration
from deniable.channel.distribution import ETA
from deniable.interfaces import NOTHING_EXPOSED
from deniable.report.markup import code, phrase, strong, unchanged_word, word
from deniable.report.page import Page
from deniable.report.wording import percent, percent_up, words
from deniable.words.cutter import Cutter

_PER_WORD = {
    "rays": "directions per word",
    "exact": "draws that distinct words are expected in",
    "simulation": "draws per word and ε",
}


def calibration_page(found: Findings) -> Page:
    """Return the page."""
    calibration = found.calibration
    embedding, looked_at = calibration.embedding, calibration.looked_at
    page = Page(
        f"How private is text released with “{embedding.name}”?"
        + ("" if looked_at.all else f" A look at {looked_at}"),
        lead=_lead(found),
        kicker=f"Calibration of {calibration.mechanism.in_words(embedding)}: {looked_at}, in "
        f"{embedding.dimension} dimensions",
    )
    page.add_facts(_facts(found))
    if not looked_at.all:
        _others(page, found)
    _texts(page, found)
    _unchanged(page, found)
    _exposed(page, found)
    _support(page, found)
    _outputs(page, found)
    _geometry(page, found)
    _limits(page, found)
    _method(page, found)
    return page


def _lead(found: Findings) -> str:
    looked_at, choice, targets = found.calibration.looked_at, found.choice, found.choice.targets
    if not found.has_targets:
        counts = ", ".join(
            f"{percent(curve.average)} at ε\u00a0=\u00a0{curve.epsilon:g}" for curve in found.shown
        )
        return (
            "Each word of a text is replaced by one drawn at random; ε says how much chance there is in it. "
            f"On average over {looked_at}, a word comes out unchanged in this share of its releases: "
            f"{counts}."
        )
    wishes = []
    if targets.max_unchanged is not None:
        wishes.append(f"comes out unchanged in at most {percent(targets.max_unchanged)} of its releases")
    if targets.min_distinct is not None:
        wishes.append(
            f"becomes at least {targets.min_distinct:,} distinct words in {found.calibration.draws:,} draws"
        )
    wish, failing = f"{looked_at.share(targets.quantile)} {' and '.join(wishes)}", words(len(choice.failing))
    if not choice.meets_targets:
        return f"At ε = {choice.epsilon:g} the target is missed. Asked for: {wish}. {failing} do not."
    exceptions = f" The exceptions, {failing}, are named below." if len(choice.failing) else ""
    return f"At ε = {choice.epsilon:g} the target is met: {wish}.{exceptions}"


def _facts(found: Findings) -> list[tuple[str, str]]:
    looked_at, choice = found.calibration.looked_at, found.choice
    if not found.has_targets:
        return [
            (
                f"ε = {curve.epsilon:g}",
                f"a word{_looked_at(found)} comes out unchanged in {percent(curve.average)} of its releases "
                f"on average; {words(curve.words_above_half)} in over half",
            )
            for curve in found.shown
        ]
    average = next(curve.average for curve in found.curves if curve.epsilon == choice.epsilon)
    verb = "meets" if choice.meets_targets else "misses"
    estimated = " by their estimated N_w" if _may_miss(found) else ""
    facts = [
        (f"ε = {choice.epsilon:g}", f"{verb} the target for {looked_at.share(choice.targets.quantile)}"),
        (percent(average), f"of its releases leave the average word{_looked_at(found)} unchanged"),
        (
            words(len(choice.failing)),
            f"of {looked_at if looked_at.all else looked_at.them} miss the target{estimated}",
        ),
    ]
    if choice.missing is not None:
        what = f"of the vocabulary miss the target ({choice.missing.provided}){_may_miss(found)}"
        facts.append((f"≤ {percent_up(choice.missing.at_most)}", what))
    return facts


def _others(page: Page, found: Findings) -> None:
    """Add what is known of the words that were not looked at."""
    looked_at, missing = found.calibration.looked_at, found.choice.missing
    known = "Nothing here says that this ε protects them. Calibrate without --words to look at all."
    if missing is not None:
        known = (
            f"What a random sample can say: at ε = {found.choice.epsilon:g} at most "
            f"{percent_up(missing.at_most)} of the vocabulary {_missing(found)} "
            f"({missing.provided}){_may_miss(found)}. Calibrate without --sample to look at all."
        )
    page.add_note(
        phrase(
            strong(f"This page speaks of {looked_at.them}."),
            f" The other {words(looked_at.vocabulary - looked_at.count)} of the vocabulary may stay "
            f"themselves far more often, in all of their releases even. {known}",
        ),
        kind="warning",
    )


def _missing(found: Findings) -> str:
    return "miss the target" if found.has_targets else "come out unchanged in over half of their releases"


def _may_miss(found: Findings) -> str:
    """Return why a bound on the vocabulary is larger than the words that were seen to miss suggest."""
    missing = found.choice.missing
    if missing is None or missing.counted == len(found.choice.failing):
        return ""
    return f": {missing.counted:,} of {found.calibration.looked_at.them} may, by the error of their N_w"


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
    before = [Cutter(found.calibration.embedding).words(text) for text in original]
    samples: list[tuple[str, str, Sequence[str]]] = [
        ("Before", "public examples, nobody’s private text", original)
    ]
    for release, curve in zip(drawn, found.shown, strict=True):
        texts = [_marked(text, each) for text, each in zip(release, before, strict=True)]
        samples.append(
            (f"ε = {curve.epsilon:g}", f"{percent(curve.average)} of words unchanged on average", texts)
        )
    page.add_samples(samples)
    page.add_text(
        "Each text is one draw by the mechanism that releases private text, with its secure noise. Words "
        "that stayed as they were are underlined. A smaller ε means more noise: more privacy, less meaning."
    )


def _marked(released: str, before: list[str]) -> Markup:
    """Return a released text with the words that stayed in their place marked."""
    after = released.split(" ")
    if len(after) != len(before):
        return phrase(released)
    pairs = zip(after, before, strict=True)
    return Markup(" ").join(unchanged_word(now) if now == then else phrase(now) for now, then in pairs)


def _unchanged(page: Page, found: Findings) -> None:
    page.add_section(
        "How often a word stays as it is",
        phrase(
            strong("N_w"),
            " is how often a word is released unchanged. A word with many near neighbours is easily "
            "replaced, a lonely one hardly ever, so an average says little about the word you worry about. "
            f"The thick curve is the average, the dashed one the worst word{_looked_at(found)}.",
        ),
    )
    middle = found.shown[len(found.shown) // 2]
    page.add_figure(
        figures.unchanged_curves(found),
        caption=f"N_w against ε over {found.calibration.looked_at}. Dotted lines mark the ε of the texts "
        "above.",
        alt=f"Curves that rise with ε. At ε = {middle.epsilon:g} N_w is {percent(middle.average)} on "
        f"average, {percent(middle.quantiles[0])} for the median word, and {percent(middle.quantiles[-1])} "
        f"for the worst word{_looked_at(found)}.",
    )
    page.add_table(
        ["ε", "average", "± error", "median", "95 %", "99 %", "worst", "stay in over half"],
        [
            [f"{c.epsilon:g}", *map(percent, (c.average, c.error, *c.quantiles)), f"{c.words_above_half:,}"]
            for c in found.curves
        ],
        folded="The same as a table",
        text_columns=0,
    )


def _exposed(page: Page, found: Findings) -> None:
    choice, calibration, near = found.choice, found.calibration, found.geometry
    looked_at, count, method = calibration.looked_at, len(found.choice.failing), found.calibration.method
    page.add_section(f"The words that are least protected, of {looked_at}")
    page.add_note(
        phrase(
            strong(
                f"At ε = {choice.epsilon:g}, {count:,} of "
                f"{looked_at if looked_at.all else looked_at.them} {_missing(found)}."
            ),
            " Whoever sees one of these words in a released text may take it for the original. "
            if count
            else " The words below come closest to staying themselves.",
        ),
        kind="warning" if count else "note",
    )
    why = (
        "They lie alone: noise that carries another word across to its neighbours does not reach theirs."
        if method == "rays"
        else "Which words these are depends on the mechanism: under noise and softmax by distance they lie "
        "alone."
    )
    if near.neighbours:
        why += (
            f" Half of {words(near.words)} have their nearest neighbour within {near.percentiles[0, 2]:.2f}."
        )
    page.add_text(why)
    marks = bool(calibration.protected.any())
    if marks:
        page.add_text(
            "Protected words go in as others, and their N_w is how often they come out themselves all the "
            "same. A protected word misses a target also where the word that it goes in as stays too often."
        )
    columns = ["N_w", "± error", "at most", "nearest neighbour at", "length of its vector"]
    page.add_table(
        ["word", *["protected"] * marks, *columns],
        [
            [
                word(row.word),
                *["yes" if row.protected else "no"] * marks,
                percent(row.unchanged),
                percent(row.standard_error),
                percent_up(row.at_most),
                "none" if row.nearest_neighbour_at is None else f"{row.nearest_neighbour_at:.2f}",
                f"{row.norm:.2f}",
            ]
            for row in found.worst
        ],
        caption=f"The {len(found.worst)} words that change least at ε = {choice.epsilon:g}, of {looked_at}. "
        "“At most” "
        + (
            "is the value itself."
            if method == "exact"
            else f"holds for {looked_at.them} together with 95 % confidence."
        ),
        text_columns=1 + marks,
    )
    if count and calibration.embedding.protection is None:
        limit = EXPOSED if choice.targets.max_unchanged is None else choice.targets.max_unchanged
        command = (
            f"deniable calibrate --embedding {calibration.embedding.name}{calibration.mechanism.as_typed} "
            f"--max-unchanged {limit:g} --epsilon {choice.epsilon:g} --protect nearest --as NAME"
        )
        page.add_text(
            phrase(
                "They can be protected. ",
                code(command),
                " makes an embedding in which each goes in as its nearest word that meets the target, by a "
                "public map, and measures again.",
            )
        )


def _support(page: Page, found: Findings) -> None:
    looked_at, sample = found.calibration.looked_at, found.sample
    whose = f"{words(len(sample.ids))} drawn at random from {looked_at.them}"
    if len(sample.ids) == looked_at.count:
        whose = looked_at.them
    page.add_section(
        "How many words it could have become",
        phrase(
            "A word that changes is only hidden if it can become many others. ",
            strong("S_w"),
            f" is the number of words that hold {percent(1.0 - ETA)} of what a word becomes; the other curve "
            f"counts the distinct words in {sample.draws:,} draws.",
            " At very small ε both fall again: one of the few words on the rim of the vocabulary comes out."
            if sample.method == "rays"
            else "",
        ),
    )
    (low, many), (high, few) = (found.support("distinct")[i] for i in (0, -1))
    page.add_figure(
        figures.support_curves(found),
        caption=f"How many words a word may become, against ε ({whose}, {sample.draws:,} draws each).",
        alt=f"The average number of distinct words is {many.mean():.0f} at ε = {low:g} and {few.mean():.0f} "
        f"at ε = {high:g}.",
    )
    page.add_figure(
        figures.histogram_figure(found),
        caption=f"How N_w (left) and distinct words (right) spread over the words{_looked_at(found)}.",
        alt="Histograms. With rising ε, N_w moves towards 100 %, and the number of distinct words towards 1.",
    )


def _outputs(page: Page, found: Findings) -> None:
    page.add_section(
        "What single words become",
        "The likeliest words in place of a few examples. N_w is how often the word itself comes out, and "
        f"S_w how many words hold {percent(1.0 - ETA)} of what it becomes.",
    )
    for place, first in enumerate(found.outputs[0][1]):
        rows = []
        for average, outputs in found.outputs:
            output = outputs[place]
            others = Markup(", ").join(word(other) for other, _ in output.others)
            numbers = f"{output.epsilon:g}", percent(output.unchanged), f"{output.support:,}"
            rows.append([percent(average), others, *numbers])
        page.add_table(
            ["average word stays", "likeliest other words", "ε", "N_w", "S_w"],
            rows,
            caption=phrase("In place of ", word(first.word)),
            text_columns=2,
        )


def _geometry(page: Page, found: Findings) -> None:
    if not found.geometry.neighbours:
        return
    page.add_section(
        "How far words lie apart",
        "ε counts per unit of distance, so never carry a value over from another vocabulary."
        if "per unit of distance" in found.guarantee.caveat
        else "This ε counts no distances. They say what it means that a word became a near one.",
    )
    near = found.geometry.percentiles[0]
    page.add_figure(
        figures.geometry_figure(found.geometry),
        caption=f"Distance to the k-th nearest word: percentiles over {words(found.geometry.words)}.",
        alt=f"Distances grow with k. The nearest word is {near[2]:.2f} away for the median word, and "
        f"{near[-1]:.2f} for one in twenty.",
    )


def _limits(page: Page, found: Findings) -> None:
    guarantee = found.guarantee
    exposed = "" if guarantee.exposed == NOTHING_EXPOSED else f" Exposed: {guarantee.exposed}."
    page.add_section("What this page does not say")
    page.add_list(
        phrase(strong(f"{title} "), text)
        for title, text in (
            (
                "It is not the guarantee.",
                f"That is a theorem and holds at every ε. {guarantee.statement}{exposed} This page shows "
                f"what it amounts to for {found.calibration.looked_at.them}.",
            ),
            ("What this ε is.", guarantee.caveat),
            (
                "It speaks of one word, released once.",
                "A text of many words spends ε for each of them, and releasing it twice spends twice. The "
                "words around it may give a word away.",
            ),
            (
                "It does not say what an attacker can guess.",
                "Somebody who knows how people write can do better than N_w and S_w suggest.",
            ),
            (
                "Words that are not in the vocabulary",
                "go in as one symbol for all of them, and never come out.",
            ),
        )
    )


def _method(page: Page, found: Findings) -> None:
    """Add how the numbers were measured, and by which mechanism."""
    calibration, looked_at, choice = found.calibration, found.calibration.looked_at, found.choice
    which, draws = "every word" if looked_at.all else str(looked_at), f"{calibration.draws:,}"
    seed = "from a public seed, so anybody gets the same numbers. Releases draw secure noise of their own."
    if isinstance(calibration, TableCalibration) and calibration.on_gpu:
        seed = "with secure noise on a GPU; another run gets other numbers, within the errors."
    paragraphs = {
        "exact": f"For {which}, the mechanism's own probabilities of all outputs were summed at each ε. "
        "Nothing was drawn, so nothing is estimated: errors are 0, and “at most” is the value itself. "
        f"Distinct words are those expected in {draws} draws.",
        "simulation": f"For {which}, the mechanism itself drew {draws} times at each ε shown, {seed}",
        "rays": f"For {which}, {draws} random directions were followed from the word outwards, to the words "
        "whose cells they cross. That gives without bias what the word becomes at every ε, decided as a "
        f"release would decide it. The words share the directions, {seed}",
    }
    page.add_section("How it was measured", paragraphs[calibration.method])
    if calibration.method != "exact":
        page.add_text(
            f"“± error” is one standard error, at most {percent(float(choice.errors.max()))} at ε = "
            f"{choice.epsilon:g}. Words that nothing met are missing from S_w, so it is estimated from "
            "below. “At most” is a bound by Hoeffding and by Maurer and Pontil, whichever is smaller, with a "
            f"union bound over {looked_at.them}; it holds for an ε fixed beforehand."
            + (" This ε was found on the same draws." if found.has_targets else "")
        )
    if choice.missing is not None:
        page.add_text(
            f"The bound on the share of the vocabulary counts {choice.missing.counted:,} of "
            f"{looked_at.them}: those that miss the target, and those that may, by the error of their N_w. "
            "It is Clopper and Pearson’s, for words drawn without replacement; half of the 5 % is for this "
            "draw, half for the errors. It holds for "
            + (
                "an ε found on these very words, too."
                if choice.missing.for_any_epsilon
                else "an ε fixed beforehand."
            )
        )
    whose = "" if looked_at.all else f" of {looked_at.them}"
    bound = f"{percent_up(float(choice.upper.max()))} at ε = {choice.epsilon:g}"
    page.add_table(
        ["what", "value"],
        [
            ["embedding", calibration.embedding.name],
            ["mechanism", calibration.mechanism.in_words(calibration.embedding)],
            ["fingerprint", code(calibration.embedding.fingerprint)],
            ["words measured, N_w", str(looked_at)],
            ["words measured, S_w", f"{len(found.sample.ids):,}"],
            [_PER_WORD[calibration.method], draws],
            [f"95 % bound on the worst N_w{whose}", bound],
        ],
        text_columns=2,
    )
