"""Writes the released and the public part of each data set of the experiments on purposes, and words as
numbers."""

from __future__ import annotations

import json
import lzma
import random
from collections import Counter
from pathlib import Path
from typing import Any

FEWEST_OF_A_CLASS = 100
NEGATIONS = {"not", "n't", "no", "never", "nothing", "none", "nor", "neither", "without"}
QUESTIONS = (
    "what",
    "how",
    "can",
    "is",
    "does",
    "do",
    "who",
    "why",
    "when",
    "should",
    "will",
    "are",
    "where",
    "which",
)
Record = dict[str, Any]


def prepare(sets: Path, into: Path) -> None:
    """Write every data set, with the public texts that its purpose is learnt from."""
    shuffled = random.Random(5)

    def rows(path: str, label: str = "label", text: str = "text", most: int = 120) -> list[Record]:
        with lzma.open(sets / path, "rt", encoding="utf-8") as lines:
            records = [json.loads(line) for line in lines]
        texts = [f"{each.get('title', '')} {each[text]}".split() for each in records]
        return [
            {"label": each[label], "text": " ".join(words[:most])}
            for each, words in zip(records, texts, strict=True)
        ]

    def write(name: str, records: list[Record]) -> None:
        with lzma.open(into / f"{name}.jsonl.xz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(each, ensure_ascii=False) + "\n" for each in records)
        print(name, len(records))

    def write_text(name: str, records: list[Record]) -> None:
        with lzma.open(into / f"{name}.txt.xz", "wt", encoding="utf-8") as file:
            file.writelines(each["text"] + "\n" for each in records)
        print(name, len(records))

    for name, path in (("sst2", "sst2_sentences"), ("mr", "mr"), ("cr", "cr")):
        write(name, rows(f"short/{path}.jsonl.xz"))
    imdb = rows("imdb/imdb_50k.jsonl.xz", most=150)
    shuffled.shuffle(imdb)
    write("public-sentiment", imdb[:12_000])
    write("imdb", imdb[12_000:17_000])
    write_text("public-reviews", imdb[17_000:35_000])
    news = rows("short/agnews_test_only.jsonl.xz")
    shuffled.shuffle(news)
    write("public-topic", news[:2000])
    write("agnews", news[2000:])
    for name, path, label, text in (
        ("newsgroups", "newsgroups20/20ng_cachopo_bydate.jsonl.xz", "label", "text"),
        ("insurance", "insuranceqa/v2_questions.jsonl.xz", "domain", "question"),
    ):
        records = [each for each in rows(path, label, text) if each["text"]]
        records = _often(records)
        shuffled.shuffle(records)
        write(f"public-{name}", records[:4000])
        write(name, records[4000:9000])
    for name, path in (("c50", "reuters_c50/c50.jsonl.xz"), ("enron", "enron_pan11/enron_pan11.jsonl.xz")):
        records = [each for each in rows(path, "author") if len(each["text"].split()) > 10]
        authors = {author for author, _ in Counter(each["label"] for each in records).most_common(20)}
        write(name, [each for each in records if each["label"] in authors])
    write_text("public-news", rows("reuters_c50/c50.jsonl.xz", "author", most=10_000))
    # Purposes that word vectors do not have along a line: the kind of a question hangs on one function word,
    # and this label on two words.
    kinds = _often(
        [
            each | {"label": kind}
            for each in rows("insuranceqa/v2_questions.jsonl.xz", "domain", "question")
            if (kind := _question(each))
        ]
    )
    random.Random(6).shuffle(kinds)
    write("public-questions", kinds[:4000])
    write("questions", kinds[4000:9000])
    reviews = [
        each | {"label": int(bool(NEGATIONS & set(each["text"].lower().split())) != bool(int(each["label"])))}
        for each in rows("short/sst2_sentences.jsonl.xz")
    ]
    random.Random(7).shuffle(reviews)
    write("public-negation", reviews[:3000])
    write("negation", reviews[3000:])
    # Public texts of another distribution of labels, and as many of an even one.
    for name, records, shares in (
        ("reviews", imdb[:12_000], (2700, 300)),
        ("topic", news[:2000], (490, 70, 70, 70)),
    ):
        labels = sorted({each["label"] for each in records})
        even = [sum(shares) // len(shares)] * len(shares)
        for kind, counts in (("even", even), ("skewed", shares)):
            write(
                f"public-{name}-{kind}",
                [
                    each
                    for label, count in zip(labels, counts, strict=True)
                    for each in _of(records, label)[:count]
                ],
            )


def _of(records: list[Record], label: Any) -> list[Record]:
    return [each for each in records if each["label"] == label]


def _question(record: Record) -> str | None:
    first: str = record["text"].lower().split()[0] if record["text"] else ""
    return first if first in QUESTIONS else None


def _often(records: list[Record]) -> list[Record]:
    often = Counter(each["label"] for each in records)
    return [each for each in records if often[each["label"]] >= FEWEST_OF_A_CLASS]
