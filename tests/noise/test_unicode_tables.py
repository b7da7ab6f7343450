"""Keyed words depend on the Unicode tables that cut text: other tables than those of the golden releases are
named, and end no job."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, Keyed, MalformedCard, Multivariate, Privatizer
from deniable.arrays import Floats
from deniable.decoding.decoder import Decoder
from deniable.errors import ResumeError
from deniable.records.describing import check_identity
from deniable.release import card as card_module
from deniable.release.card import card_from
from deniable.words import languages


def private() -> Privatizer:
    return Privatizer(
        Multivariate(Embedding(["a", "b"], [[0.0], [1.0]]), epsilon=1.0), randomness=Keyed.new()
    )


def test_the_golden_tables_are_named_nowhere() -> None:
    if languages.unicode_tables() != languages.GOLDEN_TABLES:
        pytest.skip("another version of regex than the golden releases were made with")
    assert "unicode_tables" not in private().settings.randomness


def test_other_tables_stand_in_the_receipt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(languages, "GOLDEN_TABLES", "others")
    assert private().receipt().to_dict()["randomness"]["unicode_tables"] == languages.unicode_tables()


def test_a_keyed_job_that_was_begun_under_other_tables_is_not_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = {"randomness": "keyed", "keyed_noise": 2}
    with pytest.raises(ResumeError):
        check_identity({**now, "unicode_tables": "others"}, now, tmp_path / "out.txt")
    check_identity(now, now, tmp_path / "out.txt")


def test_two_cuts_of_one_record_share_noise_where_word_and_position_agree() -> None:
    """What other tables do to a keyed release: it spends on what is cut otherwise, and on nothing else."""
    mechanism, keyed = private().mechanism, Keyed.new()

    def noise(ids: list[int]) -> Floats:
        places = np.arange(len(ids))
        tokens = keyed.bind(
            mechanism, np.array(ids), positions=places, record_ids=["r"], lengths=[len(ids)], epsilon=None
        )
        return tokens.uniforms(len(ids), 4)

    before, after = noise([0, 1, 1, 0]), noise([0, 1, 0, 0, 1])
    assert (before == after[:4]).all(axis=1).tolist() == [True, True, False, True]
    assert len({row.tobytes() for row in [*before, *after]}) == 6


def test_keyed_noise_does_not_depend_on_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    key = Keyed.new()
    before = Privatizer(private().mechanism, randomness=key)("a b a b a b", record_id=1)
    monkeypatch.setattr(languages, "GOLDEN_TABLES", "others")
    assert Privatizer(private().mechanism, randomness=key)("a b a b a b", record_id=1) == before


def test_a_card_names_other_tables_and_a_reader_is_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    here = languages.unicode_tables()
    monkeypatch.setattr(languages, "GOLDEN_TABLES", "0" * 16)
    monkeypatch.setattr(card_module, "GOLDEN_TABLES", "0" * 16)
    card = private().card
    assert card.to_dict()["unicode_tables"] == here
    card.warn_of_other_tables()  # which are those here
    with pytest.raises(MalformedCard):
        card_from({**card.to_dict(), "unicode_tables": "2026.1"})
    usual = {name: value for name, value in card.to_dict().items() if name != "unicode_tables"}
    with pytest.warns(UserWarning, match=here):
        Decoder.learn(usual, ["a b"] * 30, embedding=private().mechanism.embedding, check=False)
