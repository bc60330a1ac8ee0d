"""
Two samples: what changed?
==========================

Last month's rows and this month's. Are they from the same distribution, and if not, which columns
changed? The p-values of columns are adjusted for their number.
"""

import matplotlib.pyplot as plt
import numpy as np

import lorenyi as lr
from lorenyi.plots.style import MAIN, SECOND

rng = np.random.default_rng(0)
before = rng.normal(size=(400, 6))
after = rng.normal(size=(300, 6))
after[:, 1] *= 1.6  # a change of scale
after[:, 4] += 0.5  # a shift

drift = lr.two_sample_test(before, after)
print(drift)
print("changed:", drift.changed)

# %%
# The divergence says how much: the information of a row about which sample it is from, between 0
# and 1 bit.

figure, axes = plt.subplots(2, 3, figsize=(9, 5), sharex=True, layout="constrained")
for j, ax in enumerate(axes.flat):
    bins = np.linspace(-4.5, 4.5, 31)
    ax.hist(before[:, j], bins, density=True, alpha=0.55, color=MAIN, label="before")
    ax.hist(after[:, j], bins, density=True, alpha=0.55, color=SECOND, label="after")
    mark = "changed" if f"x{j}" in drift.changed else "no evidence"
    ax.set(title=f"x{j}: {lr.divergence(before[:, j], after[:, j]):.3f} bits, {mark}", yticks=[])
axes[0, 0].legend()
plt.show()
