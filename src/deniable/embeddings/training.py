"""Training an embedding from a public text: skip-gram vectors, with subwords if wanted, by gensim.

The text must be public. An embedding made from the text that is to be protected depends on it, its words and
vectors give that text away, and the guarantee, which is stated for a fixed public embedding, says nothing any
more.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deniable.embeddings import store
from deniable.embeddings.content import UNPRINTABLE
from deniable.embeddings.embedding import Embedding
from deniable.embeddings.readers.binary import subwords_of
from deniable.errors import InvalidParameter, MalformedEmbedding, MissingExtra
from deniable.parameters import validated_count
from deniable.progress import Report
from deniable.words.cutter import words_of
from deniable.words.public_text import read_documents

WARNING = (
    "the training text must be public: its words and their company become the embedding. "
    "Training on the text that is to be protected breaks the guarantee"
)

BUCKETS = 200_000
"""Rows of subword vectors. fastText's own 2,000,000 suit corpora of billions of words, and weigh 800 MB at
100 dimensions."""

LONGEST_DOCUMENT = 10_000
"""Words after which a document is cut in two: gensim reads no further than this."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """How to train. ``first`` keeps that many of the most frequent words; ``subwords`` trains vectors of word
    parts too."""

    dimension: int = 100
    window: int = 5
    min_count: int = 5
    epochs: int = 5
    workers: int = 1
    first: int | None = None
    subwords: bool = False

    def __post_init__(self) -> None:
        """Check the numbers."""
        for name in ("dimension", "window", "min_count", "epochs", "workers"):
            validated_count(getattr(self, name), name)
        if self.first is not None:
            validated_count(self.first, "first")

    def describe(self) -> str:
        """Return the settings in one line, for the record that is kept with the embedding."""
        return "skip-gram, " + ", ".join(
            f"{key} {value}" for key, value in asdict(self).items() if key != "workers" and value is not None
        )


class Corpus:
    """The documents of a file, as lists of words, for gensim: each pass reads it again and reports its bytes
    after those of earlier ones.

    An error ends the pass and is kept as ``failure``: in gensim's reading thread it would hang the training.
    """

    def __init__(self, path: Path, *, passes: int = 1, report: Report | None = None) -> None:
        """Hold the path; ``passes`` is how many times it will be read, for the total that is reported."""
        self._path, self._passes, self._done, self._report = path, passes, 0, report
        self.failure: Exception | None = None

    def __iter__(self) -> Iterator[list[str]]:
        """Yield the words of each document, in pieces of at most ``LONGEST_DOCUMENT``."""

        def report(read: int, size: int) -> None:
            if self._report is not None:
                self._report(self._done * size + read, self._passes * size)

        try:
            for text in read_documents(self._path, report=report) if self.failure is None else ():
                words = words_of(text)
                for start in range(0, len(words), LONGEST_DOCUMENT):
                    yield words[start : start + LONGEST_DOCUMENT]
        except Exception as error:
            self.failure = error
        self._done += 1

    def check(self) -> None:
        """Raise what ended a pass, if anything did."""
        if self.failure is not None:
            raise self.failure


def train_embedding(
    corpus: Path, training: Training, *, name: str = "unnamed", report: Report | None = None
) -> Embedding:
    """Return an embedding trained on a text file, one document a line; words come most frequent first.

    The file is read once to count its words and once an epoch. With one worker and the same file, the same
    vectors come out; with more, gensim's threads race and they differ a little.

    :raises MissingExtra: if gensim is not installed.
    :raises InvalidParameter: if there is no such file.
    :raises RecordError: if the file cannot be read, is damaged, or is not UTF-8.
    :raises MalformedEmbedding: if no word is frequent enough.
    """
    if not corpus.is_file():
        raise InvalidParameter("corpus", str(corpus), "there is no such file")
    model = _new_model(training)
    documents = Corpus(corpus, passes=1 + training.epochs, report=report)
    counts: Counter[str] = Counter()
    pieces = 0
    for words in documents:
        counts.update(words)
        pieces += 1
    documents.check()
    # An address is a word whatever stands in it; one that holds a control character is not taken in.
    usable = (word for word in counts if counts[word] >= training.min_count and not UNPRINTABLE.search(word))
    # Ties go by spelling, so that the choice does not hang on the order of a dictionary.
    frequent = sorted(usable, key=lambda word: (-counts[word], word))
    if not frequent:
        problem = f"no word of it occurs {training.min_count:,} times"
        raise MalformedEmbedding(corpus, f"{problem}; give more text or a smaller --min-count")
    kept = {word: counts[word] for word in frequent[: training.first]}
    model.build_vocab_from_freq(kept, corpus_count=pieces)
    model.train(documents, total_examples=pieces, epochs=training.epochs)
    documents.check()
    embedding = Embedding(model.wv.index_to_key, model.wv.vectors, name=name)
    if training.subwords:
        embedding.subwords = subwords_of(model.wv)
    return embedding


def install_trained(
    corpus: Path, name: str, training: Training, *, report: Report | None = None
) -> store.EmbeddingFacts:
    """Train an embedding on a text file, as ``train_embedding`` does, and install it under a name, with a
    note of the text and the settings.

    :raises EmbeddingExists: if the name is taken, before the training begins.
    """
    store.free_place(name)
    embedding = train_embedding(corpus, training, name=name, report=report)
    with corpus.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    source = f"trained on {corpus.name} (sha256 {digest}); {training.describe()}"
    return store.save(embedding, name, source=source)


def _new_model(training: Training) -> Any:
    try:
        from gensim.models import FastText, Word2Vec
    except ImportError as error:
        raise MissingExtra("training an embedding", "train") from error
    # min_count 1: what is too rare has been taken out of the counts already.
    options = {"vector_size": training.dimension, "window": training.window, "workers": training.workers}
    options |= {"min_count": 1, "sg": 1, "seed": 1}
    return FastText(**options, bucket=BUCKETS) if training.subwords else Word2Vec(**options)
