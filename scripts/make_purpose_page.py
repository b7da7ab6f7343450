"""Writes docs/experiments/purpose.md and its figure from purpose-refined.json, purpose.json and purpose-words.json beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from purpose_page.directions import directions_section
from purpose_page.figure import drawn_refined, frontier
from purpose_page.findings import findings
from purpose_page.names import DATA, listed
from purpose_page.older import Cell, author_table, context_table, older_table, read_cells, still_needed
from purpose_page.refined import (
    Row,
    attackers_reached,
    authors,
    read_rows,
    refined_table,
    regularisation,
    shaped_earlier,
    tasks,
    unperturbed_table,
)
from purpose_page.single_words import samples_table, words_table
from purpose_page.unmeasured import unmeasured_section
from purpose_page.wanted import wanted_section
from purpose_results import Result, read_results
from purpose_settings import AUTHORS

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "experiments"
OLDER = "c686f4c"


def main() -> None:
    """Write the page and the figure."""
    results = read_results(FOLDER / "purpose-refined.json")
    cells = read_cells(json.loads((FOLDER / "purpose.json").read_text(encoding="utf-8")))
    words = json.loads((FOLDER / "purpose-words.json").read_text(encoding="utf-8"))
    directions = json.loads((FOLDER / "purpose-directions.json").read_text(encoding="utf-8"))
    (FOLDER / "purpose.md").write_text(page(results, cells, words, directions), encoding="utf-8")
    frontier(cells, read_rows(results)).savefig(FOLDER / "purpose.png", dpi=150)


def page(results: list[Result], cells: list[Cell], words: list[dict[str, Any]], directions: dict[str, Any]) -> str:
    """Return the page."""
    every = read_rows(results)
    rows, needed = tasks(every), still_needed(cells, every)
    refined = listed([DATA[data] for data in drawn_refined(rows)])
    return f"""# Spaces made for a purpose: what survives

A public linear map of the word vectors decides what survives the noise; see [Declare the purpose](../guide/purpose.md). This page
measures it. ε does not compare between spaces, so all of them are compared at an **equal attacker**. Models learn from released text and
are judged on released text, which is all that a receiver has. A space is **shaped** by public texts of another data set (sentiment: IMDb
for SST-2, MR and CR; MR for IMDb) or of a disjoint part (topics, groups, domains): "16 × 2" is 16 principal axes beside the
directions of the purpose at strength 2. Shaped and reduced spaces are made of GloVe 840B, 300d. The mechanism is the paper's where no
other is named.

![Accuracy against the share of words that the attacker names](purpose.png)

In the figure {refined} are measured by the protocol of the next section and shown by the reading that does best on validation texts.
What is called "older" was measured by an older one and is shown by the best of its readings.

## At equal attackers

- **Attackers.** "Of words": a context-free Bayes attacker, who knows the mechanism and the true frequencies of the words, names this share
  of all words. "Of kinds": it names this share of the *kinds* of words, 100 clusters of public unit vectors, the 150 most frequent words
  left out. "In context": an attacker who runs forward and backward over bigrams of public text (reviews of IMDb for SST-2, texts of Reuters
  C50 for AG News), and knows the true frequencies too, names this share of all words. All of them know what a word becomes by
  [points that all words share](channels.md), 64 of each word that can be released, or by exact sums.
- **ε** is refined until the attacker is within 0.3 points of what is asked for, in a few tries, on draws of words as frequent as they are.
  "Names", "kind" and "in context" are what it then reached on the releases themselves (in context: on the first of them).
  {attackers_reached(every)}
- **Readings.** Linear models on words and on mean vectors, both as released and decoded (expected counts; the posterior is over all words,
  no candidate is left out). "Source vectors" are the mean vectors in 300 dimensions of the words of a reduced or shaped space, which anyone
  can look up.
- **Accuracy**, in %, is the mean of the runs. The regularisation is **chosen on validation texts**, a fifth of the texts learnt from: a
  careful receiver does so, and no judged text has a say. {regularisation(every)} Bold is the reading that does best on
  validation texts, and "±" half of what lies between its best and worst run.{shaped_earlier(every)}

{refined_table(rows)}

What guessing reaches (the same label for every text; the most frequent word or kind for every word), and models on unperturbed text in the
first run:

{unperturbed_table(rows)}

Words that an embedding does not know count as one word, "unknown", which the attacker may name: in GloVe 840B (33,860 words) these are more
than in the built-in embedding (50,000), so blind guessing gets more there.

## What was wanted, and what was reached

Set before it was measured: an accuracy of decoded text in the shaped space, and a lead over the built-in space decoded. In each case the
reading (in parentheses), and the dimension and strength of the shaped space, are those that do best on validation texts, decoded.

{wanted_section(rows)}
- The targets were set for an attacker who knows what words become from draws. One who knows shared points names more at the same ε, so the
  same share of words is reached at a smaller ε, where less is left: these are the harder attackers of the two.

## Directions

The directions of a purpose are the weights of a penalised classifier of public texts. A small penalty finds what tells texts apart best as
they are, however little words differ along it, and noise covers just that. Before, the penalty was 30 on the loss of all texts, however
many there were (0.015 of a text for 2,000 news, 0.0025 for 12,000 reviews). Now it is the best on **public texts alone**: directions learnt
from one half of them, the labels of the other half told from mean vectors in the space shaped 16 × 2, with noise on every word
that is twice as wide as words are spread along the first principal axis. Accuracy in %, by penalty on the mean loss of a text.
{directions_section(directions)}

Measured by `measure_directions.py` on a CPU, as `deniable decode` reads: the channel of the first 20,000 words by shared points, three
runs, models that learn from released text and are judged on released text.

## What it says

{findings(rows)}
- **Where it fails**: at the smallest attacker little is left of the domains of InsuranceQA in any space: its short questions name their
  domain by frequent words, which is what the attacker names. Twenty groups are far from what they are unperturbed, however they are shaped
  (both: older results, below). Texts of another field than the public ones gain less (CR, above: products, shaped by films).
- How learnt attackers and language models read a shaped space is measured [elsewhere](attackers.md).

{_other_data(needed)}## Other attributes

What a space that was shaped for sentiment says of who wrote a text, beside what unshaped spaces say: share of texts whose author is
named, of 20 authors, by models that learn from released text and are judged on released text. {_author_tables(every, needed)}

## In context

A receiver may read in context as well, with bigrams of public text (18,000 reviews of IMDb, 5,000 texts of Reuters C50) and frequencies
learnt from the release: the share of words that this names, alone and in context, and accuracy by words (older results, channels by
draws; newer ones in the built-in space: [decoding](decoding.md#alone-and-in-context)).

{context_table(cells)}

## Single words

N_w is how often a word is released as itself, here in 50 releases of each word of the vocabulary. In reduced and shaped spaces (33,860
words) fewer words keep themselves than in the built-in one (50,000 words) at an equal attacker.

{words_table(words)}

What sample texts become, one release each, where the attacker names 8 %:

{samples_table(words)}

## Not measured yet

{unmeasured_section(results)}

## Repeat it

On a GPU. `measure` can be stopped and goes on; it leaves out what the committed `purpose-refined.json` holds (`--known /dev/null`: measure
all of it again), and `collect` puts new results beside these:

```text
deniable embeddings add glove.840B.300d.34k.w2v.txt.bz2 --name glove-840b
python scripts/measure_purpose.py prepare DATASETS --into DATA
python scripts/measure_purpose.py spaces --data DATA --into WORK
python scripts/measure_purpose.py measure --into WORK --device cuda --workers 4
python scripts/measure_purpose.py collect --into WORK -o docs/experiments/purpose-refined.json
python scripts/measure_purpose_words.py docs/experiments/purpose-refined.json --draws 50 -o docs/experiments/purpose-words.json
python scripts/make_purpose_page.py
```

The penalty of directions, on a CPU:

```text
python scripts/measure_directions.py choose --data DATA -o docs/experiments/purpose-directions.json
python scripts/measure_directions.py release --data DATA -o docs/experiments/purpose-directions.json
```

The older results:

```text
git worktree add ../older {OLDER} && cd ../older
python scripts/measure_purpose.py prepare DATASETS --into DATA
python scripts/measure_purpose.py spaces --data DATA --into WORK
python scripts/measure_purpose.py epsilons --data DATA --into WORK --device cuda --draws 1000
python scripts/measure_purpose.py measure --into WORK --workers 14
python scripts/measure_purpose.py collect --data DATA --into WORK -o docs/experiments/purpose.json
```

With `--data DATA`, its `measure` also reads in context. Its channels are made from 1,000 draws a word, on a GPU (those of SanText and
randomised response are exact). In both, texts are released by the product, and the first 100 words of a text count.
"""


def _other_data(needed: list[Cell]) -> str:
    """Return what only the older results have, if there is anything left."""
    left = [cell for cell in needed if cell.data not in AUTHORS]
    if not left:
        return ""
    return f"""## Other data sets

What the protocol above has not measured yet was measured by an older version of the script (commit `{OLDER}`): attacker and receiver know
what a word becomes from 1,000 draws of it, so **both read less than they could**, and rows here do not compare with those above. The
receiver has at most 200 candidates for a word, the regularisation is fixed, and the attacker reads word by word. ε was searched for on
other draws, so "names" is near 8, 17 and 33 %, not equal to it.

{older_table(left)}

Bold is the largest of the four readings, all of which are shown. "±" is half of what lies between its best and worst run. "Majority" is
what a model reaches that says the same of every text. "Unperturbed" is the better of both models. SST-2 and MR are not independent: most
sentences of SST-2 are in MR.

"""


def _author_tables(rows: list[Row], needed: list[Cell]) -> str:
    """Return the refined table of authors, where there is one, and what the older results have beside it."""
    refined, older = authors(rows), [cell for cell in needed if cell.data in AUTHORS]
    said = [f"At equal attackers, as above:\n\n{refined_table(refined)}"] if refined else []
    said += [f"By the older version:\n\n{author_table(older)}"] if older else []
    return "\n\n".join(said)


if __name__ == "__main__":
    main()
