"""
When to stop
============

With noise alone, a search must choose nothing. Each step compares the best candidate with the best
of permuted candidates, at the level of 5 % over all candidates of the step.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from lorenyi.plots.style import MAIN
from lorenyi.selection import InformationSelector

rng = np.random.default_rng(0)


def chosen(informative: int) -> list[int]:
    """Return how many columns of 20 are chosen, for 25 tables with some informative ones."""
    counts = []
    for _ in range(25):
        X = rng.normal(size=(200, 20))
        y = X[:, :informative].sum(axis=1) + rng.normal(size=200) > 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that nothing is chosen is what we look for
            counts.append(len(InformationSelector().fit(X, y).indices_))
    return counts


counts = {k: chosen(k) for k in (0, 1, 3)}
for k, found in counts.items():
    print(
        f"{k} informative: {np.mean(found):.2f} chosen on average, none in {found.count(0)} of 25"
    )

# %%

figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True, layout="constrained")
for ax, (k, found) in zip(axes, counts.items(), strict=True):
    ax.bar(range(8), np.bincount(found, minlength=8)[:8], color=MAIN)
    ax.set(title=f"{k} informative of 20", xlabel="columns chosen")
axes[0].set_ylabel("tables of 25")
plt.show()
