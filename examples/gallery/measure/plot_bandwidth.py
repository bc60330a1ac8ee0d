"""
What the bandwidth does
=======================

The bandwidth of the kernel says which points count as alike. Too wide, and everything is alike. Too
narrow, and each row is a category of its own: the value then goes to H(y) for any column, noise
included. The gap to the chance level is what counts.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer

import lorenyi as lr
from lorenyi.plots.style import ACCENT, INK, MAIN, SECOND

X, y = load_breast_cancer(return_X_y=True)
texture = X[:, 21]
shuffled = np.random.default_rng(0).permutation(texture)

sigmas = np.geomspace(0.01, 100, 25)
real = [lr.mutual_information(lr.gram(texture, lr.Gaussian(s)), y) for s in sigmas]
chance = [lr.mutual_information(lr.gram(shuffled, lr.Gaussian(s)), y) for s in sigmas]
median = np.median(pdist(texture[:, None]))  # the default rule

figure, ax = plt.subplots(layout="constrained")
ax.plot(sigmas, real, color=MAIN, label="worst texture")
ax.plot(sigmas, chance, color=SECOND, label="the same column, shuffled")
ax.axhline(lr.entropy(y), color=INK, ls=":", label="H(diagnosis)")
ax.axvline(median, color=ACCENT, ls="--", label="median distance (default)")
ax.set(xscale="log", xlabel="bandwidth", ylabel="mutual information (bits)", ylim=(0, 1))
ax.legend()
plt.show()
