"""Measure how well text in other languages is cut into words, and what releases of it are still good for.

    python -m scripts.languages.measure cutting --data ../shared/data/languages
    python -m scripts.languages.measure utility --data ../shared/data/languages
    python -m scripts.languages.measure calibration --data ../shared/data/languages
    python -m scripts.pages languages

Each part is written into docs/research/languages.json beside the others. ``cutting`` takes seconds,
``utility`` some ten minutes of one core, ``calibration`` two minutes. The data are gold-segmented sentences
(Universal Dependencies), labelled texts and public vectors: docs/guide/languages.md says which. Embeddings
are added as users add them, in a folder of their own that is removed at the end.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any

import regex

from deniable import Embedding
from deniable.calibration.choice import Targets
from deniable.calibration.run import calibrate, sampled
from deniable.embeddings import store
from deniable.utility.measurement import measure_utility
from deniable.words.cutter import Cutter
from deniable.words.languages import normalise
from deniable.words.public_text import read_lines
from scripts.pages import EXPERIMENTS, options_of, read_json, write_json

RESULT = EXPERIMENTS / "languages.json"
VECTORS = {
    "fr": "spacy.fasttext.fr.300d.20k.vec.xz",
    "ja": "chive.ginza.ja.300d.20k.vec.xz",
    "ru": "navec.news.ru.300d.30k.vec.xz",
    "zh": "synonyms.zhwiki.100d.20k.vec.xz",
}
GOLD = {
    "fr": "ud.fr.fr_gsd-test.jsonl.xz",
    "ja": "ud.ja.ja_gsd-test.jsonl.xz",
    "zh": "ud.zh.zh_gsdsimp-test.jsonl.xz",
    "ru": "ud.ru.ru_gsd-test.jsonl.xz",
    "de": "ud.de.de_gsd-test.jsonl.xz",
    "es": "ud.es.es_gsd-test.jsonl.xz",
    "ar": "ud.ar.ar_pud-test.jsonl.xz",
}
LABELLED = {
    "fr": "classify.fr.umsab_sentiment.jsonl.xz",
    "ja": "classify.ja.jrte_pn.jsonl.xz",
    "ru": "classify.ru.appropriateness_v1.jsonl.xz",
}
SHARES = (0.25, 0.5, 0.75)
RUNS, MOST_TEXTS = 3, 6_000
SCORES = {"accuracy": "", "macro F1": "_f1"}
_LETTER_OR_DIGIT = regex.compile(r"[\p{L}\p{N}]")
Gold = list[tuple[str, list[str]]]


def main() -> None:
    """Measure one part and write it beside the others."""
    parser = options_of(__doc__)
    parser.add_argument("part", choices=("cutting", "utility", "calibration"))
    parser.add_argument("--data", type=Path, required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["DENIABLE_HOME"] = home
        if given.part == "cutting":
            measured: Any = {language: measure_cutting(given.data, language) for language in GOLD}
        elif given.part == "utility":
            measured = {language: utility_of(given.data, language) for language in LABELLED}
        else:
            measured = calibration_of(given.data)
    write_json(RESULT, {**(read_json(RESULT) if RESULT.exists() else {}), given.part: measured})


def open_vectors(data: Path, language: str) -> Embedding:
    """Return the embedding of a language, added as users add it."""
    if language not in {facts.name for facts in store.installed()}:
        store.add(data / VECTORS[language], language)
    return Embedding.open(language)


def measure_cutting(data: Path, language: str) -> dict[str, Any]:
    """Return how the words of the sentences agree with gold, by the plain rules and by those of the
    vocabulary."""
    records = map(json.loads, read_lines(data / GOLD[language]))
    gold: Gold = [(record["text"], record["words"]) for record in records]
    found: dict[str, Any] = {"sentences": len(gold), "vocabulary": None, "gold_known": None, "asks_for": []}
    # Without vectors it is an English vocabulary in effect.
    vocabulary = Embedding(["'s", "n't"], [[0.0], [1.0]])
    if language in VECTORS:
        vocabulary = open_vectors(data, language)
        words = [
            normalise(word).lower() for _, some in gold for word in some if _LETTER_OR_DIGIT.search(word)
        ]
        known = sum(word in vocabulary.index for word in words) / len(words)
        found |= {"vocabulary": len(vocabulary), "gold_known": round(known, 4)}
    rules = vocabulary.language_rules
    by_rules = {} if rules is None else {"rules": compare(vocabulary, gold)}
    found["asks_for"] = [] if rules is None else list(rules.in_words)
    vocabulary.cut_plainly()
    return {**found, "plain": compare(vocabulary, gold), **by_rules}


def compare(vocabulary: Embedding, gold: Gold) -> dict[str, float]:
    """Return precision, recall and F1 of boundaries and words, the number of words, and the share that the
    vocabulary knows.

    A boundary is a place where a word starts or ends. Gold words without a letter or a digit are left out, as
    the cutter leaves them out.
    """
    cutter, counts = Cutter(vocabulary), Counter[str]()
    for text, gold_words in gold:
        words, gaps = cutter.words_and_gaps(text)
        counts["words"] += len(words)
        counts["known"] += sum(i != vocabulary.unknown_id for i in cutter.ids(words))
        pieces = [piece for pair in zip(gaps, [*words, ""], strict=True) for piece in pair]
        spans = list(pairwise(accumulate(map(len, pieces), initial=0)))
        ours, theirs = set(spans[1:-1:2]), set(gold_spans(cutter, "".join(pieces), gold_words))
        for what, mine, right in (
            ("word", ours, theirs),
            ("boundary", set(chain(*ours)), set(chain(*theirs))),
        ):
            counts[f"{what} ours"] += len(mine)
            counts[f"{what} theirs"] += len(right)
            counts[f"{what} shared"] += len(mine & right)
    scores = {}
    for what in ("boundary", "word"):
        precision, recall = (
            counts[f"{what} shared"] / counts[f"{what} {whose}"] for whose in ("ours", "theirs")
        )
        f1 = 2 * precision * recall / (precision + recall) if precision else 0.0
        for name, score in (("precision", precision), ("recall", recall), ("f1", f1)):
            scores[f"{what}_{name}"] = round(score, 4)
    return {**scores, "words": counts["words"], "known": round(counts["known"] / counts["words"], 4)}


def gold_spans(cutter: Cutter, prepared: str, gold_words: Iterable[str]) -> list[tuple[int, int]]:
    """Return where the gold words stand in the text as the cutter prepared it."""
    spans, place = [], 0
    for word in gold_words:
        words, gaps = cutter.words_and_gaps(word)
        spelled = "".join(gap + piece for gap, piece in zip(gaps, [*words, ""], strict=True))
        start = prepared.find(spelled, place)
        if start < 0 or not spelled:
            continue
        place = start + len(spelled)
        if _LETTER_OR_DIGIT.search(spelled):
            spans.append((start, place))
    return spans


def utility_of(data: Path, language: str) -> dict[str, Any]:
    """Return what a classifier learns from releases of labelled texts, cut by the rules of the vocabulary and
    by the plain ones."""
    embedding = open_vectors(data, language)
    sample = sampled(embedding)
    epsilons = [round(sample.epsilon_reaching(share), 3) for share in SHARES]
    measured: dict[str, Any] = {"epsilons": epsilons, "shares": list(SHARES)}
    for rules in ("rules", "plain") if embedding.language_rules is not None else ("plain",):
        if rules == "plain":
            embedding.cut_plainly()
        result = measure_utility(
            data / LABELLED[language],
            embedding=embedding,
            epsilons=epsilons,
            text_column="text",
            label_column="label",
            runs=RUNS,
            texts=MOST_TEXTS,
            decode=False,
        )
        received = result.at("both")
        changed = [round(point.changed, 4) for point in received]
        measured[rules] = {"texts": result.about.texts, "changed": changed}
        for score, ending in SCORES.items():
            measured[rules] |= {
                f"majority{ending}": round(result.majority[score], 4),
                f"original{ending}": round(result.clean.mean(score), 4),
                f"released{ending}": [round(point.mean(score), 4) for point in received],
            }
    return measured


def calibration_of(data: Path) -> dict[str, Any]:
    """Return the calibration of the Japanese vectors, over a sample of the words."""
    embedding = open_vectors(data, "ja")
    targets = Targets(max_unchanged=0.5, quantile=0.95)
    chosen = calibrate(embedding, targets=targets, sample=1000).to_dict()
    sample = sampled(embedding)
    epsilons = [round(sample.epsilon_reaching(share), 2) for share in (0.05, *SHARES, 0.95)]
    rows = calibrate(embedding, epsilons=epsilons, sample=1000).to_dict()["table"]
    return {
        "epsilon": chosen["epsilon"],
        "vocabulary": len(embedding),
        "rays": chosen["rays"],
        "misses_at_most": round(chosen["share_of_the_vocabulary_that_misses"]["at_most"], 4),
        "worst_words": [word["word"] for word in chosen["worst_words"]],
        "table": [
            {
                "epsilon": row["epsilon"],
                "unchanged": {name: round(row["unchanged"][name], 4) for name in ("mean", "median", "95%")},
                "distinct_median": row["distinct"]["median"],
            }
            for row in rows
        ],
    }


if __name__ == "__main__":
    main()
