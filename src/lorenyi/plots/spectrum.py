"""A plot of eigenvalues, and of the uniform tail of the low-rank entropy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lorenyi import _arrays
from lorenyi._display import MAIN, SECOND, Display
from lorenyi.gram import gram
from lorenyi.spectra import Auto, Solver, Spectrum, require_rank

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_DRAWN = 100_000  # eigenvalues: more are not visible in a figure


class SpectrumDisplay(Display):
    r"""Eigenvalues in descending order on a logarithmic scale, with the rank k marked.

    With a rank, the k values that count are filled, the others hollow, and a line shows the
    uniform tail that replaces them: :math:`\lambda_r = (1 - \sum_{i \le k} \lambda_i)/(n - k)`.
    Values not above rounding (n eps times the largest) are left out of the logarithmic scale.

    Parameters
    ----------
    values : array of m
        The largest eigenvalues, in descending order.
    n : int or float
        How many there are in all.
    trace : float
        Sum of all.
    rank : int, optional
        The k of the low-rank entropy.

    Attributes
    ----------
    kept_, rest_ : matplotlib Line2D
        The values that count, and the others (None without a rank).
    tail_ : matplotlib Line2D or None
        The uniform tail.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> from matplotlib.figure import Figure
    >>> from lorenyi.plots import SpectrumDisplay
    >>> A = lr.gram(np.linspace(0.0, 4.0, 50), lr.Gaussian(1.0))
    >>> display = SpectrumDisplay.from_gram(A, rank=3).plot(ax=Figure().subplots())
    >>> display.kept_.get_xdata().tolist(), display.tail_.get_xdata().tolist()
    ([1, 2, 3], [4, 50])
    """

    def __init__(
        self, values: Any, n: float | None = None, *, trace: float = 1.0, rank: int | None = None
    ) -> None:
        self.values = np.asarray(values, dtype=np.float64)
        self.n = len(self.values) if n is None else n
        self.trace, self.rank = trace, rank
        if self.values.ndim != 1 or np.any(np.diff(self.values) > 0):
            raise ValueError("values must be eigenvalues in one dimension, in descending order")
        if rank is not None:
            require_rank(rank, self.n)
            if rank > len(self.values):
                raise ValueError(f"rank={rank} needs as many values, there are {len(self.values)}")

    @classmethod
    def from_spectrum(cls, spectrum: Spectrum, *, rank: int | None = None) -> SpectrumDisplay:
        """Return the display of a spectrum; nothing is drawn until `plot`.

        Parameters
        ----------
        spectrum : Spectrum
            As a solver returns it. If a complete one has fewer than n values, the others are zero.
        rank : int, optional
            The k of the low-rank entropy.

        Returns
        -------
        SpectrumDisplay
        """
        counts = 1 if spectrum.counts is None else _arrays.to_numpy(spectrum.counts).astype(int)
        values = np.repeat(_arrays.to_numpy(spectrum.values), np.minimum(counts, MAX_DRAWN))[
            :MAX_DRAWN
        ]
        if spectrum.kind == "complete" and rank is not None:
            values = np.pad(values, (0, max(rank - len(values), 0)))
        return cls(values, spectrum.n, trace=spectrum.trace, rank=rank)

    @classmethod
    def from_gram(
        cls, A: Any, *, rank: int | None = None, solver: Solver = Auto()
    ) -> SpectrumDisplay:
        """Find the eigenvalues and return their display; nothing is drawn until `plot`.

        Parameters
        ----------
        A : Gram, or what `gram` makes one of
            Such as a column.
        rank : int, optional
            The k of the low-rank entropy.
        solver : Solver
            `Auto()` finds all where that is cheap, else the leading ones; `Exact()` always all.

        Returns
        -------
        SpectrumDisplay
        """
        return cls.from_spectrum(solver(gram(A), rank), rank=rank)

    def _draw(self, ax: Axes) -> None:
        n = int(self.n)
        style: dict[str, Any] = {"marker": "o", "ms": 3, "ls": "none", "color": MAIN}
        self.rest_ = self.tail_ = None
        if self.rank is None:
            self.kept_ = self._dots(ax, slice(None), **style)
        else:
            k = self.rank
            share = float(self.values[:k].sum()) / self.trace
            self.rest_ = self._dots(ax, slice(k, None), mfc="none", alpha=0.5, **style)
            label = f"k = {k} kept: {100 * share:.4g} % of the trace"
            self.kept_ = self._dots(ax, slice(k), label=label, **style)
            level = max(self.trace * (1 - share), 0.0) / (n - k)
            if level > 0:
                label = "the rest, spread evenly"
                (self.tail_,) = ax.plot([k + 1, n], [level, level], color=SECOND, lw=2, label=label)
            ax.legend(loc="upper right")
        ax.set(yscale="log", xlabel="i, in descending order", ylabel="eigenvalue")

    def _dots(self, ax: Axes, part: slice, **style: Any) -> Any:
        """Draw those of some values that are above rounding."""
        noise = self.n * np.finfo(np.float64).eps * float(self.values[0])
        i = np.arange(1, len(self.values) + 1)[part]
        seen = self.values[part] > noise
        (line,) = ax.plot(i[seen], self.values[part][seen], **style)
        return line
