"""The tables and figures of docs/research/calibration.md, from the results beside it.

calibration-50d.json, calibration-50d-common.json and calibration-300d.json are written by
scripts/calibration/measure.py, calibration-benchmark.json by benchmarks/calibration.py, and
calibration-geometry.json by ``deniable embeddings geometry --json``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from deniable.calibration.compare import PERCENTILES, Averages, Geometry, average_lines, geometry_lines
from deniable.report.curves import curves
from deniable.report.figure import save
from scripts.pages import EXPERIMENTS, FIGURES, csv_text, read_json, table

PAGE = EXPERIMENTS / "calibration.md"
EMBEDDINGS = ("50d", "50d-common", "300d")
ON_THE_PAGE = (1, 3, 5, 7, 10, 15, 5.82, 11.65, 17.47, 23.3, 34.95)
"""The ε of the tables on the page; calibration.csv has all."""
HEAD = ["ε", "average N_w", "median", "95 %", "99 %", "worst", "words above ½", "average distinct"]
HEAD += ["fewest", "under 300", "average S_w"]
Measured = dict[str, Any]


def read(name: str) -> Any:
    """Return a result beside the page."""
    return read_json(EXPERIMENTS / f"calibration-{name}.json")


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    large, common, wide = map(read, EMBEDDINGS)
    benchmark = read("benchmark")
    return {
        "rates": rates(benchmark["draws_per_second"]),
        "times": times(benchmark, large),
        "50d": table(HEAD, [row for row in by_epsilon(large) if float(row[0]) in ON_THE_PAGE], align="r"),
        "300d": table(HEAD, [row for row in by_epsilon(wide) if float(row[0]) in ON_THE_PAGE], align="r"),
        "matched": matched([large, common, wide]),
        "distances": distances(read("geometry")),
        "outputs": outputs(large["outputs"]),
        "exposed": exposed([*large["claim"]["frequent"][:5], *large["claim"]["worst"][:5]]),
    }


def data() -> dict[str, str]:
    """Return N_w, distinct words and S_w of every embedding at each ε."""
    rows = [[name, *row] for name in EMBEDDINGS for row in by_epsilon(read(name))]
    return {"calibration.csv": csv_text(["embedding", *HEAD], rows)}


def draw() -> None:
    """Draw the figures."""
    averaged = average_lines([averages(read(name)) for name in EMBEDDINGS])
    save(curves(averaged, x="ε", y="average N_w"), FIGURES, "calibration-averages")
    large, wide = read("geometry")
    spaces = [geometry(large, "GloVe, 50 dimensions"), geometry(wide, "GloVe, 300 dimensions")]
    distances = geometry_lines(spaces)
    save(
        curves(distances, x="k", y="distance to the k-th neighbour", shares=False),
        FIGURES,
        "calibration-geometry",
    )


def averages(measured: Measured) -> list[Averages]:
    """Return the averages against ε as the figure of ``deniable embeddings compare`` takes them."""
    name = f"{measured['title'].partition(',')[0]}, {measured['words']:,} words"
    return [
        Averages(
            embedding=name,
            dimension=measured["dimension"],
            epsilon=row["epsilon"],
            unchanged=row["average"],
            error=row["error_of_average"],
            support=row["average_support"],
            distinct=row["average_distinct"],
        )
        for row in measured["table"]
    ]


def geometry(measured: Measured, title: str) -> Geometry:
    """Return what ``deniable embeddings geometry --json`` printed of one embedding, to be drawn again."""
    rows = measured["neighbours"]
    percentiles = np.array([[row[f"{p}%"] for p in PERCENTILES] for row in rows])
    neighbours = tuple(row["neighbour"] for row in rows)
    return Geometry(embedding=title, words=measured["words"], neighbours=neighbours, percentiles=percentiles)


def rates(measured: dict[str, float]) -> str:
    """Return exact draws a second of each way, and their ratios to direct simulation."""
    direct = {"faiss, direct": "FAISS IndexFlatL2", "numpy, direct": "blocked NumPy"}
    rows = []
    for name, rate in measured.items():
        ratios = (rate / measured[other] for other in direct)
        shown = (f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}" for ratio in ratios)
        rows.append([f"{direct[name]}, direct" if name in direct else name, f"{rate:,.0f}", *shown])
    head = ["", "exact draws a second", *(f"x {title}" for title in direct.values())]
    return table(head, rows, align="lr").replace("|  |", "| |")


def times(benchmark: Measured, large: Measured) -> str:
    """Return how long whole calibrations take, projected and measured."""
    projected = benchmark["projected_seconds_for_all_words"]
    two, many = (f"{each['threads']} threads" for each in (benchmark, large))
    whole = f"N_w of all {large['words']:,} words at every ε, measured, {many}"
    counts = f"{len(large['table'])} ε of {large['sampled_words']:,} words"
    sample = f"S_w and its error at {counts}, measured, {many}"
    memory = f"{large['largest_memory_bytes'] / 1e9:.1f} GB"
    rows = [
        [f"N_w of all words at every ε, projected, {two}", projected["N_w only"], ""],
        [f"every draw of all words at ten ε, projected, {two}", projected["walked"], ""],
        [whole, large["seconds_for_n_w"], memory],
        [sample, large["seconds_for_s_w_of_the_sample"], ""],
    ]
    shown = [[what, _minutes(seconds), most] for what, seconds, most in rows]
    head = [f"{benchmark['rays']:,} directions", "time", "memory"]
    return table(head, shown, align="lr").replace("|  |", "| |")


def by_epsilon(measured: Measured) -> list[list[str]]:
    """Return N_w, distinct words and S_w at each ε, in the order of HEAD."""
    rows = []
    for row in measured["table"]:
        shares = [_share(row[key]) for key in ("average", "median", "p95", "p99", "worst")]
        counts = [row[key] for key in ("words_above_half", "average_distinct", "fewest_distinct")]
        counts += [row["words_below_300_distinct"], row["average_support"]]
        rows.append([f"{row['epsilon']:g}", *shares, *(f"{count:,.0f}" for count in counts)])
    return rows


def matched(embeddings: list[Measured]) -> str:
    """Return the ε that gives the same average N_w in each embedding, by straight lines between measured
    values."""
    rows = []
    for average in (0.05, 0.1, 0.2, 0.5):
        row = [f"{average:g}"]
        for each in embeddings:
            shares, epsilons = ([at[key] for at in each["table"]] for key in ("average", "epsilon"))
            row.append(f"{np.interp(average, shares, epsilons):.2f}")
        rows.append(row)
    titles = (f"{each['dimension']}d, {each['words']:,} words" for each in embeddings)
    return table(["average N_w", *titles], rows, align="r")


def distances(embeddings: list[Measured]) -> str:
    """Return how far the k-th neighbour of a word is in both embeddings."""
    rows = []
    for first, second in zip(*(each["neighbours"] for each in embeddings), strict=True):
        numbers = (f"{row[key]:.2f}" for row in (first, second) for key in ("5%", "50%", "95%"))
        if first["neighbour"] in (1, 10, 100, 1_000):
            rows.append([f"{first['neighbour']:,}", *numbers])
    return table(["k", "50d: 5 %", "median", "95 %", "300d: 5 %", "median", "95 %"], rows, align="r")


def outputs(measured: Measured) -> str:
    """Return what example words become; in brackets N_w and S_w of the word itself."""
    rows = []
    averages = (50, 100, 200, 300)
    for average, epsilon, row in zip(averages, measured["epsilons"], measured["rows"], strict=True):
        cells = []
        for cell in row:
            others = ", ".join(f"{word} {_share(p)}" for word, p in cell["others"][:4])
            cells.append(f"({_share(cell['unchanged'])}; {cell['support']:,}) {others}")
        rows.append([average, f"{epsilon:g}", *cells])
    return table(["average N_w", "ε", *measured["words"]], rows, align="rrl")


def exposed(words: list[Measured]) -> str:
    """Return words that come out as themselves too often, with why."""
    rows = []
    for row in words:
        counts = f"{row['rank']:,}", _share(row["unchanged"]), f"{row['distinct']:,}"
        rows.append([f"`{row['word']}`", *counts, f"{row['nearest_at']:.2f}", f"{row['norm']:.2f}"])
    return table(["word", "rank", "N_w", "distinct", "nearest word at", "norm"], rows, align="lr")


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _share(value: float) -> str:
    if value < 5e-7:
        return "0"
    if value < 5e-4:
        return f"{value:.1e}"
    return "> .9995" if value >= 0.9995 else f"{value:.3f}".lstrip("0")
