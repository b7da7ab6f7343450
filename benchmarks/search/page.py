"""The tables and the figure of docs/research/search.md, from docs/data/search.json, growth.json and
gpu.json."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from scripts.pages import DATA, EXPERIMENTS, FIGURES, csv_text, read_json, spread, table

from benchmarks.search.contestants import OURS

Row = dict[str, Any]

PAGE = EXPERIMENTS / "search.md"
COLUMNS = (
    "run",
    "search",
    "words",
    "dimension",
    "words per second",
    "faster by",
    "right words",
    "one word, ms",
)
GPU_SIZES = ("400,000 x 300", "400,000 x 50", "50,000 x 50")
COMPARED = ((33_849, 300), (400_000, 300))
"""The sizes at which searches that were measured earlier are compared on the page."""


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    search, gpu = read_json(DATA / "search.json"), read_json(DATA / "gpu.json")["parts"]
    return {
        "searches": searches_table(search["searches"]),
        "processor": processor_table(read_json(DATA / "search-processor.json")["searches"]),
        "earlier": earlier_table(search["earlier"]["searches"]),
        "growth": growth_table([*read_json(DATA / "growth.json")["points"], *gpu_points(gpu)]),
        "gpu": gpu_table(gpu),
        "peers": peers_table(search["peers"]),
    }


def data() -> dict[str, str]:
    """Return every search at every size."""
    search = read_json(DATA / "search.json")
    runs = {"latest": search["searches"], "earlier": search["earlier"]["searches"]}
    return {"search.csv": csv_text(COLUMNS, rows(runs))}


def draw() -> None:
    """Draw the figure."""
    from benchmarks.search.figure import search_figure

    search_figure(read_json(DATA / "search.json")["searches"]).savefig(FIGURES / "search.png", dpi=130)


def rows(runs: dict[str, list[Row]]) -> Iterator[list[object]]:
    """Return one row per run, search and size, in the order of COLUMNS."""
    for run, searches in runs.items():
        for row in (row for row in searches if "left_out" not in row):
            medians = [f"{median(row[name]):.1f}" for name in ("words_per_second", "ratios")]
            shares = [f"{row['recall']:.4f}", f"{row['single_ms']:.2f}"]
            yield [run, row["name"], row["words"], row["dimension"], *medians, *shares]


def shape_of(row: Row) -> str:
    """Return the size of a vocabulary."""
    return f"{row['words']:,} x {row['dimension']}"


def searches_table(measured: list[Row]) -> str:
    """Return words per second, searches in rows and sizes in columns."""
    found = {(row["name"], shape_of(row)): row for row in measured if "left_out" not in row}
    names, shapes = (list(dict.fromkeys(key[place] for key in found)) for place in (0, 1))
    cells = [
        [name, *(f"{median(found[name, shape]['words_per_second']):,.0f}" for shape in shapes)]
        for name in names
    ]
    return table(["words per second", *shapes], cells, align="lr")


def processor_table(measured: list[Row]) -> str:
    """Return words per processor second of one thread, how often ours is as fast, and the share of words
    found."""
    shapes = list(dict.fromkeys(shape_of(row) for row in measured))
    lines: dict[str, list[str]] = {}
    for row in (row for row in measured if "left_out" not in row):
        cells = [f"{median(row['words_per_second']):,.0f}", f"{median(row['ratios']):,.1f}"]
        lines[row["name"]] = [*lines.get(row["name"], []), *cells, f"{row['recall']:.2%}"]
    heads = [f"{shape}: {what}" for shape in shapes for what in ("words", "times", "right")]
    return table(["search", *heads], [[name, *cells] for name, cells in lines.items()], align="lr")


def earlier_table(measured: list[Row]) -> str:
    """Return how much faster our search is than each other one, and the share of words that it finds."""
    lines: dict[str, list[str]] = {}
    for row in measured:
        if (row["words"], row["dimension"]) in COMPARED and row["name"] != OURS:
            cells = [f"{median(row['ratios']):,.1f}", f"{row['recall']:.0%}"]
            lines[row["name"]] = [*lines.get(row["name"], []), *cells]
    heads = [
        f"{words:,} x {dimension}: {what}" for words, dimension in COMPARED for what in ("times", "right")
    ]
    return table(["search", *heads], [[name, *cells] for name, cells in lines.items()], align="lr")


def growth_table(points: list[Row]) -> str:
    """Return words per second and memory against the vocabulary, at 50 and 300 dimensions, of the processor
    and of a GPU."""
    found = {(point["words"], point["dimension"], "gpu" in point): point for point in points}
    cells = []
    for words in sorted({point["words"] for point in points}):
        line = [f"{words:,}"]
        for dimension in (50, 300):
            ours, gpu = (found.get((words, dimension, on_gpu), {}) for on_gpu in (False, True))
            line += [_number(ours, "words_per_second"), _number(ours, "memory", 1e6)]
            line.append(_number(gpu, "words_per_second"))
        cells.append(line)
    heads = [f"{dimension}d: {what}" for dimension in (50, 300) for what in ("words/s", "MB", "GPU, words/s")]
    return table(["vocabulary", *heads], cells, align="r")


def _number(point: Row, name: str, unit: float = 1.0) -> str:
    return f"{point[name] / unit:,.0f}" if name in point else ""


def peers_table(measured: list[Row]) -> str:
    """Return whole releases of the peers beside ours."""
    cells = []
    for row in measured:
        rate = row["failure"] or spread(row["words_per_second"], ",.2f")
        factor = "" if row["failure"] or row["name"] == OURS else f"{median(row['ratios']):,.0f}"
        cells.append([row["name"], rate, f"{row['peak_mb'] / 1000:.1f}", factor])
    return table(["release", "words/s", "GB at most", "deniable is faster by"], cells, align="lr")


def gpu_table(parts: Row) -> str:
    """Return what one run on a GPU measured; a part that failed is said to have failed."""
    head = ["vocabulary x dimension", "words/s, ids to ids", "of the arithmetic peak", "of cuBLAS, padded"]
    head += ["float32 form", "PyTorch alone", "processor"]
    cells, ceiling = [], parts.get("ceiling", {})
    for size in GPU_SIZES:
        row = parts.get(f"speed {size}", {"failed": "not run"})
        if "failed" in row:
            cells.append([size, "failed", *[""] * (len(head) - 2)])
            continue
        speed, (words, dimension) = median(row["words_per_second"]), _shape(size)
        peak = speed * 2 * words * dimension / (float(ceiling.get("tflops", "nan")) * 1e12)
        padded = ceiling.get(f"{size} padded")
        shares = [f"{peak:.0%}", "not measured" if padded is None else f"{speed / padded:.0%}"]
        others = [parts.get(f"{name} {size}", {}).get("words_per_second") for name in ("torch", "processor")]
        beside = ["not run" if rate is None else f"{rate:,.0f}" for rate in (row["float32_form"], *others)]
        cells.append([size, f"{speed:,.0f}", *shares, *beside])
    lines = [table(head, cells, align="lr"), ""]
    if "seconds" in (row := parts.get("N_w", {})):
        which = f"N_w and distinct words of {row['words']:,} words x 1,000 draws"
        lines.append(f"- {which}: {row['seconds']:.1f} s")
    if "columns" in (row := parts.get("columns", {})):
        took = {turn: f"{row['seconds'][turn]:.2f} s" for turn in row["seconds"]}
        lines.append(
            f"- The columns of {row['columns']} released words of 50,000: {took['cuda, first']}, again "
            f"{took['cuda, again']}; the processor of that machine: {took['processor, again']}"
        )
    checks = parts.get("checks", {})
    passed = sum(check["passed"] for check in checks.values())
    lines.append(
        f"- {passed} of {len(checks)} checks of the kernels passed, words against a float64 oracle's"
    )
    return "\n".join(lines)


def gpu_points(parts: Row) -> list[Row]:
    """Return the sizes that were measured on a GPU, with words per second."""
    points = []
    for size in GPU_SIZES:
        row = parts.get(f"speed {size}", {})
        if "words_per_second" in row:
            words, dimension = _shape(size)
            speed = median(row["words_per_second"])
            points.append({"words": words, "dimension": dimension, "words_per_second": speed, "gpu": True})
    return points


def _shape(size: str) -> tuple[int, int]:
    words, dimension = size.replace(",", "").split(" x ")
    return int(words), int(dimension)
