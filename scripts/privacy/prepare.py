"""Make what the membership experiment needs on the machine with the accelerator: users' texts as numbers, and
the embedding.

Usage: python -m scripts.privacy.prepare DATA OUTPUT [--embedding glove-840b] [--wordnet FOLDER]

DATA is the Ubuntu IRC set as JSON Lines (user, text); the embedding must be installed. OUTPUT becomes a
folder with ``texts.npz`` (integer codes of words: original text and the baselines'), ``vectors.npy``,
``unknown.npy`` and ``about.json``. The releases themselves are drawn by scripts/privacy/train.py from an
explicit seed.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np

from deniable import Embedding
from deniable.audit.draws import Users
from deniable.lab.baselines import Baseline
from deniable.lab.baselines.collection import Collection
from deniable.lab.baselines.incognito_like import IncognitoLike
from deniable.lab.baselines.versatile import VersatileSemantic, VersatileStatistical
from deniable.lab.baselines.wordnet import WordNet
from deniable.lab.membership.audit import choose_users, measure_texts
from deniable.lab.membership.plan import ORIGINAL
from deniable.lab.membership.streams import Coder, pack
from deniable.progress import Progress
from deniable.records.labelled import LabelledTexts, read_labelled
from deniable.words.cutter import words_of

SEED = 20200203
COLLECTION = 40_000
"""Texts of other people that the baselines search and count in."""


def main() -> None:
    """Prepare the experiment."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--embedding", default="glove-840b")
    parser.add_argument("--wordnet", type=Path, help="the dict folder of WordNet, for the semantic baseline")
    parser.add_argument("--no-baselines", action="store_true")
    parser.add_argument(
        "--no-embedding",
        action="store_true",
        help="leave out what releases need: for a run of the baselines alone",
    )
    parser.add_argument("--users", type=int, default=400)
    parser.add_argument("--min-texts", type=int, default=65)
    parser.add_argument("--max-texts", type=int, default=150)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    embedding = Embedding.open(options.embedding)
    data = read_labelled(options.data, person_column="user", text_column="text")
    found = choose_users(data, embedding, fewest=options.min_texts, most=options.max_texts, seed=SEED)
    chosen = dict(list(found.items())[: options.users])
    users = list(chosen.values())
    volume = asdict(measure_texts(users))
    print(volume, flush=True)
    coder = Coder()
    coder.codes = {word: i + 1 for i, word in enumerate(embedding.words)}  # so that a code is an id plus one
    made: dict[str, Users] = {ORIGINAL: users}
    if not options.no_baselines:
        made |= _baselines(users, _others(data, set(chosen)), options.wordnet, options.output)
    if not options.no_embedding:
        np.save(options.output / "vectors.npy", embedding.vectors)
        np.save(options.output / "unknown.npy", embedding.unknown)
    np.savez_compressed(
        options.output / "texts.npz",
        **pack({name: coder.streams(texts) for name, texts in made.items()}),  # type: ignore[arg-type]
    )
    details = {
        "name": embedding.name,
        "fingerprint": embedding.fingerprint,
        "words": len(embedding),
        "dimension": embedding.dimension,
    }
    (options.output / "about.json").write_text(
        json.dumps({"data": volume, "embedding": details, "seed": SEED}, indent=1)
    )


def _others(data: LabelledTexts, chosen: set[str]) -> dict[str, list[str]]:
    """Return the texts of other people, drawn until there are enough for a local collection."""
    by_person = data.by_person()
    names = sorted(set(by_person) - chosen)
    others: dict[str, list[str]] = {}
    for place in np.random.default_rng(SEED).permutation(len(names)):
        if sum(map(len, others.values())) >= COLLECTION:
            break
        others[names[place]] = by_person[names[place]]
    return others


def _baselines(
    users: Users, others: dict[str, list[str]], wordnet: Path | None, folder: Path
) -> dict[str, Users]:
    """Return what the baselines make of the texts; they search and count in the texts of other people.

    What is finished is kept in the folder, so that an interrupted run is continued by the same command.
    """
    collection = Collection({person: [words_of(text) for text in texts] for person, texts in others.items()})
    net = None if wordnet is None else WordNet(wordnet)
    scramblers: list[Baseline] = [
        IncognitoLike(collection, wordnet=net, seed=SEED),
        IncognitoLike(collection, noise=0.3, wordnet=net, seed=SEED),
        *([] if net is None else [VersatileSemantic(net)]),
        VersatileStatistical(collection, wordnet=net),
    ]
    made: dict[str, Users] = {}
    for scrambler in scramblers:
        kept = folder / f"{scrambler.name}.json"
        if not kept.exists():
            released: Users = []
            with Progress(scrambler.name, total=len(users), unit="users") as progress:
                for texts in users:
                    released.append([text for text in scrambler.scramble(texts) if text])
                    progress.advance(1)
            kept.write_text(json.dumps(released))
        made[scrambler.name] = json.loads(kept.read_text())
        print(scrambler.name, made[scrambler.name][0][:3], flush=True)
    return made


if __name__ == "__main__":
    main()
