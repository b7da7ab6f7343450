"""Install the spaces of docs/research/purpose.json that are missing: reduced and shaped GloVe 840B.

    python -m scripts.purpose.spaces DATA [--only 16-2]          # needs glove-840b

DATA is the folder that ``scripts.purpose.prepare`` wrote. ``sentiment-16-2`` is shaped for sentiment, with 16
dimensions and strength 2. ``--only`` takes the spaces whose name holds a word.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from deniable import Embedding
from deniable.embeddings import store
from deniable.embeddings.derived import map_embedding
from deniable.purposes import read_public, reduce
from deniable.purposes.directions import learn_directions
from deniable.purposes.shaping import map_of_directions
from scripts.pages import options_of
from scripts.purpose.rows import SOURCE, key_of, read_results

PUBLIC = {  # the public texts behind each purpose; two files are two purposes at once
    "movies": ["mr"],
    "both": ["public-sentiment", "public-topic"],
    "products": ["cr"],
    "evenreviews": ["public-reviews-even"],
    "skewedreviews": ["public-reviews-skewed"],
    "eventopic": ["public-topic-even"],
    "skewedtopic": ["public-topic-skewed"],
}


def main() -> None:
    """Install what is missing."""
    parser = options_of(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    there = {"default", SOURCE} | {each.name for each in store.installed()}
    missing = {key_of(each)[1] for each in read_results()} - there
    asked = sorted(space for space in missing if given.only in space)
    for purpose, spaces in groupby(asked, key=lambda space: space.partition("-")[0]):
        install(given.data, purpose, list(spaces))


def install(data: Path, purpose: str, spaces: list[str]) -> None:
    """Install the spaces of one purpose: its directions are learnt once."""
    source = Embedding.open(SOURCE)
    if purpose == "reduced":
        for space in spaces:
            store.save(reduce(source, int(space.split("-")[1])), space)
        return
    files = (data / f"{name}.jsonl.xz" for name in PUBLIC.get(purpose, [f"public-{purpose}"]))
    public = [read_public(file, text_column="text", label_column="label") for file in files]
    learnt = [learn_directions(source, each) for each in public]
    for space in spaces:
        _, dimension, strength = space.split("-")
        shape = map_of_directions(source, public, learnt, dimension=int(dimension), strength=float(strength))
        store.save(map_embedding(source, shape), space)


if __name__ == "__main__":
    main()
