"""The page about how often words are used behind a release: the intervals as a picture, the groups, all
numbers, what it does not say."""

from __future__ import annotations

from matplotlib.figure import Figure

from deniable.decoding.channel_decoder import UNKNOWN
from deniable.decoding.word_use import GroupUse, WordUseFindings, needed_in_words
from deniable.records.formats.columns import number_of
from deniable.report.figure import BLUE, MUTED, apply_style, drawable, new_figure
from deniable.report.page import Page
from deniable.report.wording import percent_fixed, percent_signed

_SHOWN = 25
_IN_TABLE = 200


def word_use_page(found: WordUseFindings) -> Page:
    """Return the page."""
    everything = found.everything
    page = Page(
        "How often words are used",
        lead=_lead(found),
        kicker=f"{number_of(everything.records, 'record')}, {number_of(everything.words, 'released word')}",
    )
    page.add_facts(
        [
            (f"{found.epsilon:g}", "ε per word of the release"),
            (
                f"{len(everything.known):,}",
                f"of {len(everything.uses):,} words that the release says something of",
            ),
        ]
    )
    if found.consistent:
        page.add_note(
            "The release replaces the same word of the same user by the same word. Records of one user are "
            "then not independent, and the "
            "intervals are too narrow where users have many records.",
            kind="warning",
        )
    page.add_section("The words that are surely most frequent", *filter(None, [needed_in_words(everything)]))
    shown = everything.known[:_SHOWN]
    if len(shown) > 1:
        page.add_figure(
            _intervals(
                [(use.word, use.share_low, use.share, use.share_high) for use in shown], "share of all words"
            ),
            caption="Estimated shares with 95 % intervals; words that the embedding or the list of words "
            "does not have count together.",
            alt="; ".join(
                f"{use.word} {percent_fixed(use.share, 2)} ({_between(use.share_low, use.share_high, 2)})"
                for use in shown[:10]
            ),
        )
    else:
        one = "The release says something of one word only; the table holds it."
        page.add_text(one if shown else "The release says nothing of single words.")
    if found.by is not None:
        _add_groups(page, found)
    page.add_section("All numbers")
    for group in (everything, *found.groups):
        _add_table(page, group)
    _add_method(page, found)
    return page


def _lead(found: WordUseFindings) -> str:
    first = next((use for use in found.everything.known if use.word != UNKNOWN), None)
    if first is None:
        return "There is too little of the release, for its ε, to say how often single words are used."
    share = _between(first.share_low, first.share_high, 1)
    said = f"“{first.word}” makes up {share} of the words behind this release."
    if found.differences:
        top = found.differences[0]
        more = "more" if top.difference > 0 else "less"
        interval = f"{percent_signed(top.low, 1)} to {percent_signed(top.high, 1)}"
        said += (
            f" The clearest difference: {top.group} uses “{top.word}” {more} than the others ({interval})."
        )
    elif found.by is not None:
        said += " No word can be told to be used more by one group than by the others."
    return said


def _between(low: float, high: float, digits: int) -> str:
    return f"{percent_fixed(low, digits)} to {percent_fixed(high, digits)}"


def _add_groups(page: Page, found: WordUseFindings) -> None:
    page.add_section(f"Where the groups of {found.by} differ")
    shown = found.differences[:_SHOWN]
    if not found.groups:
        page.add_text("All words stand in one group: there is nothing to compare it with.")
    elif not shown:
        compared = f"{found.compared:,} comparisons of a word in a group with all other records"
        page.add_text(f"None of {compared} stands out.")
    elif len(shown) == 1:
        only = shown[0]
        interval = f"{percent_signed(only.low)} to {percent_signed(only.high)}"
        page.add_text(
            f"One of {found.compared:,} comparisons stands out: {only.word} in {only.group}, "
            f"{percent_signed(only.difference)} of the words ({interval}) against all other records."
        )
    else:
        rows = [(f"{each.word} ({each.group})", each.low, each.difference, each.high) for each in shown]
        page.add_figure(
            _intervals(rows, "difference of shares"),
            caption="The share of a word in a group minus its share in all other records. "
            f"{len(found.differences):,} of {found.compared:,} "
            "comparisons stand out; all intervals hold at once in 95 % of releases.",
            alt="; ".join(
                f"{each.group} {each.word} {percent_signed(each.difference, 2)}" for each in shown[:10]
            ),
        )


@apply_style
def _intervals(rows: list[tuple[str, float, float, float]], label: str) -> Figure:
    """Return a picture of intervals, given as a name and three numbers, one line each, the first on top."""
    figure, axes = new_figure(height=0.9 + 0.23 * max(len(rows), 3))
    line = {"color": BLUE, "linewidth": 1.6, "solid_capstyle": "butt", "alpha": 0.55}
    for place, (_, low, middle, high) in enumerate(rows):
        axes.plot([100 * low, 100 * high], [place, place], **line)
        axes.plot([100 * middle], [place], "o", color=BLUE, markersize=4)
    if any(low < 0.0 for _, low, _, _ in rows):
        axes.axvline(0.0, color=MUTED, linewidth=0.8)
    axes.set_yticks(range(len(rows)), [drawable(name) for name, *_ in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel(f"{label}, %")
    return figure


def _add_table(page: Page, group: GroupUse) -> None:
    rows = [
        [
            use.word,
            percent_fixed(use.share, 3),
            _between(use.share_low, use.share_high, 3),
            f"{use.count:,.0f}",
            f"{use.count_low:,.0f} to {use.count_high:,.0f}",
        ]
        for use in group.known[:_IN_TABLE]
    ]
    title = "all records" if group.group is None else group.group
    page.add_table(
        ["word", "share", "95 % interval", "count", "95 % interval"],
        rows,
        caption=f"{title}: {number_of(group.records, 'record')}, {number_of(group.words, 'word')}; "
        f"{len(rows):,} of {len(group.uses):,} words, the surest first. The release says nothing of "
        "those that are left out.",
        folded="" if group.group is None else title,
    )


def _add_method(page: Page, found: WordUseFindings) -> None:
    page.add_section("How it was estimated")
    how = {
        "exact": "summed exactly",
        "rays": f"found from {found.directions:,} directions a word",
        "points": f"found from points that all of them share, {found.directions:,} drawn for each word",
        "simulation": f"found from {found.directions:,} draws a word",
    }
    page.add_list(
        [
            f"The release is a known channel: {found.mechanism} at ε = {found.epsilon:g} over the embedding "
            f"{found.embedding}. What each "
            f"of {found.support:,} words becomes was {how[found.method]}. Nothing of the original text was "
            "used but its release.",
            f"What is expected before was learnt from the release itself, in {found.steps} steps; records "
            "held back said when to stop.",
            "Intervals count the noise of the release, the chance of which records there are, and what the "
            "expected shares may have wrong. "
            "Words that are not in the list count as they are expected.",
        ]
    )
    page.add_section("What this page does not say")
    page.add_list(
        [
            "It estimates sums over many records. What stood at one place of one record it does not say.",
            "It costs no privacy: anybody who has the release can compute it. What it shows was released.",
            "Words outside of the list that may have gone in are counted as the words nearest to them.",
        ]
    )
