"""
Selection against scikit-learn's selectors
==========================================

Columns scored one by one repeat each other. ``InformationSelector`` scores the whole set, so that
each further column must add something. Accuracy is that of a support vector machine on folds that
the selector did not see.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest, f_classif, mutual_info_classif
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from lorenyi.plots.style import series
from lorenyi.selection import InformationSelector

X, y = load_breast_cancer(return_X_y=True)
folds = StratifiedKFold(10, shuffle=True, random_state=0)
numbers = [1, 2, 3, 4, 6, 8]
selectors = {
    "InformationSelector": lambda k: InformationSelector(k),
    "SelectKBest(f_classif)": lambda k: SelectKBest(f_classif, k=k),
    "SelectKBest(mutual_info_classif)": lambda k: SelectKBest(mutual_info_classif, k=k),
}


def accuracy(selector):
    """Return the mean accuracy over folds, and its standard error."""
    model = make_pipeline(StandardScaler(), selector, SVC())
    scores = 100 * cross_val_score(model, X, y, cv=folds)
    return scores.mean(), scores.std(ddof=1) / np.sqrt(len(scores))


# %%

figure, ax = plt.subplots(layout="constrained")
for i, (name, make) in enumerate(selectors.items()):
    means, errors = np.transpose([accuracy(make(k)) for k in numbers])
    ax.errorbar(numbers, means, errors, fmt="o-", capsize=3, color=series(i), label=name)
ax.set(xlabel="columns", ylabel="accuracy in percent, mean ± standard error over 10 folds")
ax.legend(loc="lower right")
plt.show()

# %%
# One table decides nothing: :doc:`a study over many tables </selectors>` has eleven selectors.
