"""One page for a comparison, and its plot of privacy against utility."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from deniable.audit.named import MOST_IN_CONTEXT, MOST_JUDGED, WAYS
from deniable.lab.comparison.report.words import (
    READINGS,
    columns_of,
    finding,
    legend_of,
    met_and_missed,
    places_table,
    spaces_table,
    target_name,
)
from deniable.lab.comparison.results import ComparisonResult, MeanAndSpread, Row, Worth
from deniable.report.figure import INK, MUTED, SERIES, apply_style, drawable, new_figure
from deniable.report.page import Page
from deniable.report.wording import percent_fixed

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
_NARROWEST = 0.05
_RECEIVER = (
    " Text is released on both sides here: the classifier learns from it and is tested on it. On the left it "
    "reads the words as released, on the right what is expected behind them."
)


def comparison_page(result: ComparisonResult) -> Page:
    """Return the page: which mechanism is worth most at equal privacy, the plot, the table and how it was
    measured."""
    title = "Embeddings and mechanisms at equal privacy" if result.several else "Mechanisms at equal privacy"
    page = Page(title, kicker="deniable lab compare", lead=finding(result))
    page.add_facts(
        [
            *([(str(len(result.spaces)), "embeddings")] if result.several else []),
            (str(len(result.mechanisms)), "mechanisms"),
            (f"{result.texts.learn:,}", "texts to learn from"),
            (f"{result.runs} × {result.texts.words:,}", "words released at each ε"),
        ]
    )
    page.add_section(
        "Privacy and utility",
        "The further up, the more accurate; the further left, the less an attacker learns. A mechanism on "
        "the dashed line is worth considering: no other is better in both."
        + ("" if result.decoding is None else _RECEIVER),
    )
    if len(result.matched()) > 1:
        several = " A colour for each embedding, a shape for each mechanism." if result.several else ""
        decoded = f"; once all are decoded: {_named(result.decoded_front())}" if result.decoding else ""
        page.add_figure(
            privacy_utility_figure(result),
            caption=f"Every mechanism at every target. Bars are one standard deviation of the runs.{several}",
            alt="Accuracy against the success of the attacker; the table holds the values. On the front: "
            + _named(result.front())
            + decoded,
        )
    page.add_section("The table", legend_of(result))
    for target in result.targets:
        met, missed = met_and_missed(result, target)
        if met:
            page.add_table(
                columns_of(result)[1:], met, caption=target_name(target), text_columns=_names_of(result)
            )
        if missed:
            page.add_list([f"At {target_name(target)}, {sentence}" for sentence in missed])
    if result.decoding is not None:
        _add_places(page, result)
    if result.several:
        _add_spaces(page, result)
    _add_method(page, result)
    return page


def _names_of(result: ComparisonResult) -> int:
    """Return how many columns of a table name things."""
    return 2 if result.several else 1


def _named(front: list[tuple[Row, Worth]]) -> str:
    return ", ".join(f"{row.name} at ε = {worth.epsilon:.3g}" for row, worth in front)


def _add_places(page: Page, result: ComparisonResult) -> None:
    page.add_section(
        "As released and decoded",
        "Accuracies by where text is released: the texts to learn from (training time), those that are "
        "judged (test time), or both. Decoded: the same after released text was read as the words that are "
        "expected behind it. Mean vectors: the classifier reads the mean of the word vectors of each text "
        "in place of its words, with text released on both sides."
        + (" In %; text released at both times is in the table above." if result.several else ""),
    )
    for target in result.targets:
        columns, rows = places_table(result, target)
        if rows:
            page.add_table(columns, rows, caption=target_name(target), text_columns=_names_of(result))


def _add_spaces(page: Page, result: ComparisonResult) -> None:
    page.add_section(
        "The embeddings",
        "One attacker meets all of them. It names words as they are spelt, in any case, and is judged on "
        "every word of the text. All words that an embedding does not know go in as ⊥; of these it can name "
        "the most frequent one only. So a small vocabulary hides words, at a loss of accuracy.",
    )
    columns, rows = spaces_table(result)
    page.add_table(
        columns, rows, caption="The texts in each embedding; the last columns are accuracies on original text"
    )


def _add_method(page: Page, result: ComparisonResult) -> None:
    sample, texts = result.sample, result.texts
    of_first = f" Words and sample are those of {result.embedding.name}." if result.several else ""
    asked = {target.reading for target in result.targets}
    within = ", ".join(f"{value:g} ({name})" for name, value in result.tolerance.items() if name in asked)
    page.add_section(
        "How it was measured",
        "The ε of different mechanisms do not compare, so ε was searched for each until a reading had the "
        f"wanted value within {within}. Readings are taken on {sample.words:,} words drawn from the text "
        f"({sample.distinct:,} distinct) as often as they occur; an unknown word counts as changed."
        + of_first,
        "The most exposed 1 % of the text are chosen on one half of the draws and judged on the other.",
        "The adversary knows the mechanism, ε, the embedding, word frequencies, and that the word is one of "
        f"the {sample.distinct:,} distinct words of the sample. It learns from draws and is judged on fresh "
        "draws: a lower bound on the best possible adversary among these words. Blind guessing is right for "
        f"{percent_fixed(sample.guess)}.",
        *_naming(result),
        f"{texts.learn:,} texts ({texts.words:,} words) were released with secure noise, {result.runs} "
        "times; TF-IDF and logistic regression learnt from each release and were tested on "
        f"{texts.test:,} original texts. Words per second are those of the slowest run on this machine.",
    )
    if result.decoding is not None:
        page.add_text(
            "For a receiver all texts were released, as many times again. Decoding takes the first "
            f"{result.decoding.support:,} words of the embedding, and ⊥, for what may have gone in. It knows "
            f"what each becomes from exact sums, or from at most {result.decoding.directions:,} rays, shared "
            "points or draws a word, and learns from all released texts how frequent they are."
        )
    if result.left_out:
        page.add_list(f"Left out: {name}, {why}." for name, why in result.left_out.items())
    page.add_note(
        "Equal readings are not equal guarantees: CusText exposes the cell of every word with certainty, "
        "SanText+ keeps most words that are not listed, and the others promise bounds in different metrics. "
        "The numbers come from the texts themselves: treat this page as you treat them."
    )
    known = [space.embedding for space in result.spaces] or [result.embedding]
    embeddings = ", ".join(f"{embedding.name} ({embedding.fingerprint[:12]})" for embedding in known)
    page.add_text(
        f"Embedding{'s' if result.several else ''} {embeddings}, seed {result.seed} for the sample, the "
        "split and the "
        f"readings; deniable {result.version}."
    )


def _naming(result: ComparisonResult) -> Iterator[str]:
    """Yield what the attacker over all words knows and does, for each way in which it was asked."""
    asked = {target.reading for target in result.targets}
    if not asked & set(WAYS):
        return
    blind = ", ".join(sorted({percent_fixed(space.blind) for space in result.spaces}))
    yield (
        "Words named by the attacker: it knows the mechanism, ε, the embedding, and how frequent every word "
        "of these texts is. It names the likeliest word behind each released one by itself, and is judged "
        f"on at most {MOST_JUDGED:,} words released afterwards. Blind guessing is right for {blind}."
    )
    if result.public is not None:
        left = result.public.left_out
        apart = f"; {left:,} documents that are among the compared texts were left out" if left else ""
        yield (
            "In context: it also knows which words follow one another in the public text "
            f"{result.public.source} ({result.public.words:,} words{apart}), and reads whole texts, about "
            f"{MOST_IN_CONTEXT:,} words, by forward–backward over bigrams. The better of the two ways counts."
        )
    if "kinds" in asked:
        guess = ", ".join(sorted({percent_fixed(space.blind_kinds) for space in result.spaces}))
        of_first = f" All are judged by the kinds of {result.embedding.name}." if result.several else ""
        yield (
            f"Kinds are {result.kinds}. It names the likeliest kind, and is judged where a word with a kind "
            f"was. Blind guessing is right for {guess}.{of_first}"
        )


@apply_style
def privacy_utility_figure(result: ComparisonResult) -> Figure:
    """Return accuracy against the adversary's success, a colour and shape per mechanism, the Pareto front as
    a line.

    Where released text was decoded there are two panels: words as released, and decoded, both learnt from and
    judged.
    """
    if result.decoding is None:
        figure, right = new_figure(width=6.4, height=4.0)
        _draw(right, result, result.front(), lambda worth: worth.received)
        right.set_ylabel("accuracy on the task")
        right.set_xlabel(_risk_label(result))
    else:
        height = 4.8 if result.several else 4.0
        figure, (left, right) = new_figure(1, 2, width=8.4, height=height, sharey=True)
        _draw(left, result, result.front(), lambda worth: worth.received, "words as released")
        _draw(right, result, result.decoded_front(), lambda worth: worth.best_known, "decoded")
        left.set_ylabel("accuracy, released on both sides")
        figure.supxlabel(_risk_label(result), fontsize=9)
    _add_legend(figure, right, result)
    return figure


def _add_legend(figure: Figure, axes: Axes, result: ComparisonResult) -> None:
    """Say what the marks are: beside the figure, or above it, embeddings by their colours and mechanisms by
    their shapes."""
    if not result.several:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5))
        return
    lines = [line for line in axes.get_legend_handles_labels()[0] if isinstance(line, Line2D)]

    def mark(name: str, color: str, marker: str, fill: Literal["full", "none"] = "full") -> Line2D:
        look: dict[str, Any] = {"linestyle": "none", "markersize": 5, "fillstyle": fill}
        return Line2D([], [], color=color, marker=marker, label=drawable(name), **look)

    colours = [
        mark(space.embedding.name, SERIES[place % len(SERIES)], "o", _filled(place))
        for place, space in enumerate(result.spaces)
    ]
    shapes = [
        mark(name, INK, _MARKERS[place % len(_MARKERS)]) for place, name in enumerate(result.mechanisms)
    ]
    figure.legend(handles=[*colours, *shapes, *lines], loc="outside upper center", ncols=4)


def _filled(place: int) -> Literal["full", "none"]:
    return "full" if place < len(SERIES) else "none"


def _draw(
    axes: Axes,
    result: ComparisonResult,
    front: list[tuple[Row, Worth]],
    accuracy: Callable[[Worth], MeanAndSpread],
    title: str = "",
) -> None:
    if title:
        axes.set_title(title)
        axes.locator_params(axis="x", nbins=5)
    axes.plot(
        [result.risk(worth) for _, worth in front],
        [accuracy(worth).mean for _, worth in front],
        color=INK,
        linewidth=1.0,
        linestyle="--",
        label="Pareto front",
        zorder=1,
    )
    spaces = [space.embedding.name for space in result.spaces] if result.several else [""]
    for (of_space, space), (place, name) in product(enumerate(spaces), enumerate(result.mechanisms)):
        mine = [
            (row, worth) for row, worth in result.matched() if (row.embedding, row.mechanism) == (space, name)
        ]
        own = sorted((worth for _, worth in mine), key=result.risk)
        if own:
            shade = of_space if result.several else place
            axes.errorbar(
                [result.risk(worth) for worth in own],
                [accuracy(worth).mean for worth in own],
                yerr=[accuracy(worth).spread or 0.0 for worth in own],
                marker=_MARKERS[place % len(_MARKERS)],
                color=SERIES[shade % len(SERIES)],
                markerfacecolor=SERIES[shade % len(SERIES)] if shade < len(SERIES) else "none",
                markersize=5,
                linestyle="none",
                elinewidth=0.8,
                label=drawable(mine[0][0].name),
            )
    low, high = axes.get_xlim()
    if (
        high - low < _NARROWEST
    ):  # one target: what was reached differs by chance, and is not to look like more
        axes.set_xlim((low + high - _NARROWEST) / 2, (low + high + _NARROWEST) / 2)
    axes.axhline(result.original, color=MUTED, linewidth=1.0, linestyle=":", label="original text")
    axes.axhline(result.guess, color=MUTED, linewidth=1.0, linestyle="-.", label="most frequent label")


def _risk_label(result: ComparisonResult) -> str:
    who = "success of the Bayes adversary" if result.attacker == "adversary" else READINGS[result.attacker]
    return f"{who} (further left: more private)"
