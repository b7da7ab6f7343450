from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from deniable.neighbours.exact import nearest_of

FLOAT32 = st.floats(width=32, min_value=-1e6, max_value=1e6)


@given(hnp.arrays(np.float32, (6, 3), elements=FLOAT32), hnp.arrays(np.float32, 3, elements=FLOAT32))
def test_the_decision_equals_rational_arithmetic(vectors: np.ndarray, query: np.ndarray) -> None:
    def squared(row: np.ndarray) -> Fraction:
        return sum(
            ((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(row, query, strict=True)),
            Fraction(0),
        )

    distances = [squared(row) for row in vectors]
    assert nearest_of(query, vectors, range(6)) == distances.index(min(distances))


def test_two_words_one_float_apart_are_told_apart() -> None:
    near = np.array([[1.0, 0.0], [np.nextafter(np.float32(1.0), np.float32(2.0)), 0.0]], dtype=np.float32)
    assert nearest_of(np.array([2.0, 0.0], dtype=np.float32), near, [0, 1]) == 1
    assert nearest_of(np.array([0.0, 0.0], dtype=np.float32), near, [0, 1]) == 0
