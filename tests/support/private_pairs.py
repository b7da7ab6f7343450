"""Pairs of private texts that have the same public shape, and all that somebody could see of their
releases."""

from __future__ import annotations

import csv
import io
import json
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from deniable import Embedding, Multivariate, Privatizer
from deniable.compression import ENDINGS, compress
from deniable.release.policies import Drafter
from tests.support.made_ods import ods_parts
from tests.support.made_xlsx import sheet_parts, zipped

KNOWN = ["the", "quick", "brown", "fox", "café", "word", "isn't", "of"]
KEPT = ["the", "fox"]
NEVER_RELEASED = ["Brown", "fox's"]
FORMATS = ("txt", "csv", "tsv", "jsonl", "json", "parquet", "xlsx", "ods")
WHOLE = ("parquet", "xlsx", "ods")
PACKINGS = ("", *(ending for ending in ENDINGS if ending != ".zstd"))
OUTPUTS = [f"{form}{packing}" for form in FORMATS for packing in PACKINGS if form not in WHOLE or not packing]

POLICIES: dict[str, dict[str, Any]] = {
    "perturb": {},
    "redact": {"unknown": "redact"},
    "drop": {"unknown": "drop"},
    "punctuation": {"punctuation": "keep"},
    "case": {"case": "keep"},
    "keep words": {"keep_words": KEPT},
    "record epsilon": {"record_epsilon": 12.0},
    "all at once": {
        "unknown": "redact",
        "punctuation": "keep",
        "case": "keep",
        "keep_words": KEPT,
        "record_epsilon": 5.0,
    },
    "drop and keep": {"unknown": "drop", "punctuation": "keep", "case": "keep"},
    "never release": {"never_release": NEVER_RELEASED, "keep_words": KEPT},
}
"""What is given to ``Privatizer`` and, by name, to ``privatize_files``."""

_LETTERS = {
    "Latin": "xyzzq", "Cyrillic": "абвгд", "Greek": "αβγ", "Arabic": "ابتث", "Hebrew": "אבג", "Devanagari": "कखगा", "Han": "漢字",  # noqa: E501
    "Hiragana": "ひらが", "Thai": "กขค", "Hangul": "가나다", "digits": "2345", "other digits": "٣٤", "combining marks": "z\u0335\u0321",  # noqa: E501
    "composed": "e\u0301", "letters and digits": "x7y8", "mathematical": "𝔵𝔶", "full width": "ｘｙ", "soft hyphens": "x\u00ad",  # noqa: E501
    "joiners": "ب\u200d", "ligatures": "ﬁ", "grows when folded": "ß",
}  # fmt: skip
_LENGTHS = (1, 2, 3, 9, 40, 1_000, 45_000)
_BETWEEN = (" ", "  ", "\t", " \u00a0 ", " 😀 ", " \u200b ", " ※ " * 50)
"""What stands between words and is released as one space under every policy."""
_MARKS = (" ", ", ", ". ", " (", ") ", "! ")


@dataclass(frozen=True)
class Pair:
    """Two lists of private texts with the same public shape; ``notes`` are public and go with either."""

    left: list[str | None]
    right: list[str | None]
    notes: list[str]

    def __repr__(self) -> str:
        lengths = [
            [None if text is None else len(text) for text in texts] for texts in (self.left, self.right)
        ]
        return f"Pair of {lengths}, notes {[len(note) for note in self.notes]}"


@cache
def embedding() -> Embedding:
    return Embedding(KNOWN, np.random.default_rng(7).normal(size=(len(KNOWN), 5)), name="tiny")


def strange(kind: str, length: int) -> str:
    """Return one word of this many characters, or somewhat fewer, that no embedding knows."""
    letters = _LETTERS[kind]
    return (letters * (length // len(letters) + 1))[:length]


@cache
def unknown_words() -> list[str]:
    """Return unknown words of many scripts, from one byte to some hundred thousand, each of which is one word
    to the tokeniser."""
    drafter = Drafter(embedding(), Privatizer(Multivariate(embedding(), epsilon=1)).policy)
    words = []
    for kind in _LETTERS:
        for length in _LENGTHS:
            word = strange(kind, length)
            draft = drafter.draft(f"the {word} fox", record=1)
            if (draft.words, draft.unknown) == (3, 1):
                words.append(word)
    assert len(words) > 100, "hardly any of these is one word"
    assert min(len(word.encode()) for word in words) == 1
    assert max(len(word.encode()) for word in words) > 100_000
    return words


def check_shape(pair: Pair, policy: dict[str, Any]) -> None:
    """Do nothing if both sides of a pair are drafted alike: the same words drawn or kept, with the same marks
    and case."""
    private = Privatizer(Multivariate(embedding(), epsilon=1), **policy)
    drafter = Drafter(private.mechanism.embedding, private.policy)
    for left, right in zip(pair.left, pair.right, strict=True):
        if left is None or right is None:
            assert left is right is None
            continue
        assert drafter.draft(left, record=1) == drafter.draft(right, record=1), (
            "these texts have not the same public shape"
        )


@st.composite
def pairs(draw: st.DrawFn, *, most: int = 40) -> Pair:
    """Two lists of texts that differ in their unknown words and in what stands between words."""
    left: list[str | None] = []
    right: list[str | None] = []
    notes: list[str] = []
    words = unknown_words()
    count = draw(st.integers(1, most))
    for number in range(count):
        notes.append(f"note {number} " + "n" * draw(st.sampled_from((0, 0, 0, 5, 3_000))))
        if draw(st.integers(0, 11)) == 0:
            left.append(None)
            right.append(None)
            continue
        texts = ["", ""]
        for _ in range(draw(st.integers(0, 6))):
            known = draw(st.sampled_from((*KNOWN, "The", "FOX", None, None, None)))
            mark = draw(st.sampled_from(_MARKS)) if known is not None else None
            for side in range(2):
                texts[side] += draw(st.sampled_from(words)) if known is None else known
                texts[side] += draw(st.sampled_from(_BETWEEN)) if mark is None else mark
        left.append(texts[0])
        right.append(texts[1])
    return Pair(left, right, notes)


def spread_out(records: int, *, long_words: int, length: int) -> Pair:
    """Return many records of which some hold a word that is short on the left and long on the right."""
    left: list[str | None] = [f"the {KNOWN[i % 8]} nobody{i} of {KNOWN[i % 5]}" for i in range(records)]
    right = list(left)
    for i in range(records // (2 * long_words), records, records // long_words):
        left[i], right[i] = f"the {strange('Latin', 1)} fox", f"the {strange('Cyrillic', length)} fox"
    return Pair(left, right, [f"note {i}" for i in range(records)])


def write_input(
    path: Path, texts: Sequence[str | None], notes: Sequence[str], *, ids: range | None = None
) -> Path:
    """Write texts, ids and notes in the format and the compression that the name says."""
    form = path.name.split(".")[1]
    ids = range(len(texts)) if ids is None else ids
    if form == "parquet":
        table = pa.table({"id": ids, "text": pa.array(texts, pa.string()), "note": notes})
        pq.write_table(table, path, row_group_size=17)
        return path
    if form in ("xlsx", "ods"):
        cells: list[Sequence[str | int | None]] = [
            ["id", "text", "note"],
            *zip(ids, texts, notes, strict=True),
        ]
        path.write_bytes(zipped(sheet_parts(cells) if form == "xlsx" else ods_parts(cells)))
        return path
    if form == "txt":
        content = "".join(f"{text or ''}\n" for text in texts)
    elif form in ("jsonl", "json"):
        rows = [
            {"id": i, "text": text, "note": note} for i, text, note in zip(ids, texts, notes, strict=True)
        ]
        lines = [json.dumps(row, ensure_ascii=i % 2 == 0) for i, row in enumerate(rows)]
        content = f"[{', '.join(lines)}]" if form == "json" else "".join(f"{line}\n" for line in lines)
    else:
        written = io.StringIO(newline="")
        writer = csv.writer(written, delimiter="\t" if form == "tsv" else ",")
        writer.writerow(["id", "text", "note"])
        writer.writerows([i, text or "", note] for i, text, note in zip(ids, texts, notes, strict=True))
        content = written.getvalue()
    path.write_bytes(compress(content.encode(), ENDINGS.get(path.suffix)))
    return path


def all_that_is_seen(folder: Path) -> dict[str, Any]:
    """Return every file of a folder: its mode and its bytes; of receipts, which are private, all but their
    time and the digest of the input, of ledgers, which are private too, their size."""
    seen: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        about, content = path.lstat(), path.read_bytes() if path.is_file() else b""
        shown: Any = content
        if path.name.endswith(".receipt.json"):
            shown = {key: value for key, value in json.loads(content).items() if key != "created"}
            if "files" in shown:
                shown["files"]["input"] = None
        elif path.name == ".deniable-watch":
            shown = len(content)
        seen[str(path.relative_to(folder))] = (stat.filemode(about.st_mode), shown)
    return seen
