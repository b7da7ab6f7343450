"""The compiled scan; absent where the package was installed without a compiler."""

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
I16 = NDArray[np.int16]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
U32 = NDArray[np.uint32]

LAYOUT_VERSION: int
RAY_TILE: int
RAY_TILES_AT_ONCE: int
RAY_UNIT: float

def index_bytes(words: int, dimension: int) -> int: ...
def build(vectors: F32, shadowed: U8, data: U8, threads: int) -> None: ...
def is_index_of(vectors: F32, shadowed: U8, data: U8, threads: int) -> bool: ...
def checksum(data: U8) -> int: ...
def cpu_features() -> list[tuple[str, bool]]: ...
def ray_paths() -> list[str]: ...
def paths() -> list[tuple[str, str]]: ...
def multiply_peak(path: str, threads: int, seconds: float) -> float: ...

class Index:
    def __init__(self, data: U8, vectors: F32) -> None: ...
    def nearest(self, queries: F32, ids: I64, path: str, threads: int) -> None: ...
    def nearest_k(self, queries: F32, ids: I64, distances: F64, path: str, threads: int) -> None: ...

class Rays:
    def __init__(
        self, vectors: F32, ids: I64, half: F32, slack: F32, projections: I16, highest: I16, directions: F64
    ) -> None: ...
    def first(
        self,
        vectors: F32,
        half: F32,
        slack: F32,
        starts: I64,
        radii: F64,
        winners: I64,
        path: str,
        threads: int,
    ) -> None: ...
    def walk(
        self, vectors: F32, half: F32, slack: F32, starts: I64, furthest: float, path: str, threads: int
    ) -> list[tuple[U32, U32, F64]]: ...
    def at(
        self,
        vectors: F32,
        half: F32,
        slack: F32,
        starts: I64,
        radii: F64,
        stays: U8,
        winners: I64,
        path: str,
        threads: int,
    ) -> None: ...
