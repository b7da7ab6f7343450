"""The section of the search page about a GPU, written from what scripts/gpu/check.py measured."""

from __future__ import annotations

from statistics import median
from textwrap import fill
from typing import Any

TARGETS = {"400,000 x 300": 1_500_000, "400,000 x 50": 4_000_000, "50,000 x 50": 10_000_000}
COLUMNS = (
    "vocabulary x dimension",
    "vectors",
    "words/s, ids to ids",
    "target",
    "of the arithmetic peak",
    "of cuBLAS alone",
    "of cuBLAS, padded",
    "float32 form",
    "FAISS flat",
    "processor",
)

AGAIN = """\
Words go in and come out as ids; noise is drawn and words are searched for on the card (`--device cuda`). A word takes one multiply-add for
each number of the vocabulary's vectors; "of the arithmetic peak" is the share that these alone have of what cuBLAS reaches in a square
bfloat16 product, with noise, proof and transfers all in our time. "Of cuBLAS alone" compares with the bfloat16 product of points and
vectors by cuBLAS, all scores written and none looked at. It can exceed 100 % because the two do not do the same: cuBLAS writes its scores
to memory, which our kernel never does, and gets rows of 300 or 50 numbers as they are, while ours are padded; "padded" is cuBLAS with rows
of 320 or 64, which are its faster case. So the arithmetic peak is the card's limit, not that product.
"Float32 form" is our search by PyTorch's own float32 products, "processor" our search on the processor of the same machine, both without
noise. Measure it again on a machine with an NVIDIA GPU: `PYTHONPATH=src:. python -m scripts.gpu.check
--glove glove.840B.300d.34k.w2v.txt.bz2 --json docs/data/gpu.json`, then `python benchmarks/search.py --from-json docs/data/search.json
--page docs/search.md`.
"""


def gpu_section(found: dict[str, Any]) -> str:
    """Write the tables of one run; a part that failed is said to have failed."""
    parts = found["parts"]
    about = parts["environment"]
    lines = ["## On a GPU\n", AGAIN]
    lines.append(fill(f"{about['card']}, driver {about['driver']}, PyTorch {about['torch']}, Triton {about['triton']}.", 130) + "\n")
    lines += [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    for size in TARGETS:
        row = parts.get(f"speed {size}", {"failed": "not run"})
        if "failed" in row:
            lines.append(f"| {size} | failed |" + " |" * (len(COLUMNS) - 2))
            continue
        speed, target = median(row["words_per_second"]), f"{TARGETS[size]:,}: {'met' if row['met'] else 'MISSED'}"
        beside = [_speed(parts.get(f"{name} {size}", {})) for name in ("FAISS", "processor")]
        lines.append(
            f"| {size} | {row['origin']} | {speed:,.0f} | {target} | {_share_of_peak(size, speed, parts):.0%} "
            f"| {row['share_of_cublas']:.0%} | {_share_of_padded(size, speed, parts)} | {row['float32_form']:,.0f} "
            f"| {beside[0]} | {beside[1]} |"
        )
    lines.append("")
    others = (
        ("channel", "The channel of 50,000 words x 2,000 draws, counted on the card", 20),
        ("N_w", "N_w and distinct words", 120),
    )
    for name, text, most in others:
        row = parts.get(name, {})
        if "seconds" in row:
            which = f" of {row['words']:,} words x 1,000 draws" if "words" in row else ""
            lines.append(f"- {text}{which}: {row['seconds']:.1f} s (target {most} s: {'met' if row['met'] else 'MISSED'})")
    if "columns" in (row := parts.get("columns", {})):
        first, again = (f"{row['seconds'][f'cuda, {turn}']:.2f} s" for turn in ("first", "again"))
        lines.append(
            f"- The columns of {row['columns']} released words of 50,000, the points drawn: {first}, and {again} again "
            f"(the same machine's processor: {row['seconds']['processor, again']:.2f} s)"
        )
    checks = parts.get("checks", {})
    passed = sum(1 for check in checks.values() if check["passed"])
    lines.append(f"- {passed} of {len(checks)} checks of the kernels passed on the card, among them words equal to the float64 oracle's")
    return "\n".join(lines) + "\n"


def gpu_points(found: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the sizes that were measured and their words per second, for the figure of how cost grows."""
    parts = {} if found is None else found["parts"]
    return [
        {"words": _shape(size)[0], "dimension": _shape(size)[1], "words_per_second": median(row["words_per_second"])}
        | {name: row[name] for name in ("memory",) if name in row}
        for size in TARGETS
        if "words_per_second" in (row := parts.get(f"speed {size}", {}))
    ]


def _shape(size: str) -> tuple[int, int]:
    words, dimension = size.replace(",", "").split(" x ")
    return int(words), int(dimension)


def _share_of_peak(size: str, speed: float, parts: dict[str, Any]) -> float:
    """Return the share of the arithmetic: two operations for each number of the vectors, against those of a square product."""
    words, dimension = _shape(size)
    return speed * 2 * words * dimension / (float(parts.get("ceiling", {}).get("tflops", "nan")) * 1e12)


def _share_of_padded(size: str, speed: float, parts: dict[str, Any]) -> str:
    limit = parts.get("ceiling", {}).get(f"{size} padded")
    return "not measured" if limit is None else f"{speed / limit:.0%}"


def _speed(row: dict[str, Any]) -> str:
    return f"{row['words_per_second']:,.0f}" if "words_per_second" in row else row.get("left_out", "not run")
