"""The arrays that everything is computed with, by what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]
"""Word ids: row numbers of the embedding; as an input the number of words stands for the unknown word ⊥."""

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]
