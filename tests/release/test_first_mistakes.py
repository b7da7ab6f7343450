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
        with pytest.raises(InvalidParameter, match="epsilon=6"):
            make(given, {})  # type: ignore[arg-type]


@pytest.mark.parametrize("act", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_privatizer_that_is_pickled_names_the_release(
    embedding: Embedding, act: Callable[[object], object]
) -> None:
    private = Privatizer(Multivariate(embedding, 6))
    private("the fox")
    with pytest.raises(TypeError, match=r"a Privatizer cannot be pickled or copied: send its Release"):
        act(private)


def test_a_mechanism_can_be_pickled_after_its_first_draw_too(embedding: Embedding) -> None:
    mechanism = Vickrey(embedding, 6)

    def release(by: Vickrey) -> list[str | None]:
        return Privatizer(by, randomness=InsecureSeededRandomness(insecure_seed=1)).many(["the fox"] * 20)

    first = release(mechanism)
    assert release(pickle.loads(pickle.dumps(mechanism))) == first


def test_an_output_that_exists_is_refused_in_the_words_of_python_or_of_the_command(
    embedding: Embedding, tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("the fox\n")
    (tmp_path / "out.txt").touch()
    with pytest.raises(RecordError) as caught:
        privatize_file(Privatizer(Multivariate(embedding, 6)), tmp_path / "in.txt", tmp_path / "out.txt")
    assert str(caught.value).endswith("replace it with force=True")
    assert as_typed(caught.value).endswith("replace it with --force")


def test_a_system_that_lacks_what_deniable_needs_is_named_at_once() -> None:
    script = "import os; del os.O_CLOEXEC; import deniable"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("ImportError: deniable runs on Linux and macOS")
