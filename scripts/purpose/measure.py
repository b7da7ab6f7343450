"""Measure what a space made for a purpose keeps: accuracy at equal attackers, for the paper's, reduced and
shaped spaces.

    python -m scripts.purpose.measure prepare DATASETS --into DATA       # released and public parts
    python -m scripts.purpose.measure spaces --data DATA --into WORK     # needs glove-840b
    python -m scripts.purpose.measure measure --into WORK                # on a GPU

``spaces`` installs the spaces, and writes kinds of words, texts as numbers and bigrams. ``measure`` finds for
every setting (settings.py) where the attacker names 8, 17 or 33 % of all words, or the wanted share of the
kinds of words, or, in context, 10 %; releases with the product, three times; decodes, learns and judges on a
GPU (scripts.gpu). Each result joins docs/research/purpose.json, and what that holds is not measured again.
``--only WORD`` takes the settings whose name holds a word.
"""

from __future__ import annotations

import argparse
import time
import traceback
from itertools import groupby
from pathlib import Path

import numpy as np

from deniable import Embedding
from deniable.decoding.ngrams import read_bigrams
from deniable.embeddings import store
from deniable.embeddings.derived import map_embedding
from deniable.lab.passages import passages_of
from deniable.purposes import read_public, reduce
from deniable.purposes.directions import learn_directions
from deniable.purposes.shaping import map_of_directions
from deniable.release.policies import TextPolicy
from deniable.utility.measurement import read_classified
from deniable.words.cutter import Cutter
from scripts.purpose.data import prepare
from scripts.purpose.results import KEPT, merged, not_measured, read_results, write_results
from scripts.purpose.settings import IN_CONTEXT, PUBLIC, SOURCE, Setting, settings

LONGEST = 100
KINDS, MOST_FREQUENT = 100, 150


def main() -> None:
    """Do what the first word says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("prepare", "spaces", "measure"):
        command = commands.add_parser(name)
        command.add_argument("--into", type=Path, required=True)
        command.add_argument("--only", default="")
        if name == "prepare":
            command.add_argument("datasets", type=Path)
        elif name == "spaces":
            command.add_argument("--data", type=Path, required=True)
        else:
            command.add_argument("--device", default="cuda")
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    if given.command == "prepare":
        prepare(given.datasets, given.into)
    elif given.command == "spaces":
        make_all([each for each in settings() if given.only in each.name], given.data, given.into)
    else:
        measure_all(given.into, given.device, given.only)


def make_all(asked: list[Setting], data: Path, into: Path) -> None:
    """Install the spaces that are missing; write the kinds of words, the texts as numbers and the bigrams of
    public text."""
    _write_kinds(into / "kinds.npz")
    missing = {each.space for each in asked} - {"default", SOURCE} - {each.name for each in store.installed()}
    for purpose, spaces in groupby(sorted(missing), key=lambda space: space.partition("-")[0]):
        _make_spaces(data, purpose, list(spaces))
    for name, vocabulary in sorted({(each.data, each.vocabulary) for each in asked}):
        _write_texts(data / f"{name}.jsonl.xz", into / f"texts-{name}-{vocabulary}.npz", vocabulary)
    contexts = {(IN_CONTEXT[each.data], each.vocabulary) for each in asked if each.level == "context"}
    for public, vocabulary in sorted(contexts):
        _write_bigrams(data / f"{public}.txt.xz", into / f"{public}-{vocabulary}.npz", vocabulary)


def _make_spaces(data: Path, purpose: str, spaces: list[str]) -> None:
    source = Embedding.open(SOURCE)
    if purpose == "reduced":
        for space in spaces:
            store.save(reduce(source, int(space.split("-")[1])), space)
        return
    public = [
        read_public(data / f"{name}.jsonl.xz", text_column="text", label_column="label")
        for name in PUBLIC[purpose]
    ]
    learnt = [learn_directions(source, each) for each in public]
    for space in spaces:
        _, dimension, strength = space.split("-")
        shape = map_of_directions(source, public, learnt, dimension=int(dimension), strength=float(strength))
        store.save(map_embedding(source, shape), space)


def _write_texts(source: Path, path: Path, vocabulary: str) -> None:
    if not path.exists():
        embedding = Embedding.open(vocabulary)
        labelled, cutter = (
            read_classified(source, text_column="text", label_column="label"),
            Cutter(embedding),
        )
        cut = [" ".join(cutter.words(text)[:LONGEST]) for text in labelled.texts]
        passages = passages_of(cut, embedding, TextPolicy())
        np.savez(
            path, ids=passages.ids, offsets=passages.offsets, drawn=passages.drawn, labels=labelled.labels
        )


def _write_bigrams(source: Path, path: Path, vocabulary: str) -> None:
    if not path.exists():
        bigrams = read_bigrams(Embedding.open(vocabulary), source)
        pairs = bigrams.follows.tocoo()
        numbers = {name: getattr(bigrams, name) for name in ("backing_off", "alone", "counts")}
        np.savez(path, row=pairs.row, col=pairs.col, data=pairs.data, **numbers)


def _write_kinds(path: Path) -> None:
    """Write the kinds of all words but the most frequent: clusters of their unit vectors."""
    from sklearn.cluster import KMeans

    if not path.exists():
        source = Embedding.open(SOURCE)
        vectors = np.asarray(source.vectors[MOST_FREQUENT:], dtype=np.float64)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        kinds = KMeans(KINDS, n_init=1, max_iter=50, random_state=0).fit_predict(vectors)
        np.savez(path, words=np.array(source.words[MOST_FREQUENT:]), kinds=kinds.astype(np.int64))


def measure_all(into: Path, device: str, only: str = "") -> None:
    """Measure what is left, and keep each result; a setting that fails does not stop the others."""
    from scripts.purpose.setting import SettingOnCard

    left = [each for each in not_measured(read_results(KEPT)) if only in each.name]
    for _, together in groupby(left, key=lambda each: (each.data, each.space, each.mechanism)):
        on_card = None
        for setting in together:
            began = time.time()
            try:
                on_card = on_card or SettingOnCard(into, setting, device)
                result = on_card.measure(setting)
            except Exception:  # the others are still worth their time
                print("FAILED", setting.name, traceback.format_exc(), flush=True)
                on_card = None
                continue
            result["seconds"] = round(time.time() - began, 1)
            write_results(KEPT, merged(read_results(KEPT), [result]))
            print(setting.name, result["epsilon"], result["seconds"], result["parts"], flush=True)


if __name__ == "__main__":
    main()
