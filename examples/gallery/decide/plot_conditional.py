"""
Dependence given a third variable
=================================

Ice cream and sunburn depend on each other, since both depend on the temperature. Given the
temperature they do not. The other way round, two independent causes depend on each other once their
common effect is known.
"""

import matplotlib.pyplot as plt
import numpy as np

import lorenyi as lr
from lorenyi.plots.style import MAIN, SECOND

rng = np.random.default_rng(0)
n = 300
temperature = rng.normal(20, 5, n)
ice = 0.2 * temperature + rng.normal(size=n)
burn = 0.2 * temperature + rng.normal(size=n)
talent, luck = rng.normal(size=(2, n))
success = talent + luck + 0.3 * rng.normal(size=n)

# %%

cases = {
    "ice cream, sunburn\n| temperature": (ice, burn, temperature),
    "talent, luck\n| success": (talent, luck, success),
}
plain, given = [], []
for name, (x, y, z) in cases.items():
    plain.append(lr.independence_test(x, y).pvalue)
    given.append(lr.conditional_independence_test(x, y, given=z).pvalue)
    print(
        f"{name.replace(chr(10), ' ')}: p = {plain[-1]:.3g} alone, {given[-1]:.3g} given the third"
    )

# %%
# The shorter the bar, the stronger the evidence for dependence; the line is the level of 5 %.

figure, ax = plt.subplots(layout="constrained")
places = np.arange(2)
ax.bar(places - 0.2, plain, 0.38, color=MAIN, label="alone")
ax.bar(places + 0.2, given, 0.38, color=SECOND, label="given the third")
ax.axhline(0.05, color="black", ls=":", label="level of 5 %")
ax.set(xticks=places, xticklabels=list(cases), ylabel="p-value", ylim=(0, 1))
ax.legend()
plt.show()

# %%
# With one column to condition on, the level is nearly kept. With two or more it may not be: see
# :doc:`how good the tests are </tests>`.
