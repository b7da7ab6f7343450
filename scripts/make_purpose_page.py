"""Writes docs/experiments/purpose.md, its figure, and purpose-tables.md, from the results beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from purpose_page.directions import directions_section
from purpose_page.figure import frontier
from purpose_page.findings import failures, findings
from purpose_page.overview import mechanisms_table, public_texts_table, shapes_table, spaces_table
from purpose_page.rows import authors, read_rows, tasks
from purpose_page.single_words import samples_table, words_table
from purpose_page.unmeasured import unmeasured_section
from purpose_page.wanted import wanted_section
from purpose_page.whole import attackers_reached, regularisation, unperturbed_table, whole_table
from purpose_results import Result, read_results

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"


def main() -> None:
    """Write the pages and the figure."""
    results = read_results(FOLDER / "purpose.json")
    words = json.loads((FOLDER / "purpose-words.json").read_text(encoding="utf-8"))
    directions = json.loads((FOLDER / "purpose-directions.json").read_text(encoding="utf-8"))
    (FOLDER / "purpose.md").write_text(page(results, words, directions), encoding="utf-8")
    (FOLDER / "purpose-tables.md").write_text(tables(results), encoding="utf-8")
    frontier(read_rows(results)).savefig(FOLDER / "purpose.png", dpi=150)


def page(results: list[Result], words: list[dict[str, Any]], directions: dict[str, Any]) -> str:
    """Return the page."""
    every = read_rows(results)
    rows = tasks(every)
    return f"""# Spaces made for a purpose: what survives

A public linear map of the word vectors decides what survives the noise; see [Declare the purpose](../guide/purpose.md). This page
measures it. ε does not compare between spaces, so all of them are compared at an **equal attacker**. Models learn from released text and
are judged on released text, which is all that a receiver has. A space is **shaped** by public texts of another data set (sentiment: IMDb
for SST-2, MR and CR; MR for IMDb) or of a disjoint part (topics, groups, domains): "16 × 2" is 16 principal axes beside the
directions of the purpose at strength 2. Shaped and reduced spaces are made of GloVe 840B, 300d. The mechanism is the paper's where no
other is named.

![Accuracy against the share of words that the attacker names](purpose.png)

Accuracy, in the figure and below, is in %, the mean of three runs, by the reading (words or mean vectors, as released or decoded) that does
best on validation texts. [How it is measured](#how-it-is-measured) is below; [all readings of all rows](purpose-tables.md) have a page of
their own.

## At equal attackers

{spaces_table(rows)}

"Of words": the attacker names this share of all words. "Of kinds": this share of the kinds of words. "In context": an attacker who reads
words in their context names this share of all words. Bold is the largest of a line. "Guessing" is the same label for every text. "–" was
not measured, or [cannot be reached](#how-it-is-measured).

## What was wanted, and what was reached

Set before it was measured: an accuracy of decoded text in the shaped space, and a lead over the built-in space decoded. In each case the
reading (in parentheses), and the dimension and strength of the shaped space, are those that do best on validation texts, decoded: of the
[ten shapes](#dimension-and-strength), and in context of the three with 16 axes and a strength of 2, 4 and 8.

{wanted_section(rows)}
- The targets were set for an attacker who knows what words become from draws. One who knows shared points names more at the same ε, so the
  same share of words is reached at a smaller ε, where less is left: these are the harder attackers of the two.

## What it says

{findings(rows)}
- How learnt attackers and language models read a shaped space is measured [elsewhere](attackers.md).

## Dimension and strength

{shapes_table(rows)}

## Other mechanisms

{mechanisms_table(rows)}

## Where it fails

{failures(rows)}
- **Other public texts** than those of the field, fewer of them, skewed labels (2,700 and 300 reviews; 490, 70, 70 and 70 news; as many in
  even shares), two purposes at once, and the wrong purpose:

{public_texts_table(rows)}

## Other attributes

What a space that was shaped for sentiment says of who wrote a text, beside what unshaped spaces say: the share of texts whose author is
named, of 20 authors.

{spaces_table(authors(every))}

## Single words

N_w is how often a word is released as itself, here in 50 releases of each word of the vocabulary. Reduced and shaped spaces are made of
GloVe 840B, which is what they are before.

{words_table(words)}

What sample texts become, one release each, where the attacker names 8 %:

{samples_table(words)}

## Directions

The directions of a purpose are the weights of a penalised classifier of public texts. A small penalty finds what tells texts apart best as
they are, however little words differ along it, and noise covers just that. Before, the penalty was 30 on the loss of all texts, however
many there were (0.015 of a text for 2,000 news, 0.0025 for 12,000 reviews). Now it is the best on **public texts alone**: directions learnt
from one half of them, the labels of the other half told from mean vectors in the space shaped 16 × 2, with noise on every word
that is twice as wide as words are spread along the first principal axis. Accuracy in %, by penalty on the mean loss of a text.
{directions_section(directions)}

Measured by `measure_directions.py` on a CPU, as `deniable decode` reads: the channel of the first 20,000 words by shared points, three
runs, models that learn from released text and are judged on released text.

## How it is measured

- **Attackers.** "Of words": a context-free Bayes attacker, who knows the mechanism and the true frequencies of the words. "Of kinds": the
  kinds are 100 clusters of public unit vectors, the 150 most frequent words left out. "In context": an attacker who runs forward and
  backward over bigrams of public text (reviews of IMDb for SST-2, texts of Reuters C50 for AG News), and knows the true frequencies too.
  All of them know what a word becomes by [points that all words share](channels.md), 64 of each word that can be released, or by exact
  sums.
- **ε** is refined until the attacker is within 0.3 points of what is asked for, in a few tries, on draws of words as frequent as they are.
- **Readings.** Linear models on words and on mean vectors, both as released and decoded (expected counts; the posterior is over all words,
  no candidate is left out). "Source vectors" are the mean vectors in 300 dimensions of the words of a reduced or shaped space, which anyone
  can look up.
- **Accuracy.** The regularisation is **chosen on validation texts**, a fifth of the texts learnt from: a careful receiver does so, and no
  judged text has a say. {regularisation(every)}
- **Texts** are released by the product, and the first 100 words of a text count. SST-2 and MR are not independent: most sentences of SST-2
  are in MR.

{unmeasured_section(results)}
That is what was planned, by worth, within the hours that a GPU was there for. Left out: 300 dimensions for CR, 20 Newsgroups, InsuranceQA
and authors; equal kinds and context, and other shapes than 16 × 2 and 16 × 4, but for SST-2 and AG News; other mechanisms in reduced
spaces, and in shaped ones but for SST-2 and AG News.

## Repeat it

On a GPU. `measure` can be stopped and goes on; it leaves out what the committed `purpose.json` holds (`--known /dev/null`: measure all
of it again), and `collect` puts new results beside these:

```text
deniable embeddings add glove.840B.300d.34k.w2v.txt.bz2 --name glove-840b
python scripts/measure_purpose.py prepare DATASETS --into DATA
python scripts/measure_purpose.py spaces --data DATA --into WORK
python scripts/measure_purpose.py measure --into WORK --device cuda --workers 4
python scripts/measure_purpose.py collect --into WORK -o docs/experiments/purpose.json
python scripts/measure_purpose_words.py docs/experiments/purpose.json --draws 50 -o docs/experiments/purpose-words.json
python scripts/make_purpose_page.py
```

The penalty of directions, on a CPU:

```text
python scripts/measure_directions.py choose --data DATA -o docs/experiments/purpose-directions.json
python scripts/measure_directions.py release --data DATA -o docs/experiments/purpose-directions.json
```
"""


def tables(results: list[Result]) -> str:
    """Return the page of all rows in whole."""
    every = read_rows(results)
    return f"""---
hide: [toc]  # the table needs the room
---

# Spaces made for a purpose: all figures

What [the page about purposes](purpose.md) shows by one reading, by all of them: [how it is measured](purpose.md#how-it-is-measured), and
how to [repeat it](purpose.md#repeat-it), is said there. "Names", "kind" and "in context" are what the attacker reached on the releases
themselves (in context: on the first of them). {attackers_reached(every)}

Accuracy is in %, the mean of three runs. Bold is the reading that does best on validation texts, and "±" half of what lies between its
best and worst run.

{whole_table(every)}

## Unperturbed

What guessing reaches (the same label for every text; the most frequent word or kind for every word), and models on unperturbed text in the
first run. Words that an embedding does not know count as one word, "unknown", which the attacker may name: in GloVe 840B (33,860 words)
these are more than in the built-in embedding (50,000), so blind guessing gets more there.

{unperturbed_table(every)}
"""


if __name__ == "__main__":
    main()
