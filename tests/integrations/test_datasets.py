from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
from datasets import Dataset, DatasetDict

from deniable import Embedding, InvalidParameter
from deniable.embeddings import store
from deniable.errors import UndecidedColumns
from deniable.integrations.datasets import privatize
from deniable.noise.key_file import write_new_key
from tests.test_nothing_unnamed import SUSPICIOUS, rows_with


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    datasets.disable_progress_bars()
    yield
    datasets.enable_progress_bars()


@pytest.fixture
def stored(tmp_path: Path) -> Dataset:
    """A dataset on disk, whose maps are cached."""
    rows: dict[str, Any] = {
        "text": [*(f"word{i} the soup" for i in range(40)), None],
        "stars": list(range(41)),
    }
    Dataset.from_dict(rows).save_to_disk(str(tmp_path / "data"))
    return Dataset.load_from_disk(str(tmp_path / "data"))


def test_a_column_is_replaced_and_the_rest_stays(name: str) -> None:
    dataset = Dataset.from_dict({"text": ["The soup, cold!", None, ""], "stars": [1, 2, 3]})
    released = privatize(dataset, "text", epsilon=1e6, embedding=name)
    assert released["text"][:] == ["the soup cold", None, ""]
    assert released["stars"][:] == [1, 2, 3]
    assert released.features == dataset.features
    assert dataset["text"][0] == "The soup, cold!"


def test_classes_that_are_called_like_people_are_refused(name: str) -> None:
    people = datasets.ClassLabel(names=["Anna Kowalska", "John Smith", "Maria Garcia"])
    dataset = Dataset.from_dict({"text": ["the soup"] * 6, "by": [0, 1, 2, None, 1, 0]})
    dataset = dataset.cast_column("by", people)
    with pytest.raises(UndecidedColumns) as raised:
        privatize(dataset, "text", epsilon=6, embedding=name)
    assert raised.value.columns == {"by": "names or ids of people"}
    assert privatize(dataset, "text", epsilon=6, embedding=name, keep=["by"]).features["by"] == people


def test_a_release_that_is_in_the_cache_is_not_drawn_again(name: str, stored: Dataset) -> None:
    first = privatize(stored, "text", epsilon=1e-3, embedding=name)
    again = privatize(stored, "text", epsilon=1e-3, embedding=name)
    assert first.cache_files == again.cache_files
    assert first["text"][:] == again["text"][:]


@pytest.mark.parametrize(
    "change", [{"epsilon": 1e-4}, {"unknown": "drop"}, {"mechanism": "tem"}, {"load_from_cache_file": False}]
)
def test_other_settings_are_another_release(name: str, stored: Dataset, change: dict[str, Any]) -> None:
    first = privatize(stored, "text", epsilon=1e-3, embedding=name)
    other = privatize(stored, "text", **{"epsilon": 1e-3, "embedding": name, **change})
    assert first["text"][:] != other["text"][:]
    assert first._fingerprint != other._fingerprint


def test_another_embedding_under_the_same_name_is_not_served_from_the_cache(
    name: str, stored: Dataset
) -> None:
    privatize(stored, "text", epsilon=1e-3, embedding=name)
    store.remove(name)
    store.save(Embedding(["only", "these"], np.eye(2), name=name), name)
    assert set(
        " ".join(
            text for text in privatize(stored, "text", epsilon=1e-3, embedding=name)["text"] if text
        ).split()
    ) == {
        "only",
        "these",
    }


def test_data_in_memory_is_released_anew_under_a_new_name(name: str) -> None:
    dataset = Dataset.from_dict({"text": [" ".join(["word1"] * 50)]})
    one, two = (privatize(dataset, "text", epsilon=1e-3, embedding=name) for _ in range(2))
    assert one["text"][0] != two["text"][0]
    assert one._fingerprint != two._fingerprint


@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_worker_processes_never_repeat_noise(name: str) -> None:
    text = " ".join(["word1"] * 50)
    dataset = Dataset.from_dict({"text": [text] * 8})
    privatize(
        dataset, "text", epsilon=1e-3, embedding=name
    )  # so that this process has drawn before it is forked
    released = privatize(dataset, "text", epsilon=1e-3, embedding=name, num_proc=4, batch_size=1)
    assert len(set(released["text"])) == 8


def test_with_a_key_data_in_memory_is_released_the_same_again(name: str, tmp_path: Path) -> None:
    write_new_key(tmp_path / "key")
    dataset = Dataset.from_dict({"id": ["a", "b"], "text": [" ".join(["word1"] * 50)] * 2})
    settings: dict[str, Any] = {
        "epsilon": 1e-3,
        "embedding": name,
        "key_file": tmp_path / "key",
        "record_id": "id",
        "keep": ["id"],
    }
    one, two = (privatize(dataset, "text", **settings, batch_size=size) for size in (1, 2))
    assert one["text"][:] == two["text"][:]
    assert one["text"][0] != one["text"][1]
    assert one._fingerprint == two._fingerprint
    with pytest.raises(InvalidParameter, match="go together"):
        privatize(dataset, "text", epsilon=6, embedding=name, record_id="id")


def test_every_split_of_a_dictionary_is_released(name: str) -> None:
    splits = DatasetDict(
        {"train": Dataset.from_dict({"text": ["Soup!"]}), "test": Dataset.from_dict({"text": ["Bread!"]})}
    )
    released = privatize(splits, "text", epsilon=1e6, embedding=name)
    assert {split: data["text"][:] for split, data in released.items()} == {
        "train": ["soup"],
        "test": ["bread"],
    }


@pytest.mark.parametrize("suspicious", SUSPICIOUS)
def test_what_looks_like_people_or_texts_leaves_only_by_name(name: str, suspicious: str) -> None:
    dataset = DatasetDict({"train": Dataset.from_list(rows_with(suspicious))})
    settings: dict[str, Any] = {"epsilon": 1e6, "embedding": name}
    with pytest.raises(UndecidedColumns) as raised:
        privatize(dataset, "note", **settings)
    assert raised.value.columns.keys() == {suspicious}
    dropped = privatize(dataset, "note", drop=[suspicious], **settings)["train"]
    assert dropped.column_names == ["nr", "note", "stars"]
    kept = privatize(dataset, "note", keep=[suspicious], **settings)["train"]
    assert kept[suspicious][:] == dataset["train"][suspicious][:]
    with pytest.raises(InvalidParameter) as wrong:
        privatize(dataset, "note", keep=[suspicious, "no-such"], **settings)
    assert wrong.value.name == "keep"


def test_streams_missing_columns_and_numbers_are_refused(name: str) -> None:
    dataset = Dataset.from_dict({"text": ["Soup!"], "stars": [1]})
    with pytest.raises(InvalidParameter, match="another release"):
        privatize(dataset.to_iterable_dataset(), "text", epsilon=6, embedding=name)
    with pytest.raises(InvalidParameter, match="the columns are text, stars"):
        privatize(dataset, "txet", epsilon=6, embedding=name)
    with pytest.raises(InvalidParameter, match="does not hold text"):
        privatize(DatasetDict({"train": dataset}), "stars", epsilon=6, embedding=name)


def test_an_id_that_comes_twice_is_refused_over_batches_and_splits_unless_it_names_users(
    name: str, tmp_path: Path
) -> None:
    write_new_key(tmp_path / "key")
    one = Dataset.from_dict({"id": [1, 2, 1], "text": ["soup"] * 3})
    train, test = (Dataset.from_dict({"id": ids, "text": ["soup", "bread"]}) for ids in ([1, 2], [3, 2]))
    settings: dict[str, Any] = {
        "epsilon": 6,
        "embedding": name,
        "key_file": tmp_path / "key",
        "record_id": "id",
        "keep": ["id"],
    }
    with pytest.raises(InvalidParameter, match="row 3"):
        privatize(one, "text", **settings, batch_size=1)
    with pytest.raises(InvalidParameter, match="row 4"):
        privatize(DatasetDict({"train": train, "test": test}), "text", **settings)
    users = privatize(DatasetDict({"train": train, "test": test}), "text", **settings, consistent=True)
    assert users["train"].num_rows == 2
