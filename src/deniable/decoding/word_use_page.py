"""The page about how often words are used behind a release."""

from __future__ import annotations

from matplotlib.figure import Figure

from deniable.decoding.channel_decoder import UNKNOWN
from deniable.decoding.word_use import GroupUse, WordUseFindings
from deniable.records.formats.columns import number_of
from deniable.report.figure import BLUE, MUTED, apply_style, drawable, new_figure
from deniable.report.page import Page
from deniable.report.wording import percent_fixed, percent_signed

_SHOWN = 25
_IN_TABLE = 200
_METHODS = {
    "exact": "summed exactly",
    "rays": "found from {:,} directions a word",
    "points": "found from points that all of them share, {:,} drawn for each word",
    "simulation": "found from {:,} draws a word",
}
_NOT_SAID = [
    "It estimates sums over many records. What stood at one place of one record it does not say.",
    "It costs no privacy: anybody who has the release can compute it. What it shows was released.",
    "Words outside of the list that may have gone in are counted as the words nearest to them.",
]
_Interval = tuple[str, float, float, float]


def word_use_page(found: WordUseFindings) -> Page:
    """Return the page."""
    everything = found.everything
    page = Page(
        "How often words are used",
        lead=_lead(found),
        kicker=f"{number_of(everything.records, 'record')}, {number_of(everything.words, 'released word')}",
    )
    known = f"of {len(everything.uses):,} words that the release says something of"
    page.add_facts(
        [(f"{found.epsilon:g}", "ε per word of the release"), (f"{len(everything.known):,}", known)]
    )
    if found.consistent:
        page.add_note(
            "The release replaces the same word of the same user by the same word. Records of one user are "
            "then not independent, and the intervals are too narrow where users have many records.",
            kind="warning",
        )
    page.add_section("The words that are surely most frequent", *filter(None, [everything.needed]))
    _add_intervals(
        page,
        [(use.word, use.share_low, use.share, use.share_high) for use in everything.known],
        label="share of all words",
        caption="Estimated shares with 95 % intervals; words that the embedding or the list of words does "
        "not have count together.",
    )
    if found.by is not None:
        page.add_section(f"Where the groups of {found.by} differ", found.comparison)
        _add_intervals(
            page,
            [
                (f"{each.word} ({each.group})", each.low, each.difference, each.high)
                for each in found.differences
            ],
            label="difference of shares",
            caption="The share of a word in a group minus its share in all other records.",
        )
    page.add_section("All numbers")
    for group in (everything, *found.groups):
        _add_table(page, group)
    page.add_section("How it was estimated")
    page.add_list(
        [
            f"The release is a known channel: {found.mechanism} at ε = {found.epsilon:g} over "
            f"{found.embedding}. What each of {found.support:,} words becomes was "
            f"{_METHODS[found.method].format(found.directions)}. Nothing but the release of the original "
            "text was used.",
            f"What is expected before was learnt from the release itself, in {found.steps} steps; records "
            "held back said when to stop.",
            "Intervals count the noise of the release, the chance of which records there are, and what the "
            "expected shares may have wrong. Words that are not in the list count as they are expected.",
        ]
    )
    page.add_section("What this page does not say")
    page.add_list(_NOT_SAID)
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
        ends = f"{percent_signed(top.low, 1)} to {percent_signed(top.high, 1)}"
        said += f" The clearest difference: {top.group} uses “{top.word}” {more} than the others ({ends})."
    elif found.by is not None:
        said += " No word can be told to be used more by one group than by the others."
    return said


def _between(low: float, high: float, digits: int) -> str:
    return f"{percent_fixed(low, digits)} to {percent_fixed(high, digits)}"


def _add_intervals(page: Page, rows: list[_Interval], *, label: str, caption: str) -> None:
    """Add a picture of the first intervals, or of a single one its numbers."""
    shown = rows[:_SHOWN]
    said = [
        f"{name} {percent_fixed(middle, 2)} ({_between(low, high, 2)})" for name, low, middle, high in shown
    ]
    if len(shown) > 1:
        page.add_figure(_draw_intervals(shown, label), caption=caption, alt="; ".join(said[:10]))
    elif said:
        page.add_text(f"{label.capitalize()}: {said[0]}.")


@apply_style
def _draw_intervals(rows: list[_Interval], label: str) -> Figure:
    """Return a picture of intervals, one line each, the first on top."""
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
        f"{len(rows):,} of {len(group.uses):,} words, the surest first. The release says nothing of those "
        "that are left out.",
        folded="" if group.group is None else title,
    )
