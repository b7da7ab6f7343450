"""The page about a tuned space, for the person responsible for the release: what survives by design, what
else, and what an attacker names."""

from __future__ import annotations

from deniable.audit.named import NamedShares
from deniable.report.markup import code, phrase
from deniable.report.page import Page
from deniable.report.wording import Lines, Point, percent, percent_fixed
from deniable.tuning.findings import AttributeFinding, AttributeReading, Isolated, TuningFindings

_WITHOUT = "without the map"


def tuning_page(found: TuningFindings, *, name: str, isolated: Isolated | None = None) -> Page:
    """Return the page about the space installed under ``name``; ``isolated`` is what its
    calibration found."""
    label, blind = found.label, found.blind
    kicker = f"{found.source}: public texts with the label “{label.name}”"
    page = Page("A space for one purpose", lead=lead(found, name), kicker=kicker)
    told = "" if label.shaped is None else percent(label.shaped.accuracy)
    facts = [
        (f"{found.epsilon:g}", "ε per word, in this space"),
        (told, f"of the labels “{label.name}” are predicted from released text"),
        (percent(found.shaped.words), f"of the words are named by an attacker who {_who(found)}"),
    ]
    if blind.judged_kinds:
        facts.append((percent(found.shaped.kinds), "of the kinds of less frequent words are named"))
    page.add_facts(facts)
    for warning in found.warnings:
        page.add_note(warning[0].upper() + warning[1:], kind="warning")
    _add_attributes(page, found)
    _add_attacker(page, found)
    _add_release(page, found, name, isolated)
    _add_tried(page, found)
    _add_method(page, found)
    return page


def lead(found: TuningFindings, name: str) -> str:
    """Return what was found, in a few sentences."""
    label, shaped, blind = found.label, found.shaped, found.blind
    told, before = ("" if each is None else percent(each) for each in (label.shares[2], label.original))
    of_words = (
        f"Released at ε = {found.epsilon:g} in the space {name}, “{label.name}” is predicted for {told} of "
        f"the texts, against {before} from the originals. An attacker who {_who(found)} names "
        f"{percent(shaped.words)} of the words; one who sees nothing, {percent(blind.words)}."
    )
    if found.reading != "kinds":
        return of_words
    return (
        f"{of_words} ε was matched on kinds: of the {found.matched} an attacker names "
        f"{percent(shaped.kinds)}; one who sees nothing, {percent(blind.kinds)}."
    )


def _who(found: TuningFindings) -> str:
    return "reads in context" if found.shaped.context_is_better else "looks at single words"


def _add_attributes(page: Page, found: TuningFindings) -> None:
    columns = ["values", "most frequent value", "original text", "released in this space", _WITHOUT]
    caption = (
        f"Shares of {found.counts.judge:,} judged texts that are predicted, and how the release was read. "
        f"Standard errors: about {50 * _noise(found.counts.judge):.1f} points. {_WITHOUT.capitalize()}: at "
        f"an attacker who names as many {found.matched}."
    )
    page.add_section(
        "What survives by design",
        f"The space was stretched along the directions that separate the {found.label.values} classes of "
        f"“{found.label.name}” in public texts. If a person's label is sensitive, do not release in it.",
    )
    page.add_table(["label", *columns], [_attribute_row(found.label)], caption=caption)
    page.add_section("What else survives")
    if not found.others:
        advice = "Nothing else was measured. Name attributes that must not survive, such as the author: "
        page.add_note(phrase(advice, code("--also COLUMN"), "."), kind="warning")
        return
    page.add_table(["attribute", *columns], map(_attribute_row, found.others), caption=caption)
    problems = [each for each in found.others if each.problem is not None]
    page.add_text(*(f"“{each.name}” was not measured: {each.problem}." for each in problems))


def _attribute_row(each: AttributeFinding) -> list[str]:
    def read(reading: AttributeReading | None) -> str:
        return "–" if reading is None else f"{percent_fixed(reading.accuracy)} ({reading.reading})"

    shares = map(percent_fixed, (each.majority, each.original))
    return [each.name, f"{each.values:,}", *shares, read(each.shaped), read(each.as_it_is)]


def _add_attacker(page: Page, found: TuningFindings) -> None:
    shaped, plain, blind = found.shaped, found.as_it_is, found.blind
    page.add_section(
        "What an attacker names",
        "The attacker knows the mechanism, ε, the space and how frequent the words of these texts are, and "
        "guesses by Bayes' rule. ε was chosen so that, in draws before these, it named at most "
        f"{percent(found.target)} of the {found.matched} (with 95 % confidence), {found.matched_way}. Kinds "
        f"are {found.kinds}.",
    )
    rows = [
        _named_row("sees nothing", blind, blind),
        _named_row("each word alone", shaped.alone, plain.alone),
    ]
    if shaped.in_context is not None and plain.in_context is not None:
        rows.append(_named_row(f"in context (by {found.public})", shaped.in_context, plain.in_context))
    page.add_table(
        ["attacker", "words", "kinds", f"words, {_WITHOUT}", f"kinds, {_WITHOUT}"],
        rows,
        caption=f"Shares named, with standard errors, of {blind.judged:,} known words and the kinds of "
        f"{blind.judged_kinds:,} of them. {_WITHOUT.capitalize()}, ε is {found.epsilon_as_it_is:g}: the "
        "two ε do not compare.",
    )
    if shaped.in_context is None:
        advice = "No attacker in context was tried. A public text of the same sort allows it: "
        page.add_note(phrase(advice, code("--public corpus.txt"), "."), kind="warning")
    elif shaped.in_context.words < shaped.alone.words:
        page.add_text("Context did not help here: the public text may be too small or too different.")


def _named_row(text: str, shaped: NamedShares, plain: NamedShares) -> list[str]:
    def with_error(share: float, error: float, judged: int) -> str:
        return f"{percent_fixed(share)} ± {100 * error:.1f}" if judged else "–"

    cells = [text]
    for each in (shaped, plain):
        cells.append(with_error(each.words, each.words_error, each.judged))
        cells.append(with_error(each.kinds, each.kinds_error, each.judged_kinds))
    return cells


def _add_release(page: Page, found: TuningFindings, name: str, isolated: Isolated | None) -> None:
    options, space = f"{found.mechanism.as_typed} --epsilon {found.epsilon:g}", name
    calibrate = f"deniable calibrate --embedding {name}{options}"
    page.add_section("Words that hardly change")
    if isolated is None:
        page.add_text(
            phrase("This was not measured. To know them before the release: ", code(calibrate), ".")
        )
    else:
        more = ", …" if isolated.count > len(isolated.shown) else ""
        page.add_text(
            f"{isolated.count:,} of the {isolated.words:,} words of {name} stay unchanged in more than half "
            f"of all draws at ε = {found.epsilon:g}: the average share of words named above says nothing of "
            "them.",
            ", ".join(isolated.shown) + more,
        )
    page.add_section("How to release in this space")
    if isolated is not None and isolated.count:
        space = f"{name}-protected"
        protect = f"{calibrate} --max-unchanged 0.5 --protect nearest --as {space}"
        page.add_text(phrase("First replace these words with safer stand-ins: ", code(protect), "."))
    release = (
        f"deniable privatize FILE --column TEXT --embedding {space}{options} --never-release names -o OUT"
    )
    page.add_text(phrase("Release without the common names of the built-in list: ", code(release), "."))


def _add_tried(page: Page, found: TuningFindings) -> None:
    levels = {"original text": found.label.original, "most frequent class": found.label.majority}
    page.add_section("The trade-off")
    page.add_curves(
        _curves(found),
        x=f"% of the {found.matched} that an attacker names",
        y="labels predicted",
        levels={name: share for name, share in levels.items() if share is not None},
        marks=[100 * found.target],
        caption="How often the label is predicted from released texts (those to choose by). The dotted line "
        "is the attacker that was asked for.",
    )
    if found.samples:
        page.add_section("Some texts", "Public texts, and one draw of what they become.")
        original, shaped, plain = map(list, zip(*found.samples, strict=True))
        page.add_samples(
            [
                ("original", "public texts that did not shape the space", original),
                ("in this space", f"ε = {found.epsilon:g}", shaped),
                (_WITHOUT, f"ε = {found.epsilon_as_it_is:g}, the same attacker", plain),
            ]
        )
    page.add_section("What was tried")
    rows = [
        [
            each.space.name + (" (chosen)" if each.space.name == found.space.name else ""),
            f"{each.epsilon:.3g}",
            percent_fixed(each.accuracy),
        ]
        for each in sorted(found.tried, key=lambda each: -each.accuracy)
    ]
    page.add_table(
        ["space", "ε", "label predicted"],
        rows,
        caption=f"At an attacker who names {percent(found.target)} of the {found.matched}, on "
        f"{found.counts.choose:,} texts to choose by; between two measured ε. Differences of "
        f"{100 * _noise(found.counts.choose):.1f} points and less may be chance.",
    )


def _add_method(page: Page, found: TuningFindings) -> None:
    counts, quick, fine, embedding = found.counts, found.quick, found.thorough, found.embedding
    page.add_section("How it was measured")
    page.add_list(
        [
            f"{counts.texts:,} public texts of {found.source} (SHA-256 {found.sha256}), without "
            f"{counts.left_out:,} that had no label or known word: {counts.shape:,} shaped the spaces, "
            f"{counts.learn:,} were learnt from, {counts.choose:,} chose the space, {counts.judge:,} were "
            "judged at the end, after learning from the two parts before.",
            "A receiver has released text only and predicts labels by logistic regression on words as "
            "released, on decoded text, or on mean vectors, whichever is best on texts to choose by. Means "
            f"over {found.runs:,} releases with secure noise: another run gives slightly different shares, "
            "and the same space and ε.",
            f"Mechanism: {found.mechanism.in_words(found.space.embedding)}, over {embedding.name} "
            f"({embedding.words:,} words, {embedding.dimension} dimensions, fingerprint "
            f"{embedding.fingerprint}). The chosen space: {found.space.embedding.fingerprint}.",
            f"The attacker was judged on {counts.attacked_words:,} words, without the "
            f"{percent(counts.unknown)} that the embedding does not know. It knows what the "
            f"{fine.support:,} most frequent words become from at most {fine.directions:,} points or "
            f"directions each ({quick.support:,} and {quick.directions:,} while spaces were compared).",
        ]
    )
    page.add_section(
        "What this page does not say",
        "All numbers are those of these public texts: measure again on texts like your private ones. The "
        "guarantee bounds how odds between two texts shift, in the metric of this space; the shares above "
        "are measurements. Attributes that were not named were not measured.",
    )


def _curves(found: TuningFindings) -> Lines:
    """Return what is predicted against what is named, in %, in the chosen, a reduced and the plain space."""
    lines = {}
    for trial in sorted(found.tried, key=lambda each: each.space.name != found.space.name):
        space = trial.space
        if space.name == found.space.name:
            name = "chosen space"
        elif space.strength is None:
            name = _WITHOUT if space.dimension is None else space.name
        else:
            continue
        lines[name] = sorted(Point(100 * named, share) for named, share in trial.points)
    return lines


def _noise(texts: int) -> float:
    """Return two standard errors of a share near one half of so many texts."""
    return float((1.0 / max(texts, 1)) ** 0.5)
