"""One page for a comparison: which mechanism is worth most at equal privacy, the figure, the table, and how
it was measured."""

from __future__ import annotations

from collections.abc import Iterator

from deniable.audit.named import MOST_IN_CONTEXT, MOST_JUDGED, WAYS
from deniable.lab.comparison.results import ComparisonResult
from deniable.lab.comparison.words import (
    READINGS,
    Share,
    columns_of,
    decoded,
    finding,
    legend_of,
    met_and_missed,
    places_table,
    received,
    spaces_table,
    target_name,
)
from deniable.report.page import Page
from deniable.report.wording import Lines, Point, percent_fixed


def comparison_page(result: ComparisonResult) -> Page:
    """Return the page."""
    title = "Embeddings and mechanisms at equal privacy" if result.several else "Mechanisms at equal privacy"
    names = 2 if result.several else 1
    page = Page(title, kicker="deniable lab compare", lead=finding(result))
    page.add_facts(
        [
            *([(str(len(result.spaces)), "embeddings")] if result.several else []),
            (str(len(result.mechanisms)), "mechanisms"),
            (f"{result.texts['learn']:,}", "texts to learn from"),
            (f"{result.runs} × {result.texts['words']:,}", "words released at each ε"),
        ]
    )
    page.add_section(
        "Privacy and utility",
        "The further up, the more accurate; the further left, the less an attacker learns.",
    )
    panels: dict[str, Share] = {"words as released": received}
    if result.decoding is not None:
        panels["decoded"] = decoded
    for kind, accuracy in panels.items() if len(result.matched()) > 1 else ():
        front = [f"{row.name} at ε = {row.epsilon:.3g}" for row in result.front(accuracy)]
        page.add_curves(
            lines_of(result, accuracy),
            x=risk_label(result),
            y="accuracy",
            levels=levels_of(result),
            caption=f"Every mechanism at every target, {kind}. Bands are one standard deviation of the runs. "
            f"No other is better in both than {', '.join(front)}.",
        )
    page.add_section("The table", legend_of(result))
    for target in result.targets:
        met, missed = met_and_missed(result, target)
        if met:
            page.add_table(columns_of(result), met, caption=target_name(target), text_columns=names)
        if missed:
            page.add_list([f"At {target_name(target)}, {sentence}" for sentence in missed])
    if result.decoding is not None:
        page.add_section(
            "As released and decoded",
            "Accuracies, in %, by where text is released: the texts to learn from (training), those that are "
            "judged (test), or both. Decoded: after released text was read as the words that are expected "
            "behind it. Mean vectors: the classifier reads the mean of the word vectors of each text, with "
            "text released on both sides.",
        )
        for target in result.targets:
            columns, rows = places_table(result, target)
            if rows:
                page.add_table(columns, rows, caption=target_name(target), text_columns=names)
    if result.several:
        page.add_section(
            "The embeddings",
            "One attacker meets all of them. It names words as they are spelt, in any case, and is judged on "
            "every word of the text. All words that an embedding does not know go in as one; of these it can "
            "name the most frequent one only. So a small vocabulary hides words, at a loss of accuracy.",
        )
        caption = "The texts in each embedding; the last columns are accuracies on original text"
        page.add_table(*spaces_table(result), caption=caption)
    _add_method(page, result)
    return page


def lines_of(result: ComparisonResult, accuracy: Share) -> Lines:
    """Return accuracy against the attacker's success, a line for each mechanism in each embedding."""
    lines: dict[str, list[Point]] = {row.name: [] for row in result.matched()}
    for row in sorted(result.matched(), key=result.risk):
        if (share := accuracy(row)) is not None:
            spread = share.spread or 0.0
            point = Point(result.risk(row), share.mean, share.mean - spread, share.mean + spread)
            lines[row.name].append(point)
    return {name: points for name, points in lines.items() if points}


def levels_of(result: ComparisonResult) -> dict[str, float]:
    """Return the accuracies that do not depend on a release."""
    return {"original text": result.original, "most frequent label": result.guess}


def risk_label(result: ComparisonResult) -> str:
    """Return what the attacker's success is."""
    who = "success of the Bayes adversary" if result.attacker == "adversary" else READINGS[result.attacker]
    return f"{who} (further left: more private)"


def _add_method(page: Page, result: ComparisonResult) -> None:
    sample, texts = result.sample, result.texts
    asked = {target.reading for target in result.targets}
    within = ", ".join(f"{value:g} ({name})" for name, value in result.tolerance.items() if name in asked)
    page.add_section(
        "How it was measured",
        "The ε of different mechanisms do not compare, so ε is searched for each until a reading has the "
        f"wanted value within {within}. Readings are taken on {sample['words']:,} words drawn from the text "
        f"({sample['distinct']:,} distinct); an unknown word counts as changed. The most exposed 1 % of the "
        "text are chosen on one half of the draws and judged on the other.",
        "The adversary knows the mechanism, ε, the embedding, word frequencies, and that the word is one of "
        "the sample. It is judged on fresh draws: a lower bound on the best possible adversary among these "
        f"words. Blind guessing is right for {percent_fixed(sample['guess'])}.",
        *_naming(result),
        f"{texts['learn']:,} texts ({texts['words']:,} words) were released with secure noise, {result.runs} "
        "times; TF-IDF and logistic regression learnt from each release and were tested on "
        f"{texts['test']:,} original texts. Words per second are those of the slowest run on this machine.",
    )
    if result.decoding is not None:
        page.add_text(
            "For a receiver all texts are released. Decoding takes the first "
            f"{result.decoding.support:,} words of the embedding, and the unknown word, for what may have "
            "gone "
            f"in. It knows what each becomes from exact sums, or from at most {result.decoding.directions:,} "
            "points or draws a word."
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
        f"Embedded by {embeddings}, seed {result.seed} for the sample, the split and the readings; deniable "
        f"{result.version}."
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
        left = result.public["left_out"]
        apart = f"; {left:,} documents that are among the compared texts were left out" if left else ""
        yield (
            "In context: it also knows which words follow one another in the public text "
            f"{result.public['source']} ({result.public['words']:,} words{apart}), and reads whole texts, "
            f"about {MOST_IN_CONTEXT:,} words. The better of the two ways counts."
        )
    if "kinds" in asked:
        guess = ", ".join(sorted({percent_fixed(space.blind_kinds) for space in result.spaces}))
        yield (
            f"Kinds are {result.kinds}, by the first embedding. It names the likeliest kind where a word "
            "with "
            f"a kind was. Blind guessing is right for {guess}."
        )
