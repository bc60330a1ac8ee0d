"""
Exclusive or: informative only together
=======================================

The class is the sign of a product. Neither factor is informative alone, so a search that adds one
column at a time cannot find them. ``start="pair"`` begins with the best two columns of all.
"""

import matplotlib.pyplot as plt
import numpy as np

import lorenyi as lr
from lorenyi.plots.style import MAIN, SECOND
from lorenyi.selection import InformationSelector

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 8))
y = (X[:, 2] * X[:, 5] > 0).astype(int)

for name, x in {"x2": X[:, 2], "x5": X[:, 5], "both": X[:, [2, 5]]}.items():
    print(f"{name:>4}: {lr.corrected(x, y):.3f} bits more than chance")

# %%
# Interaction information is positive for synergy: the two are more informative together than apart.

print("interaction:", lr.interaction_information(X[:, 2], X[:, 5], y))
for start in ("single", "pair"):
    found = InformationSelector(2, start=start).fit(X, y)
    print(
        f"start={start!r}: columns {sorted(found.indices_.tolist())}, {found.scores_[-1]:.3f} bits"
    )

# %%

figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for value, color in ((0, SECOND), (1, MAIN)):
    axes[0].scatter(*X[y == value][:, [2, 5]].T, s=10, color=color, label=f"class {value}")
    axes[1].hist(X[y == value, 2], bins=25, color=color, alpha=0.5, label=f"class {value}")
axes[0].set(xlabel="x2", ylabel="x5", title="together: separable")
axes[1].set(xlabel="x2", ylabel="rows", title="x2 alone: the same in both classes")
axes[0].legend()
plt.show()
