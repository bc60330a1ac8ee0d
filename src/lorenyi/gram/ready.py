"""Ready matrices: checked, normalized by their diagonal, and tested for definiteness on request."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from lorenyi import _arrays
from lorenyi._arrays import Array
from lorenyi._threads import one_thread, parallel
from lorenyi.data.columns import require_finite
from lorenyi.data.reading import as_array
from lorenyi.data.sources import slices
from lorenyi.gram.factors import TILE, Matrix
from lorenyi.gram.memory import InMemory
from lorenyi.gram.protocol import Gram
from lorenyi.gram.unit import positive_root


def from_matrix(K: Any, weights: Any, check: str, name: str) -> Gram:
    """Make the Gram of a kernel matrix, dense or sparse."""
    if check not in ("seen", "full"):
        raise ValueError(f"check={check!r}: it is 'seen' or 'full'")
    K = K if _arrays.is_sparse(K) else as_array(K, name)
    if len(K.shape) != 2 or K.shape[0] != K.shape[1] or K.shape[0] < 2:
        raise ValueError(
            f"{name} must be a square kernel matrix, found shape {tuple(K.shape)}: points go in "
            "with another kernel than Precomputed()"
        )
    if _arrays.is_sparse(K):
        K, rounding = _checked_sparse(K, name)
        diagonal, reference = K.diagonal(), K.data
    else:
        K, rounding = _checked_dense(K, name)
        diagonal, reference = _arrays.namespace(K).linalg.diagonal(K), K[0, :0]
    n = int(K.shape[0])
    frequency = np.ones(n) if weights is None else frequencies(weights, n, f"{name}'s weights")
    relative = _arrays.like(frequency / frequency.sum(), reference)
    present = _arrays.like((frequency > 0).astype(np.float64), reference)
    xp = _arrays.namespace(diagonal)
    root = positive_root(xp.where(present > 0, diagonal, 1.0), name)  # a row of weight 0 is absent
    factor = Matrix(_divided(K, root), given_rounding=rounding)
    points = points_of(frequency, f"{name}'s weights")
    A = InMemory((factor,), xp.sqrt(relative), relative, points)
    if check == "full":
        with one_thread():
            _prove_positive(A, name)
    return A


def _divided(K: Any, root: Array) -> Any:
    """Return K_ij / (root_i root_j); in place for a dense NumPy array, which is our own copy."""
    if not bool(_arrays.namespace(root).any(root != 1.0)):
        return K
    if _arrays.is_sparse(K):
        inverse = scipy.sparse.diags_array(1.0 / root)
        return scipy.sparse.csr_array(inverse @ K @ inverse)
    if not _arrays.is_numpy(K):
        return K / root[:, None] / root[None, :]
    K /= root[:, None]
    K /= root[None, :]
    return K


def _checked_sparse(K: Any, name: str) -> tuple[Any, float]:
    """Return a copy in float64 and the rounding of its entries."""
    if K.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, found dtype {K.dtype}")
    eps = float(np.finfo(K.dtype).eps) if K.dtype.kind == "f" else 0.0
    K = scipy.sparse.csr_array(K, dtype=np.float64, copy=True)
    K.sum_duplicates()
    require_finite(K.data[:, None], name)
    asymmetry = abs(K - K.T)
    worst = float(asymmetry.max()) if asymmetry.nnz else 0.0
    _require_symmetric(worst, float(abs(K).max()) if K.nnz else 0.0, eps, name)
    return K, eps


def _checked_dense(K: Array, name: str) -> tuple[Array, float]:
    """Return a copy in the working precision, and the rounding of its entries."""
    xp = _arrays.namespace(K)
    if xp.isdtype(K.dtype, "complex floating") or not xp.isdtype(K.dtype, ("numeric", "bool")):
        raise TypeError(f"{name} must hold real numbers, found dtype {K.dtype}")
    eps = _arrays.epsilon(K) if _arrays.is_floating(K) else 0.0
    given = xp.astype(K, xp.int64) if xp.isdtype(K.dtype, "bool") else K
    K = _arrays.as_points(given)
    K = _arrays.copied(K) if K is given else K  # the caller may change theirs
    worst, largest = _asymmetry(_arrays.detach(K))
    if not (np.isfinite(worst) and np.isfinite(largest)):
        require_finite(K, name)
    _require_symmetric(worst, largest, eps, name)
    return K, eps


def _asymmetry(K: Array) -> tuple[float, float]:
    """Return the largest of |K - K'| and of |K|, tile by tile (NaN or infinity if K has any)."""
    xp = _arrays.namespace(K)

    def part(rows: slice) -> tuple[float, float]:
        worst, largest = [], []
        for columns in slices(rows.stop, TILE // 2):
            lower = K[rows, columns]
            with np.errstate(invalid="ignore"):  # infinity less infinity
                difference = K[columns, rows].T - lower
            worst += [float(xp.max(difference)), -float(xp.min(difference))]
            largest += [float(xp.max(lower)), -float(xp.min(lower))]
        return float(np.max(worst)), float(np.max(largest))

    cuts = slices(int(K.shape[0]), TILE // 2)
    # Late rows have more tiles: taking them first keeps all cores busy to the end.
    parts = parallel(part, cuts[::-1]) if _arrays.is_numpy(K) else [part(cut) for cut in cuts]
    worst, largest = np.max(np.asarray(parts), axis=0)
    return float(worst), float(largest)


def _require_symmetric(worst: float, largest: float, eps: float, name: str) -> None:
    if worst > min(1e3 * eps, 1e-2) * largest:
        raise ValueError(
            f"{name} is not symmetric: K and K' differ by up to {worst:.2g}; use (K + K') / 2 if "
            "that is rounding"
        )


def _prove_positive(A: Gram, name: str) -> None:
    """Factorize A + rounding I: it succeeds only if A has no eigenvalue below minus rounding."""
    import scipy.linalg

    dense = np.array(_arrays.to_numpy(A.dense()), dtype=np.float64)
    slack = len(A) * A.roundoff * float(np.trace(dense))
    dense[np.diag_indices_from(dense)] += slack
    try:
        scipy.linalg.cholesky(dense, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError as error:
        raise ValueError(
            f"{name} is not positive semi-definite: a kernel matrix has no negative eigenvalue"
        ) from error


def frequencies(weights: Any, n: int, name: str) -> np.ndarray:
    """Read weights as frequencies of n rows."""
    w = _arrays.to_numpy(as_array(weights, name))
    if w.dtype.kind not in "biuf":
        raise TypeError(f"{name} must be numbers, found dtype {w.dtype}")
    w = w.astype(np.float64)
    if w.shape != (n,):
        raise ValueError(f"{name} must be one number for each of {n} rows, found shape {w.shape}")
    bad = np.flatnonzero(~((w >= 0) & (w < np.inf)))
    if bad.size:
        raise ValueError(
            f"{name} must be finite and not negative, found {w[bad[0]]:g} at row {bad[0]}"
        )
    points_of(w, name)
    return w


def points_of(frequency: np.ndarray, name: str) -> float:
    """Return the number of points: the sum of the frequencies, at least the number of rows."""
    return number_of_points(float(frequency.sum()), int(np.count_nonzero(frequency)), name)


def number_of_points(total: float, rows: int, name: str) -> float:
    """Return the sum of frequencies, or refuse one that is less than their number of rows."""
    if not rows <= total * (1 + 1e-9) or total <= 1:
        raise ValueError(
            f"{name} sum to {total:g} over {rows} rows of positive weight: they are frequencies (2 "
            "is a repeated row, 0 an absent one), so their sum is the number of points and cannot "
            "be less than the rows; for relative weights give weights / weights.mean()"
        )
    return max(total, float(rows))
