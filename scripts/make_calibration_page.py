"""Write docs/experiments/calibration.md and its figures from the results beside it.

Usage: python scripts/make_calibration_page.py

Reads calibration-50d.json, calibration-50d-common.json and calibration-300d.json (scripts/examine_embedding.py),
calibration-benchmark.json (benchmarks/calibration.py) and calibration-geometry.json (``deniable embeddings geometry --json``).
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import calibration_figures as figures
from calibration_prose import CLAIM, COMPARED, HEAD, REPEAT, SPEED
from deniable.calibration.report.figures import averages_figure, geometry_figure
from deniable.report.figure import save

DOCS = Path(__file__).resolve().parent.parent / "docs"
TARGETS = {"faiss, direct": ("FAISS IndexFlatL2", 1000), "numpy, direct": ("blocked NumPy", 300)}
EMBEDDINGS = ("50d", "300d")
Found = dict[str, Any]


def main() -> None:
    """Draw and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=DOCS / "experiments", help="the folder of the results")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder that the page and the figures are written into")
    options = parser.parse_args()
    read = {
        name: json.loads((options.results / f"calibration-{name}.json").read_text(encoding="utf-8"))
        for name in (*EMBEDDINGS, "50d-common", "benchmark", "geometry")
    }
    large, wide, common = read["50d"], read["300d"], read["50d-common"]
    folder = options.docs / "figures"
    for name in EMBEDDINGS:
        save(figures.histograms(read[name], _shown(read[name])), folder, f"calibration-histograms-{name}")
    save(averages_figure([figures.averages(each) for each in (large, common, wide)]), folder, "calibration-averages")
    titles = [f"GloVe, {each['dimension']} dimensions" for each in (large, wide)]
    save(geometry_figure(*figures.geometries(read["geometry"], titles)), folder, "calibration-geometry")
    parts = [HEAD, _short(read), _speed(read["benchmark"], large), *(_section(read[name], name) for name in EMBEDDINGS)]
    parts += [_side_by_side(large, common, wide, read["geometry"]), _outputs(large, wide), _claim(large), REPEAT]
    (options.docs / "experiments" / "calibration.md").write_text("\n".join(parts), encoding="utf-8")


def _shown(found: Found) -> list[float]:
    """Return the values of ε that histograms are drawn for: those where the average word is neither sure to change nor to stay."""
    moving = [row["epsilon"] for row in found["table"] if 0.003 < row["average"] < 0.97]
    return moving[: figures.SHOWN]


def _ratio(benchmark: Found, other: str) -> float:
    rates = benchmark["draws_per_second"]
    return float(rates["rays, walked"] / rates[other])


def _looked_at(found: Found) -> str:
    measured, words = found["words_measured"], found["words"]
    return f"all {words:,} words" if measured == words else f"{measured:,} random words (of {words:,})"


def _partly(found: Found) -> str:
    if found["words_measured"] == found["words"]:
        return ""
    return f"""
**Not all of it is here yet.** Of {found["title"]}, only {found["words_measured"]:,} of {found["words"]:,} words were looked at, drawn at
random: shares and averages below are estimates from them, the worst of them is not the worst of all.
"""


def _at(found: Found, epsilon: float) -> Found:
    row: Found = next(row for row in found["table"] if row["epsilon"] == epsilon)
    return row


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _gigabytes(size: float) -> str:
    return f"{size / 1e9:.1f} GB"


def _short(read: dict[str, Found]) -> str:
    large, wide, claim, benchmark = read["50d"], read["300d"], read["50d"]["claim"], read["benchmark"]
    faster = " and ".join(f"{_ratio(benchmark, name):,.0f} times as fast as with {title}" for name, (title, _) in TARGETS.items())
    known = [each for each in (large, wide) if each["all_words"] is not None]
    both = " and ".join(
        f"{each['all_words']['epsilon']:.3g} in {each['dimension']} dimensions (average N_w {_share(each['all_words']['average'])})"
        for each in known
    )
    frequent = "*, *".join(word["word"] for word in claim["frequent"][:6])
    average, worst = (_at(large, claim["epsilon"])[name] for name in ("average", "worst"))
    return f"""## In short
{_partly(large)}
- N_w of {_looked_at(large)} at every ε, with {large["rays"]:,} directions each, took {_minutes(large["seconds_for_n_w"])} and
  {_gigabytes(large["largest_memory_bytes"])} of memory on {large["machine"]}. Exact draws are {faster}.
- “At ε = {claim["epsilon"]:g} no word yields fewer than 300 distinct words and none is returned more than 500 times” does **not** hold for
  {claim["either"]:,} of {_looked_at(large)} of GloVe 6B 50d, among them *{frequent}*. `--protect` mends it.
- The largest ε at which *no* word stays itself in more than half of the cases is {both}.
  A useful ε whose worst case holds needs protection of the few isolated words.
- An average says little: at ε = {claim["epsilon"]:g} in 50 dimensions the average word stays in {average:.1%} of the cases, the worst
  in {worst:.2%}.
"""


def _speed(benchmark: Found, large: Found) -> str:
    rates, projected = benchmark["draws_per_second"], benchmark["projected_seconds_for_all_words"]
    (words, dimension), epsilons, two = benchmark["size"], benchmark["epsilons"], f"{benchmark['threads']} threads"
    lines = ["## How fast", "", SPEED, "| | exact draws a second | x FAISS IndexFlatL2 | x blocked NumPy |", "|---|--:|--:|--:|"]
    for name, rate in rates.items():
        label = {"faiss, direct": "FAISS IndexFlatL2, direct", "numpy, direct": "blocked NumPy, direct"}.get(name, name)
        lines.append(f"| {label} | {rate:,.0f} | {_times(rate / rates['faiss, direct'])} | {_times(rate / rates['numpy, direct'])} |")
    verdicts = []
    for name, (title, wanted) in TARGETS.items():
        ratio = _ratio(benchmark, name)
        verdicts.append(f"{wanted:,} times {title}: **{'met' if ratio >= wanted else 'missed'}** ({ratio:,.0f} times, with walks)")
    memory, many = _gigabytes(large["largest_memory_bytes"]), f"{large['threads']} threads"
    lines += [
        "",
        f"{words:,} words x {dimension} dimensions, {benchmark['rays']:,} directions, {len(epsilons)} values of ε from "
        f"{min(epsilons):g} to {max(epsilons):g}; {benchmark['machine']}, {two}, shared with other work; contestants in turn, the "
        f"median of {benchmark['rounds']} rounds. The targets were {' and '.join(verdicts)}.",
        "",
        f"| {benchmark['rays']:,} directions | time | memory |",
        "|---|--:|--:|",
        f"| N_w of all words at every ε, projected, {two} | {_minutes(projected['N_w only'])} | |",
        f"| every draw of all words at ten ε, projected, {two} | {_minutes(projected['walked'])} | |",
        f"| N_w of {_looked_at(large)} at every ε, measured, {many} | {_minutes(large['seconds_for_n_w'])} | {memory} |",
        f"| S_w and its error at {len(large['table'])} ε of {large['sampled_words']:,} words, measured, {many} | "
        f"{_minutes(large['seconds_for_s_w_of_the_sample'])} | |",
        "",
        f"The measured run was on {large['machine']}. N_w is kept as one number for each word and direction, "
        f"{_gigabytes(4 * large['words'] * large['rays'])} on the disk for all words, from which N_w at any other ε is read off. The "
        "memory counts what of this file is mapped.",
        "",
    ]
    return "\n".join(lines)


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _section(found: Found, name: str) -> str:
    sampled = "all words" if found["sampled_words"] == found["words"] else f"{found['sampled_words']:,} words drawn at random"
    lines = [
        f"## {found['title']}",
        "",
        f"{found['words']:,} words, fingerprint `{found['fingerprint'][:12]}`, {found['rays']:,} directions. "
        f"N_w is over {_looked_at(found)}; distinct words and S_w are over {sampled}.",
        "",
        "| ε | average N_w | median | 95 % | 99 % | worst | words above ½ | average distinct | fewest | under 300 | average S_w |",
        "|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for row in found["table"]:
        stays = " | ".join(_share(row[key]) for key in ("average", "median", "p95", "p99", "worst"))
        lines.append(
            f"| {row['epsilon']:g} | {stays} | {row['words_above_half']:,} | {row['average_distinct']:.0f} | {row['fewest_distinct']:,} | "
            f"{row['words_below_300_distinct']:,} | {row['average_support']:,.0f} |"
        )
    errors = max(row["error_of_average"] for row in found["table"])
    lines += [
        "",
        f"The standard error of an average N_w is at most {errors:.4f}: all words share the directions, so it does not vanish with "
        "many words.",
        "",
        f"![Histograms of N_w, distinct words and S_w](../figures/calibration-histograms-{name}.png)",
        "",
        "The dashed lines are one half and 300. The heights are powers of ten: on a linear scale the words beyond the lines can "
        "hardly be seen.",
        "",
    ]
    return "\n".join(lines)


def _share(value: float) -> str:
    return "0" if value < 5e-7 else f"{value:.1e}" if value < 5e-4 else "> .9995" if value >= 0.9995 else f"{value:.3f}".lstrip("0")


def _side_by_side(large: Found, common: Found, wide: Found, geometry: Any) -> str:
    matched = []
    for average in (0.05, 0.1, 0.2, 0.5):
        cells = " | ".join(f"{_reaching(each, average):.2f}" for each in (large, common, wide))
        matched.append(f"| {average:g} | {cells} |")
    header = " | ".join(f"{each['dimension']}d, {each['words']:,} words" for each in (large, common, wide))
    distances = [
        f"| {first['neighbour']:,} | " + " | ".join(f"{row[key]:.2f}" for row in (first, second) for key in ("5%", "50%", "95%")) + " |"
        for first, second in zip(geometry[0]["neighbours"], geometry[1]["neighbours"], strict=True)
    ]
    return "\n".join(
        [
            "## Side by side",
            "",
            COMPARED,
            "![Average N_w and S_w against ε](../figures/calibration-averages.png)",
            "",
            "The ε that gives the same average N_w, between the measured values by a straight line:",
            "",
            f"| average N_w | {header} |",
            "|--:|--:|--:|--:|",
            *matched,
            "",
            f"How far the k-th neighbour of a word is, both cut down to the {geometry[0]['words']:,} words they share:",
            "",
            "![Distance to the k-th neighbour](../figures/calibration-geometry.png)",
            "",
            "| k | 50d: 5 % | median | 95 % | 300d: 5 % | median | 95 % |",
            "|--:|--:|--:|--:|--:|--:|--:|",
            *distances,
            "",
        ]
    )


def _reaching(found: Found, average: float) -> float:
    """Return the ε at which N_w has this average, by a straight line between two measured values."""
    below = max((row for row in found["table"] if row["average"] <= average), key=lambda row: row["epsilon"])
    above = min((row for row in found["table"] if row["average"] > average), key=lambda row: row["epsilon"])
    part = (average - below["average"]) / (above["average"] - below["average"])
    return float(below["epsilon"] + part * (above["epsilon"] - below["epsilon"]))


def _outputs(*embeddings: Found) -> str:
    lines = [
        "## What single words become",
        "",
        "The paper's table of samples, as probabilities: the likeliest other words where the average word is returned 50, 100, 200 and 300 "
        "times in 1,000. In brackets N_w and S_w of the word itself.",
        "",
    ]
    for found in embeddings:
        outputs = found["outputs"]
        lines += [f"**{found['title']}**", "", "| average N_w | ε | " + " | ".join(outputs["words"]) + " |"]
        lines += ["|--:|--:|" + "---|" * len(outputs["words"])]
        for average, epsilon, row in zip((50, 100, 200, 300), outputs["epsilons"], outputs["rows"], strict=True):
            cells = [
                f"({_share(cell['unchanged'])}; {cell['support']:,}) " + ", ".join(f"{word} {_share(p)}" for word, p in cell["others"][:6])
                for cell in row
            ]
            lines.append(f"| {average} | {epsilon:g} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def _claim(found: Found) -> str:
    claim, words, dimension = found["claim"], found["words_measured"], found["dimension"]
    often, few, mended, epsilon = claim["above_half"], claim["too_few_distinct"], claim["protected"], f"{claim['epsilon']:g}"
    alone, others = claim["why"]["exposed"], claim["why"]["others"]
    ranks = ", ".join(f"{row['words']:,} of them are among the first {row['up_to']:,}" for row in claim["by_rank"][:-1] if row["words"])
    return f"""## “At ε = {epsilon} no word …”

{CLAIM}
- **{often:,}** of {_looked_at(found)} ({often / words:.2%}) are returned in more than half of the draws,
  {claim["unchanged_in_999_of_1000"]:,} of them in 999 of 1,000 or more.
- **{few:,}** words give fewer than 300 distinct words in 1,000 draws; {claim["either"]:,} words miss one or the other. Distinct words
  were counted for the {claim["suspects"]:,} words with N_w above {claim["suspect_above"]:g}; of {claim["sampled_others"]:,} random
  other words {_none(claim["sampled_others_with_too_few"])} fewer than 300 (the fewest: {claim["fewest_distinct_of_sampled_others"]:,}).
- The file is sorted by frequency: {ranks} words.
- **Why.** They lie alone. Their median distance to the nearest word is {alone["nearest_at"]:.2f}, of other words
  {others["nearest_at"]:.2f}; their vectors are long, {alone["norm"]:.2f} against {others["norm"]:.2f}. Noise is about
  {dimension}/ε = {dimension / claim["epsilon"]:.0f} long, but in a random direction: only about a {_part(dimension)} of it leads
  towards any one neighbour, and a word without near neighbours stays the nearest.

The most frequent of them:

{_words(claim["frequent"])}

Those that change least:

{_words(claim["worst"])}

**Protection mends it.** With `deniable calibrate --max-unchanged 0.5 --min-distinct 300 --epsilon {epsilon} --protect nearest --as NAME`
these {mended["words"]:,} words go in as their nearest word that is not exposed. Computed again, the largest N_w among them is
{mended["largest_unchanged"]:.5g} and the fewest distinct words are {mended["fewest_distinct"]:,}; none comes out as itself more often than
in {mended["largest_released_as_itself"]:.1%} of the cases. All other words are as they were. [The guarantee](../guarantee.md) then holds
with the distance between the words that stand in.
"""


def _part(dimension: int) -> str:
    """Return in words the root of 1/n: the size of a coordinate of a random direction."""
    return {50: "seventh", 300: "seventeenth"}[dimension]


def _none(count: int) -> str:
    return "none had" if count == 0 else f"{count:,} had"


def _words(rows: list[Found]) -> str:
    lines = ["| word | rank | N_w | distinct | nearest word at | norm |", "|---|--:|--:|--:|--:|--:|"]
    for row in rows:
        numbers = f"{_share(row['unchanged'])} | {row['distinct']:,} | {row['nearest_at']:.2f} | {row['norm']:.2f}"
        lines.append(f"| `{row['word']}` | {row['rank']:,} | {numbers} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
