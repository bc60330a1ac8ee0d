"""
Is this dependence real?
========================

A mutual information is positive even for independent variables, and more so in many dimensions. A
permutation test compares it with what chance gives. Here two variables lie near a circle: their
correlation is zero, their dependence is not.
"""

import numpy as np

import lorenyi as lr

rng = np.random.default_rng(0)
t = rng.uniform(0, 2 * np.pi, 200)
x = np.cos(t) + 0.3 * rng.normal(size=200)
y = np.sin(t) + 0.3 * rng.normal(size=200)

print("correlation:  ", round(float(np.corrcoef(x, y)[0, 1]), 3))
print("information:  ", lr.mutual_information(x, y))
print("chance gives: ", round(lr.chance_level(x, y).mean, 3), "bits")

# %%

result = lr.independence_test(x, y, permutations=999, level=None)
result

# %%
# The statistic against those of 999 permutations.

result.plot()

# %%
# In five independent columns each, chance alone gives half a bit. ``corrected`` subtracts it.

a, b = rng.normal(size=(2, 100, 5))
print("measured: ", lr.mutual_information(a, b))
print("corrected:", lr.corrected(a, b))
