"""Measure the capacity where docs/research/purpose.json has accuracies, and the space of the purpose alone.

    python -m scripts.purpose.capacity DATA [--only sst2]     # writes docs/research/purpose-capacity.json

It takes the spaces of ``scripts.purpose.spaces``, and DATA, the folder that ``scripts.purpose.prepare``
wrote. The space of the purpose alone (dimension 0) has no accuracies there: it is judged here, by mean
vectors of released text, at values of ε around those of the other spaces.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deniable import Embedding, Multivariate
from deniable.embeddings.derived import map_embedding
from deniable.measures.capacity import capacity
from deniable.measures.catalogue import Setting, measure
from deniable.measures.texts import cut_texts
from deniable.purposes import read_public
from deniable.purposes.directions import learn_directions
from deniable.purposes.shaping import map_of_directions
from deniable.utility.accuracy import AccuracyOfLabels
from scripts.pages import json_lines, options_of, write_rows
from scripts.purpose.rows import CAPACITIES, MAIN, PURPOSES, SOURCE, key_of, read_results

EPSILONS = (0.5, 1.5, 5.0, 15.0)  # in units of one over the spread of the words
RUNS, DRAWS, IN_ONE_DIMENSION = 3, 12_000, 60_000


def main() -> None:
    """Measure and write."""
    parser = options_of(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", choices=MAIN)
    given = parser.parse_args()
    found: list[dict[str, Any]] = []
    for data in [given.only] if given.only else MAIN:
        spaces = (
            "default",
            SOURCE,
            "reduced-16",
            *(f"{PURPOSES[data]}-16-{strength}" for strength in (2, 4)),
        )
        for result in read_results():
            name, space, mechanism, level = key_of(result)
            if name == data and space in spaces and mechanism == "multivariate" and isinstance(level, float):
                embedding = Embedding.open(space)
                assert embedding.fingerprint == result["embedding"]["fingerprint"], space
                found.append(of(data, embedding, result["epsilon"]) | {"level": level})
                print(found[-1], flush=True)
        found += alone(data, given.data)
        write_rows(CAPACITIES, found)


def of(data: str, embedding: Embedding, epsilon: float) -> dict[str, Any]:
    """Return the capacity of one release."""
    draws = IN_ONE_DIMENSION if embedding.dimension == 1 else DRAWS
    factor = capacity(Multivariate(embedding, epsilon=epsilon), draws=draws)
    assert factor is not None
    known = {"value": round(factor.value, 1), "at_most": round(factor.high + 0.05, 1)}
    return {"data": data, "space": embedding.name, "epsilon": epsilon, "capacity": known}


def alone(data: str, folder: Path) -> list[dict[str, Any]]:
    """Return capacity and accuracy in the space of the purpose alone."""
    source = Embedding.open(SOURCE)
    public = [
        read_public(folder / f"public-{PURPOSES[data]}.jsonl.xz", text_column="text", label_column="label")
    ]
    learnt = [learn_directions(source, public[0])]
    shape = map_of_directions(source, public, learnt, dimension=0, strength=1.0)
    space = map_embedding(source, shape, name=f"{PURPOSES[data]}-0")
    records = json_lines(folder / f"{data}.jsonl.xz")
    texts = cut_texts(
        [each["text"] for each in records], space, labels=[str(each["label"]) for each in records]
    )
    spread, found = float(space.vectors.std(axis=0).max()), []
    for epsilon in (round(each / spread, 3) for each in EPSILONS):
        setting = Setting(embedding=space, epsilon=epsilon)
        runs = [
            measure(AccuracyOfLabels(reading="mean vectors"), setting, texts, seed=seed)
            for seed in range(RUNS)
        ]
        reached = sum(run.value for run in runs) / RUNS
        found.append(
            of(data, space, epsilon) | {"accuracy": round(reached, 4), "blind": round(runs[0].blind, 4)}
        )
        print(found[-1], flush=True)
    return found


if __name__ == "__main__":
    main()
