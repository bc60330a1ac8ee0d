"""What the oracle says of a case: entropies of all joints as intervals, and how they move."""

import math
from dataclasses import dataclass

import numpy as np

from fuzz import calls, oracle, rules
from fuzz.data import FOREIGN
from fuzz.kernels import Kernel, Rule
from fuzz.oracle import EPS, EPS32, Interval

FIXED = ("Delta", "Linear", "Cosine", "Polynomial", "Function", "Precomputed")


@dataclass(frozen=True)
class Matrix:
    """A variable's kernel matrix of unit diagonal.

    `own` and `fair` are the relative rounding of entries here and in the package; `codes` are
    there where it is the equality of labels alone.
    """

    entries: np.ndarray
    own: float = 0.0
    fair: float = 0.0
    codes: np.ndarray | None = None


@dataclass(frozen=True)
class Joint:
    """The matrix of several variables (rows of weight zero left out), and its eigenvalues."""

    A: np.ndarray
    values: np.ndarray
    own: float
    fair: float
    labels: bool


class Truth:
    """Entropies of all joints of a case's variables."""

    def __init__(self, case):
        self.case, self.w = case, case.frequencies
        self.n = float(self.w.sum())
        self.plain = calls.is_plain(case)
        self.single = any(self._eps(v) == EPS32 for v in case.variables)
        self._matrices, self._joints = {}, {}

    @property
    def _sets(self):
        numbers = iter(range(len(self.case.variables)))
        return [frozenset(next(numbers) for _ in a) for a in self.case.arguments]

    # ------------------------------------------------------------------ values

    def value(self, strict):
        """Return the measure; strict: as well as the oracle knows it."""
        return oracle.measure(self.case.measure, lambda s: self.entropy(s, strict), self._sets)

    def entropy(self, members, strict):
        """Return the interval of S of a joint."""
        joint, case = self.joint(members), self.case
        eps = EPS if strict or not self.single else EPS32
        own = joint.own if strict else joint.fair
        if case.collision is not None:
            return self._collision(joint, own + eps * (10 + math.sqrt(len(joint.values))))
        delta = own * float(np.linalg.norm(joint.A))
        delta += eps * (10 + math.sqrt(len(joint.values))) * joint.values[0]
        if not strict:
            delta += rules.solver_delta(case, len(joint.values), eps)
        if joint.labels:  # eigenvalues are frequencies
            delta = 8 * eps * joint.values
        low, high = oracle.entropy(joint.values, self.n, case.alpha, case.rank, delta, eps)
        if case.alpha == 0 and eps > EPS:  # a joint without float32 resolves more
            finer = delta * (EPS / eps)
            _, high = oracle.entropy(joint.values, self.n, 0, case.rank, finer, EPS)
        floor = 8 * EPS32 if self.single else rules.FLOOR
        return Interval(low, high).widened(floor * max(1.0, abs(high)))

    def _collision(self, joint, relative):
        low, high = oracle.collision(joint.A, self.n, 2 * relative)
        if self.case.collision.pairs is not None:
            noise = 8 * self.noise(joint)
            low, high = low - noise, high + noise
        return Interval(-math.log2(high), -math.log2(low) if low > 0 else math.inf).widened(
            rules.FLOOR
        )

    def noise(self, joint):
        """Return the standard deviation of the mean of k^2 over the pairs that are drawn."""
        share = np.diag(joint.A)
        square = joint.A**2 / np.outer(share, share)
        mean = float(share @ square @ share)
        variance = float(share @ (square - mean) ** 2 @ share)
        return math.sqrt(variance / self.pairs)

    @property
    def pairs(self):
        """How many pairs are drawn at least: of all points, each with four others or more."""
        return max(min(self.case.collision.pairs, self.n * (self.n - 1)), 4 * min(self.n, 2**20))

    # ------------------------------------------------------------------ standard errors

    def errors(self):
        """Return the standard error and the size of its terms; None where it is not known here.

        A bandwidth that a rule chooses moves too; what that adds is not known here.
        """
        case = self.case
        known = all(self._is_fixed(v) for v in case.variables) and len(case) <= 300
        drawn = case.collision is not None and case.collision.pairs is not None
        if case.alpha == 0 or not known or drawn:
            return None
        moving = {}

        def entropy(members):
            if members not in moving:
                A = self.joint(members).A
                moving[members] = (
                    oracle.moving_entropy(A, self.n, case.alpha, case.rank)
                    if case.collision is None
                    else oracle.moving_collision(A, self.n)
                )
                if moving[members] is None:
                    raise _NoDerivative
            return moving[members]

        try:
            return oracle.measure(case.measure, entropy, self._sets).errors(self.w[self.w > 0])
        except (_NoDerivative, ZeroDivisionError):
            return None

    @property
    def smooth(self):
        """Whether each entropy has a derivative that can be computed.

        Its last eigenvalue is not the next one, too; and below order 1, where the smallest weigh
        most, none is near rounding.
        """
        alpha, spectra = self.case.alpha, [joint.values for joint in self._joints.values()]
        last = 1 if alpha == math.inf else self.case.rank
        if not all(self._is_apart(v) for v in self.case.variables):
            return False
        if alpha < 1 and (self.single or any(v[-1] < 1e-9 * v[0] for v in spectra)):
            return False
        return last is None or all(oracle.is_last(values, last) for values in spectra)

    def _is_apart(self, v):
        """Tell whether points that differ still do when they are divided by a chosen bandwidth."""
        if v.matrix is not None or self._is_fixed(v):
            return True
        X, _, kernel = self.reads(v)
        sigma = np.broadcast_to(self._sigma(v, kernel, X), X.shape[1:])
        difference, unit = oracle.differences(X[self.w > 0])
        gaps = [np.abs(d) * (unit / s) for d, s in zip(difference, sigma, strict=True)]
        least = 1e-5 if self.single else 1e-9
        return not any(np.any((gap > 0) & (gap < least)) for gap in gaps)

    def _is_fixed(self, v):
        if v.kernel is None:
            return v.parts(self.w)[0] is None
        return v.kernel.name in FIXED or not isinstance(v.kernel.sigma, Rule)

    # ------------------------------------------------------------------ matrices

    def joint(self, members):
        """Return the matrix of some variables together."""
        if members not in self._joints:
            parts = [self.matrix(i) for i in members]
            A = oracle.weighted(np.prod([p.entries for p in parts], axis=0), self.w)
            labels = all(p.codes is not None for p in parts)
            if labels:
                rows = np.unique(np.stack([p.codes for p in parts]), axis=1, return_inverse=True)
                mass = np.bincount(rows[1].reshape(-1), weights=self.w / self.w.sum())
                values = np.sort(mass[mass > 0])[::-1]
            else:
                values = oracle.eigenvalues(A)
            own, fair = sum(p.own for p in parts), sum(p.fair for p in parts)
            self._joints[members] = Joint(A, values, own, fair, labels)
        return self._joints[members]

    def matrix(self, i):
        """Return the matrix of a variable."""
        if i not in self._matrices:
            self._matrices[i] = self._matrix(self.case.variables[i])
        return self._matrices[i]

    def _matrix(self, v):
        if v.matrix is not None:
            K = oracle.unit_diagonal(v.matrix.astype(np.float64))
            return Matrix(K, 8 * EPS, 8 * self._eps(v))
        X, codes, kernel = self.reads(v)
        labels = 1.0 if codes is None else oracle.equality(codes)
        if X is None:
            return Matrix(labels, codes=codes)
        sigma = self._sigma(v, kernel, X)
        rounding = rules.bandwidth_rounding(kernel.sigma)
        # A function that rounds to float32 is not known any better than that.
        here = EPS32 if kernel.single else EPS
        own = (8 + X.shape[1]) * here * (kernel.degree if kernel.name == "Polynomial" else 1)
        fair = rules.entry_rounding(kernel, X, sigma, self._eps(v))
        return Matrix(kernel.matrix(X, sigma) * labels, own + rounding, fair + rounding)

    def reads(self, v):
        """Return the numbers and the codes that a variable is read as, and the numbers' kernel."""
        if v.kernel is None:
            X, codes, units = v.parts(self.w)
            return X, codes, Kernel("Gaussian", Rule("standardized" if units else "median"))
        if v.kernel.name == "Delta":
            return None, v.codes, None
        return v.numbers, None, v.kernel

    def reach(self, v):
        """Return the largest distance of a point from the others, in bandwidths."""
        if v.matrix is not None:
            return 0.0
        X, _, kernel = self.reads(v)
        if X is None or kernel.name not in ("Gaussian", "Laplacian"):
            return 0.0
        return rules.largest_norm(X, self._sigma(v, kernel, X))

    def _eps(self, v):
        """Return the precision that the package computes in."""
        rounded = v.kernel is not None and v.kernel.single
        return EPS32 if rounded or (v.single and not self.plain) else EPS

    def _sigma(self, v, kernel, X):
        rule = kernel.sigma
        if not isinstance(rule, Rule):
            return rule
        free = rule.samples(X, self.w) or rule.vague(self.w)
        # Of a tensor, from squares that cancel.
        coarse = v.container in FOREIGN and rule.name == "nearest" and not self.plain
        if not free and not coarse:
            return rule.of(X, self.w)
        found = np.asarray(settled(calls.gram(v, calls.given_weights(self.case))), dtype=float)
        if free and rule.name != "nearest" and not _plausible(rule, found, X, self.w):
            raise ValueError(f"{rule} of a sample gives a bandwidth that is not plausible")
        if coarse and not free and not _near(found, rule.of(X, self.w), X, self._eps(v)):
            raise ValueError("Nearest of a tensor gives a bandwidth that is not near the true one")
        return found


class _NoDerivative(Exception):
    """An entropy does not move smoothly."""


def settled(A):
    """Return the bandwidth that a Gram was made with."""
    sigmas = [getattr(factor.kernel, "sigma", None) for factor in A.factors]
    return next(s for s in sigmas if s is not None)


def _near(sigma, exact, X, eps):
    """Tell whether a mean distance is right up to what cancels in squares of the coordinates."""
    reach = float(np.max(np.abs(X - X.mean(axis=0)))) * math.sqrt(X.shape[1])
    lost = 30 * math.sqrt(eps) * reach
    return abs(sigma - exact) <= 30 * math.sqrt(EPS32) * exact + lost or exact < lost


def _plausible(rule, sigma, X, w):
    """Tell whether the median of half a million pairs is near that of all: two in a hundred."""
    if rule.name == "standardized":
        deviation = oracle.deviations(X, w)
        X, multiples = X / deviation, sigma / deviation
        if np.ptp(multiples) > 1e-9 * multiples[0]:
            return False
        sigma = multiples[0]
    difference, unit = oracle.differences(X[w > 0])
    w = w[w > 0]
    i, j = np.triu_indices(len(w), 1)
    distance, pairs = oracle.lengths(difference)[i, j] * unit, (w[i] / w.sum()) * w[j]
    order = np.argsort(distance)
    order = order[distance[order] > 0]
    share = np.cumsum(pairs[order]) / pairs[order].sum()
    low, high = (distance[order][np.searchsorted(share, q)] for q in (0.48, 0.52))
    return low * (1 - 1e-3) <= sigma <= high * (1 + 1e-3)
