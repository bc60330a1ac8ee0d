"""
Order and rank of the entropy
=============================

The Rényi entropy falls with its order. The low-rank entropy keeps the k largest eigenvalues and
spreads the rest evenly, so it lies above the classical value and falls to it as k grows.
"""

import numpy as np

import lorenyi as lr
from lorenyi.plots import EntropyProfileDisplay, SpectrumDisplay

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
A = lr.gram(X)  # Gaussian kernel, median bandwidth

# %%
# The eigenvalues of the matrix, and the even tail that stands for all after the 20th.

SpectrumDisplay.from_gram(A, rank=20, solver=lr.Exact()).plot()

# %%
# Lines are the low-rank entropy. Bands reach down to the least value that the k eigenvalues allow:
# the classical entropy (dashed) lies inside every band.

EntropyProfileDisplay.from_gram(A, ranks=[5, 20, 80]).plot()
