"""The compiled scan; absent where the package was installed without a compiler."""

import numpy as np
from numpy.typing import NDArray

LAYOUT_VERSION: int
RAY_TILE: int
RAY_TILES_AT_ONCE: int
RAY_UNIT: float

def index_bytes(words: int, dimension: int) -> int: ...
def build(vectors: NDArray[np.float32], shadowed: NDArray[np.uint8], data: NDArray[np.uint8], threads: int) -> None: ...
def is_index_of(vectors: NDArray[np.float32], shadowed: NDArray[np.uint8], data: NDArray[np.uint8], threads: int) -> bool: ...
def checksum(data: NDArray[np.uint8]) -> int: ...
def cpu_features() -> list[tuple[str, bool]]: ...
def ray_paths() -> list[str]: ...
def paths() -> list[tuple[str, str]]: ...
def multiply_peak(path: str, threads: int, seconds: float) -> float: ...

class Index:
    def __init__(self, data: NDArray[np.uint8], vectors: NDArray[np.float32]) -> None: ...
    def nearest(self, queries: NDArray[np.float32], ids: NDArray[np.int64], path: str, threads: int) -> None: ...
    def nearest_k(
        self, queries: NDArray[np.float32], ids: NDArray[np.int64], distances: NDArray[np.float64], path: str, threads: int
    ) -> None: ...

class Rays:
    def __init__(
        self,
        vectors: NDArray[np.float32],
        ids: NDArray[np.int64],
        half: NDArray[np.float32],
        gaps: NDArray[np.float32],
        slack: NDArray[np.float32],
        projections: NDArray[np.int16],
        highest: NDArray[np.int16],
        directions: NDArray[np.float64],
    ) -> None: ...
    def first(
        self,
        vectors: NDArray[np.float32],
        half: NDArray[np.float32],
        gaps: NDArray[np.float32],
        slack: NDArray[np.float32],
        starts: NDArray[np.int64],
        products: NDArray[np.float32],
        radii: NDArray[np.float64],
        winners: NDArray[np.int64],
        path: str,
        threads: int,
    ) -> None: ...
    def walk(
        self,
        vectors: NDArray[np.float32],
        half: NDArray[np.float32],
        gaps: NDArray[np.float32],
        slack: NDArray[np.float32],
        starts: NDArray[np.int64],
        products: NDArray[np.float32],
        furthest: float,
        path: str,
        threads: int,
    ) -> list[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.float64]]]: ...
