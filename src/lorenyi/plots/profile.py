"""A picture of the entropy over order and rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lorenyi import _arrays
from lorenyi._display import Display
from lorenyi.entropy import renyi_entropy
from lorenyi.gram import gram
from lorenyi.spectra import Exact, Solver, Spectrum, require_rank

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALPHAS = tuple(np.linspace(0.0, 3.0, 61).round(3).tolist())


class EntropyProfileDisplay(Display):
    r"""The entropy over the order alpha and the rank k, and what k eigenvalues tell of it.

    The k largest eigenvalues bracket the classical entropy: with what is left of the trace spread
    evenly they give :math:`S_\alpha^k \ge S_\alpha`, with it filled up by copies of the k-th a
    lower bound. A line is the upper end, the band below it the bracket.

    Parameters
    ----------
    alphas : sequence of a numbers
        Orders.
    ranks : sequence of r integers
        Ranks k.
    low, high : arrays, r x a
        Ends of the bracket in bits; `high` is S_alpha^k.
    exact : array of a, optional
        The classical entropy S_alpha, where all eigenvalues are known.
    over : {"alpha", "rank"}
        What the horizontal axis shows; the other has a line for each of its values.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        S_alpha^k, a line for each rank (or order).
    bands_ : list of matplotlib PolyCollection
        The brackets.
    exact_ : list of matplotlib Line2D
        S_alpha.

    Examples
    --------
    >>> import numpy as np, lorenyi as lr
    >>> from matplotlib.figure import Figure
    >>> from lorenyi.plots import EntropyProfileDisplay
    >>> A = lr.gram(np.linspace(0.0, 4.0, 50), lr.Gaussian(0.2))
    >>> display = EntropyProfileDisplay.from_gram(A, ranks=[5, 10], alphas=[1, 2])
    >>> bool(np.all(display.low <= display.exact) and np.all(display.exact <= display.high))
    True
    >>> len(display.plot(ax=Figure().subplots()).lines_)
    2
    """

    def __init__(
        self,
        alphas: Any,
        ranks: Any,
        low: Any,
        high: Any,
        *,
        exact: Any = None,
        over: Literal["alpha", "rank"] = "alpha",
    ) -> None:
        self.alphas = np.asarray(alphas, dtype=np.float64)
        self.ranks = np.asarray(ranks, dtype=np.int64)
        self.low, self.high = (np.asarray(end, dtype=np.float64) for end in (low, high))
        self.exact = None if exact is None else np.asarray(exact, dtype=np.float64)
        self.over = over
        shape = (len(self.ranks), len(self.alphas))
        if self.low.shape != shape or self.high.shape != shape:
            raise ValueError(
                f"low has shape {self.low.shape} and high {self.high.shape}: with {shape[0]} ranks "
                f"and {shape[1]} orders they must be {shape}"
            )
        if self.exact is not None and self.exact.shape != shape[1:]:
            raise ValueError(f"exact has shape {self.exact.shape}: give one for each order")
        if over not in ("alpha", "rank"):
            raise ValueError(f"over={over!r}: it is 'alpha' or 'rank'")

    @classmethod
    def from_spectrum(
        cls,
        spectrum: Spectrum,
        *,
        alphas: Sequence[float] = ALPHAS,
        ranks: Sequence[int] | None = None,
        over: Literal["alpha", "rank"] = "alpha",
    ) -> EntropyProfileDisplay:
        """Return the profile of a spectrum; nothing is drawn until `plot`.

        Parameters
        ----------
        spectrum : Spectrum
            Complete, or with leading eigenvalues that have converged.
        alphas : sequence of float
            Orders.
        ranks : sequence of int, optional
            Ranks, each at most the number of known eigenvalues; by default five, doubling.
        over : {"alpha", "rank"}
            What the horizontal axis shows.

        Returns
        -------
        EntropyProfileDisplay
        """
        if spectrum.kind == "sketch":
            raise ValueError("projected eigenvalues give no bracket: use Exact or Lanczos")
        flat = spectrum._repeated(int(spectrum.n))
        positive = int(np.sum(_arrays.to_numpy(flat) > 0))
        most = min(positive, int(spectrum.n) - 1)
        if ranks is None:
            ranks = sorted({max(most >> shift, 1) for shift in range(1, 6)})
        low, high = [], []
        for k in ranks:
            require_rank(k, spectrum.n)
            if k > most:
                raise ValueError(f"ranks has {k}: only {most} eigenvalues are known and positive")
            known = replace(
                spectrum, values=flat[:k], kind="ritz", counts=None, proof=None, failure=0.0
            )
            peaked, spread = known.bracket()
            low.append([float(renyi_entropy(peaked, a)) for a in alphas])
            high.append([float(renyi_entropy(spread, a)) for a in alphas])
        exact = None
        if spectrum.kind == "complete":
            exact = [float(renyi_entropy(spectrum, a)) for a in alphas]
        return cls(alphas, ranks, low, high, exact=exact, over=over)

    @classmethod
    def from_gram(
        cls,
        A: Any,
        *,
        alphas: Sequence[float] = ALPHAS,
        ranks: Sequence[int] | None = None,
        over: Literal["alpha", "rank"] = "alpha",
        solver: Solver = Exact(),
    ) -> EntropyProfileDisplay:
        """Find the eigenvalues and return their profile; nothing is drawn until `plot`.

        Parameters
        ----------
        A : Gram, or what `gram` makes one of
            Such as a column.
        alphas, ranks, over
            As in `from_spectrum`.
        solver : Solver
            `Exact()`, or for many rows one that gives the leading eigenvalues, converged.

        Returns
        -------
        EntropyProfileDisplay
        """
        most = None if ranks is None or isinstance(solver, Exact) else max(ranks)
        spectrum = solver(gram(A), most)
        return cls.from_spectrum(spectrum, alphas=alphas, ranks=ranks, over=over)

    def _draw(self, ax: Axes) -> None:
        by_rank = self.over == "alpha"
        x = self.alphas if by_rank else self.ranks
        low, high = (self.low, self.high) if by_rank else (self.low.T, self.high.T)
        labels = (
            [f"k = {k}" for k in self.ranks] if by_rank else [f"α = {a:g}" for a in self.alphas]
        )
        self.lines_, self.bands_, self.exact_ = [], [], []
        for i, label in enumerate(labels):
            color = f"C{i}"
            self.bands_.append(ax.fill_between(x, low[i], high[i], color=color, alpha=0.2, lw=0))
            self.lines_ += ax.plot(x, high[i], color=color, label=label)
            if self.exact is not None and not by_rank:
                self.exact_.append(ax.axhline(self.exact[i], color=color, ls="--", lw=1))
        if self.exact is not None and by_rank:
            self.exact_ += ax.plot(x, self.exact, "k--", lw=1, label="all eigenvalues")
        ax.set(xlabel="order α" if by_rank else "rank k", ylabel="entropy (bits)")
        ax.set_xscale("linear" if by_rank else "log")
        ax.legend(loc="upper right")
