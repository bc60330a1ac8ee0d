"""
Diversity of a data set (Vendi score)
=====================================

The Vendi score is two to the power of the entropy: an effective number of different points. Copies
do not raise it. Here it is measured for 150 images of each handwritten digit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import lorenyi as lr
from lorenyi.plots.style import MAIN, SECOND, SOFT

images, digit = load_digits(return_X_y=True)
kernel = lr.Gaussian(25.0)  # one bandwidth for all, so that scores can be compared
groups = {d: images[digit == d][:150] for d in range(10)}
scores = [lr.vendi_score(lr.gram(rows, kernel)) for rows in groups.values()]

figure, left = plt.subplots(layout="constrained")
left.bar(
    range(10), scores, yerr=[s.standard_error for s in scores], color=MAIN, ecolor=SOFT, capsize=3
)
left.set(xlabel="digit", ylabel="Vendi score (effective number of images)", xticks=range(10))
plt.show()

# %%
# The score grows more slowly than the data set, since new images resemble old ones. It is smaller
# for images of one digit.

sizes = [25, 50, 100, 200, 400, 800]
rng = np.random.default_rng(0)
mixed = images[rng.permutation(len(images))]
figure, right = plt.subplots(layout="constrained")
right.plot(
    sizes,
    [lr.vendi_score(lr.gram(mixed[:n], kernel)) for n in sizes],
    "o-",
    color=MAIN,
    label="all digits",
)
same = images[digit == 1]
few = [n for n in sizes if n <= len(same)]
right.plot(
    few,
    [lr.vendi_score(lr.gram(same[:n], kernel)) for n in few],
    "o-",
    color=SECOND,
    label="ones only",
)
right.set(xlabel="images", ylabel="Vendi score", xlim=(0, None), ylim=(0, None))
right.legend()
plt.show()
