"""The definitions in plain NumPy, with all pairs and all eigenvalues, careful where it matters.

Nothing here knows the package. Distances are taken of differences (nothing cancels), of points
divided by a power of two (nothing overflows), and every entropy comes as an interval: what the
eigenvalues can be, if each is only known up to `delta`.
"""

import math

import numpy as np

EPS = float(np.finfo(np.float64).eps)
EPS32 = float(np.finfo(np.float32).eps)


# ------------------------------------------------------------------------------- distances


def power_of_two(X):
    """Return a power of two near the largest number, so that dividing by it is exact."""
    largest = float(np.max(np.abs(X), initial=0.0))
    return 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0


def differences(X):
    """Return x_i - x_j for all pairs, column by column, over a power of two, and that power."""
    unit = power_of_two(X)
    return [column[:, None] - column[None, :] for column in (X / unit).T], unit


def lengths(difference):
    """Return Euclidean norms of differences, safe from underflow."""
    largest = np.max([np.abs(d) for d in difference], axis=0)
    safe = np.where(largest > 0, largest, 1.0)
    return largest * np.sqrt(sum((d / safe) ** 2 for d in difference))


# ------------------------------------------------------------------------------ bandwidths


def median(X, w):
    """Median of the distances between two points, of those that are not zero."""
    difference, unit = differences(X)
    return unit * _median_length(difference, w)


def standardized(X, w):
    """One multiple of the columns' standard deviations: the median distance in these units."""
    deviation = deviations(X, w)
    if len(deviation) == 1:
        return median(X, w)
    near = [column - np.sort(column)[len(column) // 2] for column in X.T]
    units = [power_of_two(column) for column in near]
    columns = [column / unit for column, unit in zip(near, units, strict=True)]
    scales = [d / unit for d, unit in zip(deviation, units, strict=True)]
    difference = [(c[:, None] - c[None, :]) / s for c, s in zip(columns, scales, strict=True)]
    return deviation * _median_length(difference, w)


def _median_length(difference, w):
    distance = lengths(difference)
    i, j = np.triu_indices(len(w), 1)
    distance, pairs = distance[i, j], w[i] * w[j]
    keep = (distance > 0) & (pairs > 0)
    return weighted_median(distance[keep], pairs[keep]) if keep.any() else 1.0


def weighted_median(values, weights):
    """Return the middle of values, each there as often as its weight says."""
    if (weights == weights[0]).all():  # sums of equal ones are rounded, and then decide
        return float(np.median(values))
    order = np.argsort(values)
    values, mass = values[order], np.cumsum(weights[order].astype(np.longdouble))
    half = mass[-1] / 2
    low = int(np.searchsorted(mass, half * (1 - 1e-15)))
    tie = abs(mass[low] - half) <= 1e-15 * half and low + 1 < len(values)
    return float(values[low] + (values[low + 1] - values[low]) / 2 if tie else values[low])


def nearest(X, w, k):
    """Mean distance to the k nearest others, where a row of weight w is w points."""
    X, w = X[w > 0], w[w > 0]
    difference, unit = differences(X)
    distance = lengths(difference)
    k = min(float(k), float(w.sum()) - 1)
    total = 0.0
    for i, row in enumerate(distance):
        others = w.copy()
        others[i] -= 1
        order = np.argsort(row)
        reached = np.minimum(np.cumsum(others[order]), k)
        total += w[i] * float(np.diff(reached, prepend=0.0) @ row[order])
    mean = total / (k * float(w.sum()))
    return unit * mean if mean > 0 else 1.0


def deviations(X, w):
    """Return the columns' standard deviations, 1 for a constant one (up to 1e-14 of its mean)."""
    found = []
    for column in X[w > 0].T:
        unit = power_of_two(column - column[0])
        y = (column - column[0]) / unit
        share = w[w > 0] / w.sum()
        spread = math.sqrt(float(share @ (y - share @ y) ** 2)) * unit
        mean = abs(float(column[0] + unit * (share @ y)))
        found.append(spread if spread > 1e-14 * mean else 1.0)
    return np.array(found)


def scott(X, w):
    return deviations(X, w) * float(w.sum()) ** (-1 / (X.shape[1] + 4))


def silverman(X, w):
    d = X.shape[1]
    return deviations(X, w) * (float(w.sum()) * (d + 2) / 4) ** (-1 / (d + 4))


# --------------------------------------------------------------------------------- kernels


def gaussian(X, sigma):
    """exp(-|x - y|^2 / (2 sigma^2)), sigma a number or one for each column."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(-0.5 * sum(d**2 for d in _scaled(X, sigma)))


def laplacian(X, sigma):
    """exp(-sum |x - y| / sigma)."""
    with np.errstate(over="ignore", under="ignore"):
        return np.exp(-sum(np.abs(d) for d in _scaled(X, sigma)))


def _scaled(X, sigma):
    """Return differences over sigma; what overflows is infinity."""
    difference, unit = differences(X)
    sigma = np.broadcast_to(np.asarray(sigma, dtype=float), (X.shape[1],))
    with np.errstate(over="ignore", under="ignore"):
        return [np.multiply(d, unit) / s for d, s in zip(difference, sigma, strict=True)]


def cosines(X):
    """x'y / (|x| |y|), NaN at rows of zeros."""
    largest = np.max(np.abs(X), axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        X = X / largest
        X = X / np.sqrt(np.sum(X * X, axis=1, keepdims=True))
    return X @ X.T


def polynomial(X, degree, gamma, shift):
    """(gamma x'y + shift)^degree, divided by the roots of its diagonal."""
    more = np.full((len(X), 1), math.sqrt(shift))
    return cosines(np.hstack([math.sqrt(gamma) * X, more])) ** degree


def cauchy(X, length):
    """A product over columns of 1 / (1 + (x - y)^2 / length^2)."""
    with np.errstate(over="ignore", under="ignore"):
        return np.prod([1 / (1 + d**2) for d in _scaled(X, length)], axis=0)


def equality(codes):
    return (codes[:, None] == codes[None, :]).astype(float)


def unit_diagonal(K):
    """K_ij / sqrt(K_ii K_jj)."""
    root = np.sqrt(np.diag(K))
    return K / root[:, None] / root[None, :]


# ------------------------------------------------------------------------------- entropies


def weighted(K, w):
    """sqrt(w_i w_j) K_ij with weights that sum to one; rows of weight zero left out."""
    keep = w > 0
    root = np.sqrt(w[keep] / w.sum())
    return K[np.ix_(keep, keep)] * root[:, None] * root[None, :]


def eigenvalues(A):
    """All eigenvalues, descending; what rounding made negative is zero."""
    return np.maximum(np.linalg.eigvalsh(A)[::-1], 0.0)


def entropy(values, n, alpha, rank, delta, eps=EPS):
    """Return the least and the largest S_alpha (or S_alpha^k) of eigenvalues known up to delta.

    `n` is the number of places in all. The sum of all is one, whatever the rounding; `eps` is the
    precision in which a rank is counted.
    """
    if alpha == 0:
        return _log2_rank(values, n, rank, delta, eps)
    low, high = np.maximum(values - delta, 0.0), np.minimum(values + delta, 1.0)
    counts = np.ones(len(values))
    if alpha == math.inf:
        return -math.log2(min(high[0], 1.0)), -math.log2(low[0]) if low[0] > 0 else math.inf
    if rank is not None:
        low, high, counts = _low_rank(values, n, rank, delta)
    if abs(alpha - 1) > 0.09:
        ends = [_log2_power_sum(p, counts, alpha) / (1 - alpha) for p in (low, high)]
        return min(ends), max(ends)
    least, most = _concave(low, high, alpha)
    return tuple(_from_excess(float(counts @ g), alpha) for g in (least, most))


def _low_rank(values, n, rank, delta):
    """The k largest, as far as there are so many, and the rest evenly over n - k places."""
    here, kept = np.broadcast_to(delta, values.shape)[:rank], values[:rank]
    rest, slack = float(values[rank:].sum()), float(np.linalg.norm(here))
    if np.ndim(delta) == 0:  # rounding around zero, made positive, would add up
        rest = max(1 - float(kept.sum()), 0.0)
    tail = [max(rest - slack, 0.0) / (n - rank), min(rest + slack, 1.0) / (n - rank)]
    low, high = np.maximum(kept - here, 0.0), np.minimum(kept + here, 1.0)
    return (
        np.append(low, tail[0]),
        np.append(high, tail[1]),
        np.append(np.ones(len(kept)), n - rank),
    )


def _log2_power_sum(p, counts, alpha):
    top = float(p.max())
    if top == 0:
        return -math.inf
    with np.errstate(under="ignore"):
        return alpha * math.log2(top) + math.log2(float(counts @ (p / top) ** alpha))


def _concave(low, high, alpha):
    """Return least and largest (p^alpha - p) / (1 - alpha) for p between low and high."""
    top = math.exp(-1.0) if alpha == 1 else alpha ** (1 / (1 - alpha))
    ends = [_excess(low, alpha), _excess(high, alpha)]
    return np.minimum(*ends), np.maximum(np.maximum(*ends), _excess(np.clip(top, low, high), alpha))


def _excess(p, alpha):
    """(p^alpha - p) / (1 - alpha); at alpha = 1 its limit -p log p."""
    safe = np.where(p > 0, p, 1.0)
    log = np.log(safe)
    value = -safe * (log if alpha == 1 else np.expm1((alpha - 1) * log) / (alpha - 1))
    return np.where(p > 0, value, 0.0)


def _from_excess(total, alpha):
    """S_alpha = log2(1 + (1 - alpha) sum) / (1 - alpha), where the probabilities sum to one."""
    if alpha == 1:
        return total / math.log(2)
    if (1 - alpha) * total <= -1:  # nothing is known of the smallest
        return math.inf
    return math.log1p((1 - alpha) * total) / ((1 - alpha) * math.log(2))


def _log2_rank(values, n, rank, delta, eps):
    """Log2 of the number of eigenvalues that are not zero, up to rounding.

    What rounding is has no sharp end: values between a small part and a large multiple of the
    error of a decomposition may be counted or not; those above 1e-12 times the largest are.
    """
    rounding = len(values) * eps * values[0]
    surely, perhaps = max(16 * rounding, 1e-12 * values[0]), rounding / 16
    counts = [int(np.sum(values > surely + 4 * delta)), int(np.sum(values > perhaps - delta))]
    if rank is not None:
        counts = [n if c > rank else c for c in counts]
    return math.log2(max(counts[0], 1)), math.log2(max(counts[1], 1))


def collision(A, n, relative):
    """Return the least and the largest mean of k^2 over pairs of different points of n.

    Squares are known up to `relative`, and |A|_F^2 as well, which the pairs of a point with itself
    are taken from.
    """
    square, share = A * A, np.diag(A)  # of a row of weight w among n points: w / n
    different = float(square.sum() - np.diag(square).sum() + share @ (share - 1 / n)) * n / (n - 1)
    slack = relative * float(square.sum()) * n / (n - 1)
    return different - slack, different + slack


# ---------------------------------------------------------------------------- standard errors


class Moving:
    """A number, and how it moves with the weight of each row (up to a constant for all)."""

    def __init__(self, value, moves, size=None):
        self.value, self.moves = value, moves
        self.size = np.abs(moves) if size is None else size  # before anything canceled

    def __add__(self, other):
        return Moving(self.value + other.value, self.moves + other.moves, self.size + other.size)

    def __sub__(self, other):
        return Moving(self.value - other.value, self.moves - other.moves, self.size + other.size)

    def __mul__(self, factor):
        return Moving(self.value * factor, self.moves * factor, self.size * abs(factor))

    def errors(self, w):
        """Return the standard error of points that occur w times, and the size of its terms."""
        share = w / w.sum()
        variance = float(share @ (self.moves - share @ self.moves) ** 2)
        roots = math.sqrt(variance), math.sqrt(float(share @ self.size**2))
        return [root / math.sqrt(max(w.sum() - 1, 1)) for root in roots]


def moving_entropy(A, n, alpha, rank):
    """Return S_alpha or S_alpha^k as `Moving`, or None where it has no derivative to speak of.

    With rho the mixture of the points' states, S moves by phi_i' f(rho) phi_i, f = dS / drho.
    """
    values, V = np.linalg.eigh(A)
    values, V = np.maximum(values[::-1], 0.0), V[:, ::-1]
    kept = 1 if alpha == math.inf else rank
    if alpha < 1 and values[-1] < 1e-9 * values[0]:
        return None  # what is smallest weighs most
    if kept is not None and not is_last(values, kept):
        return None
    if alpha == math.inf:
        value, moved = -math.log2(values[0]), np.zeros(len(values))
        moved[0] = -1 / math.log(2)
    else:
        value, moved = _moved(values, n, alpha, rank)
    return Moving(value, (V * V) @ moved / np.diag(A))


def is_last(values, rank):
    """Tell whether it is known which eigenvector is the last that counts."""
    return rank >= len(values) or values[rank - 1] - values[rank] > 1e-4


def _moved(values, n, alpha, rank):
    """Return S, and lambda dS / dlambda for each eigenvalue."""
    p, counts = values, np.ones(len(values))
    if rank is not None and rank < len(values):
        tail = float(values[rank:].sum()) / (n - rank)
        p = np.append(values[:rank], np.full(len(values) - rank, tail))
        counts[rank:] = (n - rank) / (len(values) - rank)
    log = np.log2(np.where(p > 0, p, 1.0))
    if alpha == 1:
        return -float(counts @ (p * log)), -values * log
    total = float(counts @ p**alpha)
    slope = alpha / ((1 - alpha) * math.log(2)) * np.where(p > 0, 2 ** ((alpha - 1) * log), 0.0)
    return math.log2(total) / (1 - alpha), values * slope / total


def moving_collision(A, n):
    """Return minus the logarithm of the mean of k^2 over pairs of different points as `Moving`."""
    mean = collision(A, n, 0.0)[0]
    if mean <= 1e-9:
        return None
    alike = np.sum(A * A, axis=1) / np.diag(A)
    return Moving(-math.log2(mean), -2 / (mean * math.log(2)) * n / (n - 1) * alike)


# -------------------------------------------------------------------------------- measures


class Interval:
    """Two ends, with the arithmetic of intervals."""

    __slots__ = ("high", "low")

    def __init__(self, low, high):
        self.low, self.high = low, high

    def __add__(self, other):
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other):
        return Interval(self.low - other.high, self.high - other.low)

    def widened(self, by):
        return Interval(self.low - by, self.high + by)

    def __contains__(self, value):
        return self.low <= value <= self.high

    def __repr__(self):
        return f"[{self.low:.12g}, {self.high:.12g}]"


def measure(name, S, variables):
    """Return a measure; S gives the entropy of a set of variables, as `Interval` or `Moving`.

    `variables` holds one set for each argument (each may be the joint of several).
    """
    return _MEASURES[name](S, *variables)


def _sum(terms):
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _normalized(S, a, b):
    information, x, y = S(a) + S(b) - S(a | b), S(a), S(b)
    if isinstance(x, Moving):
        if min(x.value, y.value) <= 1e-9:
            raise ZeroDivisionError
        root = math.sqrt(x.value * y.value)
        means = (x * (1 / x.value) + y * (1 / y.value)) * (information.value / 2)
        return (information - means) * (1 / root)
    low, high = max(x.low, 0) * max(y.low, 0), max(x.high, 0) * max(y.high, 0)
    if min(x.low, y.low) <= 1e-11:  # where an entropy is zero up to rounding the value is 0
        return Interval(-math.inf, 1.0 + 1e-9)
    ends = [i / math.sqrt(p) for i in (information.low, information.high) for p in (low, high)]
    return Interval(min(ends), max(ends))


def _dual(S, *sets):
    whole = S(frozenset().union(*sets))
    rest = [S(frozenset().union(*sets[:i], *sets[i + 1 :])) for i in range(len(sets))]
    # whole - sum (whole - rest) = sum rest - (L - 1) whole
    return _sum(rest) - _sum([whole] * (len(sets) - 1))


def _interaction(S, *sets):
    signed = {0: [], 1: []}
    for bits in range(1, 2 ** len(sets)):
        chosen = [s for i, s in enumerate(sets) if bits >> i & 1]
        signed[(len(sets) - len(chosen)) % 2].append(S(frozenset().union(*chosen)))
    return _sum(signed[1]) - _sum(signed[0])


def _vendi(S, a):
    found = S(a)
    if isinstance(found, Moving):
        return found * (math.log(2) * 2.0**found.value)
    return Interval(2.0**found.low, 2.0**found.high)


_MEASURES = {
    "entropy": lambda S, a: S(a),
    "joint_entropy": lambda S, *sets: S(frozenset().union(*sets)),
    "conditional_entropy": lambda S, a, b: S(a | b) - S(b),
    "mutual_information": lambda S, a, b: S(a) + S(b) - S(a | b),
    "normalized_mutual_information": _normalized,
    "conditional_mutual_information": lambda S, a, b, c: S(a | c) + S(b | c) - S(a | b | c) - S(c),
    "total_correlation": lambda S, *sets: _sum([S(s) for s in sets]) - S(frozenset().union(*sets)),
    "dual_total_correlation": _dual,
    "interaction_information": _interaction,
    "vendi_score": _vendi,
}
