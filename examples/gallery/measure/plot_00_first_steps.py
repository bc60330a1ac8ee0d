"""
First steps: how informative is each column?
============================================

The mutual information of each of 30 measurements with a diagnosis, in bits, with its standard
error. The diagnosis itself has 0.953 bits: no column can share more.
"""

# %%
# The table has 569 rows. Numbers are compared by distance (a Gaussian kernel with the median
# distance as bandwidth), labels by equality.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import lorenyi as lr
from lorenyi.plots.style import INK, MAIN, SOFT

data = load_breast_cancer()
diagnosis = data.target_names[data.target]
found = {
    str(name): lr.mutual_information(column, diagnosis)
    for name, column in zip(data.feature_names, data.data.T, strict=True)
}
found["worst perimeter"]

# %%
# Each value is a float that knows its standard error, the kernels, and how to print itself. The
# bars are sorted; the whiskers are one standard error to each side.

names = sorted(found, key=found.get)
values = [found[name] for name in names]
errors = [value.standard_error for value in values]
ceiling = lr.entropy(diagnosis)

figure, ax = plt.subplots(figsize=(7, 7), layout="constrained")
ax.barh(names, values, xerr=errors, color=MAIN, ecolor=SOFT, capsize=2)
ax.axvline(ceiling, color=INK, ls=":", label=f"H(diagnosis) = {ceiling:.3f} bits")
ax.set(xlabel="mutual information with the diagnosis (bits)", xlim=(0, 1))
ax.legend(loc="lower right")
plt.show()

# %%
# Columns that share many bits may share the same ones. What a column adds to another is the
# conditional mutual information.

radius, perimeter, texture = data.data[:, 20], data.data[:, 22], data.data[:, 21]
print(
    "radius given perimeter:  ",
    lr.conditional_mutual_information(radius, diagnosis, given=perimeter),
)
print(
    "texture given perimeter: ",
    lr.conditional_mutual_information(texture, diagnosis, given=perimeter),
)
