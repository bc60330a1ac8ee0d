"""The known eigenvalues of a Gram: the interface between linear algebra and entropies."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from lorenyi import _arrays, _html
from lorenyi._arrays import Array

Kind: TypeAlias = Literal["complete", "ritz", "sketch"]


@dataclass(frozen=True, eq=False)
class Spectrum:
    r"""Leading eigenvalues of a matrix of order n, and the mass of the rest.

    Parameters
    ----------
    values : array
        The largest eigenvalues known, not negative, in any order; kept in descending order.
    n : int or float, optional
        How many there are in all, zeros included; the number of values by default.
    trace : float
        Sum of all n.
    kind : {"complete", "ritz", "sketch"}
        All nonzero values are there; or these lie below the true ones (Ritz values) and the rest
        is unknown; or they are random estimates.
    counts : array, optional
        How often each value occurs, once by default.
    proof : callable, optional
        Gives two complete spectra that enclose the true one in the order of majorization: one at
        least as peaked, one at least as spread (see `lorenyi.spectra.bounds`).
    failure : float
        Probability, over the solver's own draws, that the proof does not hold; 0 if it always
        does.
    rounding : float
        Relative rounding, in the Frobenius norm, of the entries of the matrix behind the values,
        where it is more than that of the values themselves.
    alternatives : tuple of Spectrum
        Where the values are estimates: other spectra that are as consistent with what was computed.
        How much an entropy differs between them estimates its computing error.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> lr.Spectrum(np.array([0.5, 0.3, 0.1, 0.1])).low_rank(1)
    Spectrum(n=4, complete: 0.5, 0.1667 x 3)
    """

    values: Array
    n: float = 0
    trace: float = 1.0
    kind: Kind = "complete"
    counts: Array | None = None
    proof: Callable[[], tuple[Spectrum, Spectrum]] | None = None
    failure: float = 0.0
    rounding: float = 0.0
    alternatives: tuple[Spectrum, ...] = ()

    def __post_init__(self) -> None:
        given = self.values if _arrays.is_array(self.values) else np.asarray(self.values, float)
        if given.ndim != 1 or not given.shape[0]:
            raise ValueError(
                f"values must be eigenvalues in one dimension, found shape {tuple(given.shape)}: "
                "take eigvalsh of a matrix"
            )
        if self.kind not in ("complete", "ritz", "sketch"):
            raise ValueError(f"kind={self.kind!r}: it is 'complete', 'ritz' or 'sketch'")
        object.__setattr__(self, "values", _arrays.as_floating(given))
        if not self.n:
            size = self.values.shape[0] if self.counts is None else float(self.counts.sum())
            object.__setattr__(self, "n", size)
        values, xp = _arrays.to_numpy(self.values), _arrays.namespace(self.values)
        least = self._check(values)
        if self.counts is None and (values[1:] > values[:-1]).any():
            object.__setattr__(self, "values", xp.sort(self.values, descending=True))
        if least < 0:  # rounding around zero
            object.__setattr__(self, "values", xp.where(self.values > 0, self.values, 0.0))

    def _check(self, values: np.ndarray) -> float:
        """Refuse eigenvalues that no kernel matrix of this trace has; return the smallest."""
        counted = values if self.counts is None else values * _arrays.to_numpy(self.counts)
        total, least = float(counted.sum(axis=-1).max()), float(values.min())
        tolerance = max(values.shape[-1], 10) * 4 * float(np.finfo(values.dtype).eps)
        moved = self.rounding * float(np.linalg.norm(values))  # of each; in all sqrt(n) times that
        if not math.isfinite(total):
            raise ValueError("an eigenvalue is not finite: check the matrix or kernel for overflow")
        if least < -tolerance * max(float(values.max()), self.trace / self.n) - moved:
            raise ValueError(
                f"an eigenvalue is {least:.3g}: the matrix is not positive semi-definite, "
                "so it is not a kernel matrix; check the kernel, or add its size to the diagonal"
            )
        beyond = self.trace * (1 + tolerance) + math.sqrt(self.n) * moved
        if self.kind == "ritz" and total > beyond:
            raise ValueError(
                f"the leading eigenvalues sum to {total:.6g}, more than the trace "
                f"{self.trace:.6g}: some are negative, so the matrix is not a kernel matrix"
            )
        if self.kind == "complete" and abs(total - self.trace) > 0.01 * self.trace:  # not rounding
            raise ValueError(
                f"the eigenvalues sum to {total:.6g} and trace={self.trace:.6g}: divide them by "
                "their sum, or give trace=, or kind='ritz' and n= if these are the leading ones"
            )
        return least

    def _with(self, values: Array, **fields: Any) -> Spectrum:
        """Return a spectrum derived from this one, without checking it again."""
        made = object.__new__(Spectrum)
        fields = {"proof": None, "failure": 0.0, "alternatives": (), **fields}
        vars(made).update(vars(self), values=values, **fields)
        return made

    def __len__(self) -> int:
        """Number of values held."""
        return int(self.values.shape[0])

    def __repr__(self) -> str:
        """Show the leading values and the rest."""
        shown = [f"{v:.4g}" for v in _arrays.to_numpy(self.values)[:6]]
        if self.counts is not None:
            counts = _arrays.to_numpy(self.counts)[:6]
            shown = [s if c == 1 else f"{s} x {c:g}" for s, c in zip(shown, counts, strict=True)]
        more = f", ... ({len(self)} values)" if len(self) > 6 else ""
        rest = "" if self.kind == "complete" else f"; rest {float(_arrays.detach(self.rest)):.3g}"
        return f"Spectrum(n={self.n:g}, {self.kind}: {', '.join(shown)}{more}{rest})"

    def _repr_html_(self) -> str:
        """Draw the leading values in notebooks."""
        leading = _arrays.to_numpy(self._repeated(40))[:40]
        held = float(leading.sum()) / self.trace
        rows = [
            ("eigenvalues", f"{len(self)} ({self.kind}) of {self.n:g}"),
            ("largest", ", ".join(f"{v:.4g}" for v in leading[:6])),
            (f"first {len(leading)}", f"{100 * held:.4g} % of the trace"),
        ]
        return _html.shown("Spectrum", rows, _html.bars(leading.tolist()))

    @property
    def rest(self) -> Array:
        """The rest of the trace beyond the values held (not negative)."""
        xp = _arrays.namespace(self.values)
        return xp.clip(self.trace - xp.sum(self.values), min=0.0)

    @property
    def unresolved(self) -> float:
        """Size up to which an eigenvalue may be rounding: n eps lambda_1, or that of entries."""
        largest = float(_arrays.detach(self.values[0])) if len(self) else 0.0
        return (len(self) * _arrays.epsilon(self.values) + self.rounding) * largest

    @property
    def floor(self) -> float:
        """Size below which a decomposition finds rounding in place of an eigenvalue."""
        largest = float(_arrays.detach(self.values[0])) if len(self) else 0.0
        return 8 * _arrays.epsilon(self.values) * largest

    def rounded(self) -> list[Spectrum]:
        """Return two spectra: what may be rounding is zero, or at least as large as that."""
        xp, values = _arrays.namespace(self.values), self.values
        least = self.floor + self.rounding * float(_arrays.detach(values[0]))
        zeros = xp.where(values > self.unresolved, values, 0.0)
        return [self._with(zeros), self._with(xp.where(values > least, values, least))]

    def low_rank(self, rank: int) -> Spectrum:
        r"""Return L_k: the k leading values, the rest of the trace spread evenly over n - k places.

        .. math:: \lambda_r = \frac{1}{n - k} \Big(\mathrm{tr} - \sum_{i \le k} \lambda_i\Big)

        With fewer than k nonzero values the others are zeros. Estimated values that sum to more
        than the trace are scaled down to it, with a warning.
        """
        require_rank(rank, self.n)
        if self.counts is not None:
            return self._counted_low_rank(rank)
        flat = self.values
        xp = _arrays.namespace(flat)
        known = min(rank, int(flat.shape[-1]))
        kept = flat if known == flat.shape[-1] else flat[..., :known]
        if self.kind == "ritz" and known < rank and self.proof is None:
            raise ValueError(f"rank={rank} needs as many values, this spectrum has {known}")
        if self.kind == "complete":
            rest = xp.sum(flat[known:])  # its own sum: 1 - sum(kept) would lose its digits
        else:
            rest = self.trace - xp.sum(kept, axis=-1)
            if self.kind == "sketch" and (excess := float(_arrays.detach(rest))) < 0:
                if -excess > 4 * max(known, 10) * _arrays.epsilon(flat) * self.trace:
                    warnings.warn(
                        f"the projected eigenvalues sum to {1 - excess / self.trace:.4g} times "
                        "the trace: scaled down to it; a larger size= comes closer",
                        RuntimeWarning,
                        stacklevel=3,
                    )
                kept = kept * (self.trace / xp.sum(kept))
            if _arrays.to_numpy(rest).min() < 0:
                rest = xp.clip(rest, min=0.0)
        tail = (rest / (self.n - rank))[..., None]
        counts = _arrays.constant(_ones_and, known, float(self.n - rank), reference=tail)
        return self._with(xp.concat([kept, tail], axis=-1), counts=counts, kind="complete")

    def _counted_low_rank(self, rank: int) -> Spectrum:
        """Return L_k of values with counts, without expanding them."""
        counts = _arrays.to_numpy(self.counts).astype(np.float64)
        before = np.concatenate([[0.0], np.cumsum(counts)[:-1]])
        taken = np.clip(rank - before, 0.0, counts)
        last = max(int(np.count_nonzero(taken)), 1)
        kept, taken = self.values[:last], _arrays.like(taken[:last], self.values)
        xp = _arrays.namespace(kept)
        rest = xp.clip(self.trace - xp.sum(kept * taken), min=0.0)
        tail = xp.reshape(rest / (self.n - rank), (1,))
        places = _arrays.like(np.full(1, float(self.n - rank)), taken)
        values, counts = xp.concat([kept, tail]), xp.concat([taken, places])
        return self._with(values, counts=counts, kind="complete")

    def _repeated(self, most: int) -> Array:
        """Return the values one by one, as many of each as its count (at most `most`)."""
        if self.counts is None:
            return self.values
        counts = np.minimum(_arrays.to_numpy(self.counts), most).astype(np.int64)
        return _arrays.take(self.values, np.repeat(np.arange(len(self)), counts))

    def bracket(self) -> tuple[Spectrum, Spectrum]:
        """Return two complete spectra that enclose all possible ones: peaked and spread.

        With j values kept, the rest is filled with copies of the j-th (any true spectrum with
        these leading values is at most as peaked), or spread evenly (at least as peaked). j is
        the last value not below the mean of what follows it.
        """
        if self.kind == "complete":
            return self, self
        values = _arrays.to_numpy(self.values)
        rest = self.trace - np.cumsum(values)
        places = self.n - np.arange(1, len(values) + 1)
        # Tolerance for rounded sums: equal values are not below the mean of their copies.
        slack = 4 * len(values) * _arrays.epsilon(self.values) * self.trace
        enough = (places > 0) & (values * np.maximum(places, 1) >= rest - slack)
        j = int(np.flatnonzero(enough)[-1]) + 1 if enough.any() else 0
        if j == 0:
            even = np.full(1, self.trace / self.n)
            flat = _arrays.like(even, self.values)
            spread = Spectrum(
                flat, self.n, self.trace, counts=_arrays.like(np.full(1, float(self.n)), flat)
            )
            return replace(spread), spread
        spread = replace(self, values=self.values[:j]).low_rank(j)
        return self._filled(j, max(float(rest[j - 1]), 0.0)), spread

    def _filled(self, j: int, rest: float) -> Spectrum:
        """Fill the rest with copies of the j-th value and one remainder."""
        values = self.values[:j]
        xp = _arrays.namespace(values)
        last = float(_arrays.detach(values[j - 1]))
        copies = int(min(rest / last, self.n - j - 1)) if last > 0 else 0
        remainder = xp.clip(self.trace - xp.sum(values) - copies * values[j - 1 :], min=0.0)
        counts = np.ones(j + 1)
        counts[j - 1] += copies
        return Spectrum(
            xp.concat([values, remainder]),
            self.n,
            self.trace,
            "complete",
            _arrays.like(counts, _arrays.detach(remainder)),
        )


def _ones_and(ones: int, last: float) -> np.ndarray:
    return np.concatenate([np.ones(ones), [last]])


def require_rank(rank: int, n: float) -> None:
    """Refuse a rank that is not an integer from 1 to n - 1."""
    if not isinstance(rank, (int, np.integer)) or isinstance(rank, bool) or not 1 <= rank <= n - 1:
        raise ValueError(
            f"rank={rank!r}: it must be an integer from 1 to n - 1 = {n - 1:g}; rank=None uses "
            "all eigenvalues"
        )
