"""Make the built-in spaces of purposes: src/deniable/embeddings/data/PURPOSE.

    python -m scripts.purpose.built_in glove.840B.300d.34k.w2v.txt.bz2 SOURCES [sentiment topic]

SOURCES is a folder with what the directions are learnt from, all under terms that allow publishing them:
vaderSentiment-3.3.2-py2.py3-none-any.whl (PyPI); opinion_lexicon.zip, movie_reviews.zip and pros_cons.zip of
nltk_data; and huffpost.json, 900 headlines of each of 41 categories of the News Category Dataset, as JSON
Lines with ``raw`` and ``label`` (data/huffpost.json of github.com/ws-jiang/MetaPrompter_public). Only
directions are written, never words or texts of these.

The 50,000 built-in words get the vectors of GloVe 840B; a word that it does not have gets one by a ridge
regression on its 50 built-in coordinates. A space is a linear map of these vectors.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

from deniable import Embedding
from deniable.arrays import Floats
from deniable.embeddings.derived import map_embedding
from deniable.embeddings.readers import open_embedding_file
from deniable.purposes.directions import PurposeDirections, learn_directions
from deniable.purposes.principal import covariance
from deniable.purposes.public_texts import PublicTexts
from deniable.purposes.shaping import map_of_directions
from scripts.pages import ROOT, write_json

FOLDER = ROOT / "src" / "deniable" / "embeddings" / "data"
GLOVE = {
    "url": "https://nlp.stanford.edu/data/glove.840B.300d.zip",
    "licence": "PDDL-1.0",
    "cite": "Pennington, Socher and Manning (2014), GloVe: Global Vectors for Word Representation, EMNLP",
}
CARRIED = "glove-840b-carried-over"
RIDGE = 1e-5
STRENGTH = 8.0
"""With it, ε = 6 gives about the same risk as in the built-in space, so that one slider serves both."""


def carried_over(path: Path) -> tuple[Embedding, list[str]]:
    """Return the built-in words with 300 coordinates, and those among them that GloVe 840B has."""
    default = Embedding.open()
    there: dict[str, Floats] = {}
    with open_embedding_file(path) as raw:
        for words, vectors in raw.blocks:
            there |= {word: row for word, row in zip(words, vectors, strict=True) if word in default.index}
    known = np.array([word in there for word in default.words])
    table = np.zeros((len(default), 300))
    table[known] = [there[word] for word in default.words if word in there]
    given = np.column_stack([default.vectors.astype(np.float64), np.ones(len(default))])
    gram = given[known].T @ given[known]
    solved = np.linalg.solve(gram + RIDGE * known.sum() * np.eye(len(gram)), given[known].T @ table[known])
    table[~known] = given[~known] @ solved
    # Rounded: what two machines compute a little differently becomes the same vector.
    whole = Embedding(default.words, np.round(table, 4).astype(np.float32), name=CARRIED)
    return whole, [word for word in default.words if word in there]


def sentiment_texts(folder: Path, known: list[str]) -> Iterator[PublicTexts]:
    """Return words with their valence, and texts of praise and of blame: four purposes of their own."""
    usable = set(known)
    with zipfile.ZipFile(folder / "vaderSentiment-3.3.2-py2.py3-none-any.whl") as file:
        lines = file.read("vaderSentiment/vader_lexicon.txt").decode("utf-8").splitlines()
    valence = {word: float(number) for word, number, *_ in (line.split("\t") for line in lines)}
    yield _words_with_numbers(valence, usable, "VADER 3.3.2, vader_lexicon.txt")
    polarity: dict[str, float] = {}
    with zipfile.ZipFile(folder / "opinion_lexicon.zip") as file:
        for kind, number in (("positive", 1.0), ("negative", -1.0)):
            listed = file.read(f"opinion_lexicon/{kind}-words.txt").decode("latin-1").splitlines()
            polarity |= {word.strip(): number for word in listed if word and not word.startswith(";")}
    yield _words_with_numbers(polarity, usable, "opinion_lexicon of Hu and Liu")
    with zipfile.ZipFile(folder / "movie_reviews.zip") as file:
        names = sorted(name for name in file.namelist() if name.endswith(".txt"))
        texts = [(Path(name).parent.name, file.read(name).decode("latin-1")) for name in names]
    yield _texts_with_labels(texts, "movie_reviews of Pang and Lee")
    with zipfile.ZipFile(folder / "pros_cons.zip") as file:
        texts = [
            (kind, line.partition(">")[2].rpartition("<")[0])
            for kind, name in (("pos", "IntegratedPros.txt"), ("neg", "IntegratedCons.txt"))
            for line in file.read(f"pros_cons/{name}").decode("latin-1").splitlines()
        ]
    yield _texts_with_labels(texts, "pros_cons of Liu")


TOPICS = {"world": (15, 24, 28), "sport": (11,), "business": (9, 31), "science and technology": (27, 30)}
"""The categories of headlines that make a topic: the world post (twice) and world news; sports; business and
money; science and tech."""


def topic_texts(folder: Path, _: list[str]) -> Iterator[PublicTexts]:
    """Return headlines by topic: one purpose of three directions."""
    topic = {label: name for name, labels in TOPICS.items() for label in labels}
    rows = [json.loads(line) for line in (folder / "huffpost.json").read_text(encoding="utf-8").splitlines()]
    texts = [(topic[row["label"]], row["raw"]) for row in rows if row["label"] in topic]
    yield _texts_with_labels(texts, "News Category Dataset of Misra")


def _words_with_numbers(numbers: dict[str, float], usable: set[str], source: str) -> PublicTexts:
    words = [word for word in numbers if word in usable]
    return PublicTexts.of([numbers[word] for word in words], words, kind="numbers", source=source)


def _texts_with_labels(texts: list[tuple[str, str]], source: str) -> PublicTexts:
    labels, content = zip(*((label, text) for label, text in texts if text.strip()), strict=True)
    return PublicTexts.of(labels, content, kind="classes", source=source)


def mean_direction(learnt: list[PurposeDirections], spread: Floats) -> Floats:
    """Return one direction for several purposes with one each that mean the same: the mean of their scores,
    each of spread 1, with the signs that agree with the first."""
    rows = [each.axes[0] / np.sqrt(each.axes[0] @ spread @ each.axes[0]) for each in learnt]
    total = sum(row * np.sign(row @ spread @ rows[0]) for row in rows)
    return np.asarray(total / np.linalg.norm(total))[np.newaxis]


def shaped_space(purpose: str, base: Embedding, public: list[PublicTexts]) -> Embedding:
    """Return the space of a purpose alone."""
    learnt = [learn_directions(base, each) for each in public]
    if len(learnt) > 1:
        axes = mean_direction(learnt, covariance(base))
        learnt = [each._replace(axes=axes) for each in learnt]
    found = map_of_directions(base, public, learnt, dimension=0, strength=STRENGTH)
    return map_embedding(base, found, name=f"for-{purpose}")


def write_space(purpose: str, space: Embedding, glove: Path, sources: dict[str, str]) -> None:
    """Write the files of a space: its vectors, the map, and where all of it comes from."""
    assert space.linear_map is not None
    folder = FOLDER / purpose
    folder.mkdir(exist_ok=True)
    np.save(folder / "vectors.npy", space.vectors, allow_pickle=False)
    np.save(folder / "unknown.npy", space.unknown, allow_pickle=False)
    space.linear_map.save(folder)
    files = ("vectors.npy", "unknown.npy", "map.json", "map.npy")
    content = {
        "name": space.name,
        "title": f"made for {purpose}: the built-in words along the directions of the purpose alone",
        "source": {"file": glove.name, "sha256": _digest(glove), **GLOVE},
        "made_with": f"python -m scripts.purpose.built_in {glove.name} SOURCES {purpose}",
        "learnt_from": sources,
        "words": len(space),
        "dimension": space.dimension,
        "cased": space.cased,
        "shadowed": space.shadowed.tolist(),
        "fingerprint": space.fingerprint,
        "map_digest": space.linear_map.digest,
        "files_sha256": {name: _digest(folder / name) for name in files},
    }
    write_json(folder / "provenance.json", msgspec.to_builtins(content))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


LICENCES = {
    "sentiment": {
        "vader_lexicon.txt of PyPI vaderSentiment 3.3.2": "MIT, Hutto and Gilbert (2014)",
        "opinion_lexicon of nltk_data": "CC BY 4.0, Hu and Liu (2004)",
        "movie_reviews of nltk_data, polarity dataset v2.0": "CC BY 4.0, Pang and Lee (2004)",
        "pros_cons of nltk_data": "CC BY 4.0, Liu, Hu and Cheng (2005)",
    },
    "topic": {
        "News Category Dataset, headlines of eight categories": "CC BY 4.0, Misra (2018)",
    },
}
TEXTS = {"sentiment": sentiment_texts, "topic": topic_texts}


def main() -> None:
    """Make the spaces that are named, or all."""
    glove, folder = Path(sys.argv[1]), Path(sys.argv[2])
    base, known = carried_over(glove)
    print(f"{CARRIED}: {len(known):,} words of GloVe 840B, fingerprint {base.fingerprint}")
    for purpose in sys.argv[3:] or LICENCES:
        public = list(TEXTS[purpose](folder, known))
        space = shaped_space(purpose, base, public)
        write_space(purpose, space, glove, LICENCES[purpose])
        print(f"{space.name}: {space.dimension} dimensions, {len(space.shadowed)} words share a vector")


if __name__ == "__main__":
    main()
