"""The paper's theorems as functions: sketch sizes, step counts, error bounds, variances.

Numbers of theorems are those of Dong et al., "Robust and Fast Measure of Information via Low-rank
Representation". `lambda_r` is the mean of the eigenvalues beyond the k-th. Entropies are in bits;
logarithms inside sizes and step counts are natural. Where a statement of the paper does not hold,
the function implements a corrected one, and its notes explain the difference.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "SketchSizes",
    "sketch_sizes",
    "lanczos_steps",
    "random_start_tangent",
    "entropy_error",
    "absolute_entropy_error",
    "potential_variance",
]

_ROUNDING = 1e-9  # tolerance for eigenvalues below zero, and for their sum


@dataclass(frozen=True)
class SketchSizes:
    """Columns `s` that each projection needs, and nonzeros `p` in a column of the sparse graph."""

    gaussian: int
    hadamard: int
    input_sparsity: int
    sparse_graph: int
    p: int


def sketch_sizes(
    n: int, k: int, eps: float, delta: float, lambda_k: float, lambda_r: float, constant: float = 1
) -> SketchSizes:
    r"""Sketch sizes for which a projection finds the k leading eigenvalues (Theorem 2).

    With :math:`\epsilon_0 = \epsilon \lambda_k \lambda_r`, up to the factor hidden in O(.):

    ==============  ========================================================================
    gaussian        :math:`(k + \log(1/\delta)) / \epsilon_0^2`
    hadamard        :math:`(k + \log n) \log k / \epsilon_0^2` (log k read as at least 1)
    input_sparsity  :math:`k^2 / \epsilon_0^2`
    sparse_graph    :math:`k \log(k / (\delta \epsilon_0)) / \epsilon_0^2`,
                    with :math:`p = \log(k / (\delta \epsilon_0)) / \epsilon_0`
    ==============  ========================================================================

    The eigenvalues of L_k(A) are then accurate to a factor 1 +- eps, and the entropy to
    `entropy_error(eps, alpha, n)`. **The numbers are vacuous:** 4 k (n-k) lambda_k lambda_r <= 1,
    so s and p exceed n for every spectrum. They are returned unchanged; in practice s is capped at
    n, where all but the sparse graph are exact (the Hadamard projection if n is a power of two).

    Parameters
    ----------
    n, k : int
        Number of points and rank, 1 <= k <= n/2.
    eps, delta : float
        Relative error and failure probability, in (0, 1). The lemmas behind `hadamard` and
        `input_sparsity` hold with probability 0.9 only: `delta` does not enter there.
    lambda_k, lambda_r : float
        The k-th eigenvalue and the mean of the smaller ones.
    constant : float
        The factor hidden in O(.), which the theorem does not give; taken as 1.

    Notes
    -----
    The paper prints k + log(1/delta)/eps_0^2 for the Gaussian projection; a subspace embedding
    needs k / eps_0^2 too. Its input-sparsity lemma belongs to the count sketch, not to the uniform
    column sampling that the paper defines. Its proof neglects the contribution of the eigenvectors
    beyond k to A P: a Gaussian sketch of I/n has lambda_1 too large by sqrt(n/s). So a better eps_0
    would not help.

    Examples
    --------
    >>> sizes = sketch_sizes(n=1000, k=10, eps=0.1, delta=0.1, lambda_k=0.02, lambda_r=5e-4)
    >>> f"{sizes.gaussian:.1e} {sizes.hadamard:.1e} {sizes.input_sparsity:.1e}"
    '1.2e+13 3.9e+13 1.0e+14'
    >>> min(1000, sizes.sparse_graph)
    1000
    """
    _whole("n", n, 2)
    _whole("k", k, 1, n // 2)
    _fraction("eps", eps)
    _fraction("delta", delta)
    room = 1 + _ROUNDING  # a mean of equal eigenvalues may be rounded up
    if not (0 < lambda_r <= lambda_k * room and k * lambda_k + (n - k) * lambda_r <= room):
        raise ValueError(
            f"lambda_k = {lambda_k} and lambda_r = {lambda_r} are no k-th eigenvalue and tail mean "
            "of a spectrum that sums to 1: give 0 < lambda_r <= lambda_k with "
            "k * lambda_k + (n - k) * lambda_r <= 1"
        )
    if not 0 < constant < math.inf:
        raise ValueError(f"constant must be positive and finite, got {constant}: 1 is usual")
    eps_0 = eps * lambda_k * lambda_r
    if eps_0 < 1e-100:
        raise ValueError(f"lambda_r = {lambda_r} is numerically zero: choose a lower k")
    log_kde = math.log(k / (delta * eps_0))
    return SketchSizes(
        gaussian=math.ceil(constant * (k + math.log(1 / delta)) / eps_0**2),
        hadamard=math.ceil(constant * (k + math.log(n)) * max(1, math.log(k)) / eps_0**2),
        input_sparsity=math.ceil(constant * k**2 / eps_0**2),
        sparse_graph=math.ceil(constant * k * log_kde / eps_0**2),
        p=math.ceil(constant * log_kde / eps_0),
    )


def lanczos_steps(
    eigenvalues: ArrayLike, k: int, eps: float, tangent: float, ritz: ArrayLike | None = None
) -> float:
    r"""Count the Lanczos steps that find the k leading eigenvalues up to 1 - eps (Theorem 3).

    .. math:: s = \left\lceil k + \frac{1}{2 \log R}
              \log \frac{4 \theta^2 K^2 \lambda_1}{\epsilon \lambda_r} \right\rceil,
              \quad R = \gamma + \sqrt{\gamma^2 - 1},
              \quad \gamma = 1 + 2 \min_{i \le k}
              \frac{\lambda_i - \lambda_{i+1}}{\lambda_{i+1} - \lambda_n},
              \quad K = \max_{i \le k} \prod_{j<i}
              \frac{\hat\lambda_j - \lambda_n}{\hat\lambda_j - \lambda_i}

    No constant is hidden; the entropy is then accurate to `entropy_error(eps, alpha, n)`. The
    result is a whole number, at least k + 1 and often above n; `math.inf` if two of the k + 1
    leading eigenvalues are equal (R = 1: a Krylov space holds one copy of each) or if lambda_r = 0.

    Parameters
    ----------
    eigenvalues : array_like
        All n eigenvalues in descending order, summing to one.
    k : int
        Rank, 1 <= k <= n/2.
    eps : float
        Relative error, in (0, 1).
    tangent : float
        theta, the largest tangent of the angle between the start vector and the k leading
        eigenvectors; `random_start_tangent` bounds it for a random start.
    ritz : array_like, optional
        The Ritz values after s steps, of which the first k - 1 enter K. By default their limit,
        the eigenvalues, which makes K a little too small and s a forecast.

    Notes
    -----
    The paper takes K for i = k only, because its proof claims that the product grows with i. It
    need not: (.4, .39, .06, .05, .05, .05) has 1, 35 and 1.06. The proof needs the maximum.

    Examples
    --------
    >>> powers = 0.5 ** np.arange(40)
    >>> lanczos_steps(powers / powers.sum(), k=5, eps=0.01, tangent=50)
    12.0
    """
    lam = _spectrum(eigenvalues)
    _whole("k", k, 1, lam.size // 2)
    _fraction("eps", eps)
    if not 0 < tangent < math.inf:
        raise ValueError(
            f"tangent must be positive and finite, got {tangent}: start from a vector that is "
            "orthogonal to none of the leading eigenvectors"
        )
    gap, rest, lambda_r = lam[:k] - lam[1 : k + 1], lam[1 : k + 1] - lam[-1], float(lam[k:].mean())
    if gap.min() == 0 or lambda_r == 0:
        return math.inf
    found = (lam if ritz is None else np.asarray(ritz, dtype=np.float64))[: k - 1]
    if found.shape != (k - 1,) or not np.all(found > lam[1:k]):
        raise ValueError(
            f"ritz must hold at least k - 1 = {k - 1} values, the i-th above the (i+1)-th "
            f"eigenvalue, got {found}: take more Lanczos steps"
        )
    with np.errstate(divide="ignore", over="ignore"):
        excess = 2 * float((gap / rest).min())  # gamma - 1
    log_r = math.log1p(excess + math.sqrt(excess * (excess + 2)))
    log_k = max(float(np.log((found[:i] - lam[-1]) / (found[:i] - lam[i])).sum()) for i in range(k))
    log_ratio = math.log(lam[0]) - math.log(eps) - math.log(lambda_r)
    log_error = math.log(4) + 2 * math.log(tangent) + 2 * log_k + log_ratio
    return float(k + max(1, math.ceil(log_error / (2 * log_r))))


def random_start_tangent(n: int, k: int, delta: float) -> float:
    r"""Bound the `tangent` of `lanczos_steps` for a Gaussian start vector.

    .. math:: \theta \le \frac{k}{\delta} \sqrt{\frac{2 (n-1)}{\pi}}
              \quad \text{with probability at least } 1 - \delta

    Not in the paper; no constant is hidden. The cosine of a random direction with an axis has a
    density of at most sqrt((n-1) / (2 pi)) for n >= 3, so the tangent exceeds t with probability at
    most sqrt(2 (n-1) / pi) / t (for n = 2 directly); the bound is the sum over the k axes.

    Examples
    --------
    >>> round(random_start_tangent(n=1000, k=5, delta=0.1), 1)
    1260.9
    """
    _whole("n", n, 2)
    _whole("k", k, 1, n)
    _fraction("delta", delta)
    return k / delta * math.sqrt(2 * (n - 1) / math.pi)


def entropy_error(eps: float, alpha: float, n: int) -> float:
    r"""Return the maximum error of the entropy in bits for relative eigenvalue errors of eps.

    The smallest of three bounds: that of Theorems 2 and 3 (and of Proposition 2, which has an
    absolute error eps lambda_n), one that is finite at alpha = 1, and the range of the entropy,

    .. math:: \Big| \frac{\alpha}{1-\alpha} \log_2(1-\epsilon) \Big|, \qquad
              \frac{\alpha \ln \alpha}{\alpha - 1} \ln \frac{1+\epsilon}{1-\epsilon}
              \Big( \frac{\log_2 n}{4} + \frac{1}{3} \Big), \qquad \log_2 n.

    Parameters
    ----------
    eps : float
        Relative error of each eigenvalue, in (0, 1). Both spectra sum to one.
    alpha : float
        Order, from 0 to infinity.
    n : int
        Number of eigenvalues; those of L_k(A), which are n as well, for the low-rank entropy.

    Notes
    -----
    No constant is hidden. The first bound is sound on both sides and for alpha above and below 1,
    since log(1 + eps) < -log(1 - eps).

    Proof of the second. Let p = lambda (1 + t d), \|d\| <= eps, sum(lambda d) = 0 lead from one
    spectrum to the other; let g = d / (1 + t d), w_b = p^b / sum(p^b). Then E_{w_1} g = 0,
    dS/dt = alpha/(1-alpha) E_{w_alpha} g / ln 2, and d/db E_{w_b} g = Cov_{w_b}(g, ln w_b) / b.
    The covariance is linear in g, hence extreme for the indicator of a set of some mass a:
    \|Cov\| <= range(g) max_a a(1-a) (ln n + ln((1-a)/a)) <= range(g) ln(2) (log2(n)/4 + 1/3), as
    a set of mass a adds at most a ln(n/a) to E[-ln w], its complement at least -(1-a) ln(1-a).
    Integrate db/b from 1 to alpha and range(g) <= 2 eps / (1 - t^2 eps^2) over t from 0 to 1.

    Examples
    --------
    >>> [round(entropy_error(0.01, alpha, n=1000), 4) for alpha in (0.5, 1, 2)]
    [0.0145, 0.0565, 0.029]
    """
    _fraction("eps", eps)
    _order(alpha)
    _whole("n", n, 1)
    if alpha == 0:
        return 0.0
    first = -math.log1p(-eps) / math.log(2)
    second = 2 * math.atanh(eps) * (math.log2(n) / 4 + 1 / 3)
    if alpha == 1:
        return min(second, math.log2(n))
    ratio = 1 if alpha == math.inf else alpha / abs(1 - alpha)
    return min(ratio * first, ratio * abs(math.log(alpha)) * second, math.log2(n))


def absolute_entropy_error(
    eigenvalues: ArrayLike, alpha: float, eps: float, unit_trace: bool = True
) -> float:
    r"""Return the maximum error of the entropy in bits for absolute eigenvalue errors of eps.

    Proposition 3, the supplement's improvement for a small lambda_n, without a hidden constant:

    .. math:: \frac{-1}{|1-\alpha|} \log_2 (1 - x), \qquad
              x = \frac{n \alpha \epsilon}{1 + n \epsilon} \ (\alpha > 1), \qquad
              x = \frac{n \epsilon^\alpha}{\sum_i \lambda_i^\alpha} \ (\alpha < 1),

    and never more than log2 n, the range of the entropy, which is the bound if x >= 1. At alpha = 1
    it is the bound of Fannes and Audenaert, T log2(n-1) + h(T) with T = n eps / 2; at infinity
    -log2(1 - x) with n eps for n alpha eps. Close to 1 it is loose; `entropy_error` is not.

    Parameters
    ----------
    eigenvalues : array_like
        The n true eigenvalues in descending order, summing to one.
    alpha : float
        Order, from 0 to infinity.
    eps : float
        Absolute error of each eigenvalue, in (0, 1).
    unit_trace : bool
        Whether the approximate eigenvalues sum to one as well. If not, x = n alpha eps for
        alpha > 1, and the bound is infinite at alpha = 1 and where x >= 1.

    Notes
    -----
    The paper does not fix the second trace, and then its x for alpha > 1 fails: (.4, .4) for
    (.5, .5) at alpha = 2 changes the entropy by .644 bits, its bound is .585. Proof for alpha > 1
    with P, P', Q the sums of lambda^alpha, lambda'^alpha and (lambda + eps)^alpha: by convexity and
    Chebyshev's sum inequality P' >= P - alpha eps sum lambda^(alpha-1) >= P (1 - n alpha eps), and
    P >= Q (1 - n alpha eps / (1 + n eps)) with Q >= P'. Two unit traces let P and P' change places
    in the latter. For alpha < 1, \|P' - P\| <= n eps^alpha suffices for any traces.

    Examples
    --------
    >>> round(absolute_entropy_error([0.5, 0.5], alpha=2, eps=0.1), 3)
    0.585
    >>> round(absolute_entropy_error([0.5, 0.5], alpha=2, eps=0.1, unit_trace=False), 3)
    0.737
    """
    lam = _spectrum(eigenvalues)
    _order(alpha)
    _fraction("eps", eps)
    n = lam.size
    ceiling = math.log2(n) if unit_trace else math.inf
    if alpha == 1:
        t = min(n * eps / 2, 1 - 1 / n)
        binary = -t * math.log2(t) - (1 - t) * math.log2(1 - t)
        return t * math.log2(n - 1) + binary if unit_trace else math.inf
    order, scale = (1, 1) if alpha == math.inf else (alpha, abs(1 - alpha))
    if alpha > 1:
        x = n * order * eps / (1 + n * eps if unit_trace else 1)
    else:
        x = n * eps**alpha / float(np.sum(lam**alpha))
    return ceiling if x >= 1 else min(ceiling, -math.log1p(-x) / math.log(2) / scale)


def potential_variance(
    eigenvalues: ArrayLike, sigma: ArrayLike, alpha: float, k: int | None = None
) -> float:
    r"""Return the variance of the information potential under eigenvalue noise (Theorem 1).

    For independent noise of standard deviation sigma_i in the i-th eigenvalue, to first order,

    .. math:: \mathrm{Var}[IP_\alpha] = \alpha^2 \sum_{i=1}^n \sigma_i^2
              \lambda_i^{2(\alpha-1)}, \qquad
              \mathrm{Var}[IP_\alpha^k] = \alpha^2 \sum_{i=1}^k \sigma_i^2
              (\lambda_i^{\alpha-1} - \lambda_r^{\alpha-1})^2,

    where IP = 2^((1-alpha) S). Neglected terms are O(sigma^3); no constant is hidden. Infinite
    if alpha < 1 and an eigenvalue with noise (or lambda_r) is zero.

    Parameters
    ----------
    eigenvalues : array_like
        The n eigenvalues in descending order, summing to one.
    sigma : array_like
        The n standard deviations.
    alpha : float
        Order, positive and finite.
    k : int, optional
        Rank, 1 <= k <= n - 1; without it the full information potential.

    Notes
    -----
    The low-rank variance is the smaller one for every alpha >= 1. For alpha < 1 the paper requires
    sum_{i<=k} sigma_i^2 <= sum_{i>k} sigma_i^2, which is not sufficient, because its use of
    Jensen's inequality needs equal weights. It is sufficient together with
    sum_{i>k} sigma_i^2 (lambda_i - lambda_r) <= 0, for example equal noise in the tail.

    Examples
    --------
    >>> round(potential_variance([0.6, 0.3, 0.1], [0.01, 0.01, 0.01], alpha=2), 6)
    0.000184
    >>> round(potential_variance([0.6, 0.3, 0.1], [0.01, 0.01, 0.01], alpha=2, k=1), 6)
    6.4e-05
    """
    lam, noise = _spectrum(eigenvalues), np.asarray(sigma, dtype=np.float64)
    if not 0 < alpha < math.inf:
        raise ValueError(f"alpha must be positive and finite, got {alpha}: try 2")
    if k is not None:
        _whole("k", k, 1, lam.size - 1)
    if noise.shape != lam.shape or not np.all((noise >= 0) & (noise < math.inf)):
        raise ValueError(
            f"sigma must hold one finite standard deviation >= 0 for each of the {lam.size} "
            f"eigenvalues, got {noise}: give one per eigenvalue, 0 where there is no noise"
        )
    moved = noise[:k] > 0
    if not moved.any():
        return 0.0
    head, variance = lam[:k][moved], noise[:k][moved] ** 2
    smallest = float(head.min() if k is None else lam[k:].mean())
    if alpha < 1 and smallest < 1e-150:  # numerically zero: its power would overflow
        return math.inf
    shift = 0.0 if k is None else smallest ** (alpha - 1)
    return float(alpha**2 * np.sum(variance * (head ** (alpha - 1) - shift) ** 2))


def _fraction(name: str, value: float) -> None:
    if not 0 < value < 1:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value}: try 0.01")


def _order(alpha: float) -> None:
    if not alpha >= 0:
        raise ValueError(f"alpha must lie between 0 and infinity, got {alpha}: try 1")


def _whole(name: str, value: int, low: int, high: float = math.inf) -> None:
    if not (low <= value <= high and value % 1 == 0):
        limits = f"at least {low}" if high == math.inf else f"from {low} to {high}"
        raise ValueError(f"{name} must be a whole number, got {value}: choose {limits}")


def _spectrum(eigenvalues: ArrayLike) -> NDArray[np.float64]:
    """Check that the eigenvalues are those of a normalized Gram matrix, largest first."""
    lam = np.asarray(eigenvalues, dtype=np.float64)
    if lam.ndim != 1 or lam.size < 2:
        raise ValueError(f"eigenvalues must be a 1-D array, got shape {lam.shape}: give all n >= 2")
    if not np.all(lam >= -_ROUNDING):
        raise ValueError(f"eigenvalues must be >= 0, got {lam.min()}: is the matrix a kernel's?")
    if np.any(np.diff(lam) > 0):
        raise ValueError(f"eigenvalues must descend, got {lam}: take np.sort(values)[::-1]")
    if abs(lam.sum() - 1) > _ROUNDING:
        raise ValueError(f"eigenvalues must sum to 1, got {lam.sum()}: divide them by their sum")
    return np.maximum(lam, 0.0)
