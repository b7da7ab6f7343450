"""Lets Triton's interpreter run our kernels. To be imported before any kernel, with TRITON_INTERPRET=1.

Two things are mended: scalars are arrays of one number there, which NumPy no longer takes for an index; and
it multiplies the bit patterns of bfloat16 numbers in place of the numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from triton.language import bfloat16
from triton.runtime import interpreter


def _patched(tensor: Any, scope: Any) -> None:
    _original(tensor, scope)
    scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))


def _product(self: Any, a: Any, b: Any, d: Any, input_precision: Any, max_num_imprecise_acc: Any) -> Any:
    factors = [_float32(each) for each in (a, b)]
    return interpreter.TensorHandle(np.matmul(*factors, dtype=d.data.dtype) + d.data, d.dtype.scalar)


def _float32(handle: Any) -> Any:
    if handle.dtype.scalar != bfloat16:
        return handle.data
    return (handle.data.astype(np.uint32) << 16).view(np.float32)


_original = interpreter._patch_lang_tensor
interpreter._patch_lang_tensor = _patched
interpreter.InterpreterBuilder.create_dot = _product
