"""Measures how well text in other languages is cut into words, and what releases of it are still good for.

    python -m scripts.languages.measure cutting --data ../shared/data/languages
    python -m scripts.languages.measure utility --data ../shared/data/languages
    python -m scripts.languages.measure calibration --data ../shared/data/languages --page japanese.html
    python -m scripts.languages.page

Each part is written into docs/experiments/languages.json beside the others. ``cutting`` takes seconds,
``utility`` some ten minutes of one core, ``calibration`` two minutes. The data are gold-segmented sentences
(Universal Dependencies), labelled texts and public vectors: docs/guide/languages.md says which. Embeddings
are added as users add them, in a folder of their own that is removed at the end.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import tempfile
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import regex

from deniable import Embedding
from deniable.calibration.matching import AverageUnchanged
from deniable.calibration.result import Targets
from deniable.calibration.run import Files, calibrate
from deniable.embeddings import store
from deniable.utility.measurement import measure_utility
from deniable.words.cutter import Cutter, Lookup
from deniable.words.languages import normalise

OUT = Path(__file__).resolve().parents[2] / "docs" / "experiments" / "languages.json"
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

Span = tuple[int, int]


def main() -> None:
    """Measure one part and write it beside the others."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("cutting", "utility", "calibration"))
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--page", type=Path, help="where to write the page of the calibration")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["DENIABLE_HOME"] = home
        if given.part == "cutting":
            measured: Any = {language: measure_cutting(given.data, language) for language in GOLD}
        elif given.part == "utility":
            measured = {language: utility_of(given.data, language) for language in LABELLED}
        else:
            measured = calibration_of(given.data, given.page)
    results = json.loads(OUT.read_text(encoding="utf-8")) if OUT.exists() else {}
    OUT.write_text(
        json.dumps({**results, given.part: measured}, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
    )


def open_vectors(data: Path, language: str) -> Embedding | None:
    """Return the embedding of a language, added as users add it; None where there is none at hand."""
    if language not in VECTORS:
        return None
    if language not in {facts.name for facts in store.installed()}:
        store.add(data / VECTORS[language], language)
    return Embedding.open(language)


def read_gold(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the sentences of a file with their words."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["text"], record["words"]


def measure_cutting(data: Path, language: str) -> dict[str, Any]:
    """Return how the words of the sentences agree with gold, by the plain rules and by those of the
    vocabulary."""
    embedding = open_vectors(data, language)
    gold = list(read_gold(data / GOLD[language]))
    vocabulary = embedding or Embedding(
        ["'s", "n't"], [[0.0], [1.0]]
    )  # an English one in effect, where there are no vectors
    asked_for = vocabulary.language_rules
    found = {"rules": compare(vocabulary, gold)} if asked_for is not None else {}
    vocabulary.cut_plainly()
    return {
        "sentences": len(gold),
        "vocabulary": None if embedding is None else len(embedding),
        "gold_known": None if embedding is None else gold_known(embedding, gold),
        "asks_for": list(asked_for.in_words) if asked_for is not None else [],
        "plain": compare(vocabulary, gold),
        **found,
    }


def gold_known(embedding: Embedding, gold: Iterable[tuple[str, list[str]]]) -> float:
    """Return the share of gold words that the vocabulary holds as they are."""
    words = [
        normalise(word).lower()
        for _, gold_words in gold
        for word in gold_words
        if _LETTER_OR_DIGIT.search(word)
    ]
    return round(sum(word in embedding.index for word in words) / len(words), 4)


def compare(vocabulary: Embedding, gold: Iterable[tuple[str, list[str]]]) -> dict[str, float]:
    """Return precision, recall and F1 of boundaries and words, the number of words, and the share that the
    vocabulary knows.

    A boundary is a place where a word starts or ends. Gold words without a letter or a digit are left out, as
    the cutter leaves them out.
    """
    cutter, lookup = Cutter(vocabulary), Lookup(vocabulary)
    boundaries, words = Agreement(), Agreement()
    known = total = 0
    for text, gold_words in gold:
        cut, gaps = cutter.words_and_gaps(text)
        ids = lookup.ids(cut)
        known, total = known + sum(i != vocabulary.unknown_id for i in ids), total + len(ids)
        ours = spans_of(cut, gaps)
        theirs = gold_spans(
            cutter, "".join(gap + word for gap, word in zip(gaps, [*cut, ""], strict=True)), gold_words
        )
        words.add(set(ours), set(theirs))
        boundaries.add({end for span in ours for end in span}, {end for span in theirs for end in span})
    return {
        **boundaries.scores("boundary"),
        **words.scores("word"),
        "words": total,
        "known": round(known / total, 4),
    }


def spans_of(words: list[str], gaps: list[str]) -> list[Span]:
    """Return where the words stand."""
    spans, place = [], 0
    for gap, word in zip(gaps, words, strict=False):
        spans.append((place + len(gap), place + len(gap) + len(word)))
        place = spans[-1][1]
    return spans


def gold_spans(cutter: Cutter, prepared: str, gold_words: list[str]) -> list[Span]:
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


class Agreement:
    """Counts what two sets share, over many pairs of them."""

    def __init__(self) -> None:
        self._shared = self._ours = self._theirs = 0

    def add(self, ours: set[Any], theirs: set[Any]) -> None:
        """Count one pair."""
        self._shared += len(ours & theirs)
        self._ours += len(ours)
        self._theirs += len(theirs)

    def scores(self, what: str) -> dict[str, float]:
        """Return precision, recall and F1, named after what was compared."""
        precision, recall = self._shared / self._ours, self._shared / self._theirs
        f1 = 2 * precision * recall / (precision + recall) if self._shared else 0.0
        return {
            f"{what}_precision": round(precision, 4),
            f"{what}_recall": round(recall, 4),
            f"{what}_f1": round(f1, 4),
        }


def utility_of(data: Path, language: str) -> dict[str, Any]:
    """Return what a classifier learns from releases of labelled texts, cut by the rules of the vocabulary and
    by the plain ones."""
    embedding = open_vectors(data, language)
    if embedding is None:
        raise SystemExit(f"there are no vectors for {language!r}")
    average = AverageUnchanged(embedding)
    epsilons = [round(average.epsilon(share), 3) for share in SHARES]
    measure = partial(
        measure_utility, text_column="text", label_column="label", runs=RUNS, texts=MOST_TEXTS, decode=False
    )
    measured: dict[str, Any] = {"epsilons": epsilons, "shares": list(SHARES)}
    for rules in ("rules", "plain") if embedding.language_rules is not None else ("plain",):
        if rules == "plain":
            embedding.cut_plainly()
        found = measure(data / LABELLED[language], embedding=embedding, epsilons=epsilons)
        received = found.at("both")
        measured[rules] = {
            "texts": found.about.texts,
            "changed": [round(point.changed, 4) for point in received],
        }
        for score, ending in SCORES.items():
            measured[rules] |= {
                f"majority{ending}": round(found.majority[score], 4),
                f"original{ending}": round(found.clean.mean(score), 4),
            }
            measured[rules][f"released{ending}"] = [round(point.mean(score), 4) for point in received]
    return measured


def calibration_of(data: Path, page: Path | None) -> dict[str, Any]:
    """Return the calibration of the Japanese vectors, over a sample of the words."""
    embedding = open_vectors(data, "ja")
    assert embedding is not None
    sentences = ("先生は薬が良く効くと言った。", "駅から近くて便利なホテルでした。")
    files = (
        None if page is None else Files(page=page, sentences=sentences, words=("医者", "東京", "美味しい"))
    )
    chosen = calibrate(embedding, targets=Targets(max_unchanged=0.5, quantile=0.95), sample=1000, files=files)
    average = AverageUnchanged(embedding)
    epsilons = [round(average.epsilon(share), 2) for share in (0.05, *SHARES, 0.95)]
    table = calibrate(embedding, epsilons=epsilons, sample=1000)
    said = chosen.to_dict()
    return {
        "epsilon": said["epsilon"],
        "vocabulary": len(embedding),
        "rays": said["rays"],
        "misses_at_most": round(said["share_of_the_vocabulary_that_misses"]["at_most"], 4),
        "worst_words": [word["word"] for word in said["worst_words"]],
        "table": [{"epsilon": row["epsilon"], **_rounded(row)} for row in table.to_dict()["table"]],
    }


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    unchanged = {name: round(row["unchanged"][name], 4) for name in ("mean", "median", "95%")}
    return {"unchanged": unchanged, "distinct_median": row["distinct"]["median"]}


if __name__ == "__main__":
    main()
