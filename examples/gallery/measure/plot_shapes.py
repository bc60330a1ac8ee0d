"""
Dependence that correlation misses
==================================

Six relations between two variables of 400 rows. Correlation detects a line. Mutual information
detects all of them, and is near the chance level for independent variables.
"""

import matplotlib.pyplot as plt
import numpy as np

import lorenyi as lr
from lorenyi.plots.style import MAIN

rng = np.random.default_rng(0)
n = 400
t = rng.uniform(-1, 1, n)
noise = rng.normal(size=(2, n))
angle = np.pi * t
relations = {
    "line": (t, t + 0.3 * noise[0]),
    "parabola": (t, t**2 + 0.1 * noise[0]),
    "circle": (np.cos(angle) + 0.1 * noise[0], np.sin(angle) + 0.1 * noise[1]),
    "sine": (t, np.sin(2 * angle) + 0.3 * noise[0]),
    "growing noise": (t, (0.1 + np.abs(t)) * noise[0]),
    "independent": (t, noise[0]),
}

# %%
# ``corrected`` subtracts the mean over permutations, the value that chance alone gives.

figure, axes = plt.subplots(2, 3, figsize=(9, 6), layout="constrained")
for ax, (name, (x, y)) in zip(axes.flat, relations.items(), strict=True):
    information = lr.corrected(x, y)
    p = lr.independence_test(x, y).pvalue
    ax.scatter(x, y, s=6, color=MAIN, alpha=0.6, lw=0)
    ax.set(xticks=[], yticks=[], title=name)
    ax.set_xlabel(f"r = {np.corrcoef(x, y)[0, 1]:+.2f},  I = {information:.2f} bits,  p = {p:.3g}")
plt.show()

# %%
# The p-value is that of a permutation test with 199 permutations: it cannot be below 0.005.
