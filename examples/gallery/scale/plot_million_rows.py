"""
A million rows
==============

A matrix of a million rows and columns is never stored. The plain call computes until the computing
error is small beside the standard error, or says what it reached. At order 2 a value is a mean over
pairs of rows, which are sampled.
"""

import time

import numpy as np

import lorenyi as lr

rng = np.random.default_rng(0)
sizes = [1_000, 10_000, 100_000, 1_000_000]
X = rng.normal(size=(sizes[-1], 3))
y = X[:, 0] + X[:, 1] * X[:, 2] > rng.normal(size=sizes[-1])

seconds, values = [], []
for n in sizes:
    start = time.perf_counter()
    values.append(lr.mutual_information(X[:n], y[:n], entropy=lr.CollisionEntropy()))
    seconds.append(time.perf_counter() - start)
    found = f"{values[-1]:.4f} ± {values[-1].standard_error:.4f} bits"
    print(f"{n:>9,} rows: {found}, {seconds[-1]:.2f} s")

# %%
# The standard error falls with the number of rows until the sample of pairs limits it.

import matplotlib.pyplot as plt

from lorenyi.plots.style import MAIN, SECOND, SOFT

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
errors = [1.96 * v.standard_error for v in values]
left.errorbar(sizes, values, errors, fmt="o", capsize=4, color=MAIN, ecolor=SOFT)
left.set(xscale="log", xlabel="rows", ylabel="mutual information, bits (95 % interval)")
right.plot(sizes, seconds, "o-", color=SECOND)
right.set(xscale="log", xlabel="rows", ylabel="seconds", ylim=(0, None))
plt.show()

# %%
# Selection reads at most 16,000 rows, drawn at random.

from lorenyi.selection import InformationSelector

wide = np.concatenate([X, rng.normal(size=(sizes[-1], 7))], axis=1)
start = time.perf_counter()
found = InformationSelector(3).fit(wide, y)
print(f"columns {found.indices_.tolist()} of 10, in {time.perf_counter() - start:.1f} s")
