"""The page about a tuned space, for whoever answers for the release: what survives by design, what else, and
what an attacker names."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from deniable.audit.named import NamedShares
from deniable.records.formats.columns import number_of
from deniable.report import palette
from deniable.report.figure import apply_style, new_figure
from deniable.report.markup import code, phrase
from deniable.report.page import Page
from deniable.report.wording import percent, percent_fixed
from deniable.tuning.findings import AttributeFinding, AttributeReading, Tried, TuningFindings
from deniable.tuning.installing import Isolated

_WITHOUT = "without the map"


def tuning_page(found: TuningFindings, *, name: str, isolated: Isolated | None = None) -> Page:
    """Return the page about the space that was installed under ``name``; ``isolated`` is what its calibration
    found."""
    label, words = found.label, found.shaped.words
    who = "reads in context" if found.shaped.context_is_better else "looks at single words"
    told, before = (
        ("", "")
        if label.told is None
        else (percent(label.told.shaped.accuracy), percent(label.told.original))
    )
    lead = (
        f"Released at ε = {found.epsilon:g} in the space {name}, “{label.name}” is told rightly for {told} "
        f"of the texts, against {before} "
        f"from the originals. An attacker who {who} names {percent(words)} of the words; one who sees "
        f"nothing, {percent(found.blind.words)}."
    )
    if found.reading == "kinds":
        lead += (
            f" ε was matched on kinds: of the {found.matched} an attacker names "
            f"{percent(found.shaped.kinds)}; one who sees nothing, "
            f"{percent(found.blind.kinds)}."
        )
    page = Page(
        "A space for one purpose",
        lead=lead,
        kicker=f"{found.source}: public texts with the label “{label.name}”",
    )
    facts = [
        (f"{found.epsilon:g}", "ε per word, in this space"),
        (told, f"of the labels “{label.name}” are told rightly from released text"),
        (percent(words), f"of the words are named by an attacker who {who}"),
    ]
    if found.blind.judged_kinds:
        facts.append((percent(found.shaped.kinds), "of the kinds of less frequent words are named"))
    page.add_facts(facts)
    for warning in found.warnings:
        page.add_note(warning[0].upper() + warning[1:], kind="warning")
    _add_by_design(page, found)
    _add_others(page, found)
    _add_attacker(page, found)
    _add_isolated(page, found, name, isolated)
    _add_release(page, found, name, isolated)
    _add_curve(page, found)
    _add_samples(page, found)
    _add_tried(page, found)
    _add_method(page, found)
    _add_limits(page)
    return page


def _add_by_design(page: Page, found: TuningFindings) -> None:
    page.add_section(
        "What survives by design",
        f"The purpose was declared: “{found.label.name}”, {found.label.values} classes. The space was "
        "stretched along the directions that "
        "tell them apart, learnt from public texts. Whoever has the release learns the label of a text about "
        "as often as this table says. "
        "If the label of a person is sensitive, do not release in this space.",
    )
    page.add_table(_columns("label"), [_attribute_row(found.label)], caption=_caption(found))


def _add_others(page: Page, found: TuningFindings) -> None:
    page.add_section("What else survives")
    if not found.others:
        page.add_note(
            phrase(
                "Nothing else was measured. Other attributes that hang on the same words survive with the "
                "purpose. Name columns with "
                "attributes that must not survive, such as the author: ",
                code("--also COLUMN"),
                ".",
            ),
            kind="warning",
        )
        return
    page.add_text(
        "These attributes were not declared. What the release still tells of them was measured in the same "
        "way: somebody learns them from "
        "released texts and judges other released texts. The last column says what they would learn from a "
        "release in the space "
        f"without the map, at an attacker who names as many {found.matched}."
    )
    page.add_table(
        _columns("attribute"), [_attribute_row(each) for each in found.others], caption=_caption(found)
    )
    for each in found.others:
        if each.problem is not None:
            page.add_text(f"“{each.name}” was not measured: {each.problem}.")


def _add_attacker(page: Page, found: TuningFindings) -> None:
    page.add_section(
        "What an attacker names",
        "The attacker knows the mechanism, ε, the space and how frequent the words of these texts are, and "
        "guesses by Bayes' rule. ε was "
        f"chosen so that, in draws before these, it named at most {percent(found.target)} of the "
        f"{found.matched}, {found.matched_way}.",
        "An attacker may be content with the kind of a word, such as “a disease” or “a first name”. Kinds "
        "are "
        f"{found.kinds} and are not counted.",
    )
    rows = [
        _named_row("sees nothing", found.blind, found.blind),
        _named_row("each word alone", found.shaped.alone, found.as_it_is.alone),
    ]
    if found.shaped.in_context is not None and found.as_it_is.in_context is not None:
        rows.append(
            _named_row(f"in context (by {found.public})", found.shaped.in_context, found.as_it_is.in_context)
        )
    page.add_table(
        ["attacker", "words", "kinds", f"words, {_WITHOUT}", f"kinds, {_WITHOUT}"],
        rows,
        caption=f"Shares named rightly, with standard errors, of {found.blind.judged:,} known words and the "
        "kinds of "
        f"{found.blind.judged_kinds:,} of them. Without the map, ε is {found.epsilon_as_it_is:g}: the two ε "
        "do not compare.",
    )
    shaped, plain = found.shaped.alone, found.as_it_is.alone
    if found.reading != "kinds" and shaped.kinds > plain.kinds + 4 * shaped.kinds_error:
        page.add_text(
            "At an equal share of words named, this space shows more of the kinds of words than the one "
            "without the map."
        )
    if found.reading == "kinds" and shaped.words > plain.words + 4 * shaped.words_error:
        page.add_text(
            "At an equal share of kinds named, this space shows more of the words than the one without the "
            "map."
        )
    if found.shaped.in_context is not None and found.shaped.in_context.words < found.shaped.alone.words:
        page.add_text(
            "Context did not help here: the public text may be too small or too different. An attacker takes "
            "the better way."
        )
    if found.shaped.in_context is None:
        page.add_note(
            phrase(
                "No attacker in context was tried. With a public text of the same sort it can be: ",
                code("--public corpus.txt"),
                ".",
            ),
            kind="warning",
        )


def _add_isolated(page: Page, found: TuningFindings, name: str, isolated: Isolated | None) -> None:
    command = f"deniable calibrate --embedding {name}{found.mechanism.as_typed} --epsilon {found.epsilon:g}"
    if isolated is None:
        page.add_section(
            "Words that hardly change",
            phrase("This was not measured. To know them before the release: ", code(command), "."),
        )
        return
    page.add_section(
        "Words that hardly change",
        f"{isolated.count:,} of the {isolated.words:,} words of {name} stay themselves in more than half of "
        "all draws at "
        f"ε = {found.epsilon:g}. The share of words named above is an average; these words are not safe by "
        "it.",
    )
    if isolated.shown:
        more = ", …" if isolated.count > len(isolated.shown) else ""
        page.add_text(", ".join(isolated.shown) + more)


def _add_release(page: Page, found: TuningFindings, name: str, isolated: Isolated | None) -> None:
    options, space = f"{found.mechanism.as_typed} --epsilon {found.epsilon:g}", name
    page.add_section("How to release in this space")
    if isolated is not None and isolated.count:
        space = f"{name}-protected"
        protect = (
            f"deniable calibrate --embedding {name}{options} --max-unchanged 0.5 --protect nearest "
            f"--as {space}"
        )
        page.add_text(
            phrase("First replace the words that hardly change with safer stand-ins: ", code(protect), ".")
        )
    release = (
        f"deniable privatize FILE --column TEXT --embedding {space}{options} --never-release names -o OUT"
    )
    page.add_text(
        phrase(
            "Then release, without the common names of the built-in list: "
            if space != name
            else "Leave out common names: ",
            code(release),
            ".",
        )
    )


def _add_curve(page: Page, found: TuningFindings) -> None:
    page.add_section("The trade-off")
    page.add_figure(
        tuning_figure(found),
        caption="How often the label is told rightly from released texts (those to choose by), against the "
        "share of the "
        f"{found.matched} that an attacker names. The dashed line is the attacker that was asked for.",
        alt=_alt(found),
    )


def _add_samples(page: Page, found: TuningFindings) -> None:
    if not found.samples:
        return
    page.add_section("Some texts", "Public texts, and one draw of what they become.")
    page.add_samples(
        [
            (
                "original",
                "public texts that had no part in shaping the space",
                [sample.original for sample in found.samples],
            ),
            ("in this space", f"ε = {found.epsilon:g}", [sample.shaped for sample in found.samples]),
            (
                _WITHOUT,
                f"ε = {found.epsilon_as_it_is:g}, the same attacker",
                [sample.as_it_is for sample in found.samples],
            ),
        ]
    )


def _add_tried(page: Page, found: TuningFindings) -> None:
    page.add_section("What was tried")
    best = found.space.name
    rows = [
        [
            each.name + (" (chosen)" if each.name == best else ""),
            f"{each.epsilon:.3g}",
            percent_fixed(each.accuracy),
        ]
        for each in sorted(found.tried, key=lambda each: -each.accuracy)
    ]
    page.add_table(
        ["space", "ε", "label told rightly"],
        rows,
        caption=f"At an attacker who names {percent(found.target)} of the {found.matched}, on "
        f"{found.counts.choose:,} texts to choose by; "
        f"between two measured ε. Differences of {100 * _noise(found):.1f} points and less may be chance.",
    )


def _add_method(page: Page, found: TuningFindings) -> None:
    counts, quick, fine = found.counts, found.quick, found.thorough
    page.add_section("How it was measured")
    page.add_list(
        [
            f"{counts.texts:,} public texts of {found.source} (SHA-256 {found.sha256}); {counts.left_out:,} "
            "records without a label or a "
            f"known word were left out. {counts.shape:,} texts shaped the spaces, {counts.learn:,} were "
            f"learnt from, {counts.choose:,} "
            f"chose the space, and {counts.judge:,} were judged at the end, after learning from the two "
            "parts before.",
            "A receiver has released text only, learns from one part of it and judges another, with logistic "
            "regression on words as "
            "released (TF-IDF), on decoded text, or on the mean vector of each text, whichever is best on "
            "texts to choose by. "
            f"Means over {number_of(found.runs, 'release')} with secure noise: in another run these shares "
            "are a little different. Space "
            "and ε, and what the attacker names, are found with a public seed and come out the same.",
            f"Mechanism: {found.mechanism.in_words(found.space.embedding)}, over {found.embedding.name} "
            f"({found.embedding.words:,} words, {found.embedding.dimension} dimensions, fingerprint "
            f"{found.embedding.fingerprint}). The chosen space has the fingerprint "
            f"{found.space.embedding.fingerprint}.",
            f"The attacker was judged on {counts.attacked_words:,} words; {percent(counts.unknown)} of them "
            "are unknown to the embedding "
            f"and not counted. It knows what the {fine.support:,} most frequent words of the texts become "
            f"from at most {fine.directions:,} "
            f"points or directions each ({quick.support:,} and {quick.directions:,} while spaces were "
            "compared). One with more of "
            "both does a little better.",
        ]
    )


def _add_limits(page: Page) -> None:
    page.add_section("What this page does not say")
    page.add_list(
        [
            "All numbers are those of these public texts. Private texts that differ from them differ in all "
            "of it: measure again on texts "
            "of your own before the release.",
            "The guarantee bounds how odds between two texts shift, in the metric of this space. The shares "
            "above are measurements, not "
            "bounds.",
            "Attributes that were not named were not measured.",
        ]
    )


@apply_style
def tuning_figure(found: TuningFindings) -> Figure:
    """Return the curve: labels told rightly against what is named, for the chosen space, a reduced one and
    the embedding as it is."""
    figure, axes = new_figure(height=3.6)
    for tried, colour, text in _drawn(found):
        points = sorted(
            (point.attacker, point.accuracy) for point in tried.points if point.accuracy is not None
        )
        axes.plot(
            [100 * x for x, _ in points],
            [100 * y for _, y in points],
            marker="o",
            markersize=4,
            color=colour,
            label=text,
        )
    axes.axvline(100 * found.target, color=palette.MUTED, linestyle="--", linewidth=1.2)
    if (told := found.label.told) is not None:
        axes.axhline(
            100 * told.original, color=palette.INK, linestyle="-.", linewidth=1.2, label="original text"
        )
        axes.axhline(
            100 * told.majority,
            color=palette.MUTED,
            linestyle=":",
            linewidth=1.2,
            label="most frequent class",
        )
    axes.set_xlabel(f"{found.matched} that an attacker names, in %")
    axes.set_ylabel("labels told rightly, in %")
    axes.set_title("What the purpose keeps, at equal attackers")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    return figure


def _drawn(found: TuningFindings) -> list[tuple[Tried, str, str]]:
    """Return what the figure draws: the chosen space first."""
    chosen = [(each, palette.RUST, "chosen space") for each in found.tried if each.name == found.space.name]
    reduced = [
        (each, palette.GREEN, each.name)
        for each in found.tried
        if each.strength is None and each.dimension is not None
    ]
    plain = [(each, palette.BLUE, _WITHOUT) for each in found.tried if each.dimension is None]
    return [*chosen, *reduced, *plain]


def _alt(found: TuningFindings) -> str:
    parts = [f"Labels told rightly against {found.matched} named by an attacker."]
    for tried, _, text in _drawn(found):
        points = sorted(
            (point.attacker, point.accuracy) for point in tried.points if point.accuracy is not None
        )
        (x0, y0), (x1, y1) = points[0], points[-1]
        parts.append(f"{text}: from {y0:.0%} at {x0:.0%} to {y1:.0%} at {x1:.0%}.")
    return " ".join(parts)


def _columns(first: str) -> Sequence[str]:
    return [first, "values", "most frequent value", "original text", "released in this space", _WITHOUT]


def _attribute_row(each: AttributeFinding) -> list[str]:
    cells, told = ["–"] * 4, each.told
    if told is not None:
        cells = [
            percent_fixed(told.majority),
            percent_fixed(told.original),
            _reading(told.shaped),
            _reading(told.as_it_is),
        ]
    return [each.name, f"{each.values:,}", *cells]


def _reading(found: AttributeReading) -> str:
    return f"{percent_fixed(found.accuracy)} ({found.reading})"


def _caption(found: TuningFindings) -> str:
    return (
        f"Shares of {found.counts.judge:,} judged texts (or of those with a value) that are told rightly. In "
        "brackets: how the release was "
        f"read. Standard errors are about {50 * _noise(found, judged=True):.1f} points."
    )


def _noise(found: TuningFindings, *, judged: bool = False) -> float:
    """Return two standard errors of a share near one half."""
    return float((1.0 / max(found.counts.judge if judged else found.counts.choose, 1)) ** 0.5)


def _named_row(text: str, shaped: NamedShares, plain: NamedShares) -> list[str]:
    cells = [text]
    for each in (shaped, plain):
        cells += [
            _with_error(each.words, each.words_error, each.judged),
            _with_error(each.kinds, each.kinds_error, each.judged_kinds),
        ]
    return cells


def _with_error(share: float, error: float, judged: int) -> str:
    return f"{percent_fixed(share)} ± {100 * error:.1f}" if judged else "–"
