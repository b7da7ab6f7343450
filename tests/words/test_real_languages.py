"""Real vectors and gold-segmented sentences, and English as it was. Needs the shared data; run by `make
check-slow`."""

from __future__ import annotations

import hashlib
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from deniable import Embedding
from deniable.words.cutter import RULES, Cutter, rules_for

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="the shared data sets are not here"),
]


@pytest.fixture
def measured(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """What the script measures for a language, with an empty store."""
    monkeypatch.setenv("DENIABLE_HOME", str(tmp_path))
    from scripts.languages import measure as measure_languages

    found: dict[str, Any] = measure_languages.measure_cutting(DATA / "languages", request.param)
    return found


@pytest.mark.parametrize("measured", ["ja", "zh"], indirect=True)
def test_scripts_without_spaces_are_cut_where_people_cut_them(measured: dict[str, Any]) -> None:
    assert measured["rules"]["boundary_f1"] >= 0.92
    assert measured["rules"]["known"] > 5 * measured["plain"]["known"]


@pytest.mark.parametrize("measured", ["fr"], indirect=True)
def test_french_words_are_those_of_gold(measured: dict[str, Any]) -> None:
    assert min(measured["rules"]["word_precision"], measured["rules"]["word_recall"]) >= 0.97
    assert measured["plain"]["word_f1"] < 0.94


@pytest.mark.parametrize("measured", ["de", "es", "ru"], indirect=True)
def test_other_languages_ask_for_nothing_and_are_cut_as_ever(measured: dict[str, Any]) -> None:
    assert measured["asks_for"] == []
    assert measured["plain"]["boundary_f1"] >= 0.985


@pytest.mark.parametrize(
    ("path", "step", "digest"),
    [
        ("imdb/imdb_50k.jsonl.xz", 10, "53bdcf06cb5c00fc"),
        ("enron_pan11/enron_pan11.jsonl.xz", 1, "6dff6a0d0c320f34"),
        ("irc_ubuntu/irc_ubuntu_by_user.jsonl.xz", 5, "12530026e76d8b53"),
    ],
)
def test_english_is_cut_into_the_words_it_was_cut_into(path: str, step: int, digest: str) -> None:
    """The digests were made before other languages had rules."""
    embedding = Embedding.open()
    assert rules_for(embedding) == RULES == 2
    cutter, words = Cutter(embedding), hashlib.blake2b(digest_size=8)
    with lzma.open(DATA / "datasets" / path, "rt", encoding="utf-8") as lines:
        for line in list(lines)[::step]:
            words.update(
                " ".join(cutter.words(json.loads(line)["text"])).encode("utf-8", "surrogatepass") + b"\n"
            )
    assert words.hexdigest() == digest
