"""Kernels as the cases name them: how to make the package's, and what the oracle makes of it."""

from dataclasses import dataclass

import numpy as np

import lorenyi as lr
from fuzz import oracle

SAMPLE = 1000  # points up to which the rules of the package read all of them


@dataclass(frozen=True)
class Rule:
    """A bandwidth rule by name."""

    name: str  # median, columns (the median of each), standardized, scott, silverman, nearest
    k: int = 10

    def build(self):
        made = {
            "median": "median",
            "columns": lr.Median(per_column=True),
            "standardized": lr.Median(standardize=True),
            "scott": lr.Scott(),
            "silverman": "silverman",
            "nearest": lr.Nearest(self.k),
        }
        return made[self.name]

    def samples(self, X, w):
        """Tell whether the package reads some of the distances only.

        Those of a single column are counted, however many; so are those of few distinct rows.
        """
        if self.name == "nearest":
            return float(w.sum()) > SAMPLE
        several = self.name in ("median", "standardized") and X.shape[1] > 1
        return several and len(np.unique(X[w > 0], axis=0)) > SAMPLE

    def vague(self, w):
        """Tell whether the rule is not defined: a row cannot be the neighbor of a part of it."""
        return self.name == "nearest" and bool(np.any((w > 0) & (w < 1)))

    def of(self, X, w):
        if self.name == "columns":
            return np.array([oracle.median(column[:, None], w) for column in X.T])
        if self.name == "nearest":
            return oracle.nearest(X, w, self.k)
        return getattr(oracle, self.name)(X, w)

    def __str__(self):
        return f"Nearest({self.k})" if self.name == "nearest" else self.name


@dataclass(frozen=True)
class Kernel:
    """A kernel by name, with its numbers."""

    name: str
    sigma: object = None  # Gaussian, Laplacian: number, tuple or Rule; Function: a length
    degree: int = 2
    gamma: float = 1.0
    shift: float = 1.0
    single: bool = False  # a Function that gives float32
    bare: bool = False  # given as it is, not in Function(...): that warns

    def build(self):
        if self.name in ("Gaussian", "Laplacian"):
            sigma = self.sigma.build() if isinstance(self.sigma, Rule) else self.sigma
            return getattr(lr, self.name)(sigma)
        if self.name == "Polynomial":
            return lr.Polynomial(self.degree, self.gamma, self.shift)
        if self.name == "Function":
            function = self._function()
            return function if self.bare else lr.Function(function, infinitely_divisible=True)
        return getattr(lr, self.name)()

    def _function(self):
        def cauchy(X, Y):
            value = 1.0
            for j in range(X.shape[1]):
                ratio = (X[:, j : j + 1] - Y[:, j : j + 1].T) / self.sigma
                value = value / (1.0 + ratio * ratio)
            return value.astype(np.float32) if self.single else value

        return cauchy

    def matrix(self, X, sigma):
        """Return the oracle's values for all pairs, divided by the roots of the diagonal."""
        if self.name == "Gaussian":
            return oracle.gaussian(X, sigma)
        if self.name == "Laplacian":
            return oracle.laplacian(X, sigma)
        if self.name == "Polynomial":
            return oracle.polynomial(X, self.degree, self.gamma, self.shift)
        return oracle.cauchy(X, self.sigma) if self.name == "Function" else oracle.cosines(X)

    def __str__(self):
        if self.name in ("Gaussian", "Laplacian", "Function"):
            single = ", float32" if self.single else ""
            shown = str(self.sigma) if isinstance(self.sigma, Rule) else _short(self.sigma)
            return f"{self.name}({shown}{single})"
        if self.name == "Polynomial":
            return f"Polynomial({self.degree}, {self.gamma:.3g}, {self.shift:.3g})"
        return f"{self.name}()"


def _short(sigma):
    if not isinstance(sigma, tuple):
        return f"{sigma:.4g}"
    return "(" + ", ".join(f"{s:.4g}" for s in sigma) + ")"
