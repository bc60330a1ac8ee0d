"""
Bounds on the computing error
=============================

``H.certified`` returns bounds that contain the exact value of these rows, as a decomposition of the
whole matrix would give it. They say nothing about another sample: that is the standard error.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import lorenyi as lr
from lorenyi.plots.style import INK, MAIN, SECOND, SOFT

rng = np.random.default_rng(0)
A = lr.gram(rng.normal(size=(2000, 3)))
exact = lr.entropy(A, entropy=lr.Renyi(solver=lr.Exact()))

tolerances = [1e-1, 1e-2, 1e-3, 1e-4]
bounds, seconds = [], []
for tol in tolerances:
    start = time.perf_counter()
    bounds.append(lr.entropy(A, entropy=lr.Renyi(solver=lr.Auto(tol=tol)).certified))
    seconds.append(time.perf_counter() - start)
    print(f"tol={tol:g}: {bounds[-1]}, {seconds[-1]:.2f} s")
assert all(exact in bound for bound in bounds)

# %%

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
places = np.arange(len(tolerances))
ends = np.array([[exact - b.low, b.high - exact] for b in bounds]).T * 1000
left.errorbar(
    places, np.zeros(4), yerr=ends, fmt="none", capsize=5, ecolor=MAIN, label="certified bounds"
)
error = 1000 * exact.standard_error
left.axhspan(-error, error, color=SECOND, alpha=0.2, lw=0, label="± standard error (sampling)")
left.axhline(0, color=INK, lw=1, ls=":", label="exact value of these rows")
left.set(xticks=places, xticklabels=[f"{t:g}" for t in tolerances], xlabel="tolerance (bits)")
left.set_ylabel("distance from the exact value (millibits)")
left.set_yscale("symlog", linthresh=0.1)
left.legend(fontsize=8)
right.bar(places, seconds, color=SOFT)
right.set(
    xticks=places,
    xticklabels=[f"{t:g}" for t in tolerances],
    xlabel="tolerance (bits)",
    ylabel="seconds",
)
plt.show()
