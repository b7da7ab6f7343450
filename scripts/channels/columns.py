"""Compare the columns of the released words alone with the table of all words: what a reader gains from
each, and what each costs.

    python -m scripts.channels.columns DATA --only default          # docs/research/columns.json

DATA is the folder that ``scripts.purpose.prepare`` wrote; the spaces are installed
(``scripts.purpose.spaces``). Both channels have the same input words, the most frequent 20,000 and ⊥, and
read the same release of the first sentences of SST-2. Words of the other sentences, released as well, judge
them where they came out as one of the words that both know: by the mean logarithm of the true word's
probability (nats), and by how often it is the likeliest; words are expected as their rank says. Labels of
the sentences are told from expected counts of words, in four parts, each judged once. Costs are processor
seconds over those of one fixed matrix product.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.machine import machine, product_seconds

from deniable import Embedding
from deniable.arrays import Floats, Ids
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.decoding.priors import first_shares
from deniable.measures.texts import Texts, cut_texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.purposes import read_public
from deniable.utility.accuracy import Accuracy, DecodingEffort, Version, input_words
from scripts.pages import EXPERIMENTS, options_of, read_json, write_json

RESULT = EXPERIMENTS / "columns.json"
SPACES = {  # ε at which an attacker who knows the word frequencies of SST-2 names 8, 17 and 33 % of its words
    "default": {0.08: 3.26, 0.17: 5.86, 0.33: 7.599},
    "glove-840b": {0.08: 7.468, 0.17: 10.47, 0.33: 12.97},
    "sentiment-16-4": {0.08: 0.973, 0.17: 2.974, 0.33: 4.98},
}
SENTENCES = {"243 words": 14, "2,000 sentences": 2_000}
"""How many sentences are read: about as many words as in examples/reviews.csv, and enough to learn from."""
_PARTS = 4
Row = dict[str, Any]


def main() -> None:
    """Measure what is not there yet, and write the result after every row."""
    parser = options_of(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default="", help="only what holds this, such as 'default 17%'")
    parser.add_argument("--again", action="store_true", help="only the columns of what was measured before")
    given = parser.parse_args()
    found: dict[str, list[Row]] = read_json(RESULT) if RESULT.exists() else {}
    for space, levels in SPACES.items():
        for level, epsilon in levels.items():
            name = f"{space} {level:.0%}"
            if given.only in name and (name in found) == given.again:
                found[name] = measure(given.data, space, epsilon, found.get(name))
                write_json(RESULT, found)


def measure(data: Path, space: str, epsilon: float, before: list[Row] | None) -> list[Row]:
    """Return a row for each size of a release: what both channels reach, or the columns anew beside the table
    of before."""
    embedding, chosen = Embedding.open(space), ChosenMechanism()
    public = read_public(data / "sst2.jsonl.xz", text_column="text", label_column="label")
    order = np.random.default_rng(3).permutation(len(public.texts))
    texts = cut_texts(public.texts, embedding, labels=[str(each) for each in public.labels]).take(order)
    released = Draws(chosen(embedding, epsilon=epsilon), seed=99).of_each(texts.ids)
    inputs, unit = input_words(embedding, DecodingEffort()), product_seconds()

    def channel_of(outputs: Ids | None) -> tuple[Channel, float]:
        began = time.process_time()
        channel = make_channel(embedding, epsilon=epsilon, inputs=inputs, outputs=outputs, keep=False)
        return channel, (time.process_time() - began) / unit

    whole, cost_of_all = channel_of(None) if before is None else (None, 0.0)
    rows = []
    for number, (name, sentences) in enumerate(SENTENCES.items()):
        learnt = np.arange(texts.offsets[sentences])
        asked = np.unique(released[learnt])
        some, cost = channel_of(asked)
        held = np.flatnonzero(np.isin(released, asked) & np.isin(texts.ids, inputs))
        held = held[held >= texts.offsets[max(SENTENCES.values())]]
        row: Row = {"epsilon": epsilon, "release": name, "outputs": len(asked), "pairs": len(held)}
        row |= {"machine": machine(), "product": unit}
        row["ways"] = {} if before is None else dict(before[number]["ways"])
        for way, channel, spent in (("columns", some, cost), ("whole", whole, cost_of_all)):
            if channel is None:
                continue
            nats, named = judge(channel, asked, texts.ids[held], released[held])
            row["ways"][way] = {"nats": nats, "named": named, "products": round(spent)}
            if sentences == max(SENTENCES.values()):
                row["ways"][way]["right"] = told(texts.take(np.arange(sentences)), released, channel)
        rows.append(row)
        print(row, flush=True)
    return rows


def judge(channel: Channel, asked: Ids, entered: Ids, came_out: Ids) -> tuple[float, float]:
    """Return the mean logarithm of the true word's probability, and how often it is the likeliest."""
    prior, nats, named = first_shares(channel), 0.0, 0
    order = np.argsort(came_out, kind="stable")
    parts = np.split(channel.places(entered[order]), np.searchsorted(came_out[order], asked[1:]))
    for column, places in zip(channel.columns(asked), parts, strict=True):
        posterior: Floats = column * prior
        posterior /= posterior.sum()
        nats += float(np.log(np.maximum(posterior[places], 1e-12)).sum())
        named += int((places == posterior.argmax()).sum())
    return nats / len(entered), named / len(entered)


def told(texts: Texts, released: Ids, channel: Channel) -> str:
    """Return 1 for each text whose label is told rightly by who learns from other texts, released too; 0 for
    the others."""
    ids = released[: texts.offsets[-1]]
    version = Version(texts.released(ids, channel.embedding), channel.embedding, channel)
    labels, right = np.array(texts.labels), np.zeros(len(texts), dtype=bool)
    for part in range(_PARTS):
        judged = np.arange(len(texts)) % _PARTS == part
        places = np.flatnonzero(~judged), np.flatnonzero(judged)
        accuracy = Accuracy(version, labels, *places, reading="decoded")
        right[judged] = accuracy.told(version, ["both"])["both"] == labels[judged]
    return "".join("01"[each] for each in right.tolist())


if __name__ == "__main__":
    main()
