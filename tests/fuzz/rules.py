"""What may be refused, which warnings are documented, and how close a value must come."""

import math
import re
from dataclasses import dataclass

import numpy as np

import lorenyi as lr
from fuzz import calls
from fuzz.data import FOREIGN
from fuzz.kernels import Rule
from fuzz.oracle import EPS32

SMALL = 300  # rows up to which a proof takes all eigenvalues
DENSE = 1000  # the same without one
COARSEST = 1e-2  # bits: the computing error, and the width of a proof, unless others are asked for
FLOOR = 1e-11  # bits: rounding of the last formula
PROJECTIONS = (
    lr.GaussianProjection,
    lr.HadamardProjection,
    lr.InputSparsity,
    lr.SparseGraph,
)
WARNINGS = (
    (RuntimeWarning, r"the certified width is .* bits, above tol="),
    (RuntimeWarning, r"the computing error is estimated to be .* bits"),
    (RuntimeWarning, r"the projected eigenvalues sum to .* times the trace"),
    (RuntimeWarning, r"Lanczos: residual .* after \d+ restarts"),
    (UserWarning, r"is not known to be infinitely divisible"),
    (UserWarning, r"categories in \d+ rows, which distinguish most rows"),
)


def documented(warning):
    """Tell whether a warning is one that the package promises."""
    return any(
        issubclass(warning.category, category) and re.search(pattern, str(warning.message))
        for category, pattern in WARNINGS
    )


def admits(warnings):
    """Tell whether a computing error above what was asked for was admitted."""
    return any("the computing error is estimated" in str(w.message) for w in warnings)


# ------------------------------------------------------------------------------- refusals


@dataclass(frozen=True)
class Reason:
    """Why a case is refused, and what the message must say; `must`: it has to be."""

    pattern: str
    must: bool
    error: tuple = (ValueError,)


ALONE = r"no two points are alike, so the collision entropy is not finite"
MESSAGES = {
    "nan": Reason(r"has nan at row", True),
    "infinity": Reason(r"has inf at row", True),
    "complex": Reason(r"is complex", True, (TypeError,)),
    "negative weight": Reason(r"weights must be finite and not negative", True),
    "short weights": Reason(r"weights must be one number for each", True),
    "short variable": Reason(r"same rows|weights must be one number for each|rank=", True),
}


def refusals(case):
    """Return why the case may, or must, be refused."""
    found = [MESSAGES[case.broken]] if case.broken else []
    if case.weights is not None:
        found += _of_weights(case.weights)
    for variable in case.variables:
        single = variable.single and not calls.is_plain(case)
        found += _of_variable(variable, single, case.weights)
    if any(v.container == "memmap" for v in case.variables):
        found += [
            Reason("not join rows that are not in memory", False, (TypeError,))
            for v in case.variables
            if v.matrix is not None or (v.container in FOREIGN and not calls.is_plain(case))
        ]
    return found + _of_functional(case)


def _of_weights(w):
    """Frequencies: their sum n is the number of points, of which no row is less than one.

    A matrix of n points has at most n eigenvalues that are not zero, so a sum below the number of
    rows that count is refused; at the border (rounding) both answers are right.
    """
    rows, total = int(np.sum(w > 0)), float(w.sum())
    if total <= 1:
        return [Reason(r"weights", True)]
    if total < rows * (1 - 1e-9):
        return [Reason(r"weights", True)]
    return [Reason(r"weights", False)] if total < rows else []


def _of_variable(variable, single, weights):
    kernel = variable.kernel
    if kernel is None or kernel.name in ("Delta", "Precomputed"):
        return []
    if not all(variable.numeric):
        return [Reason("has text, boolean or categorical columns", True, (TypeError,))]
    X = variable.numbers
    if isinstance(kernel.sigma, tuple) and len(kernel.sigma) != X.shape[1]:
        return [Reason(r"bandwidths and the points have", True)]
    return _of_norms(kernel, X, single, weights)


def _of_norms(kernel, X, single, weights):
    """Kernels of inner products: a row of zeros has no direction, squares must be numbers."""
    if kernel.name not in ("Linear", "Cosine", "Polynomial"):
        return []
    rows = np.ones(len(X), dtype=bool) if weights is None else weights > 0
    zero = (X == 0).all(axis=1)
    shifted = kernel.name == "Polynomial" and kernel.shift > 0
    found = []
    pattern = r"diagonal|row of zeros|finite|overflow"
    if not shifted and len(rows) == len(X) and zero[rows].any():
        found.append(Reason(pattern, True))
    power = kernel.degree if kernel.name == "Polynomial" else 1
    gamma = kernel.gamma if kernel.name == "Polynomial" else 1.0
    with np.errstate(divide="ignore"):
        size = 2 * np.log10(np.abs(X)).max(axis=1)  # of the largest square, in digits
    digits = 36 if single else 300
    with np.errstate(invalid="ignore"):
        own = power * (size + math.log10(gamma))
    large = max(float(own.max()), float(size.max()))
    small = min(float(own[~zero].min(initial=0)), float(size[~zero].min(initial=0)))
    if large > digits - 2 or (small < -digits and not (shifted and power * size.max() < 0)):
        found.append(Reason(pattern, False))
    return found


def _of_functional(case):
    total = float(len(case) if case.weights is None else case.weights.sum())
    found = []
    if case.rank is not None and case.rank > (total - 1) * (1 - 1e-6):  # weights may be float32
        found.append(Reason(r"rank=", case.rank > (total - 1) * (1 + 1e-6)))
    if case.alpha == 0 and not complete(case):
        found.append(Reason(r"alpha=0 counts the nonzero eigenvalues", False))
    if case.certified and case.measure == "normalized_mutual_information":
        said = r"an amount that may be (0|negative)"
        found.append(Reason(said, False, (ValueError, ZeroDivisionError)))
    return found + (_of_solver(case) if case.collision is None else [Reason(ALONE, False)])


def _of_solver(case):
    """Solvers that give few eigenvalues, or none with bounds, say so."""
    solver, wanted = case.solver, _wanted(case)
    least = 0 if wanted is None else min(wanted, len(case))
    found = []
    if isinstance(solver, (*PROJECTIONS, lr.SubspaceIteration)):
        if wanted is None:
            found.append(Reason(r"rank=None", False))
        if case.alpha == 0:
            found.append(Reason(r"alpha=0", False))
        if case.certified:
            found.append(Reason(r"gives estimates without bounds", False))
    if isinstance(solver, PROJECTIONS) and solver.size < least:
        found.append(Reason(r"size=", False))
    if isinstance(solver, lr.Lanczos) and solver.steps < least:
        found.append(Reason(r"steps=", False))
    if isinstance(solver, lr.BlockLanczos) and (solver.steps or least) * solver.block < least:
        found.append(Reason(r"steps=", False))
    if isinstance(solver, lr.PivotedCholesky):
        found.append(Reason(r"size=\d+ must be at least rank=", False))
        if any(v.container in FOREIGN for v in case.variables):
            found.append(Reason(r"PivotedCholesky works on NumPy arrays", False, (TypeError,)))
    return found


def _wanted(case):
    """How many eigenvalues are asked for: one at infinity, all (None) without a rank."""
    return 1 if case.alpha == math.inf else case.rank


# ----------------------------------------------------------------------- what a solver promises


def complete(case, proof=False):
    """Tell whether the solver finds all eigenvalues, so that only rounding is left."""
    solver, rows = case.solver, len(case)
    if isinstance(solver, lr.Exact):
        return True
    if isinstance(solver, lr.Auto):
        return rows <= (SMALL if proof else DENSE)
    if isinstance(solver, lr.Lanczos):
        return solver.steps >= rows
    if isinstance(solver, lr.BlockLanczos):
        wanted = min(_wanted(case) or min(rows, 100), rows)
        steps = solver.steps or -(-3 * wanted // solver.block) + 1
        return steps * solver.block >= rows
    if isinstance(solver, lr.SubspaceIteration):
        wanted = _wanted(case)
        return wanted is not None and min(wanted, rows) + solver.extra >= rows
    if isinstance(solver, PROJECTIONS):
        return solver.size >= rows
    return False


def allowance(case, answer):
    """Return by how much an answer may be off besides rounding; None: by any amount.

    `Auto` says it, by how much what it does not know may change the value; it is taken at three
    times its word, since that is an estimate, and to a fiftieth of the standard error, which no
    default result is computed below. Where it says nothing it is the coarsest.
    """
    if complete(case) or (case.alpha == 2 and case.rank is None):
        return 0.0
    if not isinstance(case.solver, lr.Auto):
        return None
    said = answer.computing_error
    if said is None:
        return asked(case)
    beside = answer.standard_error if case.solver.tol is None else 0.0
    return 3 * said + 0.02 * (beside if math.isfinite(beside) else 0.0)


def asked(case):
    """Return the computing error in bits that `Auto` may leave."""
    return COARSEST if case.solver.tol is None else case.solver.tol


def solver_delta(case, rows, eps):
    """Return what a solver's own rounding adds to eigenvalues, as a share of the trace."""
    solver = case.solver
    if case.alpha == 2 and case.rank is None:
        return 0.0
    if isinstance(solver, lr.BlockLanczos) and solver.single:
        return EPS32 * (8 * rows + 8)
    if isinstance(solver, (lr.Lanczos, lr.BlockLanczos)):
        return eps * (8 * rows + 8) + (getattr(solver, "tol", None) or 0.0)
    if isinstance(solver, PROJECTIONS):
        return 1e4 * eps
    return 0.0


# ------------------------------------------------------------------------------ rounding


def entry_rounding(kernel, X, sigma, eps):
    """Return how far, relative to its size, a kernel's entry may be off in this precision."""
    base = (8 + X.shape[1]) * eps
    if kernel.name == "Function":
        return base
    if kernel.name in ("Linear", "Cosine", "Polynomial"):
        return base * (kernel.degree if kernel.name == "Polynomial" else 1)
    radius = largest_norm(X, sigma)
    square = 0.0 if kernel.name == "Laplacian" else radius**2
    limit = 1e4 if eps < 1e-12 else 1e3  # above it the package takes differences
    # A point that is alone loses nothing: beyond 40 bandwidths the kernel is below rounding.
    near = radius if eps > 1e-12 or radius < 1e5 else largest_with_neighbors(X, sigma)
    return base + eps * (2 * min(square, limit) + 4 * near)


def largest_norm(X, sigma):
    """Return the largest norm of the points, moved to their mean, over the bandwidth."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        sigma = np.asarray(sigma, dtype=float)
        scaled = (X - X.mean(axis=0)) / sigma
        norm = float(np.max(np.sqrt(np.sum(scaled**2, axis=1))))
    return norm if math.isfinite(norm) else 1e150


def largest_with_neighbors(X, sigma):
    """Return the largest norm, in bandwidths, of two points that are near each other but differ."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        scaled = (X - np.median(X, axis=0)) / np.asarray(sigma, dtype=float)
        norms = np.sqrt(np.sum(scaled**2, axis=1))
        most = 0.0
        for i in range(len(X)):
            gap = np.sqrt(np.sum(((X - X[i]) / np.asarray(sigma, dtype=float)) ** 2, axis=1))
            most = max(most, float(np.max(norms[(gap > 0) & (gap <= 40)], initial=0.0)))
    return most if math.isfinite(most) else 1e150


def bandwidth_rounding(rule):
    """Return the relative error of a bandwidth that a rule chooses.

    Distances to the nearest come from squares |x|^2 + |y|^2 - 2 x'y: half of the digits.
    """
    if not isinstance(rule, Rule):
        return 0.0
    return 1e-8 if rule.name == "nearest" else 1e-12
