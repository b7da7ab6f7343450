"""Golden releases through other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from deniable import (
    Embedding,
    Multivariate,
    Privatizer,
)
from tests.golden.compared import Golden
from tests.golden.in_python import keyed
from tests.golden.materials import IDS, TEXTS


def of_integrations(home: Path, key_file: Path) -> Golden:
    """Return what releases through other libraries hold; those that take no key, at an ε at which words stay
    themselves."""
    return {
        "pandas": _by_pandas(home),
        "polars": _by_polars(home),
        "datasets": _by_datasets(home, key_file),
        "sklearn": _by_sklearn(home),
        "presidio": _by_presidio(home),
    }


def _columns() -> tuple[list[str], list[str | None]]:
    return [str(one) for one in IDS], TEXTS


def _plain(home: Path) -> Privatizer:
    return keyed(Multivariate(Embedding.open(home / "embeddings" / "plain"), epsilon=3.0))


def _by_pandas(home: Path) -> Any:
    import pandas

    import deniable.integrations.pandas  # noqa: F401

    ids, texts = _columns()
    frame = pandas.DataFrame({"id": ids, "text": pandas.Series(texts, dtype=object)})
    return frame["text"].deniable.privatize(_plain(home), record_ids=frame["id"]).tolist()


def _by_polars(home: Path) -> Any:
    import polars

    import deniable.integrations.polars  # noqa: F401

    ids, texts = _columns()
    column: Any = polars.Series("text", texts)
    return column.deniable.privatize(_plain(home), record_ids=ids).to_list()


def _by_datasets(home: Path, key_file: Path) -> Any:
    from datasets import Dataset

    from deniable.integrations.datasets import privatize

    ids, texts = _columns()
    data = Dataset.from_dict({"id": ids, "text": texts})
    settings: dict[str, Any] = {"epsilon": 3.0, "embedding": home / "embeddings" / "plain"}
    roles: dict[str, Any] = {"record_id": "id", "keep": ["id"], "key_file": key_file}
    return list(privatize(data, "text", load_from_cache_file=False, **roles, **settings)["text"])


def _by_sklearn(home: Path) -> Any:
    from deniable.integrations.sklearn import TextPrivatizer

    stays = TextPrivatizer(
        epsilon=1e9,
        embedding=str(home / "embeddings" / "plain"),
        unknown="redact",
        punctuation="keep",
        case="keep",
    )
    return stays.fit_transform(TEXTS).tolist()


def _by_presidio(home: Path) -> Any:
    from presidio_anonymizer import AnonymizerEngine
    from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

    from deniable.integrations.presidio import Deniable

    engine: Any = AnonymizerEngine()  # type: ignore[no-untyped-call]
    engine.add_anonymizer(Deniable)
    settings = {"epsilon": 1e9, "embedding": str(home / "embeddings" / "plain"), "unknown": "redact"}
    found = [RecognizerResult(entity_type="PERSON", start=9, end=22, score=0.9)]
    return engine.anonymize(
        "The soup Xyzzy the fox was cold.", found, {"DEFAULT": OperatorConfig("deniable", settings)}
    ).text
