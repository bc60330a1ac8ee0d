"""The only file that knows array libraries: namespaces, conversion, gradients, keyed random draws.

Every formula elsewhere is written against the array API namespace that `namespace` returns, so
NumPy, PyTorch and any other conforming library share it.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable
from functools import cache
from typing import Any, TypeAlias, cast

import array_api_compat
import array_api_compat.numpy as np_api
import numpy as np
import scipy.sparse

Array: TypeAlias = Any
Namespace: TypeAlias = Any

_NAMESPACES: dict[type, Namespace] = {}  # by type of array: asked for at every step of a formula


def namespace(*arrays: Array) -> Namespace:
    """Return the array API namespace shared by the arrays."""
    kind = type(arrays[0])
    if len(arrays) > 1 and any(type(array) is not kind for array in arrays):
        return array_api_compat.array_namespace(*arrays)
    if kind not in _NAMESPACES:
        _NAMESPACES[kind] = array_api_compat.array_namespace(*arrays)
    return _NAMESPACES[kind]


def is_numpy(x: object) -> bool:
    """Tell whether x is a NumPy array."""
    return isinstance(x, np.ndarray)


def is_torch(x: object) -> bool:
    """Tell whether x is a PyTorch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def is_array(x: object) -> bool:
    """Tell whether x is an array of a library that speaks the array API."""
    return array_api_compat.is_array_api_obj(x)


def is_sparse(x: object) -> bool:
    """Tell whether x is a SciPy sparse array or matrix."""
    return bool(scipy.sparse.issparse(x))


def tracks_gradient(x: Array) -> bool:
    """Tell whether a gradient is asked for with respect to x."""
    return is_torch(x) and bool(x.requires_grad) and sys.modules["torch"].is_grad_enabled()


def largest(x: Array, count: int) -> Array:
    """Return the largest numbers of each row, in any order, without gradient."""
    if is_torch(x) and x.device.type != "cpu":
        return x.detach().topk(count, dim=1, sorted=False).values
    if is_torch(x) or is_numpy(x):  # five times as fast as PyTorch's
        return np.partition(to_numpy(x), -count, axis=1)[:, -count:]
    return namespace(x).sort(x, axis=1)[:, -count:]


def detach(x: Array) -> Array:
    """Return x with its gradient history cut off (the same memory)."""
    return x.detach() if is_torch(x) else x


def copied(x: Array) -> Array:
    """Return a copy of x, with its gradient history."""
    return x.clone() if is_torch(x) else namespace(x).asarray(x, copy=True)


def doubled(x: Array) -> Array:
    """Return x with twice its gradient, which itself has none: a second derivative is an error."""
    return _doubled().apply(x) if tracks_gradient(x) else x


@cache
def _doubled() -> Any:
    torch = sys.modules["torch"]

    class Doubled(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Array) -> Array:
            return x.view_as(x)

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Array) -> Array:
            return 2 * gradient

    return Doubled


def exponents(x: Array) -> tuple[Array, float]:
    """Return -|x_i - x_j|^2 / 2 for all rows, 0 for i = j, and the largest number that cancels."""
    xp = namespace(x)
    with np.errstate(over="ignore", invalid="ignore"):  # said by the second result
        product = x @ x.T
        squares = 0.5 * xp.linalg.diagonal(product)
        product -= squares[:, None]
        product -= squares[None, :]
        return at_most(product, 0.0), 2 * float(xp.max(squares))


def gaussian(x: Array, settle: Callable[[Array, float], float | None]) -> tuple[Array | None, Any]:
    """Return exp(-c |x_i - x_j|^2 / 2) for all rows, and c = settle(*exponents(x)).

    Where there is no c (too much cancels), there is no matrix. A gradient is taken on one side and
    counted twice, so it is right for functions of the matrix that treat rows and columns alike;
    c has none, and a second derivative is an error.
    """
    if tracks_gradient(x):
        matrix, c = _gaussian().apply(x, settle)
        return matrix, c
    half, most = exponents(x)
    c = settle(half, most)
    return (None if c is None else exp(scaled(half, c))), c


@cache
def _gaussian() -> Any:
    torch = sys.modules["torch"]

    class Gaussian(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, x: Array, settle: Any) -> tuple[Array | None, float | None]:
            matrix, ctx.c = gaussian(x, settle)  # here nothing is tracked
            ctx.save_for_backward(x, matrix)
            return matrix, ctx.c

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(ctx: Any, gradient: Array, _: None) -> tuple[Array, None]:
            x, matrix = ctx.saved_tensors
            pull = gradient * matrix
            rows = pull.sum(dim=1, keepdim=True)
            return torch.addmm(rows * x, pull, x, beta=-2 * ctx.c, alpha=2 * ctx.c), None

    return Gaussian


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
        # An axis of length 1 counts as contiguous whatever its stride; PyTorch minds a negative.
        awkward = not source.flags.writeable or min(source.strides, default=0) < 0
        if awkward and not is_numpy(reference):
            source = source.copy()
        moved = xp.asarray(source, device=device)
    if xp.isdtype(moved.dtype, "real floating") and xp.isdtype(reference.dtype, "real floating"):
        moved = xp.astype(moved, reference.dtype, copy=False)
    return moved


_CONSTANTS: OrderedDict[tuple[Any, ...], Array] = OrderedDict()
MAX_CONSTANTS, MAX_CONSTANT_SIZE = 64, 2**17  # numbers each: 64 MiB in all, a loop's batches fit


def constant(make: Callable[..., np.ndarray], *arguments: Any, reference: Array) -> Array:
    """Return make(*arguments) in the library, device and precision of reference.

    Small ones are kept, because a training loop asks for the same at every step: do not write to
    it.
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
    # One made in inference mode is of no use where a gradient is asked for.
    inference = is_torch(value) and bool(getattr(value, "is_inference", bool)())
    if made.size <= MAX_CONSTANT_SIZE and not inference:
        _CONSTANTS[key] = value
        if len(_CONSTANTS) > MAX_CONSTANTS:
            _CONSTANTS.popitem(last=False)  # the oldest
    return value


def is_floating(x: Array) -> bool:
    """Tell whether x holds real floating point numbers."""
    return bool(namespace(x).isdtype(x.dtype, "real floating"))


def as_floating(x: Array) -> Array:
    """Return x in a precision for linear algebra: float32 or float64, integers as float64."""
    xp = namespace(x)
    bits = xp.finfo(x.dtype).bits if is_floating(x) else 0
    if not 0 < bits <= 64:
        return xp.astype(x, xp.float64)
    return x if bits >= 32 else xp.astype(x, xp.float32)


def as_points(x: Array) -> Array:
    """Return x in the precision that kernels are computed in: NumPy's numbers all as float64.

    Tensors stay in float32 where they are: a gradient goes back through them, and a device may
    have nothing else.
    """
    if not is_numpy(x):
        return as_floating(x)
    with np.errstate(over="ignore"):  # longer numbers than float64 has become infinite
        return x.astype(np.float64, copy=False)


def epsilon(x: Array) -> float:
    """Return the rounding unit of x's floating type."""
    return float(namespace(x).finfo(x.dtype).eps)


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

    The derivative is that of x: what rounding adds has none.
    """
    if is_torch(x):
        x.detach().clamp_(max=bound)
        return x
    return np.minimum(x, bound, out=x) if is_numpy(x) else namespace(x).clip(x, max=bound)


def take(x: Array, index: np.ndarray) -> Array:
    """Return the rows of x at an array of integer positions."""
    if is_numpy(x) or is_sparse(x):
        return x[index]
    return namespace(x).take(x, like(index, x), axis=0)


# NumPy's decompositions give up the interpreter's lock, so tasks on threads run side by side.


def eigvalsh(matrix: Array) -> Array:
    """Return the eigenvalues of a symmetric matrix, ascending."""
    return namespace(matrix).linalg.eigvalsh(matrix)


def qr(matrix: Array) -> Array:
    """Return an orthonormal basis of the columns of a matrix, or of each of a stack."""
    library = sys.modules["torch"] if is_torch(matrix) else namespace(matrix)
    return library.linalg.qr(matrix)[0]


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Return the eigenvalues, ascending, and eigenvectors of a symmetric matrix, or of a stack."""
    values, vectors = namespace(matrix).linalg.eigh(matrix)
    return values, vectors


def svd(matrix: Array) -> tuple[Array, Array, Array]:
    """Return the thin singular value decomposition U, values, V' (values descending)."""
    u, s, vh = namespace(matrix).linalg.svd(matrix, full_matrices=False)
    return u, s, vh


def concat(arrays: list[Array], axis: int = 0) -> Array:
    """Join arrays of one library along an axis."""
    return arrays[0] if len(arrays) == 1 else namespace(*arrays).concat(arrays, axis=axis)


def numpy_namespace() -> Namespace:
    """Return NumPy's array API namespace."""
    return np_api


# Random draws are functions of (seed, stream, row, column), never of a generator's state: any
# chunk of rows can be drawn alone, and all libraries see the same numbers.

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def _mix(z: np.ndarray) -> np.ndarray:
    """Scramble 64-bit counters (the finaliser of splitmix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return cast(np.ndarray, z ^ (z >> np.uint64(31)))


def hashed(seed: int, stream: int, rows: np.ndarray | int, columns: int = 1) -> np.ndarray:
    """Return 64 random bits for each (row, column), as a function of seed and stream alone."""
    rows = rows if isinstance(rows, np.ndarray) else np.arange(rows)
    key = _mix(np.array([int(seed) % 2**64, stream % 2**64], dtype=np.uint64) + _GOLDEN)
    z = _mix(rows.astype(np.uint64) * _GOLDEN + _mix(key[:1] + (key[1:] << np.uint64(1))))
    steps = (np.arange(columns, dtype=np.uint64) + np.uint64(1)) * _GOLDEN
    return _mix(z[:, None] + steps[None, :])


def uniform(seed: int, stream: int, rows: np.ndarray | int, columns: int = 1) -> np.ndarray:
    """Draw uniforms in (0, 1), one for each (row, column)."""
    bits = hashed(seed, stream, rows, columns) >> np.uint64(11)
    return cast(np.ndarray, (bits.astype(np.float64) + 0.5) * 2.0**-53)


def normal(seed: int, stream: int, rows: np.ndarray | int, columns: int = 1) -> np.ndarray:
    """Draw standard normals, one for each (row, column), by Box and Muller's transform."""
    u = uniform(seed, stream, rows, 2 * columns)
    radius = np.sqrt(-2 * np.log(u[:, :columns]))
    return cast(np.ndarray, radius * np.cos(2 * np.pi * u[:, columns:]))


def signs(seed: int, stream: int, rows: np.ndarray | int, columns: int = 1) -> np.ndarray:
    """Draw random signs, one for each (row, column)."""
    bits = hashed(seed, stream, rows, columns) >> np.uint64(63)
    return cast(np.ndarray, 1.0 - 2.0 * bits.astype(np.float64))


def choose(seed: int, stream: int, n: int, size: int) -> np.ndarray:
    """Draw `size` of n rows without replacement: those with the smallest random bits."""
    if size >= n:
        return np.arange(n)
    bits = hashed(seed, stream, n)[:, 0]
    return np.sort(np.argpartition(bits, size)[:size])


def group_rows(columns: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Group equal rows of several aligned 2-D arrays.

    Returns
    -------
    first : ndarray
        Row number of each group's first member, in order of appearance.
    group : ndarray
        Group number of each row.
    """
    words = [word for column in columns for word in _words(column)]
    key = _keys(words)
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    if any(not np.array_equal(word[first][group], word) for word in words):  # two rows, one key
        _, first, group = np.unique(
            np.stack(words, axis=1), axis=0, return_index=True, return_inverse=True
        )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[group.reshape(-1)]


def row_keys(columns: list[np.ndarray]) -> np.ndarray:
    """Return 64 bits for each row of aligned 2-D arrays, a function of the row's values alone."""
    return _keys([word for column in columns for word in _words(column)])


def _keys(words: list[np.ndarray]) -> np.ndarray:
    key = np.zeros(len(words[0]), dtype=np.uint64)
    for word in words:
        key = _mix(key * _GOLDEN + word)
    return key


def _words(column: np.ndarray) -> list[np.ndarray]:
    """View each column of a 2-D array as 64-bit words that are equal where the values are."""
    return [np.ascontiguousarray(c).view(np.uint64) for c in codes(column).T]


def codes(array: np.ndarray) -> np.ndarray:
    """Return 64-bit integers that are equal where the values of an array are."""
    if array.dtype.kind == "f":
        array = array.astype(np.float64, copy=False) + 0.0  # -0.0 and 0.0 are one value
        return np.ascontiguousarray(array).view(np.int64)
    return array.astype(np.int64)
