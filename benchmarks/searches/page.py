"""The page of the documentation that shows a run of the search benchmark."""

from __future__ import annotations

from textwrap import fill
from typing import Any

from searches.contestants import FLAT, NUMPY, OURS
from searches.gpu_page import gpu_points, gpu_section
from searches.growth import section as growth_section
from searches.report import peer_lines, table, verdicts

Row = dict[str, Any]

LATENCY = (OURS, "deniable without compiler", FLAT, NUMPY, "FAISS HNSW")

INTRODUCTION = """\
# How fast the search is

<!-- Written by benchmarks/search.py --page; change it there. -->

The nearest-word search is nearly the whole cost of a release. `benchmarks/search.py` compares searches in one run, on the same noisy
queries and with the same threads, in turns; a ratio is the median of the ratios within a round. The vectors are GloVe 840B
(33,849 words), enlarged with jittered copies to the larger sizes, and word2vec of unit length (26,423 words; ε is larger there by as
much as its vectors are shorter, so that the noise is the same in proportion). At 50 dimensions they are all of GloVe 6B. Searches that
live on matrix products get batches of 1,024 queries at least. "Right words" is the share of queries with the word the exact search
finds: approximate searches lose much on noisy queries. The roofline is the vector instruction alone (vpdpbusd where there is one), on
registers, measured in the same round; AMX, which multiplies matrices, goes beyond it. "deniable without AMX" is our search as processors
have it that lack AMX.

Measure it again: `python benchmarks/search.py --peer-python peers/bin/python --json search.json --figure docs/figures/search.png
--page docs/search.md`, after `pip install faiss-cpu usearch scikit-learn matplotlib`.

![Words per second against vocabulary size and dimension, and the share of right words](figures/search.png)
"""

EARLIER = """\
## Searches measured earlier

These take long to build and to run: they were measured before, beside our search as it was then, and not again.
"""

PEERS = """\
## Whole releases beside the peers

Measured with those above. mldp-text and pyPANTERA cannot be measured as searches alone, so these are whole releases, texts of
{text_words} words, ours and theirs in turn. For each text pyPANTERA holds the differences to every vector of the vocabulary as float64: 8
bytes x dimension x vocabulary x words of the text, 0.96 GB a word at 400,000 x 300. So it is the length of the texts that stops it, not
the vocabulary: texts of two words run at 400,000 words, while a review of 230 words would need 220 GB there.
"""


def page(
    found: dict[str, Any],
    growth: dict[str, Any] | None = None,
    gpu: dict[str, Any] | None = None,
) -> str:
    """Write the page from what the benchmark measured; how cost grows and how fast a GPU is, if that was measured."""
    rows, peers = found["searches"], found["peers"]
    setting = found["setting"][0].upper() + found["setting"][1:]
    parts = [INTRODUCTION, fill(f"{setting}. {found['machine']}. {found['note']}", 130) + "\n"]
    parts += ["## One word at a time\n", latency(rows) + "\n", "## Batches\n", table(rows) + "\n"]
    if growth is not None:
        parts.append(growth_section(growth, gpu_points(gpu)))
    parts += ["## Against the targets\n", verdicts(rows, found["shares"]) + "\n"]
    if found["misses"]:
        parts.append(fill(found["misses"], 130) + "\n")
    if gpu is not None:
        parts.append(gpu_section(gpu))
    if earlier := found.get("earlier"):
        about = f"{earlier['setting'][0].upper()}{earlier['setting'][1:]}; {earlier['machine']}. {earlier['note']}"
        parts += [EARLIER, fill(about, 130) + "\n", table(earlier["searches"]) + "\n"]
    if peers:
        parts += [PEERS.format(text_words=found["text_words"]), peer_lines(peers) + "\n"]
    return "\n".join(parts)


def latency(rows: list[Row]) -> str:
    """Write how long a single query takes, in milliseconds, sizes in rows and searches in columns."""
    took = {(row["words"], row["dimension"], row["name"]): row["single_ms"] for row in rows if "left_out" not in row}
    shapes = list(dict.fromkeys((words, dimension) for words, dimension, _ in took))
    names = [name for name in LATENCY if any(name == here for _, _, here in took)]
    lines = ["Milliseconds, median:\n", f"| vocabulary x dimension | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
    for words, dimension in shapes:
        cells = [f"{took[words, dimension, name]:.2f}" if (words, dimension, name) in took else "" for name in names]
        lines.append(f"| {words:,} x {dimension} | {' | '.join(cells)} |")
    return "\n".join(lines)
