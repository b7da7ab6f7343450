"""Measures what a space made for a purpose keeps: accuracy at equal attackers, for the paper's, reduced and
shaped spaces.

    python -m scripts.purpose.measure prepare DATASETS --into DATA            # released and public parts of
    the public data sets python -m scripts.purpose.measure spaces --data DATA --into WORK          # spaces,
    kinds of words, words as numbers; needs glove-840b python -m scripts.purpose.measure measure --into WORK
    --device cuda --workers 4 python -m scripts.purpose.measure collect --into WORK -o
    docs/experiments/purpose.json

``measure`` finds for every setting (settings.py) where the attacker names 8, 17 or 33 % of all words, or the
wanted share of the kinds of words, or, in context, 10 %; releases with the product, three times; decodes,
learns and judges on a GPU (scripts.gpu). It can be stopped and goes on. What ``--known FILE`` holds is not
measured again, and ``collect`` puts it beside what is new; without the option it is the committed file, and
with ``--known /dev/null`` nothing is known. ``spaces --known FILE`` makes what the rest needs. ``--only
WORD`` takes the settings whose name holds a word, ``--first N`` the first N that are left.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from deniable import Embedding
from deniable.decoding.ngrams import read_bigrams
from deniable.embeddings import store
from deniable.embeddings.mapping import map_embedding
from deniable.lab.passages import passages_of
from deniable.purposes import read_public, reduce
from deniable.purposes.directions import learn_directions
from deniable.purposes.shaping import map_of_directions
from deniable.release.policies import TextPolicy
from deniable.utility.measurement import read_classified
from deniable.words.cutter import Cutter
from scripts.purpose.data import prepare
from scripts.purpose.results import KEPT, Result, merged, not_measured, read_results, write_results
from scripts.purpose.settings import IN_CONTEXT, PUBLIC, SOURCE, Setting, settings

LONGEST = 100
KINDS, MOST_FREQUENT = 100, 150


def main() -> None:
    """Do what the first word says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("prepare", "spaces", "measure", "worker", "collect"):
        command = commands.add_parser(name)
        command.add_argument("--into", type=Path, required=True)
        command.add_argument("--first", type=int, default=len(settings()))
        command.add_argument("--only", default="")
        if name == "prepare":
            command.add_argument("datasets", type=Path)
        if name == "spaces":
            command.add_argument("--data", type=Path, required=True)
        if name in ("measure", "worker"):
            command.add_argument("--device", default="cuda")
        if name in ("spaces", "measure"):
            command.add_argument("--workers", type=int, default=4)
        if name == "collect":
            command.add_argument("-o", "--output", type=Path, required=True)
        if name != "prepare":
            # Other experiments take their spaces from here as well, so that all are made if nothing else is
            # said.
            command.add_argument(
                "--known", type=Path, default=KEPT if name != "spaces" and KEPT.exists() else None
            )
    given = parser.parse_args()
    if getattr(given, "known", None) and not given.known.exists():
        parser.error(f"--known {given.known}: there is no such file")
    given.into.mkdir(parents=True, exist_ok=True)
    if given.command == "prepare":
        prepare(given.datasets, given.into)
    else:
        {"spaces": make_all, "measure": measure_all, "worker": work, "collect": collect}[given.command](given)


def make_all(given: argparse.Namespace) -> None:
    """Put the spaces into the store; write the kinds of words, the texts as numbers and the bigrams of public
    text: each in a process."""
    asked = _asked(given)
    jobs: list[tuple[Any, ...]] = (
        [(_write_kinds, given.into)] if not (given.into / "kinds.npz").exists() else []
    )
    spaces: dict[str, list[str]] = {}
    for space in sorted(
        {each.space for each in asked} - {"default", SOURCE} - {each.name for each in store.installed()}
    ):
        spaces.setdefault(space.partition("-")[0], []).append(space)
    contexts = {(IN_CONTEXT[each.data], each.vocabulary) for each in asked if each.level == "context"}
    jobs += [(_write_bigrams, given.data, given.into, *each) for each in sorted(contexts)]
    # The largest first, so that none is waited for at the end.
    jobs += [
        (_make_spaces, given.data, purpose, spaces[purpose])
        for purpose in sorted(spaces, key=lambda each: "sentiment" not in str(PUBLIC.get(each)))
    ]
    jobs += [
        (_write_texts, given.data, given.into, *each)
        for each in sorted({(each.data, each.vocabulary) for each in asked})
    ]
    with ProcessPoolExecutor(given.workers) as pool:
        for running in [pool.submit(*job) for job in jobs]:
            print(running.result(), flush=True)


def _make_spaces(data: Path, purpose: str, spaces: list[str]) -> str:
    source, began = Embedding.open(SOURCE), time.time()
    if purpose == "reduced":
        for space in spaces:
            store.save(reduce(source, int(space.split("-")[1])), space)
        return f"{spaces} {time.time() - began:.0f} s"
    public = [
        read_public(data / f"{name}.jsonl.xz", text_column="text", label_column="label")
        for name in PUBLIC[purpose]
    ]
    learnt = [learn_directions(source, each) for each in public]
    for space in spaces:
        _, dimension, strength = space.split("-")
        made = map_of_directions(source, public, learnt, dimension=int(dimension), strength=float(strength))
        store.save(map_embedding(source, made), space)
    return f"{spaces} {time.time() - began:.0f} s"


def _write_texts(data: Path, into: Path, name: str, vocabulary: str) -> str:
    path, began = into / f"texts-{name}-{vocabulary}.npz", time.time()
    if not path.exists():
        embedding = Embedding.open(vocabulary)
        found = read_classified(data / f"{name}.jsonl.xz", text_column="text", label_column="label")
        cutter = Cutter(embedding)
        cut = [" ".join(cutter.words(text)[:LONGEST]) for text in found.texts]
        passages = passages_of(cut, embedding, TextPolicy())
        np.savez(path, ids=passages.ids, offsets=passages.offsets, drawn=passages.drawn, labels=found.labels)
    return f"{path.name} {time.time() - began:.0f} s"


def _write_bigrams(data: Path, into: Path, public: str, vocabulary: str) -> str:
    path, began = into / f"{public}-{vocabulary}.npz", time.time()
    if not path.exists():
        found = read_bigrams(Embedding.open(vocabulary), data / f"{public}.txt.xz")
        pairs = found.follows.tocoo()
        np.savez(
            path,
            row=pairs.row,
            col=pairs.col,
            data=pairs.data,
            backing_off=found.backing_off,
            alone=found.alone,
            counts=found.counts,
        )
    return f"{path.name} {time.time() - began:.0f} s"


def _write_kinds(into: Path) -> str:
    """Write the kinds of all words but the most frequent: clusters of their unit vectors."""
    from sklearn.cluster import KMeans

    source = Embedding.open(SOURCE)
    vectors = np.asarray(source.vectors[MOST_FREQUENT:], dtype=np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    kinds = KMeans(KINDS, n_init=1, max_iter=50, random_state=0).fit_predict(vectors)
    np.savez(into / "kinds.npz", words=np.array(source.words[MOST_FREQUENT:]), kinds=kinds.astype(np.int64))
    return "kinds"


def measure_all(given: argparse.Namespace) -> None:
    """Start the workers, collect what they have measured into a tar every few seconds, and end with them."""
    for stale in given.into.glob("*.claim"):
        stale.unlink()
    command = [
        sys.executable,
        "-m",
        "scripts.purpose.measure",
        "worker",
        "--into",
        str(given.into),
        "--first",
        str(given.first),
        "--only",
        given.only,
    ]
    command += ["--device", given.device, *(["--known", str(given.known)] if given.known else [])]
    running = []
    for number in range(given.workers):
        with (given.into / f"worker{number}.log").open("a") as log:
            running.append(subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT))
    while any(each.poll() is None for each in running):
        time.sleep(5.0)
        pack(given.into)
    pack(given.into)


def pack(into: Path) -> None:
    """Put all results into results.tar.gz."""
    with tarfile.open(into / "results.part", "w:gz") as archive:
        for path in sorted([*into.glob("*.result.json"), *into.glob("*.log")]):
            archive.add(path, arcname=path.name)
    (into / "results.part").rename(into / "results.tar.gz")


def work(given: argparse.Namespace) -> None:
    """Measure one data set in one space after the other that nobody else has begun, at all its levels."""
    from scripts.purpose.setting import SettingOnCard

    for _, together in groupby(_asked(given), key=lambda each: (each.data, each.space, each.mechanism)):
        group = list(together)
        left = [each for each in group if not (given.into / f"{each.name}.result.json").exists()]
        if not left or not _claimed(given.into / f"{group[0].name}.claim"):
            continue
        on_card = None
        for setting in left:
            try:
                began = time.time()
                on_card = on_card or SettingOnCard(given.into, setting, given.device)
                found = on_card.measure(setting)
                found["seconds"] = round(time.time() - began, 1)
                path = given.into / f"{setting.name}.result.json"
                path.with_suffix(".part").write_text(json.dumps(found), encoding="utf-8")
                path.with_suffix(".part").rename(path)
                print(setting.name, found.get("epsilon"), found["seconds"], found.get("parts"), flush=True)
            except Exception as error:  # one setting that fails must not stop the others
                import traceback

                print("FAILED", setting.name, repr(error), traceback.format_exc(), flush=True)
                on_card = None
                _empty_cache()


def _claimed(path: Path) -> bool:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def collect(given: argparse.Namespace) -> None:
    """Put what is known and what was measured into one file; what was measured now wins."""
    paths = (given.into / f"{setting.name}.result.json" for setting in settings())
    new = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    together = merged(_known(given), new)
    write_results(given.output, together)
    print(f"{len(together)} of {len(settings())} settings, {len(new)} of them new")


def _known(given: argparse.Namespace) -> list[Result]:
    return read_results(given.known) if given.known else []


def _asked(given: argparse.Namespace) -> list[Setting]:
    return [each for each in not_measured(_known(given)) if given.only in each.name][: given.first]


def _empty_cache() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
