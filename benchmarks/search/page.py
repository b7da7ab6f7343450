"""The tables and figures of docs/research/search.md, from docs/data/search.json, growth.json and gpu.json."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median
from typing import Any

from scripts.pages import DATA, EXPERIMENTS, FIGURES, read_json, spread, table

from benchmarks.search.contestants import FLAT, NUMPY, OURS, WITHOUT_AMX

Row = dict[str, Any]

PAGE = EXPERIMENTS / "search.md"
LATENCY = (OURS, "deniable without compiler", FLAT, NUMPY)
HEADS = {"words_per_second": "words/s", "memory": "memory, MB"}
TARGETS = {FLAT: 15.0, NUMPY: 4.0, "mldp-text": 100.0, "pypantera": 1000.0}
PEAK_TARGET, PEAK_TARGETS = 0.4, {(400_000, 50): 0.5, (400_000, 300): 0.65}
SHARE_TARGET = 0.8
GPU_TARGETS = {"400,000 x 300": 1_500_000, "400,000 x 50": 4_000_000, "50,000 x 50": 10_000_000}


def tables() -> dict[str, str]:
    """Return the tables of the page."""
    search, gpu = read_json(DATA / "search.json"), read_json(DATA / "gpu.json")["parts"]
    return {
        "latency": latency(search["searches"]),
        "batches": searches_table(search["searches"]),
        "growth": growth_table(read_json(DATA / "growth.json")["points"], gpu_points(gpu)),
        "targets": verdicts(search["searches"], search["shares"]),
        "gpu": gpu_tables(gpu),
        "earlier": searches_table(search["earlier"]["searches"]),
        "peers": peer_lines(search["peers"]),
    }


def draw() -> None:
    """Draw the figures."""
    from benchmarks.search.figure import growth_figure, search_figure

    points = read_json(DATA / "growth.json")["points"], gpu_points(read_json(DATA / "gpu.json")["parts"])
    search_figure(read_json(DATA / "search.json")["searches"]).savefig(FIGURES / "search.png", dpi=130)
    growth_figure(*points).savefig(FIGURES / "growth.png", dpi=130)


def shape_of(row: Row) -> str:
    """Return the size of a vocabulary in words."""
    return f"{row['words']:,} x {row['dimension']}"


def searches_table(rows: list[Row]) -> str:
    """Return all searches as one table."""
    cells = []
    for row in (row for row in rows if "left_out" not in row):
        ranges = [spread(row["words_per_second"]), spread(row["ratios"])]
        cells.append([row["name"], shape_of(row), *ranges, f"{row['recall']:.2%}", f"{row['single_ms']:.2f}"])
    head = ["search", "vocabulary x dimension", "words/s, median [range]", "deniable is faster by"]
    return table([*head, "right words", "one word, ms"], cells)


def latency(rows: list[Row]) -> str:
    """Return how long a single query takes, in milliseconds, sizes in rows and searches in columns."""
    took = {(shape_of(row), row["name"]): f"{row['single_ms']:.2f}" for row in rows if "left_out" not in row}
    names = [name for name in LATENCY if any(name == here for _, here in took)]
    shapes = dict.fromkeys(shape for shape, _ in took)
    cells = [[shape, *(took.get((shape, name), "") for name in names)] for shape in shapes]
    return table(["vocabulary x dimension", *names], cells)


def growth_table(points: list[Row], gpu: list[Row]) -> str:
    """Return words per second and memory of all points, one row a shape, with what a GPU reached beside
    them."""
    ours, theirs = ({(each["words"], each["dimension"]): each for each in some} for some in (points, gpu))
    of_gpu = [name for name in HEADS if any(name in point for point in gpu)]
    rows = [
        [
            f"{shape[0]:,} x {shape[1]}",
            *_cells(ours.get(shape, {}), HEADS),
            *_cells(theirs.get(shape, {}), of_gpu),
        ]
        for shape in sorted(ours | theirs)
    ]
    return table(
        ["vocabulary x dimension", *HEADS.values(), *(f"GPU, {HEADS[name]}" for name in of_gpu)], rows
    )


def _cells(point: Row, names: Iterable[str]) -> list[str]:
    units = {"memory": 1e6}
    return [f"{point[name] / units.get(name, 1.0):,.0f}" if name in point else "" for name in names]


def verdicts(rows: list[Row], shares: dict[str, float]) -> str:
    """Return how the targets stand at the largest size, and what was left out."""
    left_out = [
        f"- {row['name']} at {shape_of(row)}: left out, {row['left_out']}"
        for row in rows
        if "left_out" in row
    ]
    rows = [row for row in rows if "left_out" not in row]
    largest = max(row["words"] * row["dimension"] for row in rows)
    at_largest = {row["name"]: row for row in rows if row["words"] * row["dimension"] == largest}
    lines = []
    for name in (FLAT, NUMPY):
        if name in at_largest:
            factor = _met(median(at_largest[name]["ratios"]), TARGETS[name])
            lines.append(f"- {name} at {shape_of(at_largest[name])}: deniable is {factor} times as fast")
    for row in rows:
        if (factor := median(row["ratios"])) < 1.0:
            where = f"{row['name']} at {shape_of(row)}"
            right = f"it finds {row['recall']:.0%} of the right words"
            lines.append(f"- {where}: faster, deniable is {factor:.1f} times as fast; {right}")
    for row in rows:
        if row["name"] in (OURS, WITHOUT_AMX) and row["peak"] and all(row["peak"]):
            work = row["words"] * row["dimension"]
            pairs = zip(row["words_per_second"], row["peak"], strict=True)
            reached = median(speed * work / peak for speed, peak in pairs)
            target = PEAK_TARGETS.get((row["words"], row["dimension"]), PEAK_TARGET)
            rate = (
                f"{row['median'] * work / 1e9:.0f} of {median(row['peak']) / 1e9:.0f} billion multiply-adds"
            )
            verdict = _met(reached, target, ".0%")
            lines.append(f"- roofline of {row['name']} at {shape_of(row)}: {rate} a second, {verdict}")
    lines += [
        f"- share of the search in Privatizer.many at {size}: {_met(share, SHARE_TARGET, '.1%')}"
        for size, share in shares.items()
    ]
    return "\n".join(lines + left_out)


def _met(value: float, target: float, form: str = ",.1f") -> str:
    return f"{value:{form}} (target {target:{form}}: {'met' if value >= target else 'MISSED'})"


def peer_lines(rows: list[Row]) -> str:
    """Return whole releases of the peers beside ours."""
    lines = []
    for row in rows:
        shape, memory = f"{row['name']} at {row['words']:,} x 300", f"{row['peak_mb'] / 1000:.1f} GB at most"
        if row["failure"]:
            lines.append(f"- {shape}: failed, {row['failure']}")
        elif row["name"] == OURS:
            lines.append(f"- {shape}: {spread(row['words_per_second'])} words/s, {memory}")
        else:
            rates, factor = (
                spread(row["words_per_second"], ",.2f"),
                _met(median(row["ratios"]), TARGETS[row["name"]]),
            )
            lines.append(f"- {shape}: {rates} words/s, {memory}; deniable is {factor} times as fast")
    return "\n".join(lines)


def gpu_tables(parts: Row) -> str:
    """Return what one run on a GPU measured; a part that failed is said to have failed."""
    head = ["vocabulary x dimension", "vectors", "words/s, ids to ids", "target", "of the arithmetic peak"]
    head += ["of cuBLAS alone", "of cuBLAS, padded", "float32 form", "PyTorch alone", "processor"]
    rows, ceiling = [], parts.get("ceiling", {})
    for size, target in GPU_TARGETS.items():
        row = parts.get(f"speed {size}", {"failed": "not run"})
        if "failed" in row:
            rows.append([size, "failed", *[""] * (len(head) - 2)])
            continue
        speed, (words, dimension) = median(row["words_per_second"]), _shape(size)
        peak = speed * 2 * words * dimension / (float(ceiling.get("tflops", "nan")) * 1e12)
        padded = ceiling.get(f"{size} padded")
        shares = [f"{peak:.0%}", f"{row['share_of_cublas']:.0%}"]
        shares.append("not measured" if padded is None else f"{speed / padded:.0%}")
        others = [parts.get(f"{name} {size}", {}).get("words_per_second") for name in ("torch", "processor")]
        beside = ["not run" if rate is None else f"{rate:,.0f}" for rate in (row["float32_form"], *others)]
        verdict = f"{target:,}: {'met' if row['met'] else 'MISSED'}"
        rows.append([size, row["origin"], f"{speed:,.0f}", verdict, *shares, *beside])
    lines = [table(head, rows), ""]
    for name, text, most in (("N_w", "N_w and distinct words", 120),):
        if "seconds" in (row := parts.get(name, {})):
            which = f" of {row['words']:,} words x 1,000 draws" if "words" in row else ""
            verdict = f"(target {most} s: {'met' if row['met'] else 'MISSED'})"
            lines.append(f"- {text}{which}: {row['seconds']:.1f} s {verdict}")
    if "columns" in (row := parts.get("columns", {})):
        first, again = (f"{row['seconds'][f'cuda, {turn}']:.2f} s" for turn in ("first", "again"))
        processor = f"(the same machine's processor: {row['seconds']['processor, again']:.2f} s)"
        what = f"The columns of {row['columns']} released words of 50,000, the points drawn"
        lines.append(f"- {what}: {first}, and {again} again {processor}")
    checks = parts.get("checks", {})
    passed = f"{sum(check['passed'] for check in checks.values())} of {len(checks)} checks"
    lines.append(
        f"- {passed} of the kernels passed on the card, among them words equal to the float64 oracle's"
    )
    return "\n".join(lines)


def gpu_points(parts: Row) -> list[Row]:
    """Return the sizes that were measured on a GPU, with words per second and memory."""
    points = []
    for size in GPU_TARGETS:
        row = parts.get(f"speed {size}", {})
        if "words_per_second" in row:
            words, dimension = _shape(size)
            point = {
                "words": words,
                "dimension": dimension,
                "words_per_second": median(row["words_per_second"]),
            }
            points.append(point | {name: row[name] for name in ("memory",) if name in row})
    return points


def _shape(size: str) -> tuple[int, int]:
    words, dimension = size.replace(",", "").split(" x ")
    return int(words), int(dimension)
