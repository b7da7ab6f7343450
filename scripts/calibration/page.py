"""The tables and figures of docs/experiments/calibration.md, from the results beside it.

calibration-50d.json, calibration-50d-common.json and calibration-300d.json are written by
scripts/calibration/measure.py, calibration-benchmark.json by benchmarks/calibration.py, and
calibration-geometry.json by ``deniable embeddings geometry --json``.
"""

from __future__ import annotations

import json
from typing import Any

from deniable.calibration.report.figures import averages_figure, geometry_figure
from deniable.report.figure import save
from scripts.calibration import figures
from scripts.pages import EXPERIMENTS, ROOT, table

PAGE = EXPERIMENTS / "calibration.md"
EMBEDDINGS = ("50d", "300d")
Found = dict[str, Any]


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    large, wide, common, benchmark, geometry = (
        read(name) for name in (*EMBEDDINGS, "50d-common", "benchmark", "geometry")
    )
    return {
        "rates": rates(benchmark["draws_per_second"]),
        "times": times(benchmark, large),
        "50d": by_epsilon(large),
        "300d": by_epsilon(wide),
        "matched": matched([large, common, wide]),
        "distances": distances(geometry),
        "outputs 50d": outputs(large["outputs"]),
        "outputs 300d": outputs(wide["outputs"]),
        "frequent": exposed(large["claim"]["frequent"]),
        "worst": exposed(large["claim"]["worst"]),
    }


def draw() -> None:
    """Draw the figures."""
    folder = ROOT / "docs" / "figures"
    large, wide, common = (read(name) for name in (*EMBEDDINGS, "50d-common"))
    for name in EMBEDDINGS:
        found = read(name)
        # Those where the average word is neither sure to change nor to stay.
        shown = [row["epsilon"] for row in found["table"] if 0.003 < row["average"] < 0.97][: figures.SHOWN]
        save(figures.histograms(found, shown), folder, f"calibration-histograms-{name}")
    save(
        averages_figure([figures.averages(each) for each in (large, common, wide)]),
        folder,
        "calibration-averages",
    )
    titles = [f"GloVe, {each['dimension']} dimensions" for each in (large, wide)]
    save(geometry_figure(*figures.geometries(read("geometry"), titles)), folder, "calibration-geometry")


def read(name: str) -> Any:
    """Return a result beside the page."""
    return json.loads((EXPERIMENTS / f"calibration-{name}.json").read_text(encoding="utf-8"))


def rates(found: dict[str, float]) -> str:
    """Return exact draws a second of each way, and their ratios to direct simulation."""
    titles = {"faiss, direct": "FAISS IndexFlatL2, direct", "numpy, direct": "blocked NumPy, direct"}
    rows = [
        [
            titles.get(name, name),
            f"{rate:,.0f}",
            *(_times(rate / found[other]) for other in ("faiss, direct", "numpy, direct")),
        ]
        for name, rate in found.items()
    ]
    return table(
        ["", "exact draws a second", "x FAISS IndexFlatL2", "x blocked NumPy"], rows, align="lr"
    ).replace("|  |", "| |")


def times(benchmark: Found, large: Found) -> str:
    """Return how long whole calibrations take, projected and measured."""
    projected, two, many = (
        benchmark["projected_seconds_for_all_words"],
        f"{benchmark['threads']} threads",
        f"{large['threads']} threads",
    )
    rows = [
        [f"N_w of all words at every ε, projected, {two}", _minutes(projected["N_w only"]), ""],
        [f"every draw of all words at ten ε, projected, {two}", _minutes(projected["walked"]), ""],
        [
            f"N_w of all {large['words']:,} words at every ε, measured, {many}",
            _minutes(large["seconds_for_n_w"]),
            f"{large['largest_memory_bytes'] / 1e9:.1f} GB",
        ],
        [
            f"S_w and its error at {len(large['table'])} ε of {large['sampled_words']:,} words, measured, "
            f"{many}",
            _minutes(large["seconds_for_s_w_of_the_sample"]),
            "",
        ],
    ]
    return table([f"{benchmark['rays']:,} directions", "time", "memory"], rows, align="lr").replace(
        "|  |", "| |"
    )


def by_epsilon(found: Found) -> str:
    """Return N_w, distinct words and S_w at each ε."""
    rows = [
        [
            f"{row['epsilon']:g}",
            *(_share(row[key]) for key in ("average", "median", "p95", "p99", "worst")),
            f"{row['words_above_half']:,}",
            f"{row['average_distinct']:.0f}",
            f"{row['fewest_distinct']:,}",
            f"{row['words_below_300_distinct']:,}",
            f"{row['average_support']:,.0f}",
        ]
        for row in found["table"]
    ]
    head = [
        "ε",
        "average N_w",
        "median",
        "95 %",
        "99 %",
        "worst",
        "words above ½",
        "average distinct",
        "fewest",
        "under 300",
        "average S_w",
    ]
    return table(head, rows, align="r")


def matched(embeddings: list[Found]) -> str:
    """Return the ε that gives the same average N_w in each embedding."""
    rows = [
        [f"{average:g}", *(f"{_reaching(each, average):.2f}" for each in embeddings)]
        for average in (0.05, 0.1, 0.2, 0.5)
    ]
    return table(
        ["average N_w", *(f"{each['dimension']}d, {each['words']:,} words" for each in embeddings)],
        rows,
        align="r",
    )


def distances(geometry: list[Found]) -> str:
    """Return how far the k-th neighbour of a word is in both embeddings."""
    both = zip(geometry[0]["neighbours"], geometry[1]["neighbours"], strict=True)
    rows = [
        [
            f"{first['neighbour']:,}",
            *(f"{row[key]:.2f}" for row in (first, second) for key in ("5%", "50%", "95%")),
        ]
        for first, second in both
    ]
    return table(["k", "50d: 5 %", "median", "95 %", "300d: 5 %", "median", "95 %"], rows, align="r")


def outputs(found: Found) -> str:
    """Return what example words become; in brackets N_w and S_w of the word itself."""
    rows = []
    for average, epsilon, row in zip((50, 100, 200, 300), found["epsilons"], found["rows"], strict=True):
        cells = [
            f"({_share(cell['unchanged'])}; {cell['support']:,}) "
            + ", ".join(f"{word} {_share(p)}" for word, p in cell["others"][:6])
            for cell in row
        ]
        rows.append([average, f"{epsilon:g}", *cells])
    return table(["average N_w", "ε", *found["words"]], rows, align="rrl")


def exposed(words: list[Found]) -> str:
    """Return words that come out as themselves too often, with why."""
    rows = [
        [
            f"`{row['word']}`",
            f"{row['rank']:,}",
            _share(row["unchanged"]),
            f"{row['distinct']:,}",
            f"{row['nearest_at']:.2f}",
            f"{row['norm']:.2f}",
        ]
        for row in words
    ]
    return table(["word", "rank", "N_w", "distinct", "nearest word at", "norm"], rows, align="lr")


def _reaching(found: Found, average: float) -> float:
    """Return the ε at which N_w has this average, by a straight line between two measured values."""
    below = max((row for row in found["table"] if row["average"] <= average), key=lambda row: row["epsilon"])
    above = min((row for row in found["table"] if row["average"] > average), key=lambda row: row["epsilon"])
    part = (average - below["average"]) / (above["average"] - below["average"])
    return float(below["epsilon"] + part * (above["epsilon"] - below["epsilon"]))


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def _share(value: float) -> str:
    return (
        "0"
        if value < 5e-7
        else f"{value:.1e}"
        if value < 5e-4
        else "> .9995"
        if value >= 0.9995
        else f"{value:.3f}".lstrip("0")
    )
