"""Write the released and the public part of each data set of the experiments on purposes.

python -m scripts.purpose.prepare DATASETS DATA
"""

from __future__ import annotations

import json
import lzma
import random
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from scripts.pages import json_lines

FEWEST_OF_A_CLASS = 100
NEGATIONS = {"not", "n't", "no", "never", "nothing", "none", "nor", "neither", "without"}
_QUESTIONS = "what how can is does do who why when should will are where which"
QUESTIONS = frozenset(_QUESTIONS.split())
Record = dict[str, Any]


def prepare(sets: Path, into: Path) -> None:
    """Write every data set, with the public texts that its purpose is learnt from."""
    shuffled = random.Random(5)
    into.mkdir(parents=True, exist_ok=True)

    def rows(path: str, label: str = "label", text: str = "text", most: int = 120) -> list[Record]:
        records = json_lines(sets / path)
        texts = [f"{each.get('title', '')} {each[text]}".split()[:most] for each in records]
        pairs = zip(records, texts, strict=True)
        return [{"label": each[label], "text": " ".join(words)} for each, words in pairs]

    def write(name: str, records: list[Record], *, plain: bool = False) -> None:
        path = into / f"{name}.{'txt' if plain else 'jsonl'}.xz"
        with lzma.open(path, "wt", encoding="utf-8") as file:
            for each in records:
                file.write((each["text"] if plain else json.dumps(each, ensure_ascii=False)) + "\n")
        print(name, len(records))

    for name, path in (("sst2", "sst2_sentences"), ("mr", "mr"), ("cr", "cr")):
        write(name, rows(f"short/{path}.jsonl.xz"))
    imdb = rows("imdb/imdb_50k.jsonl.xz", most=150)
    shuffled.shuffle(imdb)
    write("public-sentiment", imdb[:12_000])
    write("imdb", imdb[12_000:17_000])
    write("public-reviews", imdb[17_000:35_000], plain=True)
    news = rows("short/agnews_test_only.jsonl.xz")
    shuffled.shuffle(news)
    write("public-topic", news[:2000])
    write("agnews", news[2000:])
    insurance = ("insuranceqa/v2_questions.jsonl.xz", "domain", "question")
    for name, source in (
        ("newsgroups", ("newsgroups20/20ng_cachopo_bydate.jsonl.xz", "label", "text")),
        ("insurance", insurance),
    ):
        records = _often([each for each in rows(*source) if each["text"]])
        shuffled.shuffle(records)
        write(f"public-{name}", records[:4000])
        write(name, records[4000:9000])
    for name, path in (("c50", "reuters_c50/c50.jsonl.xz"), ("enron", "enron_pan11/enron_pan11.jsonl.xz")):
        records = [each for each in rows(path, "author") if len(each["text"].split()) > 10]
        authors = {author for author, _ in Counter(each["label"] for each in records).most_common(20)}
        write(name, [each for each in records if each["label"] in authors])
    write("public-news", rows("reuters_c50/c50.jsonl.xz", "author", most=10_000), plain=True)
    # Purposes that word vectors do not have along a line: the kind of a question hangs on one function word,
    # and this label on two words.
    first = ((each, each["text"].lower().split()[:1]) for each in rows(*insurance))
    kinds = _often([each | {"label": word[0]} for each, word in first if QUESTIONS & set(word)])
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
        for kind, counts in (("even", [sum(shares) // len(shares)] * len(shares)), ("skewed", shares)):
            some = [
                each
                for label, count in zip(labels, counts, strict=True)
                for each in [each for each in records if each["label"] == label][:count]
            ]
            write(f"public-{name}-{kind}", some)


def _often(records: list[Record]) -> list[Record]:
    often = Counter(each["label"] for each in records)
    return [each for each in records if often[each["label"]] >= FEWEST_OF_A_CLASS]


if __name__ == "__main__":
    prepare(Path(sys.argv[1]), Path(sys.argv[2]))
