"""
A figure of the paper
=====================

Dong, Gong, Yu, Chen and Li (AAAI 2023) on the rank. Eigenvalues decay like exp(-r i / n). The
low-rank entropy keeps the k largest and spreads the rest evenly. Left: the altered spectrum. Right:
the entropy over the rank, for several decays.
"""

import matplotlib.pyplot as plt
import numpy as np

import lorenyi as lr
from lorenyi.plots.style import INK, series

n = 1000


def spectrum(decay: float) -> lr.Spectrum:
    """Return normalized eigenvalues exp(-decay i / n)."""
    values = np.exp(-decay * np.arange(n) / n)
    return lr.Spectrum(values / values.sum())


# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
steep = spectrum(10)
left.semilogy(steep.values, color=INK, lw=2, label="all eigenvalues")
for i, k in enumerate((50, 150, 300)):
    rest = (1 - steep.values[:k].sum()) / (n - k)
    altered = np.concatenate([steep.values[:k], np.full(n - k, rest)])
    left.semilogy(altered, color=series(i), ls="--", label=f"k = {k}")
left.set(xlabel="i", ylabel="eigenvalue", title="decay r = 10")
left.legend()

ranks = np.unique(np.geomspace(1, n - 1, 60).astype(int))
for i, decay in enumerate((1, 3, 10, 30, 100)):
    S = spectrum(decay)
    right.semilogx(
        ranks,
        [lr.renyi_entropy(S, 1, int(k)) for k in ranks],
        color=series(i),
        label=f"r = {decay}",
    )
    right.axhline(lr.renyi_entropy(S, 1), color=series(i), lw=0.8, ls=":")
right.set(xlabel="rank k", ylabel="entropy of order 1 (bits)", ylim=(0, None))
right.legend()
plt.show()

# %%
# Dotted lines are the classical entropy, which is never above. All figures and tables of the paper,
# with what was found to hold and what was not: :doc:`the paper, claim by claim </paper>`.
