"""An entropy of the k largest eigenvalues that does not grow with the number of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lorenyi import _arrays
from lorenyi._threads import one_thread
from lorenyi.gram import Gram, gram
from lorenyi.spectra import Exact, Solver, require_rank
from lorenyi.spectra.solver import require_size


@dataclass(frozen=True)
class Peaked:
    r"""The entropy of order 1 of k eigenvalues, with the rest counted as copies of the k-th.

    .. math:: -\sum_{i \le k} \lambda_i \log_2 \lambda_i - r \log_2 \lambda_k, \qquad
              r = 1 - \sum_{i \le k} \lambda_i

    Never above the entropy of all eigenvalues. `Renyi(rank=k)` spreads the rest evenly over all
    other rows, and so grows with their number; this one converges. A functional like `Renyi`, for
    `entropy=`; its values have no standard error.

    Parameters
    ----------
    rank : int
        k, from 1 to n - 1.
    solver : Solver
        How to find the eigenvalues.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> x = np.linspace(0.0, 4.0, 50)
    >>> round(float(lr.entropy(x, entropy=lr.Peaked(3))), 3)
    1.375
    """

    rank: int
    solver: Solver = Exact()

    def __post_init__(self) -> None:
        require_size("rank", self.rank, 1, "eigenvalues")

    def __call__(self, A: Gram) -> float:
        """Return the entropy of A in bits."""
        A = gram(A).detached()
        require_rank(self.rank, A.n)
        with one_thread(A.reference):
            spectrum = self.solver(A, self.rank)
        values = _arrays.to_numpy(spectrum._repeated(self.rank)).astype(np.float64)[: self.rank]
        values = values[values > 1e-15]  # the others are rounding
        left = 1.0 - float(values.sum())
        return float(-values @ np.log2(values) - left * np.log2(values[-1]))
