"""The definitions once more, dense and naive, sharing no line with the package: the last resort."""

import math
from collections import Counter

import numpy as np


def normalized(K):
    """A_ij = K_ij / (n sqrt(K_ii K_jj))."""
    root = np.sqrt(np.diag(K))
    return K / np.outer(root, root) / len(K)


def renyi(p, alpha):
    """Rényi's entropy in bits of eigenvalues or probabilities, the null ones left out."""
    p = np.asarray(p, dtype=float)
    p = p[p > 1e-13]
    if alpha == math.inf:
        return -math.log2(p.max())
    if alpha == 0:
        return math.log2(len(p))
    return -float(p @ np.log2(p)) if alpha == 1 else math.log2(np.sum(p**alpha)) / (1 - alpha)


def low_rank(A, k):
    """Return the eigenvalues of L_k(A): the n - k smallest replaced by their mean."""
    p = np.linalg.eigvalsh(A)[::-1]
    return p if k is None else np.r_[p[:k], np.full(len(p) - k, (1 - p[:k].sum()) / (len(p) - k))]


def entropy(A, alpha, k=None):
    """S_alpha(A), or S_alpha^k(A)."""
    return renyi(low_rank(A, k), alpha)


def joint(*many):
    """(A o B o ...) / tr(A o B o ...)."""
    product = np.prod(many, axis=0)
    return product / np.trace(product)


def mutual_information(A, B, alpha, k=None):
    """S(A) + S(B) - S(A, B)."""
    return entropy(A, alpha, k) + entropy(B, alpha, k) - entropy(joint(A, B), alpha, k)


# ------------------------------------------------------------------------- kernels, pair by pair


def matrix(kernel, points):
    """K_ij = kernel(x_i, x_j)."""
    return np.array([[kernel(x, y) for y in points] for x in points], dtype=float)


def gaussian(sigma):
    """exp(-|x - y|^2 / (2 sigma^2))."""
    return lambda x, y: math.exp(-float(np.sum((np.asarray(x) - y) ** 2)) / (2 * sigma**2))


def laplacian(sigma):
    """exp(-|x - y|_1 / sigma)."""
    return lambda x, y: math.exp(-float(np.sum(np.abs(np.asarray(x) - y))) / sigma)


def equality(x, y):
    """1 where equal, else 0."""
    return float(np.all(x == y))


# -------------------------------------------------------------------------------- discrete tables


def histogram(*columns):
    """Relative frequencies of the rows of aligned columns."""
    counts = np.array(list(Counter(zip(*columns, strict=True)).values()), dtype=float)
    return counts / counts.sum()


def discrete(*columns, alpha, k=None):
    """Rényi's entropy of the joint histogram; with k, of L_k of it among n places."""
    p, n = np.sort(histogram(*columns))[::-1], len(columns[0])
    if k is None:
        return renyi(p, alpha)
    p = np.r_[p, np.zeros(n - len(p))]
    return renyi(np.r_[p[:k], np.full(n - k, p[k:].sum() / (n - k))], alpha)
