"""What a newcomer gets wrong in the first minutes works, or gives one error that says what to do."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deniable import (
    Embedding,
    InsecureSeededRandomness,
    InvalidParameter,
    Keyed,
    Multivariate,
    Privatizer,
    RecordError,
)
from deniable.cli.terminal import as_typed
from deniable.mechanisms import Vickrey
from deniable.records import privatize_file
from deniable.release.release import privatizer_from, release_from


def test_epsilon_may_be_given_without_its_name(embedding: Embedding) -> None:
    assert (Multivariate(embedding, 6).epsilon, Vickrey(embedding, 5, t=0.5).epsilon) == (6, 5)


@pytest.mark.parametrize("given", [6, 6.0, "6", object()])
def test_what_is_neither_a_release_nor_a_privatizer_is_refused(given: object) -> None:
    for make in (privatizer_from, release_from):
        with pytest.raises(InvalidParameter) as refused:
            make(given, {})  # type: ignore[arg-type]
        assert "epsilon=6" in refused.value.problem


@pytest.mark.parametrize("act", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_privatizer_that_is_pickled_names_the_release(
    embedding: Embedding, act: Callable[[object], object]
) -> None:
    for noise in (None, Keyed(bytes(range(32)))):
        with pytest.raises(TypeError, match="Release"):
            act(Privatizer(Multivariate(embedding, 6), randomness=noise))


def test_a_mechanism_can_be_pickled_after_its_first_draw_too(embedding: Embedding) -> None:
    mechanism = Vickrey(embedding, 6)

    def release(by: Vickrey) -> list[str | None]:
        return Privatizer(by, randomness=InsecureSeededRandomness(insecure_seed=1)).many(["the fox"] * 20)

    first = release(mechanism)
    assert release(pickle.loads(pickle.dumps(mechanism))) == first


def test_no_public_attribute_of_a_privatizer_or_option_of_a_mechanism_can_be_assigned_or_deleted(
    embedding: Embedding,
) -> None:
    private = Privatizer(Multivariate(embedding, 7), record_epsilon=3)
    private("one text")
    public = [name for name in dir(private) if not name.startswith("_")]
    assert {"mechanism", "policy", "record_epsilon", "settings"} <= set(public)
    for name in (*public, "epsilon", "never_release", "anything"):
        with pytest.raises(AttributeError, match=name):
            setattr(private, name, 0.1)
        with pytest.raises(AttributeError, match=name):
            delattr(private, name)
    assert (private.record_epsilon, private.mechanism.epsilon, private.settings.record_epsilon) == (3, 7, 3)
    mechanism = Vickrey(embedding, epsilon=7, t=0.5)
    for name in ("t", "epsilon", "embedding"):
        with pytest.raises(AttributeError, match=name):
            setattr(mechanism, name, 0.1)
    assert (mechanism.t, mechanism.epsilon, mechanism.embedding) == (0.5, 7, embedding)


def test_an_output_that_exists_is_refused_in_the_words_of_python_or_of_the_command(
    embedding: Embedding, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("the fox\n")
    (tmp_path / "out.txt").touch()
    with pytest.raises(RecordError) as caught:
        privatize_file(Privatizer(Multivariate(embedding, 6)), tmp_path / "in.txt", tmp_path / "out.txt")
    assert str(caught.value).endswith("force=True")
    assert as_typed(caught.value).endswith("--force")


def test_a_system_that_lacks_what_deniable_needs_is_named_at_once() -> None:
    script = "import os; del os.O_CLOEXEC; import deniable"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: deniable runs on Linux and macOS")
