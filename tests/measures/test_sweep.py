"""A sweep measures everything once, and what was saved serves only those who ask the same."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deniable.decoding.ngrams import count_bigrams
from deniable.measures.catalogue import Setting, ShareUnchanged
from deniable.measures.estimate import Estimate
from deniable.measures.sweep import identity, measured, sweep
from deniable.measures.texts import Texts, cut_texts
from deniable.mechanisms.catalogue import ChosenMechanism
from tests.support.strategies import random_embedding

SPACE = random_embedding(60, 3, seed=1)
SETTING = Setting(embedding=SPACE, epsilon=4.0)
TEXTS = cut_texts(["w1 w2 w3", "w4 secretive"] * 20, SPACE, labels=["mine", "yours"] * 20)


@dataclass(frozen=True)
class Counted:
    """Notes when it is asked, and stops when it was asked too often."""

    of: Any = None
    most: int = 100
    asked: list[tuple[float, int]] = field(default_factory=list, init=False)

    def __call__(self, setting: Setting, texts: Texts, *, seed: int = 0) -> Estimate:
        if len(self.asked) == self.most:
            raise KeyboardInterrupt
        self.asked.append((setting.epsilon, seed))
        return ShareUnchanged()(setting, texts, seed=seed)


def test_a_sweep_that_was_stopped_goes_on_and_saves_no_text(tmp_path: Path) -> None:
    settings = [replace(SETTING, epsilon=epsilon) for epsilon in (1.0, 3.0, 9.0)]
    told: list[tuple[int, int]] = []
    first, rest = Counted(), Counted()
    whole = sweep(settings, {"unchanged": first}, TEXTS, seed=5)
    with pytest.raises(KeyboardInterrupt):
        sweep(settings, {"unchanged": Counted(most=2)}, TEXTS, seed=5, keep=tmp_path)
    object.__setattr__(rest, "most", 2)  # the same measure as the one that was stopped
    again = sweep(
        settings,
        {"unchanged": rest},
        TEXTS,
        seed=5,
        keep=tmp_path,
        report=lambda *rows: told.append(rows),
    )
    assert rest.asked == [(9.0, 5)]
    assert [row.estimates for row in again] == [row.estimates for row in whole]
    assert [row.setting.epsilon for row in again] == [1.0, 3.0, 9.0]
    assert told == [(1, 3), (2, 3), (3, 3)]
    for path in tmp_path.iterdir():
        assert not {"secretive", "mine"} & set(path.read_text().replace('"', " ").split())


@pytest.mark.parametrize("content", ["", "{", "[]", '{"key": 1, "measured": {}}'])
def test_a_damaged_number_is_measured_again(content: str, tmp_path: Path) -> None:
    first = measured(Counted(), SETTING, TEXTS, keep=tmp_path)
    (path,) = tmp_path.iterdir()
    path.write_text(content)
    again = Counted()
    assert measured(again, SETTING, TEXTS, keep=tmp_path) == first
    assert again.asked == [(4.0, 0)]


def test_whoever_asks_something_else_gets_an_answer_of_its_own(tmp_path: Path) -> None:
    public = tmp_path / "public.txt"
    public.write_text("w1 w2\n")
    before = identity(public)
    public.write_text("w2 w1\n")
    several = [
        before,
        public,
        SETTING,
        replace(SETTING, epsilon=5.0),
        replace(SETTING, mechanism=ChosenMechanism(name="santext")),
        replace(SETTING, mechanism=ChosenMechanism(name="vickrey", options={"t": 0.3})),
        replace(SETTING, mechanism=ChosenMechanism(name="vickrey", options={"t": "0.5"})),
        replace(SETTING, embedding=random_embedding(60, 3, seed=2)),
        TEXTS,
        replace(TEXTS, labels=["yours", "mine"] * 20),
        replace(TEXTS, ids=TEXTS.ids[::-1]),
        replace(TEXTS, spelled=[word.upper() for word in TEXTS.spelled]),
        Counted(),
        Counted(of=np.arange(4)),
        Counted(of=np.arange(4.0)),
        Counted(of=np.arange(4).reshape(2, 2)),
        Counted(of=[1, 2, [3, Path(__file__)]]),
        Counted(of=count_bigrams([np.array([1, 2, 1])], 4)),
        Counted(of=count_bigrams([np.array([1, 2, 3])], 4)),
        ShareUnchanged(),
    ]
    names = [str(identity(each)) for each in several]
    assert len(set(names)) == len(names)
    assert names == [str(identity(each)) for each in several]
    assert identity(replace(SETTING)) == identity(SETTING)
