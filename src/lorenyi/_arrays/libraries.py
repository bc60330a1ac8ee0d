"""Array libraries: their namespaces, conversion between them, elementwise functions in place."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeAlias, cast

import array_api_compat
import array_api_compat.numpy as np_api
import numpy as np
import scipy.sparse

Array: TypeAlias = Any
Namespace: TypeAlias = Any

_NAMESPACES: dict[type, Namespace] = {}  # by type of array: needed at every step of a formula


def namespace(*arrays: Array) -> Namespace:
    """Return the array API namespace shared by the arrays."""
    kind = type(arrays[0])
    if len(arrays) > 1 and any(type(array) is not kind for array in arrays):
        return array_api_compat.array_namespace(*arrays)
    if kind not in _NAMESPACES:
        _NAMESPACES[kind] = array_api_compat.array_namespace(*arrays)
    return _NAMESPACES[kind]


def is_numpy(x: object) -> bool:
    """Return whether x is a NumPy array."""
    return isinstance(x, np.ndarray)


def is_torch(x: object) -> bool:
    """Return whether x is a PyTorch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def is_array(x: object) -> bool:
    """Return whether x is an array of a library that implements the array API."""
    return array_api_compat.is_array_api_obj(x)


def is_sparse(x: object) -> bool:
    """Return whether x is a SciPy sparse array or matrix."""
    return bool(scipy.sparse.issparse(x))


def is_floating(x: Array) -> bool:
    """Return whether x holds real floating point numbers."""
    return bool(namespace(x).isdtype(x.dtype, "real floating"))


# ------------------------------------------------------------------------------- conversion


def to_numpy(x: Array) -> np.ndarray:
    """Return x as a NumPy array, without its gradient history."""
    if is_numpy(x):
        return cast(np.ndarray, x)
    if is_torch(x):
        x = x.detach().cpu()
        if x.dtype == sys.modules["torch"].bfloat16:  # NumPy has none
            x = x.float()
        return cast(np.ndarray, x.numpy())
    return np.asarray(x)


def like(x: Array, reference: Array) -> Array:
    """Return x in the library, on the device and (for floats) in the precision of reference."""
    if type(x) is type(reference) and x.dtype == reference.dtype:
        return x
    xp = namespace(reference)
    if is_array(x) and namespace(x) is xp:
        moved = x
    else:
        device = None if is_numpy(reference) else array_api_compat.device(reference)
        source = np.asarray(to_numpy(x), order="C")
        # An axis of length 1 is contiguous for any stride, but PyTorch refuses a negative one.
        awkward = not source.flags.writeable or min(source.strides, default=0) < 0
        if awkward and not is_numpy(reference):
            source = source.copy()
        moved = xp.asarray(source, device=device)
    if xp.isdtype(moved.dtype, "real floating") and xp.isdtype(reference.dtype, "real floating"):
        moved = xp.astype(moved, reference.dtype, copy=False)
    return moved


def as_floating(x: Array) -> Array:
    """Return x in a precision for linear algebra: float32 or float64, integers as float64."""
    xp = namespace(x)
    bits = xp.finfo(x.dtype).bits if is_floating(x) else 0
    if not 0 < bits <= 64:
        return xp.astype(x, xp.float64)
    return x if bits >= 32 else xp.astype(x, xp.float32)


def as_points(x: Array) -> Array:
    """Return x in the precision that kernels are computed in: NumPy's numbers all as float64.

    Tensors stay in float32: gradients are propagated through them, and a device may not support
    float64.
    """
    if not is_numpy(x):
        return as_floating(x)
    with np.errstate(over="ignore"):  # numbers beyond the range of float64 become infinite
        return x.astype(np.float64, copy=False)


def epsilon(x: Array) -> float:
    """Return the rounding unit of x's floating type."""
    return float(namespace(x).finfo(x.dtype).eps)


def copied(x: Array) -> Array:
    """Return a copy of x, with its gradient history."""
    return x.clone() if is_torch(x) else namespace(x).asarray(x, copy=True)


def take(x: Array, index: np.ndarray) -> Array:
    """Return the rows of x at an array of integer positions."""
    if is_numpy(x) or is_sparse(x):
        return x[index]
    return namespace(x).take(x, like(index, x), axis=0)


def concat(arrays: list[Array], axis: int = 0) -> Array:
    """Join arrays of one library along an axis."""
    return arrays[0] if len(arrays) == 1 else namespace(*arrays).concat(arrays, axis=axis)


# ------------------------------------------------------------------------------- constants

_CONSTANTS: OrderedDict[tuple[Any, ...], Array] = OrderedDict()
MAX_CONSTANTS, MAX_CONSTANT_SIZE = 64, 2**17  # numbers each: 64 MiB in all


def constant(make: Callable[..., np.ndarray], *arguments: Any, reference: Array) -> Array:
    """Return make(*arguments) in the library, device and precision of reference.

    Small ones are cached, because a training loop needs the same at every step: do not modify
    the result.
    """
    library, dtype = namespace(reference), reference.dtype
    key = (make, arguments, library, dtype, array_api_compat.device(reference))
    if (known := _CONSTANTS.get(key)) is not None:
        return known
    made = make(*arguments)
    if library is np_api:
        value = made.astype(dtype, copy=False)
        value.flags.writeable = False
    else:
        value = library.asarray(made, dtype=dtype, device=array_api_compat.device(reference))
    # A tensor made in inference mode cannot be used where a gradient is tracked.
    inference = is_torch(value) and bool(getattr(value, "is_inference", bool)())
    if made.size <= MAX_CONSTANT_SIZE and not inference:
        _CONSTANTS[key] = value
        if len(_CONSTANTS) > MAX_CONSTANTS:
            _CONSTANTS.popitem(last=False)  # the oldest
    return value


# ------------------------------------------------------------------------------- elementwise


def exp(x: Array) -> Array:
    """Return e^x, in place where the library can: x is a temporary of the caller."""
    if is_torch(x):
        return x.exp_()
    return np.exp(x, out=x) if is_numpy(x) else namespace(x).exp(x)


def squared(x: Array) -> Array:
    """Return x^2, in place for NumPy: x is a temporary of the caller."""
    return np.multiply(x, x, out=x) if is_numpy(x) else x * x


def scaled(x: Array, factor: float) -> Array:
    """Return a multiple of x, in place for NumPy: x is a temporary of the caller."""
    if factor == 1:
        return x
    return np.multiply(x, factor, out=x) if is_numpy(x) else x * factor


def at_most(x: Array, bound: float) -> Array:
    """Return min(x, bound) where x exceeds it by rounding, in place where the library can.

    The derivative is that of x.
    """
    if is_torch(x):
        x.detach().clamp_(max=bound)
        return x
    return np.minimum(x, bound, out=x) if is_numpy(x) else namespace(x).clip(x, max=bound)


def largest(x: Array, count: int) -> Array:
    """Return the largest numbers of each row, in any order, without gradient."""
    if is_torch(x) and x.device.type != "cpu":
        return x.detach().topk(count, dim=1, sorted=False).values
    if is_torch(x) or is_numpy(x):  # five times as fast as PyTorch's
        return np.partition(to_numpy(x), -count, axis=1)[:, -count:]
    return namespace(x).sort(x, axis=1)[:, -count:]
