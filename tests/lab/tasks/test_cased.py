"""With a cased embedding, the passages of a task hold the words as they are written, and a release at a huge
ε changes none."""

from __future__ import annotations

from pathlib import Path

from tests.support.made_cased import cased_rows, made_cased

from deniable import Embedding, Multivariate
from deniable.lab.passages import passages_of
from deniable.lab.perturbation import Perturbations, changed_share
from deniable.lab.tasks.data.examples import Classification, Labelled
from deniable.lab.tasks.experiment.runner import encode_task
from deniable.release.policies import TextPolicy


def part(count: int) -> Labelled:
    rows = cased_rows(count)
    return Labelled(texts=[text for _, text in rows], labels=[int(label == "names") for label, _ in rows])


def words_of_passages(embedding: Embedding, texts: list[str]) -> list[str]:
    return [embedding.words[i] for i in passages_of(texts, embedding, TextPolicy()).ids]


def test_passages_hold_words_in_the_case_they_were_written_in(tmp_path: Path) -> None:
    embedding = made_cased()
    task = Classification(
        name="imdb", classes=["nouns", "names"], train=part(40), validation=part(20), test=part(30)
    )
    encoded = encode_task(task, embedding, TextPolicy())
    mechanism = Multivariate(embedding, epsilon=1e6)
    for split in ("train", "validation", "test"):
        texts = getattr(task, split).texts
        passages = encoded.passages[split]
        assert [embedding.words[i] for i in passages.ids] == [word for text in texts for word in text.split()]
        released = Perturbations(tmp_path, TextPolicy()).get(passages, mechanism, 1)
        assert released.digest == passages.digest
        assert changed_share(passages, released) == 0.0


def test_an_uncased_embedding_still_folds() -> None:
    embedding = Embedding(["the", "bank", "paris"], [[5.0, 0, 0], [0, 5.0, 0], [0, 0, 5.0]], name="uncased")
    assert words_of_passages(embedding, ["The BANK", "paris"]) == ["the", "bank", "paris"]
