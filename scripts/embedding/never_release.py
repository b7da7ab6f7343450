"""Measure what the list of names does to one name: the figures in docs/guide/names.md."""

from __future__ import annotations

from deniable import Release

RELEASES, EPSILON, NAME = 80, 5.0, "kowalczyk"


def measure_release() -> None:
    """Print how often a name comes out with a list and without, and how many words the built-in list takes
    out."""
    for listed in (None, "names"):
        private = Release(epsilon=EPSILON, never_release=listed).make()
        out = private.many([NAME] * RELEASES).count(NAME)
        left_out = private.mechanism.embedding.left_out
        print(f"{NAME} at ε = {EPSILON:g}, list {listed}: came out {out} times of {RELEASES}")
        if left_out is not None:
            print(f"left out: {left_out.in_words()}")


if __name__ == "__main__":
    measure_release()
