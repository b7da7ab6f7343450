"""The sentences of docs/experiments/calibration.md that are not made of numbers."""

from __future__ import annotations

HEAD = """# Every word of two embeddings

This page is written by `python scripts/make_calibration_page.py` from the results beside it (`calibration-*.json`). It repeats sections
3 and 4 of the paper with [`deniable calibrate`](../guide/calibration.md), which follows directions where the paper draws.

**N_w** is how often the word *w* is released unchanged. The paper draws 1,000 times and counts; here 1,000 directions are followed and
each gives its exact probability, which has the same mean and a smaller error. **Distinct** words are those that come out of 1,000
draws, which the paper takes for S_w. **S_w** is by its definition the number of words that hold 95 % of what *w* becomes. Both are counts
of what 1,000 directions meet: S_w may exceed 1,000, since a direction passes several words.
"""

SPEED = """An exact draw says which word is released for one word, one direction and one ε. Direct simulation searches the nearest word
once for each; a ray gives all ε of a direction at once. The rates are for a sweep of ten ε. “N_w only” looks for the end of the word's own
cell: it says whether the word stays, not what it becomes.
"""

COMPARED = """The paper says of 50 and 300 dimensions of GloVe that they “provide the same level of average case guarantees (at *different*
values of ε)”. The curves below have the same shape, shifted in ε. But the averages hide two things. The number of words
matters too: cut down to the words that both embeddings have, the same vectors leave words unchanged more often, because words that stood
around them are gone. And the worst word hardly moves with the average: see the tables above.
"""

CLAIM = """The paper says of GloVe 50d: “at ε = 5, no word yields fewer than 300 distinct new words, and no word is ever returned more than
500 times in the worst case”, and advises to choose ε by such worst cases. The advice is good; the sentence is not true of the
published file. The words in question are so few that a histogram with a linear scale does not show them.
"""

REPEAT = """## How it is repeated

```text
deniable embeddings add glove.6B.50d.txt --name glove-6b-50d
deniable embeddings add glove.840B.300d.34k.w2v.txt --name glove-840b-300d
deniable embeddings restrict glove-6b-50d --common glove-840b-300d --as glove-6b-50d-common
deniable embeddings geometry glove-6b-50d glove-840b-300d --json > docs/experiments/calibration-geometry.json
python benchmarks/calibration.py --embedding glove-6b-50d --json docs/experiments/calibration-benchmark.json
python scripts/measure_embedding.py glove-6b-50d --epsilon 1 --epsilon 2 … --rays 1000 --sample … -o found-50d.npz
python scripts/examine_embedding.py glove-6b-50d found-50d.npz --claim 5 -o docs/experiments/calibration-50d.json …
python scripts/make_calibration_page.py
```

`measure_embedding.py` and `examine_embedding.py` are run for each of the three embeddings, with `--only` for a part of one. A stopped `measure_embedding.py` goes on
where it was. The directions come from a public seed, so the numbers come out the same on every machine; times do not.
"""
