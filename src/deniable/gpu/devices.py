"""PyTorch and Triton, as far as they are there."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from deniable.errors import InvalidParameter, MissingExtra

if TYPE_CHECKING:
    import torch


def pytorch() -> Any:
    """Return the module ``torch``."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtra("a search on a GPU", "gpu") from error
    return torch


def usable_device(device: str) -> torch.device:
    """Return the device of that name."""
    library = pytorch()
    try:
        found: torch.device = library.device(device)
        library.zeros(1, device=found)
    except (RuntimeError, AssertionError) as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidParameter("device", device, f"PyTorch cannot use it here ({first_line})") from error
    return found


def on_device(array: np.ndarray[Any, Any], device: torch.device) -> torch.Tensor:
    """Return an array as a tensor on a device."""
    there: torch.Tensor = pytorch().from_numpy(np.array(array, copy=not array.flags.writeable)).to(device)
    return there


def check_full_products(who: str) -> None:
    """Refuse to go on where PyTorch may round the factors of products to TF32, which has 10 bits."""
    library = pytorch()
    try:
        precision = library.get_float32_matmul_precision()
    except RuntimeError:  # a newer switch is set, and it does not say so in the older words
        precision = "tf32"
    if precision != "highest":
        problem = f"{who} needs full float32 products: torch.set_float32_matmul_precision('highest')"
        raise InvalidParameter("float32 precision", precision, problem)


def compiles_kernels(device: torch.device) -> bool:
    """Return whether our kernels run on the device: compiled for an NVIDIA GPU, or interpreted for tests."""
    if find_spec("triton") is None:
        return False
    if os.environ.get("TRITON_INTERPRET") == "1":
        return device.type == "cpu"
    if device.type != "cuda":
        return False
    return bool(
        pytorch().cuda.get_device_capability(device) >= (8, 0)
    )  # older GPUs have no bfloat16 products
